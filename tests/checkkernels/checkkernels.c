/* checkkernels: runs every kernel of the tables that this processor (and INGOT_CPU) allows against plain loops. */
#include "check.h"
#include "cpu/simd/level.h"

static const check_part *const parts[] = {
    &check_gemm,      &check_conv, &check_eltwise, &check_reduce, &check_layout, &check_recurrent, &check_peak,
    &check_depthwise, &check_c16,  &check_half,    &check_int8,   &check_bytes,  &check_attention,
};
#define PART_COUNT (sizeof parts / sizeof parts[0])

extern size_t passed_cases, failed_cases;

static void print_usage(FILE *stream)
{
    fputs("usage: checkkernels [--list | --bench | --levels] [--best] [PART ...]\nChecks the kernels of all parts, or "
          "of those "
          "named:",
          stream);
    for (size_t p = 0; p < PART_COUNT; p++)
        fprintf(stream, " %s", parts[p]->name);
    fputs("\n  --list    print the kernels\n"
          "  --bench   print the best speed of each, one thread\n"
          "  --levels  print the instruction sets that kernels are made for and that are here\n"
          "  --best    leave out kernels that no program would use here, as there are faster ones\n"
          "INGOT_CPU=scalar|sse4|avx2|avx512|avx512_vnni leaves instruction sets out.\n"
          "Ends with 'N passed, N failed'; exit code 1 where a case failed.\n",
          stream);
}

typedef enum action { CHECK, BENCH, LIST } action;

static void run_part(const check_part *part, action what)
{
    if (what == LIST) {
        part->list();
    } else if (what == BENCH) {
        if (part->bench)
            part->bench();
    } else {
        size_t before = passed_cases;
        part->check();
        printf("%-10s %zu cases good\n", part->name, passed_cases - before);
    }
    fflush(stdout);
}

static void print_levels(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++)
        if (ingot_level_runs(level))
            puts(ingot_level_name(level));
}

int main(int argc, char **argv)
{
    action what = CHECK;
    bool wanted[PART_COUNT] = {false}, some = false;
    for (int i = 1; i < argc; i++) {
        bool known = true;
        if (strcmp(argv[i], "--list") == 0) {
            what = LIST;
        } else if (strcmp(argv[i], "--bench") == 0) {
            what = BENCH;
        } else if (strcmp(argv[i], "--levels") == 0) {
            print_levels();
            return 0;
        } else if (strcmp(argv[i], "--best") == 0) {
            only_best = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            print_usage(stdout);
            return 0;
        } else {
            known = false;
            for (size_t p = 0; p < PART_COUNT; p++) {
                if (strcmp(argv[i], parts[p]->name) == 0)
                    known = wanted[p] = some = true;
            }
        }
        if (!known) {
            fprintf(stderr, "checkkernels: unknown argument '%s'\n", argv[i]);
            print_usage(stderr);
            return 2;
        }
    }
    for (size_t p = 0; p < PART_COUNT; p++) {
        if (!some || wanted[p])
            run_part(parts[p], what);
    }
    if (what == CHECK)
        printf("%zu passed, %zu failed\n", passed_cases, failed_cases);
    return failed_cases > 0;
}
