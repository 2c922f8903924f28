/* process.c: run one of the course's programs with a deadline and a limit on its output. */
#include "base.h"

#include "timer.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child calls in place of starting its program at once. */
typedef struct doorway {
    void (*enter)(const void *);
    const void *context;
} doorway;

/* A session of its own: a group to be killed, and no terminal to write to. */
static void become(const doorway *door, const char *const argv[], const char *directory, int output)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (door) door->enter(door->context);
    if (!door && directory && chdir(directory) != 0) _exit(127);
    if (!door) execvp(argv[0], (char *const *)argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Read until the end of output or the deadline; keep `limit` bytes and drop the rest. */
static bool drain(int from, double deadline, char *output, size_t limit)
{
    char rest[1 << 14];
    size_t kept = 0;
    for (;;) {
        double left = deadline - seconds_now();
        struct pollfd ready = {.fd = from, .events = POLLIN};
        if (left <= 0) return false;
        if (poll(&ready, 1, (int)(left * 1000) + 1) <= 0) continue;
        ssize_t n =
            kept < limit ? read(from, output + kept, limit - kept) : read(from, rest, sizeof rest);
        if (n == 0 || (n < 0 && errno != EINTR)) return true;
        if (kept < limit && n > 0) output[kept += (size_t)n] = '\0';
    }
}

static process_result run(const doorway *door, const char *const argv[], const char *directory,
                          double deadline, size_t limit)
{
    process_result result = {.status = -1, .output = calloc(1, limit + 1)};
    int pipes[2];
    if (!result.output || pipe2(pipes, O_CLOEXEC) != 0) return result;
    pid_t child = fork();
    if (child == 0) become(door, argv, directory, pipes[1]);
    close(pipes[1]);
    if (child > 0) {
        int status = 0;
        result.timed_out = !drain(pipes[0], seconds_now() + deadline, result.output, limit);
        if (result.timed_out) kill(-child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    close(pipes[0]);
    return result;
}

process_result process_run(const char *const argv[], const char *directory, double deadline,
                           size_t limit)
{
    return run(NULL, argv, directory, deadline, limit);
}

process_result process_run_behind(void (*enter)(const void *), const void *context,
                                  const char *const argv[], double deadline, size_t limit)
{
    return run(&(doorway){enter, context}, argv, NULL, deadline, limit);
}
