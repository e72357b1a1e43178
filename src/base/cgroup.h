/* Limits that the process runs under by its control groups, version 2 or 1. */
#ifndef INGOT_BASE_CGROUP_H
#define INGOT_BASE_CGROUP_H

#include <stdint.h>

/* root stands in front of /proc and /sys: "" for this machine, a folder in tests. */

/* The least memory limit of the process's group and those above it, in bytes; UINT64_MAX: none. */
uint64_t ingot_cgroup_memory(const char *root);

/* The least CPU quota in processors, such as 1.5; 0: none. */
double ingot_cgroup_cpus(const char *root);

#endif
