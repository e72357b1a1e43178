/* How work on planes is cut into chunks: planes have rows that all cost the same. A chunk is a part of the rows of some planes; chunks
 * go through all planes of one part before the next part, so that neighbouring chunks see the same places of the images. Threads
 * take chunks from both ends (base/pool.h): of a network whose operations are all cut so each core finds in its cache the half
 * of the images that it wrote itself. */
#ifndef INGOT_CPU_PLANE_GRID_H
#define INGOT_CPU_PLANE_GRID_H

#include <stddef.h>

#include "base/threads.h"
#include "cpu/sizes.h"

typedef struct ingot_plane_grid {
    size_t planes, rows;
    size_t parts, groups; /* of rows, of planes */
} ingot_plane_grid;

typedef struct ingot_plane_range {
    size_t first_plane, end_plane, first_row, end_row;
} ingot_plane_range;

/* Chunks of about chunk_cost, where a row costs row_cost. */
static inline ingot_plane_grid ingot_plane_grid_of(size_t planes, size_t rows, size_t row_cost, size_t chunk_cost)
{
    size_t plane_cost = rows * row_cost, parts = ingot_ceil_div(plane_cost, chunk_cost);
    if (parts < 2 && planes * plane_cost >= 2 * chunk_cost)
        parts = 2;
    parts = parts > rows ? rows : parts;
    parts = parts < 1 ? 1 : parts;
    size_t groups = planes * (plane_cost / parts) / chunk_cost;
    groups = groups > planes ? planes : groups;
    return (ingot_plane_grid){planes, rows, parts, groups < 1 ? 1 : groups};
}

static inline ingot_plane_range ingot_plane_range_of(const ingot_plane_grid *grid, size_t chunk)
{
    size_t part = chunk / grid->groups, group = chunk % grid->groups;
    return (ingot_plane_range){
        ingot_part_begin(grid->planes, grid->groups, group), ingot_part_begin(grid->planes, grid->groups, group + 1),
        ingot_part_begin(grid->rows, grid->parts, part), ingot_part_begin(grid->rows, grid->parts, part + 1)};
}

/* Runs task for all chunks of the grid. */
static inline void ingot_plane_run(const ingot_plane_grid *grid, int threads, ingot_task task, void *argument)
{
    ingot_parallel(threads, grid->parts * grid->groups, task, argument);
}

#endif
