/* See ref_order.h. */
#include "cpu/ref/ref_order.h"

#include <string.h>

#define SIGN (UINT64_C(1) << 63)

static uint64_t double_key(double value)
{
    uint64_t bits;
    if (value != value)
        return UINT64_MAX;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

uint64_t ingot_ref_order_key(ingot_element element, const void *data, size_t index)
{
    if (element == INGOT_FLOAT)
        return double_key(((const float *)data)[index]);
    if (ingot_element_is_float(element))
        return double_key(ingot_load_double(element, data, index));
    uint64_t value = (uint64_t)ingot_load_i64(element, data, index);
    return element == INGOT_UINT64 ? value : value ^ SIGN;
}

static bool comes_before(ingot_ranked a, ingot_ranked b)
{
    return a.key != b.key ? a.key > b.key : a.index < b.index;
}

/* Lets the item at place sink until no child of it comes later. */
static void sink(ingot_ranked *items, size_t count, size_t place)
{
    ingot_ranked item = items[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= count)
            break;
        if (child + 1 < count && comes_before(items[child], items[child + 1]))
            child++;
        if (!comes_before(item, items[child]))
            break;
        items[place] = items[child];
        place = child;
    }
    items[place] = item;
}

void ingot_ranking_add(ingot_ranking *ranking, ingot_ranked item)
{
    ingot_ranked *items = ranking->items;
    if (ranking->count < ranking->keep) {
        size_t place = ranking->count++;
        while (place > 0 && comes_before(items[(place - 1) / 2], item)) {
            items[place] = items[(place - 1) / 2];
            place = (place - 1) / 2;
        }
        items[place] = item;
    } else if (ranking->keep > 0 && comes_before(item, items[0])) {
        items[0] = item;
        sink(items, ranking->count, 0);
    }
}

void ingot_ranking_sort(ingot_ranking *ranking)
{
    for (size_t left = ranking->count; left > 1; left--) {
        ingot_ranked last = ranking->items[0];
        ranking->items[0] = ranking->items[left - 1];
        sink(ranking->items, left - 1, 0);
        ranking->items[left - 1] = last;
    }
}
