/* The whole program of ingot.h's first comment: opens a model, runs it once on zeros and prints what comes out.
 *
 *     hello model.onnx
 *
 * Sizes that the model leaves free are taken as 1. */
#include <ingot/ingot.h>
#include <stdio.h>
#include <stdlib.h>

/* A tensor of zeros, of the type and shape that the model declares. */
static ingot_status make_zeros(const ingot_value_info *input, ingot_value **value, ingot_error *error)
{
    int64_t dims[INGOT_MAX_RANK];
    int rank = input->type->rank > 0 ? input->type->rank : 0;
    for (int i = 0; i < rank; i++)
        dims[i] = input->type->dims[i] < 0 ? 1 : input->type->dims[i];
    return ingot_value_create_tensor(input->type->element, rank, dims, NULL, 0, value, error);
}

static void print_output(const char *name, const ingot_value *output)
{
    printf("%s:", name);
    if (ingot_value_kind(output) != INGOT_KIND_TENSOR) {
        printf(" no tensor\n");
        return;
    }
    printf(" %s[", ingot_element_name(ingot_value_element(output)));
    for (int i = 0; i < ingot_value_rank(output); i++)
        printf("%s%lld", i ? "," : "", (long long)ingot_value_dims(output)[i]);
    printf("]");
    if (ingot_value_element(output) == INGOT_FLOAT) {
        const float *scores = ingot_value_data(output);
        for (size_t i = 0; i < ingot_value_count(output) && i < 5; i++)
            printf(" %g", (double)scores[i]);
    }
    printf("\n");
}

/* Runs a session on zeros; the inputs and outputs are released whatever happens. */
static ingot_status run(ingot_session *session, ingot_error *error)
{
    size_t input_count = ingot_session_input_count(session), output_count = ingot_session_output_count(session);
    ingot_value **inputs = calloc(input_count + 1, sizeof *inputs);
    ingot_value **outputs = calloc(output_count + 1, sizeof *outputs);
    const char **input_names = calloc(input_count + 1, sizeof *input_names);
    const char **output_names = calloc(output_count + 1, sizeof *output_names);
    ingot_status status = inputs && outputs && input_names && output_names ? INGOT_OK : INGOT_OUT_OF_MEMORY;
    size_t given = 0;
    for (size_t i = 0; i < input_count && status == INGOT_OK; i++) {
        const ingot_value_info *input = ingot_session_input(session, i);
        if (input->has_default)
            continue;
        input_names[given] = input->name;
        status = make_zeros(input, &inputs[given++], error);
    }
    for (size_t i = 0; i < output_count && status == INGOT_OK; i++)
        output_names[i] = ingot_session_output(session, i)->name;
    if (status == INGOT_OK)
        status = ingot_session_run(session, NULL, input_names, (const ingot_value *const *)inputs, given, output_names,
                                   outputs, output_count, error);
    for (size_t i = 0; i < output_count && status == INGOT_OK; i++)
        print_output(output_names[i], outputs[i]);
    for (size_t i = 0; outputs && i < output_count; i++)
        ingot_value_release(outputs[i]);
    for (size_t i = 0; inputs && i < given; i++)
        ingot_value_release(inputs[i]);
    free(inputs);
    free(outputs);
    free(input_names);
    free(output_names);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: hello MODEL\n");
        return 2;
    }
    ingot_error error = {0};
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_status status = ingot_model_open(argv[1], NULL, &model, &error);
    if (status == INGOT_OK)
        status = ingot_session_create(model, NULL, &session, &error);
    ingot_model_release(model); /* the session keeps what it needs */
    if (status == INGOT_OK)
        status = run(session, &error);
    ingot_session_release(session);
    if (status == INGOT_OK)
        return 0;
    fprintf(stderr, "%s\n", error.message[0] ? error.message : ingot_status_text(status));
    return 1;
}
