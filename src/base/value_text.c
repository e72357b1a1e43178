/* Values and shapes as text, for messages. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/value.h"

/* Text under construction; what does not fit is left out. */
typedef struct text_writer {
    char *text;
    size_t size, used;
} text_writer;

static void write_text(text_writer *writer, const char *format, ...) INGOT_PRINTF(2, 3);
static void write_text(text_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(writer->text + writer->used, writer->size - writer->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        writer->used += (size_t)length < writer->size - writer->used ? (size_t)length : writer->size - writer->used - 1;
}

static void write_dims(text_writer *writer, int rank, const int64_t *dims)
{
    if (rank < 0) {
        write_text(writer, "[...]");
        return;
    }
    write_text(writer, "[");
    for (int i = 0; i < rank; i++) {
        if (i)
            write_text(writer, ",");
        if (dims[i] == -1)
            write_text(writer, "?");
        else
            write_text(writer, "%" PRId64, dims[i]);
    }
    write_text(writer, "]");
}

const char *ingot_dims_describe(int rank, const int64_t *dims, char *text, size_t size)
{
    if (size == 0)
        return "";
    text[0] = '\0';
    write_dims(&(text_writer){text, size, 0}, rank, dims);
    return text;
}

static void write_value(text_writer *writer, const ingot_value *v)
{
    while (v->kind == INGOT_KIND_OPTIONAL && v->item_count) {
        write_text(writer, "optional of ");
        v = v->items[0];
    }
    if (v->kind == INGOT_KIND_TENSOR || v->kind == INGOT_KIND_SPARSE) {
        write_text(writer, "%s%s", v->kind == INGOT_KIND_SPARSE ? "sparse " : "", ingot_element_name(v->element));
        write_dims(writer, v->rank, v->dims);
    } else if (v->kind == INGOT_KIND_SEQUENCE) {
        write_text(writer, "sequence of %zu", v->item_count);
    } else if (v->kind == INGOT_KIND_MAP) {
        write_text(writer, "map of %zu", v->item_count ? ingot_value_count(v->items[0]) : 0);
    } else {
        write_text(writer, "%s", v->kind == INGOT_KIND_OPTIONAL ? "empty optional" : "nothing");
    }
}

const char *ingot_value_describe(const ingot_value *v, char *text, size_t size)
{
    if (size == 0)
        return "";
    text[0] = '\0';
    if (v)
        write_value(&(text_writer){text, size, 0}, v);
    return text;
}
