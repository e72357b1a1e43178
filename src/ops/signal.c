#include "ops/signal.h"

#include "base/number.h"
#include "ops/movement.h"

/* A scalar integer input that is there, as far as it is known. */
static ingot_dim scalar(const ingot_infer *c, size_t input)
{
    ingot_dim value;
    size_t count;
    return ingot_infer_integers(c, input, &value, 1, &count) && count == 1 ? value : INGOT_DIM_UNKNOWN;
}

/* Bins of a transform of this length. */
static ingot_dim bin_count(ingot_infer *c, bool onesided, ingot_dim length)
{
    return onesided ? ingot_dim_add(c->dims, ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, length, 2), 1) : length;
}

/* ---- DFT ---- */

static const ingot_param_field dft_fields[] = {
    {"axis", INGOT_PARAM_INT, offsetof(ingot_dft_params, axis), NULL, 0},
    {"inverse", INGOT_PARAM_BOOL, offsetof(ingot_dft_params, inverse), NULL, 0},
    {"onesided", INGOT_PARAM_BOOL, offsetof(ingot_dft_params, onesided), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_dft_17(const ingot_node *node, void *data, ingot_error *error)
{
    (void)node;
    (void)error;
    ((ingot_dft_params *)data)->axis_given = true;
    return INGOT_OK;
}

int64_t ingot_dft_default_length(const ingot_dft_params *params, int64_t size)
{
    return params->inverse && params->onesided ? 2 * (size - 1) : size;
}

/* The axis as a dimension of the input; false in *known where it is not known. */
static ingot_status dft_axis(ingot_infer *c, int rank, int *axis, bool *known)
{
    const ingot_dft_params *params = c->params;
    int64_t value = params->axis_given ? params->axis : -2;
    *known = true;
    if (!params->axis_given && ingot_infer_has(c, 2)) {
        INGOT_TRY(ingot_movement_one(c, 2));
        *known = ingot_movement_scalar(c, 2, &value);
    }
    if (!*known)
        return INGOT_OK;
    INGOT_TRY(ingot_infer_axis(c, "axis", value, rank, 0, axis));
    if (*axis == rank - 1)
        return ingot_infer_fail(c, "axis is %lld, the last dimension, which holds real and imaginary parts",
                                (long long)value);
    return INGOT_OK;
}

static ingot_status infer_dft(ingot_infer *c)
{
    const ingot_dft_params *params = c->params;
    const ingot_type *input = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK], length;
    int axis;
    bool known, real_output = params->inverse && params->onesided;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, INGOT_MAX_RANK));
    INGOT_TRY(ingot_movement_one(c, 1));
    if (input->rank < 0)
        return ingot_movement_set(c, 0, input->element, -1, NULL);
    ingot_dim parts = input->dims[input->rank - 1];
    if (ingot_dim_is_number(parts) && parts != 1 && parts != 2)
        return ingot_infer_fail(c, "the last dimension of the input has size %lld, but must be 1 (real) or 2 (complex)",
                                (long long)parts);
    if (params->onesided && !params->inverse)
        INGOT_TRY(ingot_infer_same_dim(c, "for onesided, the parts of a number and 1 (real)", parts, 1, NULL));
    if (real_output)
        INGOT_TRY(
            ingot_infer_same_dim(c, "for the inverse onesided, the parts of a number and 2 (complex)", parts, 2, NULL));
    INGOT_TRY(dft_axis(c, input->rank, &axis, &known));
    for (int i = 0; i < input->rank; i++)
        dims[i] = known ? input->dims[i] : INGOT_DIM_UNKNOWN;
    dims[input->rank - 1] = real_output ? 1 : 2;
    if (known) {
        length = dims[axis];
        if (ingot_infer_has(c, 1))
            length = scalar(c, 1);
        else if (real_output)
            length = ingot_dim_mul(c->dims, ingot_dim_sub(c->dims, length, 1), 2);
        if (ingot_dim_is_number(length) && length < 1)
            return ingot_infer_fail(c, "the length of the transform is %lld, but must be at least 1",
                                    (long long)length);
        dims[axis] = bin_count(c, params->onesided && !params->inverse, length);
    }
    return ingot_movement_set(c, 0, input->element, input->rank, dims);
}

const ingot_op ingot_op_dft_17 = {
    .summary = "the discrete Fourier transform along an axis",
    .params_size = sizeof(ingot_dft_params),
    .fields = dft_fields,
    .check = check_dft_17,
    .infer = infer_dft,
};

const ingot_op ingot_op_dft = {
    .summary = "the discrete Fourier transform along an axis",
    .params_size = sizeof(ingot_dft_params),
    .fields = dft_fields,
    .infer = infer_dft,
};

/* ---- STFT ---- */

static const ingot_param_field stft_fields[] = {
    {"onesided", INGOT_PARAM_BOOL, offsetof(ingot_stft_params, onesided), NULL, 0},
    {.attribute = NULL},
};

/* Length of a frame: frame_length, else the window's, else the whole signal. */
static ingot_status frame_length(ingot_infer *c, ingot_dim signal, ingot_dim *length)
{
    *length = signal;
    if (ingot_infer_has(c, 3))
        *length = scalar(c, 3);
    if (ingot_infer_has(c, 2)) {
        INGOT_TRY(ingot_infer_rank(c, 2, 1, 1));
        ingot_dim window = c->inputs[2].type.rank == 1 ? c->inputs[2].type.dims[0] : INGOT_DIM_UNKNOWN;
        if (ingot_infer_has(c, 3))
            return ingot_infer_same_dim(c, "frame_length and the length of window", *length, window, length);
        *length = window;
    }
    return INGOT_OK;
}

static ingot_status infer_stft(ingot_infer *c)
{
    const ingot_stft_params *params = c->params;
    const ingot_type *signal = &c->inputs[0].type;
    ingot_dim dims[4] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, 2}, length = INGOT_DIM_UNKNOWN;
    ingot_dim step = scalar(c, 1), size = INGOT_DIM_UNKNOWN;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 3));
    INGOT_TRY(ingot_movement_one(c, 1));
    INGOT_TRY(ingot_movement_one(c, 3));
    if (signal->rank > 0) {
        ingot_dim parts =
            signal->rank == 3 ? signal->dims[2] : 1; /* exporters write real signals without their axis of 1 */
        dims[0] = signal->dims[0];
        size = signal->dims[1];
        if (ingot_dim_is_number(parts) && (parts < 1 || parts > 2 || (parts == 2 && params->onesided)))
            return ingot_infer_fail(c, "the last dimension of the signal has size %lld, but must be 1 (real)%s",
                                    (long long)parts, params->onesided ? " where onesided is 1" : " or 2 (complex)");
    }
    INGOT_TRY(frame_length(c, size, &length));
    if (ingot_dim_is_number(step) && step < 1)
        return ingot_infer_fail(c, "frame_step is %lld, but must be at least 1", (long long)step);
    if (ingot_dim_is_number(length) && (length < 1 || (ingot_dim_is_number(size) && length > size)))
        return ingot_infer_fail(c,
                                "the length of a frame is %lld, but must be at least 1 and at most that of the signal",
                                (long long)length);
    dims[1] = ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, ingot_dim_sub(c->dims, size, length), step);
    dims[1] = ingot_dim_add(c->dims, dims[1], 1);
    dims[2] = bin_count(c, params->onesided, length);
    return ingot_movement_set(c, 0, signal->element, 4, dims);
}

const ingot_op ingot_op_stft = {
    .summary = "the Fourier transforms of the frames of a signal",
    .params_size = sizeof(ingot_stft_params),
    .fields = stft_fields,
    .infer = infer_stft,
};

/* ---- MelWeightMatrix ---- */

static const ingot_param_field mel_fields[] = {
    {"output_datatype", INGOT_PARAM_INT, offsetof(ingot_mel_params, output_datatype), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_mel(const ingot_node *node, void *data, ingot_error *error)
{
    ingot_mel_params *params = data;
    INGOT_TRY(ingot_movement_element(node, "output_datatype", params->output_datatype, &params->element, error));
    if (!ingot_element_is_float(params->element) && !ingot_element_is_integer(params->element))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "output_datatype is %s, which is no type of number",
                               ingot_element_name(params->element));
    return INGOT_OK;
}

static ingot_status infer_mel(ingot_infer *c)
{
    const ingot_mel_params *params = c->params;
    for (size_t i = 0; i < 5; i++)
        INGOT_TRY(ingot_movement_one(c, i));
    ingot_dim mel = scalar(c, 0), length = scalar(c, 1), rate = scalar(c, 2);
    if (ingot_dim_is_number(mel) && mel < 0)
        return ingot_infer_fail(c, "num_mel_bins is %lld, but must be at least 0", (long long)mel);
    if (ingot_dim_is_number(length) && length < 1)
        return ingot_infer_fail(c, "dft_length is %lld, but must be at least 1", (long long)length);
    if (ingot_dim_is_number(rate) && rate < 1)
        return ingot_infer_fail(c, "sample_rate is %lld, but must be at least 1", (long long)rate);
    ingot_dim dims[2] = {bin_count(c, true, length), mel};
    return ingot_movement_set(c, 0, params->element, 2, dims);
}

const ingot_op ingot_op_mel_weight_matrix = {
    .summary = "weights that take a spectrum to the mel scale",
    .params_size = sizeof(ingot_mel_params),
    .fields = mel_fields,
    .check = check_mel,
    .infer = infer_mel,
};
