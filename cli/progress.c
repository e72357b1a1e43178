#include "progress.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char *volatile line;
static volatile sig_atomic_t shown;

/* Only write(2), which a signal handler may call. */
static void show(int signal_number)
{
    const char *text = line;
    if (!text)
        return;
    if (write(STDERR_FILENO, "\r", 1) == 1 && write(STDERR_FILENO, text, strlen(text)) > 0 &&
        write(STDERR_FILENO, " ...\033[K", 7) == 7)
        shown = 1;
}

static void set_timer(long seconds)
{
    struct itimerval timer = {{0, 0}, {seconds, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void cli_progress_begin(const char *text)
{
    if (!isatty(STDERR_FILENO))
        return;
    line = text;
    if (shown) { /* the line stands already: it changes at once */
        show(SIGALRM);
        return;
    }
    struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    set_timer(1);
}

void cli_progress_end(void)
{
    if (!line)
        return;
    set_timer(0);
    line = NULL;
    if (shown && write(STDERR_FILENO, "\r\033[K", 4) == 4)
        shown = 0;
}
