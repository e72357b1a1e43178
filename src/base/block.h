/* Memory that one owner keeps and lets grow, such as an arena: its content is lost when it grows, its pages are not. What was
 * touched once need not be touched again, and there is never an old block beside a new one. */
#ifndef INGOT_BASE_BLOCK_H
#define INGOT_BASE_BLOCK_H

#include "base/memory.h"

/* Set to {0} before its first use. */
typedef struct ingot_block {
    char *data; /* aligned to INGOT_ALIGNMENT; NULL: none */
    size_t capacity, touched;
} ingot_block;

/* Makes the block hold at least bytes, within budget (NULL: no limit); what names it in messages.
 * Where that fails the block may be smaller than before, or empty. */
ingot_status ingot_block_reserve(ingot_block *block, size_t bytes, ingot_budget *budget, const char *what,
                                 ingot_error *error);
/* Gives the memory back to the system, and to budget. */
void ingot_block_release(ingot_block *block, ingot_budget *budget);

/* Brings the block's memory into the process, which costs less than to do so page by page at its first use. Ends when
 * ingot_clock_ns says until (0: never), and goes on from there next time. */
void ingot_block_touch(ingot_block *block, int threads, uint64_t until);
/* The same for other fresh memory, whose content may be lost; returns how many bytes it came to. */
size_t ingot_memory_touch(char *data, size_t bytes, int threads, uint64_t until);

#endif
