/* Files over 2 GB: a model whose weights lie beyond them, in the file itself and beside it. The files are sparse: they take
 * address space, but hardly any disk or memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/memory.h"
#include "ingot/ingot.h"
#include "onnx/write.h"

#define GIB (INT64_C(1) << 30)

static char folder[32];
static char model_path[64], data_path[64];

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/ingot_large_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(model_path, sizeof model_path, "%s/model.onnx", folder);
    snprintf(data_path, sizeof data_path, "%s/data", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(model_path);
    unlink(data_path);
    return rmdir(folder);
}

/* ---- Writing ---- */

typedef struct piece {
    int64_t offset;
    const void *data;
    size_t size;
} piece;

/* A file of so many bytes, zero but for the pieces; false where the file system cannot hold it. */
static bool write_sparse(const char *path, int64_t size, const piece *pieces, size_t count)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    bool good = ftruncate(file, size) == 0;
    for (size_t i = 0; i < count && good; i++)
        good = pwrite(file, pieces[i].data, pieces[i].size, pieces[i].offset) == (ssize_t)pieces[i].size;
    close(file);
    return good;
}

static void write_info(ingot_writer *w, uint32_t field, const char *name, ingot_element element)
{
    size_t info = ingot_write_begin(w, field);
    ingot_write_text(w, 1, name);
    size_t type = ingot_write_begin(w, 2), tensor = ingot_write_begin(w, 1);
    ingot_write_integer(w, 1, element);
    size_t shape = ingot_write_begin(w, 2);
    ingot_write_end(w, shape);
    ingot_write_end(w, tensor);
    ingot_write_end(w, type);
    ingot_write_end(w, info);
}

/* The graph but for its weights w: y = w[i]. */
static void write_graph(ingot_writer *w)
{
    size_t node = ingot_write_begin(w, 1);
    ingot_write_text(w, 1, "w");
    ingot_write_text(w, 1, "i");
    ingot_write_text(w, 2, "y");
    ingot_write_text(w, 4, "Gather");
    ingot_write_end(w, node);
    write_info(w, 11, "i", INGOT_INT64);
    write_info(w, 12, "y", INGOT_FLOAT);
}

static void write_head(ingot_writer *w)
{
    ingot_write_integer(w, 1, 8);
    size_t opset = ingot_write_begin(w, 8);
    ingot_write_integer(w, 2, 17);
    ingot_write_end(w, opset);
}

/* Reads elements of w through a session. */
static void expect_elements(const int64_t *places, const float *expected, size_t count)
{
    ingot_error error = {0};
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    int64_t place = 0;
    ingot_value *index = NULL;
    const char *name = "i", *output_name = "y";
    if (ingot_model_open(model_path, NULL, &model, &error) != INGOT_OK ||
        ingot_session_create(model, NULL, &session, &error) != INGOT_OK ||
        ingot_value_create_tensor(INGOT_INT64, 0, NULL, &place, sizeof place, &index, &error) != INGOT_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        ingot_value *y = NULL;
        place = places[i];
        if (ingot_session_run(session, NULL, &name, (const ingot_value *const *)&index, 1, &output_name, &y, 1,
                              &error) != INGOT_OK)
            fail_msg("%s", error.message);
        assert_true(*(const float *)ingot_value_data(y) == expected[i]);
        ingot_value_release(y);
    }
    ingot_value_release(index);
    ingot_session_release(session);
    ingot_model_release(model);
}

/* ---- Tests ---- */

static void weights_beyond_2_gb_of_another_file_are_used_where_they_lie(void **state)
{
    static const float weights[] = {1.5f, 2.5f, 3.5f};
    ingot_writer w = {0};
    write_head(&w);
    size_t graph = ingot_write_begin(&w, 7), tensor = ingot_write_begin(&w, 5);
    ingot_write_integer(&w, 1, 3);
    ingot_write_integer(&w, 2, INGOT_FLOAT);
    ingot_write_text(&w, 8, "w");
    static const char *const entries[][2] = {{"location", "data"}, {"offset", "5368709120"}, {"length", "12"}};
    for (size_t i = 0; i < 3; i++) {
        size_t entry = ingot_write_begin(&w, 13);
        ingot_write_text(&w, 1, entries[i][0]);
        ingot_write_text(&w, 2, entries[i][1]);
        ingot_write_end(&w, entry);
    }
    ingot_write_integer(&w, 14, 1);
    ingot_write_end(&w, tensor);
    write_graph(&w);
    ingot_write_end(&w, graph);
    assert_int_equal(w.status, INGOT_OK);
    const piece model = {0, w.data, w.size}, data = {5 * GIB, weights, sizeof weights};
    if (!write_sparse(data_path, 5 * GIB + (int64_t)sizeof weights, &data, 1) ||
        !write_sparse(model_path, (int64_t)w.size, &model, 1)) {
        ingot_free(w.data);
        skip();
    }
    ingot_free(w.data);
    expect_elements((const int64_t[]){0, 2, -1}, (const float[]){1.5f, 3.5f, 3.5f}, 3);
}

static size_t put_varint(uint64_t value, char *bytes)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (char)(value | 0x80);
    bytes[size++] = (char)value;
    return size;
}

/* raw_data of 2.5 GiB inside the tensor, the tensor inside the graph: the lengths around it are written by hand. */
static void a_model_file_over_2_gb_is_read(void **state)
{
    enum { ROOM = 64 };
    const int64_t elements = 5 * GIB / 8, bytes = elements * 4;
    const float last = 42;
    char raw_head[ROOM], tensor_head[ROOM], graph_head[ROOM];
    ingot_writer head = {0}, tensor = {0}, rest = {0};
    write_head(&head);
    ingot_write_integer(&tensor, 1, elements);
    ingot_write_integer(&tensor, 2, INGOT_FLOAT);
    ingot_write_text(&tensor, 8, "w");
    write_graph(&rest);
    assert_int_equal(head.status + tensor.status + rest.status, INGOT_OK);
    raw_head[0] = 9 << 3 | INGOT_WIRE_LENGTH;
    size_t raw_size = 1 + put_varint((uint64_t)bytes, raw_head + 1);
    tensor_head[0] = 5 << 3 | INGOT_WIRE_LENGTH;
    uint64_t tensor_bytes = tensor.size + raw_size + (uint64_t)bytes;
    size_t tensor_size = 1 + put_varint(tensor_bytes, tensor_head + 1);
    graph_head[0] = 7 << 3 | INGOT_WIRE_LENGTH;
    size_t graph_size = 1 + put_varint(rest.size + tensor_size + tensor_bytes, graph_head + 1);
    piece pieces[] = {{0, head.data, head.size},     {0, graph_head, graph_size},   {0, rest.data, rest.size},
                      {0, tensor_head, tensor_size}, {0, tensor.data, tensor.size}, {0, raw_head, raw_size},
                      {0, &last, sizeof last}};
    int64_t at = 0;
    for (size_t i = 0; i < 6; i++) {
        pieces[i].offset = at;
        at += (int64_t)pieces[i].size;
    }
    pieces[6].offset = at + bytes - (int64_t)sizeof last;
    bool written = write_sparse(model_path, at + bytes, pieces, 7);
    ingot_free(head.data);
    ingot_free(tensor.data);
    ingot_free(rest.data);
    if (!written)
        skip();
    expect_elements((const int64_t[]){0, elements - 1}, (const float[]){0, 42}, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(weights_beyond_2_gb_of_another_file_are_used_where_they_lie, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_model_file_over_2_gb_is_read, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
