#include "base/image.h"

#ifdef INGOT_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h>

#include <jerror.h>
#include <jpeglib.h>

/* libjpeg's error manager with what failing needs; base must be first, for libjpeg knows only it. */
typedef struct failure {
    struct jpeg_error_mgr base;
    jmp_buf leave;
    ingot_error *error;
    ingot_status status;
} failure;

static void leave(j_common_ptr jpeg)
{
    failure *f = (failure *)jpeg->err;
    char message[JMSG_LENGTH_MAX];
    f->base.format_message(jpeg, message);
    f->status = ingot_image_damaged(f->error, "JPEG", message);
    longjmp(f->leave, 1);
}

/* Warnings are kept quiet, but data that ends too early is no picture. */
static void hear(j_common_ptr jpeg, int level)
{
    if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF)
        leave(jpeg);
}

/* Scans of a progressive picture that are waited for: thousands of them over nothing would only cost time. */
#define MOST_SCANS 500

static void watch(j_common_ptr common)
{
    const struct jpeg_decompress_struct *jpeg = (const struct jpeg_decompress_struct *)common;
    failure *f = (failure *)common->err;
    if (jpeg->input_scan_number <= MOST_SCANS)
        return;
    f->status = ingot_image_damaged(f->error, "JPEG", "it has too many scans");
    longjmp(f->leave, 1);
}

/* Four channels, as Adobe's programs write them: inverted cyan, magenta, yellow and black. */
static void cmyk_row(const uint8_t *cmyk, size_t width, uint8_t *rgb)
{
    for (size_t i = 0; i < width; i++)
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] = (uint8_t)((cmyk[4 * i + c] * cmyk[4 * i + 3] + 127) / 255);
}

static ingot_status decode(struct jpeg_decompress_struct *jpeg, ingot_image_source source,
                           const ingot_image_target *target, failure *f, struct jpeg_progress_mgr *progress)
{
    uint8_t *rgb;
    if (setjmp(f->leave))
        return f->status;
    jpeg_create_decompress(jpeg);
    jpeg->progress = progress;
    jpeg_mem_src(jpeg, source.data, (unsigned long)source.size);
    jpeg_read_header(jpeg, TRUE);
    bool four = jpeg->num_components == 4;
    jpeg->out_color_space = four ? JCS_CMYK : JCS_RGB;
    INGOT_TRY(ingot_image_make(target, jpeg->image_width, jpeg->image_height, &rgb, f->error));
    jpeg_start_decompress(jpeg);
    JSAMPARRAY wide = four ? jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE, jpeg->image_width * 4, 1) : NULL;
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = rgb + 3 * (size_t)jpeg->output_scanline * jpeg->image_width;
        JSAMPROW to = four ? wide[0] : row;
        jpeg_read_scanlines(jpeg, &to, 1);
        if (four)
            cmyk_row(to, jpeg->image_width, row);
    }
    jpeg_finish_decompress(jpeg);
    return INGOT_OK;
}

ingot_status ingot_image_decode_jpeg(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    struct jpeg_decompress_struct jpeg = {0};
    failure f = {.error = error};
    struct jpeg_progress_mgr progress = {.progress_monitor = watch};
    jpeg.err = jpeg_std_error(&f.base);
    f.base.error_exit = leave;
    f.base.emit_message = hear;
    ingot_status status = decode(&jpeg, source, target, &f, &progress);
    jpeg_destroy_decompress(&jpeg);
    return status;
}

#else

ingot_status ingot_image_decode_jpeg(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    return ingot_image_missing(error, "JPEG", "libjpeg-dev", "jpeg");
}

#endif
