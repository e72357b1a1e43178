/* What the session shows: what runs on portable kernels, and copies between layouts. */
#include <stdio.h>
#include <string.h>

#include "tools/doctor.h"

static const ingot_doctor_rule reference = {
    "reference-kernels", INGOT_NOTE,
    "they are right, but not fast; `ingot profile` tells whether that matters. float32 has the most fast kernels"};
static const ingot_doctor_rule reorders = {
    "reorders", INGOT_NOTE,
    "tensors change their layout between steps; operators between convolutions that only know rows cause it"};

/* The first regions' operators, for the message. */
static void append(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    if (strstr(list, name) || used + strlen(name) + 3 > size)
        return;
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

ingot_status ingot_doctor_check_session(ingot_diagnosis *d, const ingot_session *session, ingot_error *error)
{
    ingot_doctor_tally slow = {0}, moved = {0};
    char operators[512] = "", where[256];
    ingot_region_info region;
    for (size_t i = 0; ingot_session_region(session, i, &region); i++) {
        if (region.name[0])
            snprintf(where, sizeof where, "node '%s'", region.name);
        else
            snprintf(where, sizeof where, "node %s without a name", region.operators);
        if (strcmp(region.tactic, "reference") == 0) {
            ingot_doctor_count(&slow, where);
            append(operators, sizeof operators, region.operators);
        }
        if (strcmp(region.tactic, "reorder") == 0)
            ingot_doctor_count(&moved, where);
    }
    INGOT_TRY(ingot_doctor_add(d, &reference, &slow, error, "%zu steps run on portable reference kernels: %s",
                               slow.count, operators));
    return ingot_doctor_add(d, &reorders, &moved, error, "%zu copies between layouts of tensors", moved.count);
}
