/* Runs a fuzz target on files, without a fuzzer: what the normal tests do with the corpora.
 *
 * usage: replay_TARGET PATH ...     files, or folders of files */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "fuzz.h"

enum { LONGEST_SECONDS = 10 }; /* one input; a longer one is a hang */

static size_t passed, failed;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    *size = 0;
    if (file && fstat(fileno(file), &about) == 0 && (data = malloc((size_t)about.st_size + 1)))
        *size = fread(data, 1, (size_t)about.st_size, file);
    if (file)
        fclose(file);
    return data;
}

static void replay_file(const char *path)
{
    size_t size;
    uint8_t *data = read_file(path, &size);
    uint8_t *exact = data ? malloc(size ? size : 1) : NULL; /* so that a sanitizer sees reads past the end */
    if (!exact) {
        fprintf(stderr, "%s: cannot be read\n", path);
        failed++;
        free(data);
        return;
    }
    memcpy(exact, data, size);
    free(data);
    double start = seconds();
    LLVMFuzzerTestOneInput(exact, size);
    double took = seconds() - start;
    free(exact);
    if (took > LONGEST_SECONDS)
        fprintf(stderr, "%s: took %.0f s\n", path, took);
    *(took > LONGEST_SECONDS ? &failed : &passed) += 1;
}

static void replay(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        replay_file(path);
        return;
    }
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        replay_file(name);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
