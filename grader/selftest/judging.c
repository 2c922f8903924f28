/*
 * judging.c: submissions judged several at a time, each by a process of its own: so the effect of a
 * hostile one on its grader is seen, and disturbs no other.
 */
#include "selftest.h"

#include "timer.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE 2700 /* seconds for one submission: a grader that hangs is a defect too */

static judging *running; /* a list */

int judging_jobs(const options *o)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (o->jobs > 0) return o->jobs;
    if (o->backend == BACKEND_CUDA) return GPU_JOBS;
    return processors > 0 ? (int)processors : 1;
}

const grading_case *first_case(const exercise *e, place where)
{
    const grading_case *first = e->cases;
    while (first->where != 0 && !(first->where & where)) first++;
    return first;
}

/* A group of its own: a signal that a submission sends to its grader's group reaches no other. */
void judging_begin(judging *j, void *what, int (*check)(const void *), const void *context)
{
    fflush(stdout);
    *j = (judging){.what = what, .words = tmpfile(), .began = seconds_now(), .next = running};
    running = j;
    j->process = fork();
    if (j->process != 0) return;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(DEADLINE);
    dup2(fileno(j->words), STDOUT_FILENO);
    const int status = check(context);
    fflush(stdout);
    _exit(status);
}

judging *judging_wait(void)
{
    for (int status;;) {
        const pid_t ended = wait(&status);
        judging **at = &running;
        while (*at && (*at)->process != ended) at = &(*at)->next;
        if (!*at) continue;
        judging *j = *at;
        *at = j->next;
        j->status = status;
        j->seconds = seconds_now() - j->began;
        return j;
    }
}

void judging_show(judging *j)
{
    rewind(j->words);
    for (int c; (c = fgetc(j->words)) != EOF;) putchar(c);
    fclose(j->words);
}
