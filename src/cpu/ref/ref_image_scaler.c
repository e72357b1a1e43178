/* ImageScaler. */
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/image_scaler.h"

/* y = scale * x + shift for a part of the tensors, in double. */
static void scale_and_shift(const ingot_kernel_call *call, size_t first, size_t count, double scale, double shift)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    double part[256];
    for (size_t done = 0; done < count;) {
        size_t n = count - done < 256 ? count - done : 256;
        ingot_read_doubles(x->element, x->data, (int64_t)(first + done), 1, n, part);
        for (size_t i = 0; i < n; i++)
            part[i] = scale * part[i] + shift;
        ingot_write_doubles(y->element, y->data, (int64_t)(first + done), 1, n, part);
        done += n;
    }
}

ingot_status ingot_ref_image_scaler(const ingot_kernel_call *call)
{
    const ingot_image_scaler_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    size_t channels = (size_t)x->dims[1], plane = ingot_dims_product(x->dims, 2, 4);
    for (size_t i = 0; i < (size_t)x->dims[0] * channels; i++) {
        double bias = p->bias.count ? (double)p->bias.data[i % channels] : 0;
        scale_and_shift(call, i * plane, plane, (double)p->scale, bias);
    }
    return INGOT_OK;
}
