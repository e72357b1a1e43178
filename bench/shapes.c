/* Random shapes through one context of a model: what a size costs when it is new, and how much memory there is at most.
 *
 * usage: shapes MODEL RUNS NAME=LEAST:MOST[:STEP] ...     NAME: a free size of the inputs, as the model calls it
 *        shapes model.onnx 1000 batch=1:8 seq=1:512       or I.A for axis A of input I, where it has no name
 *
 * Each shape is drawn from a fixed seed and run twice, on one thread. Prints one JSON object:
 *   layout_ms    greatest and median processor time of a shape's first run beyond 1.5 times its second
 *   peak_mib     most memory that the process ever had; alone_mib: the same of a process that runs the largest shape alone
 *   growth_mib   how much memory grew after the largest shape had been seen */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ingot/ingot.h"

enum { MOST_SIZES = 8, MOST_INPUTS = 8 };

typedef struct size_range {
    const char *name;
    long least, most, step, now, largest;
} size_range;

typedef struct sweep {
    ingot_model *model;
    ingot_session *session;
    ingot_context *context;
    size_range sizes[MOST_SIZES];
    size_t size_count;
    void *data; /* of all inputs: zeros, of the greatest number of bytes */
    ingot_error error;
} sweep;

static int fail(const char *what)
{
    fprintf(stderr, "shapes: %s\n", what);
    return 2;
}

/* Of the process's own time: other work on the machine does not count. */
static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* A line of /proc/self/status in MiB. */
static double memory_mib(const char *field)
{
    char line[256];
    double mib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, field, strlen(field)) == 0)
            mib = strtod(line + strlen(field) + 1, NULL) / 1024;
    if (status)
        fclose(status);
    return mib;
}

static bool read_size(char *word, size_range *size)
{
    char *equals = strchr(word, '=');
    if (!equals)
        return false;
    *equals = '\0';
    size->name = word;
    size->step = 1;
    return sscanf(equals + 1, "%ld:%ld:%ld", &size->least, &size->most, &size->step) >= 2;
}

static int64_t size_of(const sweep *s, size_t input, int axis, const ingot_type_info *type, bool greatest)
{
    char place[32];
    if (type->dims[axis] >= 0)
        return type->dims[axis];
    snprintf(place, sizeof place, "%zu.%d", input, axis);
    for (size_t i = 0; i < s->size_count; i++)
        if (strcmp(s->sizes[i].name, place) == 0 ||
            (type->symbols[axis] && strcmp(s->sizes[i].name, type->symbols[axis]) == 0))
            return greatest ? s->sizes[i].most : s->sizes[i].now;
    return 1;
}

static size_t input_bytes(const sweep *s, size_t input, bool greatest, int64_t *dims)
{
    const ingot_type_info *type = ingot_session_input(s->session, input)->type;
    size_t bytes = ingot_element_bits(type->element) / 8;
    for (int axis = 0; axis < type->rank; axis++) {
        dims[axis] = size_of(s, input, axis, type, greatest);
        bytes *= (size_t)dims[axis];
    }
    return bytes;
}

static bool open_model(sweep *s, const char *path)
{
    int64_t dims[INGOT_MAX_RANK];
    size_t most = 0;
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.threads = 1;
    if (ingot_model_open(path, NULL, &s->model, &s->error) ||
        ingot_session_create(s->model, &options, &s->session, &s->error) ||
        ingot_context_create(s->session, &s->context, &s->error))
        return false;
    for (size_t i = 0; i < ingot_session_input_count(s->session); i++) {
        const size_t bytes = input_bytes(s, i, true, dims);
        most = bytes > most ? bytes : most;
    }
    s->data = calloc(1, most);
    return s->data && ingot_session_input_count(s->session) <= MOST_INPUTS;
}

/* Runs the shape as often as times has room; NULL bindings afterwards. */
static bool run_shape(sweep *s, double *times, int count)
{
    ingot_value *values[MOST_INPUTS] = {NULL};
    const size_t inputs = ingot_session_input_count(s->session);
    bool good = true;
    for (size_t i = 0; i < inputs && good; i++) {
        const ingot_value_info *info = ingot_session_input(s->session, i);
        int64_t dims[INGOT_MAX_RANK];
        const size_t bytes = input_bytes(s, i, false, dims);
        good = ingot_value_create_tensor(info->type->element, info->type->rank, dims, s->data, bytes, &values[i],
                                         &s->error) == INGOT_OK &&
               ingot_context_bind_input(s->context, info->name, values[i], &s->error) == INGOT_OK;
    }
    for (int i = 0; i < count && good; i++) {
        const double start = now_ms();
        good = ingot_context_run(s->context, NULL, &s->error) == INGOT_OK;
        times[i] = now_ms() - start;
    }
    for (size_t i = 0; i < inputs; i++)
        ingot_value_release(values[i]);
    return good;
}

/* Draws a shape; whether it has more elements than all before. */
static bool draw(sweep *s, double *largest)
{
    double elements = 1;
    for (size_t i = 0; i < s->size_count; i++) {
        size_range *r = &s->sizes[i];
        r->now = (r->least + random() % (r->most - r->least + 1)) / r->step * r->step;
        r->now = r->now < r->least ? r->least : r->now;
        elements *= (double)r->now;
    }
    if (elements <= *largest)
        return false;
    *largest = elements;
    for (size_t i = 0; i < s->size_count; i++)
        s->sizes[i].largest = s->sizes[i].now;
    return true;
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Peak memory of another process that runs the largest shape alone. */
static double alone(const char *program, const char *path, const sweep *s)
{
    char command[4096];
    int used = snprintf(command, sizeof command, "'%s' '%s' 1", program, path);
    double mib = 0;
    for (size_t i = 0; i < s->size_count && used > 0 && (size_t)used < sizeof command; i++)
        used += snprintf(command + used, sizeof command - (size_t)used, " '%s=%ld:%ld'", s->sizes[i].name,
                         s->sizes[i].largest, s->sizes[i].largest);
    FILE *output = popen(command, "r");
    char line[512];
    while (output && fgets(line, sizeof line, output)) {
        const char *peak = strstr(line, "\"peak_mib\": ");
        mib = peak ? strtod(peak + strlen("\"peak_mib\": "), NULL) : mib;
    }
    if (output)
        pclose(output);
    return mib;
}

static int sweep_shapes(sweep *s, long runs, const char *program, const char *path)
{
    double largest = 0, settled = 0, last = 0, times[2], *costs = calloc((size_t)runs, sizeof *costs);
    if (!costs)
        return fail("out of memory");
    for (long i = 0; i < runs; i++) {
        const bool grew = draw(s, &largest);
        if (!run_shape(s, times, 2))
            return fail(s->error.message);
        costs[i] = times[0] - 1.5 * times[1];
        last = memory_mib("VmRSS");
        settled = grew ? last : settled;
    }
    qsort(costs, (size_t)runs, sizeof *costs, compare);
    printf("{\"runs\": %ld, \"layout_ms\": [%.3f, %.3f], \"peak_mib\": %.1f, \"growth_mib\": %.1f", runs,
           costs[runs - 1], costs[runs / 2], memory_mib("VmHWM"), last - settled);
    if (runs > 1)
        printf(", \"alone_mib\": %.1f", alone(program, path, s));
    printf("}\n");
    free(costs);
    return 0;
}

int main(int argc, char **argv)
{
    static sweep s;
    if (argc < 4)
        return fail("usage: shapes MODEL RUNS NAME=LEAST:MOST[:STEP] ...");
    const long runs = strtol(argv[2], NULL, 10);
    for (int i = 3; i < argc && s.size_count < MOST_SIZES; i++)
        if (!read_size(argv[i], &s.sizes[s.size_count++]))
            return fail("a size is NAME=LEAST:MOST[:STEP]");
    srandom(1);
    if (runs < 1 || !open_model(&s, argv[1]))
        return fail(s.error.message);
    const int code = sweep_shapes(&s, runs, argv[0], argv[1]);
    free(s.data);
    ingot_context_release(s.context);
    ingot_session_release(s.session);
    ingot_model_release(s.model);
    return code;
}
