#include "npy_header.h"

#include <string.h>

#include "report.h"

/* The text of the header that is still to be read. */
typedef struct reader {
    const char *at, *end;
} reader;

/* A string that the header holds; parts that Python would escape are refused. */
typedef struct span {
    const char *text;
    size_t length;
} span;

static void skip_spaces(reader *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n'))
        in->at++;
}

/* Takes the character where it comes next. */
static bool take(reader *in, char character)
{
    skip_spaces(in);
    if (in->at == in->end || *in->at != character)
        return false;
    in->at++;
    return true;
}

static bool take_word(reader *in, const char *word)
{
    size_t length = strlen(word);
    skip_spaces(in);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

static bool take_string(reader *in, span *string)
{
    skip_spaces(in);
    if (in->at == in->end || (*in->at != '\'' && *in->at != '"'))
        return false;
    char quote = *in->at++;
    string->text = in->at;
    while (in->at < in->end && *in->at != quote && *in->at != '\\' && *in->at != '\n')
        in->at++;
    string->length = (size_t)(in->at - string->text);
    return take(in, quote);
}

static bool take_number(reader *in, int64_t *number)
{
    skip_spaces(in);
    const char *start = in->at;
    *number = 0;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++) {
        int digit = *in->at - '0';
        if (*number > (INT64_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return in->at > start;
}

static bool is(span string, const char *text)
{
    return string.length == strlen(text) && memcmp(string.text, text, string.length) == 0;
}

/* "(3, 4)", "(3,)" or "()". */
static ingot_status read_shape(reader *in, cli_npy_header *header, ingot_error *error)
{
    if (!take(in, '('))
        return cli_fail(error, INGOT_INVALID_INPUT, "the .npy header has a shape that is no tuple");
    header->rank = 0;
    while (!take(in, ')')) {
        if (header->rank == INGOT_MAX_RANK)
            return cli_fail(error, INGOT_INVALID_INPUT, "the array has more than %d dimensions", INGOT_MAX_RANK);
        if (!take_number(in, &header->dims[header->rank++]))
            return cli_fail(error, INGOT_INVALID_INPUT, "the .npy header has a shape that is no list of sizes");
        if (!take(in, ',')) {
            /* (3) is a number in parentheses, but some programs write it */
            if (!take(in, ')'))
                return cli_fail(error, INGOT_INVALID_INPUT, "the .npy header has a shape that does not end");
            break;
        }
    }
    return INGOT_OK;
}

/* A type such as "<f4": byte order, letter, bytes (of U: characters). */
static ingot_status read_type(span text, cli_npy_header *header, ingot_error *error)
{
    reader in = {text.text, text.text + text.length};
    int64_t number;
    bool whole = text.length >= 2;
    char order = whole ? text.text[0] : '\0', letter = whole ? text.text[1] : '\0';
    in.at += whole ? 2 : 0;
    if (letter == 'O')
        return cli_fail(error, INGOT_UNSUPPORTED,
                        "the array holds Python objects; save strings as a NumPy string type (array.astype(str))");
    if (!memchr("<>|=", order, 4) || !take_number(&in, &number) || in.at != in.end || number > INT32_MAX)
        return cli_fail(error, INGOT_INVALID_INPUT, "the .npy header has the type '%.*s', which is none of NumPy's",
                        (int)(text.length < 40 ? text.length : 40), text.text);
    bool known = letter == 'U' || letter == 'S' || (letter == 'b' && number == 1) ||
                 ((letter == 'i' || letter == 'u') && (number == 1 || number == 2 || number == 4 || number == 8)) ||
                 (letter == 'f' && (number == 2 || number == 4 || number == 8)) ||
                 (letter == 'c' && (number == 8 || number == 16));
    if (!known)
        return cli_fail(error, INGOT_UNSUPPORTED,
                        "the array has the type '%.*s', which is no type of ONNX; give types that NumPy lacks as .pb",
                        (int)(text.length < 40 ? text.length : 40), text.text);
    header->big_endian = order == '>';
    header->letter = letter;
    header->item_size = (size_t)number * (letter == 'U' ? 4 : 1);
    return INGOT_OK;
}

static ingot_status read_entry(reader *in, span key, cli_npy_header *header, unsigned *seen, ingot_error *error)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned index = 0;
    span type;
    while (index < 3 && !is(key, keys[index]))
        index++;
    if (index == 3 || (*seen & 1u << index))
        return cli_fail(error, INGOT_INVALID_INPUT, "the .npy header has an unknown or repeated key '%.*s'",
                        (int)(key.length < 40 ? key.length : 40), key.text);
    *seen |= 1u << index;
    if (index == 2)
        return read_shape(in, header, error);
    if (index == 0) {
        if (!take_string(in, &type))
            return cli_fail(error, INGOT_UNSUPPORTED, "the array has a structured type, which ONNX does not have");
        return read_type(type, header, error);
    }
    header->fortran_order = take_word(in, "True");
    if (!header->fortran_order && !take_word(in, "False"))
        return cli_fail(error, INGOT_INVALID_INPUT, "fortran_order in the .npy header is neither True nor False");
    return INGOT_OK;
}

static ingot_status read_dict(reader *in, cli_npy_header *header, ingot_error *error)
{
    unsigned seen = 0;
    bool closed = false;
    span key;
    if (!take(in, '{'))
        return cli_fail(error, INGOT_INVALID_INPUT, "the .npy header is no dict");
    while (!(closed = take(in, '}'))) {
        if (!take_string(in, &key) || !take(in, ':'))
            break;
        CLI_TRY(read_entry(in, key, header, &seen, error));
        if (!take(in, ',')) {
            closed = take(in, '}');
            break;
        }
    }
    skip_spaces(in);
    if (!closed || in->at != in->end || seen != 7)
        return cli_fail(error, INGOT_INVALID_INPUT,
                        "the .npy header is damaged or lacks descr, fortran_order or shape");
    return INGOT_OK;
}

/* Checks the shape against the bytes that follow the header. */
static ingot_status check_size(cli_npy_header *header, size_t available, ingot_error *error)
{
    size_t count = 1;
    bool empty = false;
    for (int i = 0; i < header->rank; i++)
        empty = empty || header->dims[i] == 0;
    for (int i = 0; i < header->rank && !empty; i++) {
        if ((uint64_t)header->dims[i] > SIZE_MAX / count)
            return cli_fail(error, INGOT_INVALID_INPUT, "the array has a shape larger than any memory");
        count *= (size_t)header->dims[i];
    }
    header->count = empty ? 0 : count;
    if (header->item_size == 0)
        return available == 0 && header->count <= 1u << 20
                   ? INGOT_OK
                   : cli_fail(error, INGOT_INVALID_INPUT, "the array has elements of no bytes");
    if (header->count > SIZE_MAX / header->item_size || header->count * header->item_size != available)
        return cli_fail(error, INGOT_INVALID_INPUT,
                        "the file holds %zu bytes of elements, but its header means %zu elements of %zu bytes",
                        available, header->count, header->item_size);
    return INGOT_OK;
}

ingot_status cli_npy_header_read(const unsigned char *data, size_t size, cli_npy_header *header, ingot_error *error)
{
    memset(header, 0, sizeof *header);
    if (size < 10 || memcmp(data, "\x93NUMPY", 6) != 0)
        return cli_fail(error, INGOT_INVALID_INPUT, "is no .npy file: it does not start with \\x93NUMPY");
    unsigned version = data[6];
    if (version < 1 || version > 3)
        return cli_fail(error, INGOT_UNSUPPORTED, "is a .npy file of version %u; versions 1 to 3 are known", version);
    size_t start = version == 1 ? 10 : 12, length = data[8] | (size_t)data[9] << 8;
    if (version > 1 && size >= 12)
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (size < start || length > size - start)
        return cli_fail(error, INGOT_INVALID_INPUT, "ends within its .npy header");
    reader in = {(const char *)data + start, (const char *)data + start + length};
    CLI_TRY(read_dict(&in, header, error));
    header->data_start = start + length;
    return check_size(header, size - header->data_start, error);
}
