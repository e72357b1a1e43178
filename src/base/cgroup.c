/* Reads /proc/self/cgroup, then the limits of each group from the process's own up to the top one. */
#include "base/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads at most size - 1 bytes of a small file as text; false where it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    size_t used = 0;
    while (used < size - 1) {
        ssize_t got = read(file, text + used, size - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    close(file);
    text[used] = '\0';
    return used > 0;
}

/* Up to two numbers of a file in folder; how many there are. "max" counts as none. */
static int read_numbers(const char *folder, const char *name, unsigned long long numbers[2])
{
    char path[PATH_MAX], text[64];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path || !read_text(path, text, sizeof text))
        return 0;
    return sscanf(text, "%llu %llu", &numbers[0], &numbers[1]);
}

typedef void (*group_visitor)(const char *folder, bool version2, void *result);

static void visit_levels(const char *mount, const char *group, bool version2, group_visitor visit, void *result)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof folder)
        return;
    size_t mount_length = strlen(mount);
    for (;;) {
        visit(folder, version2, result);
        char *slash = strrchr(folder + mount_length, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

static bool list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Calls visit for each level of the groups that may limit controller. In a container the path may be one of the host:
 * levels that do not exist here are passed over, and the top one is always visited. */
static void visit_groups(const char *root, const char *controller, group_visitor visit, void *result)
{
    char path[PATH_MAX], text[8192], *rest = NULL;
    int length = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (length < 0 || (size_t)length >= sizeof path || !read_text(path, text, sizeof text))
        return;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        list++;
        bool version2 = *list == '\0';
        if (!version2 && !list_has(list, controller))
            continue;
        length = snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s", root, version2 ? "" : "/", list);
        if (length >= 0 && (size_t)length < sizeof path)
            visit_levels(path, group, version2, visit, result);
    }
}

static void visit_memory(const char *folder, bool version2, void *result)
{
    uint64_t *limit = result;
    unsigned long long numbers[2];
    if (read_numbers(folder, version2 ? "memory.max" : "memory.limit_in_bytes", numbers) > 0 && numbers[0] < *limit)
        *limit = numbers[0];
}

uint64_t ingot_cgroup_memory(const char *root)
{
    uint64_t limit = UINT64_MAX;
    visit_groups(root, "memory", visit_memory, &limit);
    return limit;
}

static void visit_cpus(const char *folder, bool version2, void *result)
{
    double *cpus = result;
    unsigned long long quota[2], period[2];
    if (version2) {
        if (read_numbers(folder, "cpu.max", quota) != 2)
            return;
        period[0] = quota[1];
    } else {
        /* No limit is -1 here, which is read as a number so great that it limits nothing. */
        if (read_numbers(folder, "cpu.cfs_quota_us", quota) != 1 ||
            read_numbers(folder, "cpu.cfs_period_us", period) != 1 || quota[0] > LLONG_MAX)
            return;
    }
    double found = period[0] ? (double)quota[0] / (double)period[0] : 0;
    if (found > 0 && (*cpus == 0 || found < *cpus))
        *cpus = found;
}

double ingot_cgroup_cpus(const char *root)
{
    double cpus = 0;
    visit_groups(root, "cpu", visit_cpus, &cpus);
    return cpus;
}
