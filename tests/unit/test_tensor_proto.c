/* Tensors of a model file as values, and values as messages. The table's bytes were written by the onnx Python package. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingot/tools.h"
#include "onnx/tensor.h"

#define BYTES(text) text, sizeof(text) - 1

typedef struct row {
    ingot_element element;
    const char *proto;
    size_t proto_size;
    const char *data;
    size_t data_size;
} row;

/* clang-format off */
static const row typed_rows[] = { /* tensors [3] in typed fields, and their elements in memory */
    {INGOT_FLOAT, BYTES("\x08\x03\x10\x01\x22\x0c\x00\x00\x80\x3f\x00\x00\x00\xbf\x00\x00\x00\x40"), BYTES("\x00\x00\x80\x3f\x00\x00\x00\xbf\x00\x00\x00\x40")},
    {INGOT_UINT8, BYTES("\x08\x03\x10\x02\x2a\x03\x01\x00\x03"), BYTES("\x01\x00\x03")},
    {INGOT_INT8, BYTES("\x08\x03\x10\x03\x2a\x0c\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"), BYTES("\x01\xfe\x00")},
    {INGOT_UINT16, BYTES("\x08\x03\x10\x04\x2a\x03\x01\x00\x03"), BYTES("\x01\x00\x00\x00\x03\x00")},
    {INGOT_INT16, BYTES("\x08\x03\x10\x05\x2a\x0c\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"), BYTES("\x01\x00\xfe\xff\x00\x00")},
    {INGOT_INT32, BYTES("\x08\x03\x10\x06\x2a\x0c\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"), BYTES("\x01\x00\x00\x00\xfe\xff\xff\xff\x00\x00\x00\x00")},
    {INGOT_INT64, BYTES("\x08\x03\x10\x07\x3a\x0c\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"), BYTES("\x01\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00")},
    {INGOT_BOOL, BYTES("\x08\x03\x10\x09\x2a\x03\x01\x00\x01"), BYTES("\x01\x00\x01")},
    {INGOT_FLOAT16, BYTES("\x08\x03\x10\x0a\x2a\x08\x80\x78\x80\xf0\x02\x80\x80\x01"), BYTES("\x00\x3c\x00\xb8\x00\x40")},
    {INGOT_DOUBLE, BYTES("\x08\x03\x10\x0b\x52\x18\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\xe0\xbf\x00\x00" "\x00\x00\x00\x00\x00\x40"), BYTES("\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\xe0\xbf\x00\x00\x00\x00\x00\x00\x00\x40")},
    {INGOT_UINT32, BYTES("\x08\x03\x10\x0c\x5a\x03\x01\x00\x03"), BYTES("\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00")},
    {INGOT_UINT64, BYTES("\x08\x03\x10\x0d\x5a\x03\x01\x00\x03"), BYTES("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00")},
    {INGOT_COMPLEX64, BYTES("\x08\x03\x10\x0e\x22\x18\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\x80\x00\x00\x60\xc0\x00\x00" "\x00\x00\x00\x00\x00\x00"), BYTES("\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\x80\x00\x00\x60\xc0\x00\x00\x00\x00\x00\x00\x00\x00")},
    {INGOT_COMPLEX128, BYTES("\x08\x03\x10\x0f\x52\x30\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00" "\x00\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x0c\xc0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" "\x00\x00\x00\x00\x00\x00"), BYTES("\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x80" "\x00\x00\x00\x00\x00\x00\x0c\xc0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")},
    {INGOT_BFLOAT16, BYTES("\x08\x03\x10\x10\x2a\x08\x80\x7f\x80\xfe\x02\x80\x80\x01"), BYTES("\x80\x3f\x00\xbf\x00\x40")},
    {INGOT_FLOAT8E4M3FN, BYTES("\x08\x03\x10\x11\x2a\x04\x38\xb0\x01\x40"), BYTES("\x38\xb0\x40")},
    {INGOT_FLOAT8E4M3FNUZ, BYTES("\x08\x03\x10\x12\x2a\x04\x40\xb8\x01\x48"), BYTES("\x40\xb8\x48")},
    {INGOT_FLOAT8E5M2, BYTES("\x08\x03\x10\x13\x2a\x04\x3c\xb8\x01\x40"), BYTES("\x3c\xb8\x40")},
    {INGOT_FLOAT8E5M2FNUZ, BYTES("\x08\x03\x10\x14\x2a\x04\x40\xbc\x01\x44"), BYTES("\x40\xbc\x44")},
    {INGOT_UINT4, BYTES("\x08\x03\x10\x15\x2a\x02\x01\x03"), BYTES("\x01\x03")},
    {INGOT_INT4, BYTES("\x08\x03\x10\x16\x2a\x03\xe1\x01\x00"), BYTES("\xe1\x00")},
    {INGOT_FLOAT4E2M1, BYTES("\x08\x03\x10\x17\x2a\x03\x92\x01\x04"), BYTES("\x92\x04")},
    {INGOT_FLOAT8E8M0, BYTES("\x08\x03\x10\x18\x2a\x04\x7f\x80\x01\x7e"), BYTES("\x7f\x80\x7e")},
    {INGOT_UINT2, BYTES("\x08\x03\x10\x19\x2a\x01\x31"), BYTES("\x31")},
    {INGOT_INT2, BYTES("\x08\x03\x10\x1a\x2a\x01\x09"), BYTES("\x09")},
};
/* clang-format on */

typedef struct loaded {
    ingot_arena *arena;
    ingot_budget budget;
    ingot_value value;
    ingot_error error;
    ingot_status status;
} loaded;

static loaded load_with(const char *data, size_t size, ingot_model_files *files)
{
    loaded l = {.arena = ingot_arena_create()};
    assert_non_null(l.arena);
    ingot_budget_init(&l.budget, 1 << 20);
    ingot_value_init(&l.value);
    ingot_tensor_proto proto = {0};
    ingot_tensor_source source = {.files = files, .budget = &l.budget};
    l.status = ingot_proto_read(&ingot_proto_tensor, (ingot_span){data, size}, l.arena, &l.budget, &proto, &l.error);
    if (l.status == INGOT_OK)
        l.status = ingot_tensor_read(&proto, &source, &l.value, &l.error);
    return l;
}

static void unload(loaded *l)
{
    ingot_value_clear(&l->value);
    ingot_arena_release(l->arena);
}

static void expect_failure_with(const char *data, size_t size, ingot_model_files *files, const char *words)
{
    loaded l = load_with(data, size, files);
    assert_int_not_equal(l.status, INGOT_OK);
    if (strstr(l.error.message, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, l.error.message);
    unload(&l);
}
#define FAILS(bytes, words) expect_failure_with(BYTES(bytes), NULL, words)

static void every_element_type_is_read_from_its_typed_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof typed_rows / sizeof typed_rows[0]; i++) {
        const row *r = &typed_rows[i];
        loaded l = load_with(r->proto, r->proto_size, NULL);
        assert_int_equal(l.status, INGOT_OK);
        assert_int_equal(l.value.element, r->element);
        assert_int_equal(l.value.rank, 1);
        assert_int_equal(l.value.dims[0], 3);
        assert_memory_equal(l.value.data, r->data, r->data_size);
        unload(&l);
    }
}

/* A TensorProto [3] with the row's elements as raw_data that begins at data. */
static size_t make_raw(const row *r, char *data)
{
    char *tag = data - 2;
    tag[0] = 0x4a;
    tag[1] = (char)r->data_size;
    memcpy(data, r->data, r->data_size);
    memcpy(tag - 4, "\x08\x03\x10", 3);
    tag[-1] = (char)r->element;
    return r->data_size + 6;
}

static void raw_data_is_used_where_it_lies_when_it_is_aligned_and_copied_when_not(void **state)
{
    (void)state;
    _Alignas(16) static char memory[128];
    for (size_t i = 0; i < sizeof typed_rows / sizeof typed_rows[0]; i++) {
        const row *r = &typed_rows[i];
        for (size_t offset = 16; offset < 24; offset++) {
            char *data = memory + offset;
            loaded l = load_with(data - 6, make_raw(r, data), NULL);
            assert_int_equal(l.status, INGOT_OK);
            assert_memory_equal(l.value.data, r->data, r->data_size);
            if (offset == 16)
                assert_ptr_equal(l.value.data, data);
            if (offset == 17 && ingot_element_size(r->element) > 1)
                assert_ptr_not_equal(l.value.data, data);
            unload(&l);
        }
    }
}

static void true_is_one_whatever_byte_the_file_has(void **state)
{
    (void)state;
    loaded l = load_with(BYTES("\x08\x03\x10\x09\x4a\x03\x00\xff\x02"), NULL);
    assert_int_equal(l.status, INGOT_OK);
    assert_memory_equal(l.value.data, "\x00\x01\x01", 3);
    unload(&l);
}

static void strings_are_read_and_may_hold_any_byte(void **state)
{
    (void)state;
    loaded l = load_with(BYTES("\x08\x02\x10\x08\x32\x03"
                               "a\x00"
                               "b\x32\x00"),
                         NULL);
    assert_int_equal(l.status, INGOT_OK);
    size_t length;
    assert_memory_equal(ingot_value_string(&l.value, 0, &length), "a\0b", 3);
    assert_int_equal(length, 3);
    ingot_value_string(&l.value, 1, &length);
    assert_int_equal(length, 0);
    unload(&l);
}

static void data_that_does_not_fit_the_shape_is_refused(void **state)
{
    (void)state;
    FAILS("\x08\x02\x10\x01\x42\x01w\x4a\x04\x00\x00\x00\x00", "tensor 'w': raw_data has 4 bytes");
    FAILS("\x10\x01\x42\x01w\x4a\x05\x00\x00\x00\x00\x00", "tensor 'w': raw_data has 5 bytes");
    FAILS("\x08\x02\x10\x01\x42\x01w\x22\x04\x00\x00\x00\x00", "tensor 'w': float_data has 1 elements");
    FAILS("\x08\x03\x10\x15\x2a\x03\x01\x02\x03", "int32_data has 3 elements");
    FAILS("\x08\x03\x10\x01\x42\x01w", "'w': the tensor has 0 elements");
    FAILS("\x08\x01\x10\x08\x42\x01w", "the tensor has 0 elements");
}

static void data_in_the_wrong_field_is_refused(void **state)
{
    (void)state;
    FAILS("\x08\x01\x10\x08\x4a\x01x", "strings in raw_data");
    FAILS("\x10\x01\x2a\x01\x01", "data in int32_data, but float belongs in float_data");
    FAILS("\x10\x06\x2a\x01\x01\x4a\x04\x00\x00\x00\x00", "there is raw_data, too");
    FAILS("\x10\x06\x1a\x00\x2a\x01\x01", "segments");
    FAILS("\x10\x06\x70\x02\x2a\x01\x01", "data_location is 2");
}

static void shapes_and_types_out_of_range_are_refused_before_memory_is_taken(void **state)
{
    (void)state;
    FAILS("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01\x42\x01w", "'w': dimension 0 is -1");
    FAILS("\x08\x80\x80\x80\x80\x08\x08\x80\x80\x80\x80\x08\x10\x01\x42\x01w\x22\x00", "'w': the shape [");
    FAILS("\x08\x80\x80\x80\x80\x80\x20\x10\x01\x4a\x08"
          "01234567",
          "needs 4398046511104");
    FAILS("\x08\x01\x42\x01w", "'w': the element type is missing");
    FAILS("\x10\x63\x42\x01w", "'w': element type 99 is not known");
    FAILS("\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01"
          "\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x10\x02",
          "17 dimensions");
}

/* ---- External data ---- */

typedef struct folder {
    char path[64];
    ingot_model_files *files;
} folder;

static int make_folder(void **state)
{
    static folder f;
    char name[128];
    snprintf(f.path, sizeof f.path, "/tmp/ingot-test-XXXXXX");
    assert_non_null(mkdtemp(f.path));
    snprintf(name, sizeof name, "%s/w.bin", f.path);
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("____\x01\x00\x00\x00\x02\x00\x00\x00____", 1, 16, file), 16);
    fclose(file);
    snprintf(name, sizeof name, "%s/link", f.path);
    assert_int_equal(symlink("/etc/passwd", name), 0);
    assert_int_equal(ingot_model_files_create(f.path, false, &f.files, NULL), INGOT_OK);
    *state = &f;
    return 0;
}

static int remove_folder(void **state)
{
    folder *f = *state;
    char name[128];
    ingot_model_files_release(f->files);
    snprintf(name, sizeof name, "%s/w.bin", f->path);
    unlink(name);
    snprintf(name, sizeof name, "%s/link", f->path);
    unlink(name);
    return rmdir(f->path);
}

/* int32 [2] whose data is where the entries say: pairs of key and value. */
static size_t make_external(char *proto, const char *const *entries)
{
    static const char head[] = "\x08\x02\x10\x06\x42\x01w\x70\x01";
    size_t size = sizeof head - 1;
    memcpy(proto, head, size);
    for (; *entries != NULL; entries += 2) {
        size_t key = strlen(entries[0]), value = strlen(entries[1]);
        size += (size_t)snprintf(proto + size, 256 - size, "\x6a%c\x0a%c%s\x12%c%s", (int)(key + value + 4), (int)key,
                                 entries[0], (int)value, entries[1]);
    }
    return size;
}
#define ENTRIES(...)      \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

static void external_data_is_mapped_and_found_at_its_offset(void **state)
{
    char proto[256];
    folder *f = *state;
    for (int i = 0; i < 2; i++) { /* the second time from the map that exists */
        size_t size = make_external(proto, ENTRIES("location", "w.bin", "offset", "4", "length", "8", "checksum", "0"));
        loaded l = load_with(proto, size, f->files);
        assert_int_equal(l.status, INGOT_OK);
        assert_memory_equal(l.value.data, "\x01\x00\x00\x00\x02\x00\x00\x00", 8);
        unload(&l);
    }
}

static void external_data_must_lie_inside_the_folder_and_the_file(void **state)
{
    static const struct {
        const char *location, *offset, *length, *words;
    } cases[] = {
        {"/etc/passwd", "0", "8", "'/etc/passwd' of the external data is an absolute path"},
        {"../w.bin", "0", "8", "'../w.bin' of the external data leaves the folder"},
        {"a/../../w.bin", "0", "8", "leaves the folder"},
        {"link", "0", "8", "a link to '/etc/passwd', outside the folder"},
        {".", "0", "8", "is a folder, not a file"},
        {"nope.bin", "0", "8", "'nope.bin'"},
        {"", "0", "8", "'w': the data is in another file, but its location is not given"},
        {"w.bin", "-4", "8", "the offset of the external data is '-4'"},
        {"w.bin", "99999999999999999999", "8", "the offset"},
        {"w.bin", "4", "8x", "the length of the external data is '8x'"},
        {"w.bin", "12", "8", "past the end of 'w.bin'"},
        {"w.bin", "9223372036854775790", "8", "past the end of 'w.bin'"},
        {"w.bin", "4", "12", "'w.bin': external data has 12 bytes"},
        {"w.bin", "4", "13", "past the end of 'w.bin'"},
    };
    char proto[256];
    folder *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = make_external(
            proto, ENTRIES("location", cases[i].location, "offset", cases[i].offset, "length", cases[i].length));
        expect_failure_with(proto, size, f->files, cases[i].words);
    }
    size_t size = make_external(proto, ENTRIES("location", "w.bin"));
    expect_failure_with(proto, size, NULL, "not allowed here");
}

static void external_data_may_lie_beyond_4_gb(void **state)
{
    char proto[256], name[128];
    folder *f = *state;
    const off_t offset = (off_t)5 << 30; /* the file is sparse: it takes one page of the disk */
    snprintf(name, sizeof name, "%s/big.bin", f->path);
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    ssize_t written = pwrite(file, "\x07\x00\x00\x00\x09\x00\x00\x00", 8, offset);
    close(file);
    size_t size = make_external(proto, ENTRIES("location", "big.bin", "offset", "5368709120", "length", "8"));
    loaded l = load_with(proto, size, f->files);
    unlink(name);
    assert_int_equal(written, 8);
    assert_int_equal(l.status, INGOT_OK);
    assert_memory_equal(l.value.data, "\x07\x00\x00\x00\x09\x00\x00\x00", 8);
    unload(&l);
}

/* ---- Sparse tensors ---- */

/* float [2,3], values {1, 2}, linear indices {1, 5} or as given: TensorProtos inside. */
static ingot_status load_sparse(const char *proto, size_t size, ingot_value *value, ingot_error *error)
{
    ingot_arena *arena = ingot_arena_create();
    ingot_budget budget;
    ingot_budget_init(&budget, 1 << 20);
    ingot_tensor_source source = {.files = NULL, .budget = &budget};
    ingot_sparse_proto sparse = {0};
    ingot_status status =
        ingot_proto_read(&ingot_proto_sparse, (ingot_span){proto, size}, arena, &budget, &sparse, error);
    if (status == INGOT_OK)
        status = ingot_tensor_read_sparse(&sparse, &source, value, error);
    ingot_arena_release(arena);
    return status;
}

#define SPARSE_VALUES "\x0a\x11\x08\x02\x10\x01\x42\x01s\x22\x08\x00\x00\x80\x3f\x00\x00\x00\x40"

static void a_sparse_tensor_becomes_a_dense_one(void **state)
{
    (void)state;
    static const float expected[] = {0, 1, 0, 0, 0, 2};
    static const row cases[] = {
        {INGOT_FLOAT, BYTES(SPARSE_VALUES "\x12\x08\x08\x02\x10\x07\x3a\x02\x01\x05\x18\x02\x18\x03"), "", 0},
        {INGOT_FLOAT, BYTES(SPARSE_VALUES "\x12\x0c\x08\x02\x08\x02\x10\x07\x3a\x04\x00\x01\x01\x02\x18\x02\x18\x03"),
         "", 0},
    };
    for (size_t i = 0; i < 2; i++) {
        ingot_value value;
        ingot_value_init(&value);
        assert_int_equal(load_sparse(cases[i].proto, cases[i].proto_size, &value, NULL), INGOT_OK);
        assert_int_equal(value.rank, 2);
        assert_memory_equal(value.data, expected, sizeof expected);
        ingot_value_clear(&value);
    }
}

static void a_sparse_tensor_with_wrong_indices_or_size_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *proto;
        size_t size;
        const char *words;
    } cases[] = {
        {BYTES(SPARSE_VALUES "\x12\x08\x08\x02\x10\x07\x3a\x02\x01\x06\x18\x02\x18\x03"), "outside the shape [2,3]"},
        {BYTES(SPARSE_VALUES "\x12\x08\x08\x02\x10\x07\x3a\x02\x01\x01\x18\x02\x18\x03"), "must ascend"},
        {BYTES(SPARSE_VALUES "\x12\x07\x08\x01\x10\x07\x3a\x01\x01\x18\x02\x18\x03"),
         "sparse tensor 's': indices have"},
        {BYTES(SPARSE_VALUES "\x12\x08\x08\x02\x10\x06\x2a\x02\x01\x05\x18\x02\x18\x03"), "int64 is needed"},
        {BYTES(SPARSE_VALUES "\x12\x08\x08\x02\x10\x07\x3a\x02\x01\x05\x18\x80\x80\x80\x80\x20"), "memory limit"},
        {BYTES(SPARSE_VALUES), "no indices"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ingot_value value;
        ingot_error error = {0};
        ingot_value_init(&value);
        assert_int_not_equal(load_sparse(cases[i].proto, cases[i].size, &value, &error), INGOT_OK);
        if (strstr(error.message, cases[i].words) == NULL)
            fail_msg("'%s' is not in '%s'", cases[i].words, error.message);
        ingot_value_clear(&value);
    }
}

/* ---- Values from and to messages ---- */

static void a_written_tensor_has_the_bytes_of_the_standard(void **state)
{
    (void)state;
    float data[] = {1.0f, -0.5f, 2.0f};
    int64_t dims[] = {3};
    ingot_value *value = NULL;
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, 1, dims, data, sizeof data, &value, NULL), INGOT_OK);
    assert_int_equal(ingot_value_to_proto(value, "t", &bytes, &size, NULL), INGOT_OK);
    static const char expected[] = "\x08\x03\x10\x01\x42\x01t\x4a\x0c\x00\x00\x80\x3f\x00\x00\x00\xbf\x00\x00\x00\x40";
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
    ingot_memory_free(bytes);
    ingot_value_release(value);
}

static void sequences_maps_and_optionals_come_back_as_they_were_written(void **state)
{
    (void)state;
    /* SequenceProto of one MapProto {"k": 1.5f} */
    static const char proto[] =
        "\x10\x04\x32\x13\x10\x08\x22\x01k\x2a\x0c\x10\x01\x1a\x08\x10\x01\x22\x04\x00\x00\xc0\x3f";
    ingot_type_info type = {.kind = INGOT_KIND_SEQUENCE};
    ingot_value *value = NULL, *again = NULL;
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(ingot_value_from_proto(BYTES(proto), &type, &value, NULL), INGOT_OK);
    assert_int_equal(ingot_value_to_proto(value, NULL, &bytes, &size, NULL), INGOT_OK);
    assert_int_equal(ingot_value_from_proto(bytes, size, &type, &again, NULL), INGOT_OK);
    const ingot_value *map = ingot_value_item(again, 0);
    size_t length;
    assert_int_equal(ingot_value_kind(map), INGOT_KIND_MAP);
    assert_memory_equal(ingot_value_string(ingot_value_map_keys(map), 0, &length), "k", 1);
    assert_true(*(const float *)ingot_value_data(ingot_value_map_values(map)) == 1.5f);
    ingot_value_release(value);
    ingot_value_release(again);
    ingot_memory_free(bytes);

    type.kind = INGOT_KIND_OPTIONAL;
    assert_int_equal(ingot_value_from_proto(BYTES("\x10\x01\x1a\x07\x10\x06\x2a\x01\x05\x42\x00"), &type, &value, NULL),
                     INGOT_OK);
    assert_int_equal(*(const int32_t *)ingot_value_data(ingot_value_optional_item(value)), 5);
    ingot_value_release(value);
}

static void damaged_messages_of_values_are_refused(void **state)
{
    (void)state;
    ingot_value *value = NULL;
    ingot_error error = {0};
    assert_int_equal(ingot_value_from_proto(BYTES("\x08\x05"), NULL, &value, &error), INGOT_INVALID_MODEL);
    assert_null(value);
    ingot_type_info type = {.kind = INGOT_KIND_SEQUENCE};
    assert_int_equal(ingot_value_from_proto(BYTES("\x10\x04\x1a\x02\x10\x01"), &type, &value, NULL),
                     INGOT_INVALID_MODEL);
    type.kind = INGOT_KIND_MAP;
    assert_int_equal(ingot_value_from_proto(BYTES("\x10\x08\x22\x01k"), &type, &value, NULL), INGOT_INVALID_MODEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_type_is_read_from_its_typed_field),
        cmocka_unit_test(raw_data_is_used_where_it_lies_when_it_is_aligned_and_copied_when_not),
        cmocka_unit_test(true_is_one_whatever_byte_the_file_has),
        cmocka_unit_test(strings_are_read_and_may_hold_any_byte),
        cmocka_unit_test(data_that_does_not_fit_the_shape_is_refused),
        cmocka_unit_test(data_in_the_wrong_field_is_refused),
        cmocka_unit_test(shapes_and_types_out_of_range_are_refused_before_memory_is_taken),
        cmocka_unit_test_setup_teardown(external_data_is_mapped_and_found_at_its_offset, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(external_data_must_lie_inside_the_folder_and_the_file, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(external_data_may_lie_beyond_4_gb, make_folder, remove_folder),
        cmocka_unit_test(a_sparse_tensor_becomes_a_dense_one),
        cmocka_unit_test(a_sparse_tensor_with_wrong_indices_or_size_is_refused),
        cmocka_unit_test(a_written_tensor_has_the_bytes_of_the_standard),
        cmocka_unit_test(sequences_maps_and_optionals_come_back_as_they_were_written),
        cmocka_unit_test(damaged_messages_of_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
