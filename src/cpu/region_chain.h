/* Chains of convolutions: what claiming them and running them share. */
#ifndef INGOT_CPU_REGION_CHAIN_H
#define INGOT_CPU_REGION_CHAIN_H

#include "cpu/conv/strips.h"
#include "cpu/region_conv.h"

/* Ids of tactics: link by link, plain; strip by strip, in C16. */
enum { INGOT_CHAIN_PLAIN, INGOT_CHAIN_STRIPS };

/* The first node of a link, and the region's inputs that it reads beside the image. */
typedef struct ingot_chain_link {
    ingot_link_kind kind;
    size_t node, weights, bias; /* bias: SIZE_MAX where there is none */
    ingot_cpu_epilogue epilogue;
} ingot_chain_link;

typedef struct ingot_chain {
    size_t count, image; /* image: the region's input that the first link reads */
    ingot_chain_link links[INGOT_MOST_LINKS];
} ingot_chain;

static inline const ingot_chain *ingot_chain_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* The links' shapes for an image of these sizes; NULL: what their weights tell. */
ingot_status ingot_chain_links(const ingot_region *region, const int64_t *image, ingot_link *links, ingot_error *error);
/* Bytes of a link's packed weights in a tactic. */
size_t ingot_chain_packed_size(const ingot_link *link, uint32_t id);

/* Of the family. */
ingot_status ingot_chain_pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error);
ingot_status ingot_chain_measure(const ingot_region *region, const ingot_tactic *tactic,
                                 const ingot_value *const *inputs, const ingot_value *const *outputs, int threads,
                                 size_t *bytes, ingot_error *error);
ingot_status ingot_chain_run(const ingot_step *step, bool *declined);

#endif
