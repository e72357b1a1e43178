#include "random.h"

#include "element.h"
#include "report.h"
#include "value.h"

/* SplitMix64: a counter, well stirred. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

ingot_status cli_random_tensor(const ingot_value_info *input, int rank, const int64_t *dims, uint64_t seed,
                               ingot_value **value, ingot_error *error)
{
    ingot_element element = input->type->element;
    CLI_TRY(ingot_value_create_tensor(element, rank, dims, NULL, 0, value, error));
    bool real = cli_element_is_real(element), stored = true;
    size_t count = ingot_value_count(*value);
    for (size_t i = 0; i < count && stored; i++) {
        uint64_t bits = next_random(&seed);
        stored = cli_element_store(element, ingot_value_data(*value), i,
                                   real ? (double)(bits >> 40) / (1 << 24) : (double)(bits >> 63));
    }
    if (stored)
        return INGOT_OK;
    ingot_value_release(*value);
    *value = NULL;
    return cli_fail(error, INGOT_UNSUPPORTED,
                    "input '%s' has elements of type %s, which cannot be made of random numbers; "
                    "give it with --input",
                    input->name, ingot_element_name(element));
}
