#include "picture.h"
#include "report.h"

#ifdef INGOT_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jerror.h>
#include <jpeglib.h>

/* libjpeg's error manager with what failing needs; base must be first, for libjpeg knows only it. */
typedef struct jpeg_failure {
    struct jpeg_error_mgr base;
    jmp_buf leave;
    ingot_error *error;
} jpeg_failure;

static void fail(j_common_ptr jpeg)
{
    jpeg_failure *failure = (jpeg_failure *)jpeg->err;
    char message[JMSG_LENGTH_MAX];
    failure->base.format_message(jpeg, message);
    cli_fail(failure->error, INGOT_INVALID_INPUT, "is no good JPEG: %s", message);
    longjmp(failure->leave, 1);
}

/* Warnings are kept quiet, but a file that ends too early is no picture. */
static void handle_message(j_common_ptr jpeg, int level)
{
    if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF)
        fail(jpeg);
}

/* libjpeg leaves through longjmp on failure: the picture is freed by the caller, who holds it. */
static ingot_status decode(struct jpeg_decompress_struct *jpeg, const cli_bytes *file, cli_picture *picture,
                           jpeg_failure *failure)
{
    if (setjmp(failure->leave))
        return failure->error->status;
    jpeg_create_decompress(jpeg);
    jpeg_mem_src(jpeg, file->data, (unsigned long)file->size);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->num_components != 1 && jpeg->num_components != 3)
        return cli_fail(failure->error, INGOT_UNSUPPORTED, "is a JPEG of %d channels; grey and colour are known",
                        jpeg->num_components);
    jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    CLI_TRY(
        cli_picture_make(jpeg->image_width, jpeg->image_height, (size_t)jpeg->num_components, picture, failure->error));
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = picture->pixels + (size_t)jpeg->output_scanline * picture->width * picture->channels;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return INGOT_OK;
}

ingot_status cli_jpeg_decode(const cli_bytes *file, cli_picture *picture, ingot_error *error)
{
    struct jpeg_decompress_struct jpeg = {0};
    jpeg_failure failure = {.error = error};
    *picture = (cli_picture){NULL, 0, 0, 0};
    jpeg.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = fail;
    failure.base.emit_message = handle_message;
    ingot_status status = decode(&jpeg, file, picture, &failure);
    jpeg_destroy_decompress(&jpeg);
    if (status != INGOT_OK)
        cli_picture_free(picture);
    return status;
}

#else

ingot_status cli_jpeg_decode(const cli_bytes *file, cli_picture *picture, ingot_error *error)
{
    return cli_fail(error, INGOT_UNSUPPORTED,
                    "this ingot was built without JPEG; build it with libjpeg62-turbo-dev installed");
}

#endif
