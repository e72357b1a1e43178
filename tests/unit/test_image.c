/* Pictures: what is read here, BMP and PNM, by the formats' own descriptions; and that damaged data of all formats is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/image.h"

#define ROOM 4096

typedef struct picture {
    size_t width, height;
    uint8_t rgb[ROOM];
} picture;

static ingot_status make(void *context, size_t width, size_t height, uint8_t **rgb, ingot_error *error)
{
    picture *p = context;
    if (width * height * 3 > ROOM)
        return ingot_fail(error, INGOT_OUT_OF_MEMORY, "the test has no room");
    p->width = width;
    p->height = height;
    *rgb = p->rgb;
    return INGOT_OK;
}

static ingot_status decode(const void *data, size_t size, picture *p)
{
    ingot_error error = {0};
    ingot_image_target target = {make, p};
    memset(p, 0, sizeof *p);
    ingot_status status = ingot_image_decode((ingot_image_source){data, size}, &target, &error);
    assert_int_equal(status, error.status);
    return status;
}

static void expect(const void *data, size_t size, size_t width, size_t height, const uint8_t *rgb)
{
    picture p;
    assert_int_equal(decode(data, size, &p), INGOT_OK);
    assert_int_equal(p.width, width);
    assert_int_equal(p.height, height);
    assert_memory_equal(p.rgb, rgb, width * height * 3);
}

/* A BMP of 2 x 2 pixels with this number of bits, compression, palette and pixels. */
static size_t make_bmp(uint8_t *to, int height, uint8_t bits, uint8_t compression, const char *colors,
                       size_t color_size, const char *pixels, size_t pixel_size)
{
    memset(to, 0, 54);
    memcpy(to, "BM", 2);
    to[10] = (uint8_t)(54 + color_size);
    to[14] = 40;
    to[18] = 2;
    for (int i = 0; i < 4; i++)
        to[22 + i] = (uint8_t)((uint32_t)height >> 8 * i);
    to[26] = 1;
    to[28] = bits;
    to[30] = compression;
    memcpy(to + 54, colors, color_size);
    memcpy(to + 54 + color_size, pixels, pixel_size);
    return 54 + color_size + pixel_size;
}

static const uint8_t red_green_blue_white[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};

static void bmp_of_every_depth_is_read(void **state)
{
    uint8_t file[256];
    const char palette[] = "\0\0\xFF\0\0\xFF\0\0\xFF\0\0\0\xFF\xFF\xFF";
    size_t size = make_bmp(file, 2, 24, 0, "", 0, "\xFF\0\0\xFF\xFF\xFF\0\0\0\0\xFF\0\xFF\0\0\0", 16);
    expect(file, size, 2, 2, red_green_blue_white);
    size = make_bmp(file, -2, 24, 0, "", 0, "\0\0\xFF\0\xFF\0\0\0\xFF\0\0\xFF\xFF\xFF\0\0", 16);
    expect(file, size, 2, 2, red_green_blue_white);
    size = make_bmp(file, 2, 32, 0, "", 0, "\xFF\0\0\0\xFF\xFF\xFF\0\0\0\xFF\0\0\xFF\0\0", 16);
    expect(file, size, 2, 2, red_green_blue_white);
    size = make_bmp(file, 2, 16, 0, "", 0, "\x1F\0\xFF\x7F\0\x7C\xE0\x03", 8);
    expect(file, size, 2, 2, red_green_blue_white);
    size = make_bmp(file, 2, 16, 3, "\0\xF8\0\0\xE0\x07\0\0\x1F\0\0\0", 12, "\x1F\0\xFF\xFF\0\xF8\xE0\x07", 8);
    expect(file, size, 2, 2, red_green_blue_white);
    size = make_bmp(file, 2, 8, 0, palette, 16, "\2\3\0\0\0\1\0\0", 8);
    file[46] = 4;
    expect(file, size, 2, 2, red_green_blue_white);
    size = make_bmp(file, 2, 4, 0, palette, 16, "\x23\0\0\0\x01\0\0\0", 8);
    file[46] = 4;
    expect(file, size, 2, 2, red_green_blue_white);
    size = make_bmp(file, 2, 1, 0, palette, 8, "\x40\0\0\0\x80\0\0\0", 8);
    expect(file, size, 2, 2, (const uint8_t[]){0, 255, 0, 255, 0, 0, 255, 0, 0, 0, 255, 0});
}

static void bmp_that_is_none_is_refused(void **state)
{
    uint8_t file[256];
    picture p;
    size_t size = make_bmp(file, 2, 24, 0, "", 0, "\xFF\0\0\xFF\xFF\xFF\0\0\0\0\xFF\0\xFF\0\0\0", 16);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(decode(file, i, &p), INGOT_INVALID_INPUT);
    make_bmp(file, 0, 24, 0, "", 0, "", 0);
    assert_int_equal(decode(file, size, &p), INGOT_INVALID_INPUT);
    make_bmp(file, 2, 7, 0, "", 0, "", 0);
    assert_int_equal(decode(file, size, &p), INGOT_INVALID_INPUT);
    size = make_bmp(file, 2, 8, 0, "\0\0\0\0", 4, "\0\0\0\0\0\1\0\0", 8);
    file[46] = 1;
    assert_int_equal(decode(file, size, &p), INGOT_INVALID_INPUT);
    size = make_bmp(file, INT32_MIN, 24, 0, "", 0, "", 0);
    assert_int_equal(decode(file, size, &p), INGOT_INVALID_INPUT);
}

#define TEXT(text) text, sizeof text - 1

static void pnm_of_every_kind_is_read(void **state)
{
    const uint8_t black_white[] = {0, 0, 0, 255, 255, 255}, grey[] = {0, 0, 0, 128, 128, 128};
    expect(TEXT("P1 # bits\n2 1\n10"), 2, 1, black_white);
    expect(TEXT("P4\n2 1\n\x80"), 2, 1, black_white);
    expect(TEXT("P2\n2 1 255\n0 128"), 2, 1, grey);
    expect(TEXT("P5\n2 1 255\n\0\x80"), 2, 1, grey);
    expect(TEXT("P5 2 1 65535 \0\0\xFF\xFF"), 2, 1, black_white);
    expect(TEXT("P3 2 2 1 1 0 0 0 1 0 0 0 1 1 1 1"), 2, 2, red_green_blue_white);
    expect(TEXT("P6 2 2 255 \xFF\0\0\0\xFF\0\0\0\xFF\xFF\xFF\xFF"), 2, 2, red_green_blue_white);
    expect(TEXT("P4 9 2 \x7F\xFF\xFF\x7F"), 9, 2, (const uint8_t[54]){255, 255, 255, [24] = 0, [51] = 255, 255, 255});
}

static void pnm_that_is_none_is_refused(void **state)
{
    const struct {
        const char *data;
        size_t size;
    } files[] = {{TEXT("P6")},
                 {TEXT("P6 2")},
                 {TEXT("P6 2 2 255")},
                 {TEXT("P6 2 2 255 ab")},
                 {TEXT("P5 2 1 0 \0\0")},
                 {TEXT("P5 2 1 70000 \0\0")},
                 {TEXT("P2 1 1 5 6")},
                 {TEXT("P1 2 1 1")},
                 {TEXT("P5 999999999 999999999 1 \0")},
                 {TEXT("P5 0 1 1 \0")},
                 {TEXT("P1 1 1 2")},
                 {TEXT("P2 -1 1 1 1")}};
    picture p;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (decode(files[i].data, files[i].size, &p) != INGOT_INVALID_INPUT)
            fail_msg("%s is not refused", files[i].data);
}

static void data_that_only_begins_like_a_picture_is_refused(void **state)
{
    const struct {
        const char *data;
        size_t size;
    } files[] = {{TEXT("")},
                 {TEXT("GIF89a")},
                 {TEXT("\xFF\xD8\xFF\xE0 no JPEG")},
                 {TEXT("\x89PNG\r\n\x1A\n no PNG")},
                 {TEXT("RIFF\x10\0\0\0WEBPVP8 none")},
                 {TEXT("II*\0\x08\0\0\0\1\0")},
                 {TEXT("MM\0*\xFF\xFF\xFF\xFF")},
                 {TEXT("\0\0\0\x0CjP  \r\n\x87\n none")},
                 {TEXT("\xFF\x4F\xFF\x51 none")}};
    picture p;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ingot_status status = decode(files[i].data, files[i].size, &p);
        assert_true(status == INGOT_INVALID_INPUT || status == INGOT_UNSUPPORTED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bmp_of_every_depth_is_read),
        cmocka_unit_test(bmp_that_is_none_is_refused),
        cmocka_unit_test(pnm_of_every_kind_is_read),
        cmocka_unit_test(pnm_that_is_none_is_refused),
        cmocka_unit_test(data_that_only_begins_like_a_picture_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
