/* ingot verify: run models on recorded inputs and compare what comes out. Each case is a process of its own, so that one
 * that crashes is one failure and not the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "progress.h"
#include "report.h"
#include "value.h"
#include "verbs.h"
#include "verify_case.h"

typedef struct verify_settings {
    cli_session_settings session;
    int64_t jobs;
    bool json;
} verify_settings;

static const cli_option options[] = {
    {"jobs", "N", "cases at the same time; default 1", CLI_INTEGER, offsetof(verify_settings, jobs), 1, 256},
    CLI_SESSION_OPTIONS(verify_settings, session),
    CLI_JSON_OPTION(verify_settings, json),
};

/* A case in its process; its report comes through the stream. */
typedef struct job {
    const char *folder;
    pid_t process;
    FILE *report;
} job;

/* In the new process: runs the case, writes its report and ends. */
static void run_child(const char *folder, const cli_session_settings *settings, int pipe_end)
{
    FILE *report = fdopen(pipe_end, "w");
    bool passed = report && cli_verify_case(folder, settings, report);
    if (report && fclose(report) != 0)
        passed = false;
    exit(passed ? CLI_DONE : CLI_FAILED);
}

static bool start(const char *folder, const cli_session_settings *settings, job *started)
{
    int ends[2];
    *started = (job){folder, -1, NULL};
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    started->process = fork();
    if (started->process == 0) {
        close(ends[0]);
        run_child(folder, settings, ends[1]);
    }
    close(ends[1]);
    started->report = started->process > 0 ? fdopen(ends[0], "r") : NULL;
    if (!started->report)
        close(ends[0]);
    return started->report != NULL;
}

/* Hands one line of a report on: printed, or into the list. */
static void hand_on(const char *line, json_t *failures)
{
    if (failures)
        json_array_append_new(failures, cli_json_text(line));
    else
        puts(line);
}

/* Waits for the case, hands its report on; true where it passed. */
static bool finish(job *started, json_t *failures)
{
    char line[2048];
    int status = 0;
    while (started->report && fgets(line, sizeof line, started->report)) {
        line[strcspn(line, "\n")] = '\0';
        hand_on(line, failures);
    }
    if (started->report)
        fclose(started->report);
    if (started->process <= 0 || waitpid(started->process, &status, 0) < 0) {
        snprintf(line, sizeof line, "%s: no process could be started for it: %s", started->folder, strerror(errno));
        hand_on(line, failures);
        return false;
    }
    if (WIFSIGNALED(status)) {
        snprintf(line, sizeof line, "%s: crashed: %s", started->folder, strsignal(WTERMSIG(status)));
        hand_on(line, failures);
    } else if (WEXITSTATUS(status) > CLI_FAILED) {
        snprintf(line, sizeof line, "%s: ended with exit code %d", started->folder, WEXITSTATUS(status));
        hand_on(line, failures);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == CLI_DONE;
}

/* Runs the cases, at most settings->jobs at once, and reports on them in their order; returns how many passed. */
static size_t run_cases(const cli_list *folders, const verify_settings *settings, job *jobs, json_t *failures)
{
    size_t most = (size_t)settings->jobs, started = 0, passed = 0;
    char line[64];
    for (size_t done = 0; done < folders->count; done++) {
        for (; started < folders->count && started < done + most; started++)
            start(folders->items[started], &settings->session, &jobs[started % most]);
        snprintf(line, sizeof line, "verifying %zu of %zu", done + 1, folders->count);
        cli_progress_begin(line);
        passed += finish(&jobs[done % most], failures);
    }
    cli_progress_end();
    return passed;
}

static int verify(const cli_verb *verb, const verify_settings *settings, const cli_list *folders)
{
    job *jobs = calloc((size_t)settings->jobs, sizeof *jobs);
    json_t *failures = settings->json ? json_array() : NULL;
    if (!jobs)
        return cli_malformed(verb->name, "no memory for %lld jobs", (long long)settings->jobs);
    size_t passed = run_cases(folders, settings, jobs, failures), failed = folders->count - passed;
    int code = failed ? CLI_FAILED : CLI_DONE;
    free(jobs);
    if (!settings->json)
        printf("%zu passed, %zu failed\n", passed, failed);
    else if (!cli_json_print(verb->name, json_pack("{s:I, s:I, s:o}", "passed", (json_int_t)passed, "failed",
                                                   (json_int_t)failed, "failures", failures)))
        code = CLI_FAILED;
    return code;
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    verify_settings settings = {.session = CLI_SESSION_DEFAULTS, .jobs = 1};
    cli_list arguments = {NULL, 0};
    int code;
    if (!cli_arguments_parse(verb, argc, argv, &settings, &arguments, &code))
        return code;
    code = verify(verb, &settings, &arguments);
    cli_arguments_free(verb, &settings, &arguments);
    return code;
}

const cli_verb cli_verb_verify = {
    .name = "verify",
    .arguments = "DIR...",
    .summary = "run models on recorded inputs and compare their outputs",
    .details =
        "Each DIR holds model.onnx and folders test_data_set_0, test_data_set_1, ... with input_J.pb and output_J.pb,\n"
        "or output_J.json for maps. An output is right where its type and shape are, and every number is within\n"
        "atol + rtol * |wanted|, of tolerance.json or rtol 1e-3, atol 1e-7; whole numbers within atol;\n"
        "bfloat16 with an rtol of 2^-6 at least, as ONNX's own runner has it.\n"
        "Prints a line for each output that is wrong, and ends with how many DIRs passed and failed.",
    .example = "ingot verify --jobs 4 models/*/",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = SIZE_MAX,
    .run = run_verb,
};
