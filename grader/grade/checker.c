/*
 * checker.c: a second process of the grader, which judges on softgpu what the first judges on a
 * GPU, several exercises at once. It uses half of the cores, at a low priority, so that timings are
 * not disturbed; with few cores it works only while the first waits for it.
 */
#include "grade.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FEW_CORES  4
#define CORES_EACH 2 /* of an exercise, of which many cases have work for one */

struct checker {
    pid_t process;
    FILE *entries; /* from it, one a line */
    int turns;     /* to it: a byte for each exercise; -1: it waits for none */
};

static int cores_of(cpu_set_t *all)
{
    return sched_getaffinity(0, sizeof *all, all) == 0 ? CPU_COUNT(all) : 1;
}

/* The upper half. A few exercises take much longer than others, and may then use all of it. */
static void keep_to_half(void)
{
    cpu_set_t all;
    char threads[16];
    int skip = cores_of(&all) / 2;
    snprintf(threads, sizeof threads, "%d", CPU_COUNT(&all) - skip);
    setenv("SOFTGPU_THREADS", threads, 0);
    for (int i = 0; i < CPU_SETSIZE && skip > 0; i++) {
        if (!CPU_ISSET(i, &all)) continue;
        CPU_CLR(i, &all);
        skip--;
    }
    sched_setaffinity(0, sizeof all, &all);
}

static void become_checker(void (*work)(void *, int, FILE *), void *context, int turns, int entries,
                           pid_t parent)
{
    cpu_set_t all;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO); /* the line that says what is at work is the first process's */
    if (cores_of(&all) >= FEW_CORES) keep_to_half();
    if (nice(10) < 0) { /* then not */
    }
    poll(&(struct pollfd){.fd = turns, .events = POLLIN}, 1, -1); /* it builds in its first turn */
    FILE *to = fdopen(entries, "w");
    work(context, turns, to);
    fclose(to);
    _exit(0);
}

checker *checker_start(void (*work)(void *, int, FILE *), void *context)
{
    int turns[2], entries[2];
    cpu_set_t all;
    const pid_t parent = getpid();
    if (pipe2(turns, O_CLOEXEC) != 0 || pipe2(entries, O_CLOEXEC) != 0) return NULL;
    checker *c = calloc(1, sizeof *c);
    fflush(NULL);
    c->process = fork();
    if (c->process == 0) {
        close(turns[1]);
        close(entries[0]);
        become_checker(work, context, turns[0], entries[1], parent);
    }
    close(turns[0]);
    close(entries[1]);
    c->entries = fdopen(entries[0], "r");
    c->turns = turns[1];
    if (cores_of(&all) < FEW_CORES) return c;
    close(c->turns);
    c->turns = -1;
    return c;
}

int checker_width(void)
{
    cpu_set_t mine;
    const int cores = cores_of(&mine);
    return cores < FEW_CORES ? 1 : cores / CORES_EACH;
}

struct check {
    pid_t process;
    FILE *entry; /* from it; before that a blank, where it awaits its turn */
    int turn[2]; /* to it; the end that it reads, too: it may have ended */
    bool at_work;
};

static int my_turn, my_entry; /* in such a process */

void check_await_turn(void)
{
    char turn;
    if (my_turn < 0) return; /* it has had it */
    if (write(my_entry, " ", 1) != 1 || read(my_turn, &turn, 1) != 1) _exit(1);
    my_turn = -1;
}

void check_end_turn(void)
{
    if (my_turn < 0 && write(my_entry, " ", 1) != 1) _exit(1);
}

check *check_start(json_t *(*judge)(void *, int), void *context, int i)
{
    int entry[2], turn[2];
    if (pipe2(entry, O_CLOEXEC) != 0) return NULL;
    if (pipe2(turn, O_CLOEXEC) != 0) {
        close(entry[0]), close(entry[1]);
        return NULL;
    }
    check *c = calloc(1, sizeof *c);
    fflush(NULL);
    c->process = fork();
    if (c->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        my_turn = turn[0], my_entry = entry[1];
        close(turn[1]);
        FILE *to = fdopen(entry[1], "w");
        json_dumpf(judge(context, i), to, JSON_COMPACT);
        fclose(to);
        _exit(0);
    }
    close(entry[1]);
    *c = (check){c->process, fdopen(entry[0], "r"), {turn[0], turn[1]}, true};
    return c;
}

void checks_await(check *const begun[], int count, int most)
{
    struct pollfd ends[EXERCISES_MAX];
    for (;;) {
        int at_work = 0;
        for (int i = 0; i < count; i++) {
            const bool waits = begun[i] && begun[i]->at_work;
            ends[i] = (struct pollfd){.fd = waits ? fileno(begun[i]->entry) : -1, .events = POLLIN};
            at_work += waits;
        }
        if (at_work <= most) return;
        poll(ends, (nfds_t)count, -1);
        for (int i = 0; i < count; i++)
            if (ends[i].fd >= 0 && ends[i].revents) begun[i]->at_work = false;
    }
}

void check_give_turn(check *c)
{
    if (c && write(c->turn[1], "", 1) != 1) { /* it will end when it is closed */
    }
}

/* A blank where it awaited its turn, and one where the turn is over; its entry, or its end. */
void check_await_end_of_turn(check *c)
{
    int first = c ? getc(c->entry) : EOF;
    if (first == ' ') first = getc(c->entry);
    if (first != EOF) ungetc(first, c->entry);
}

json_t *check_take(check *c)
{
    if (!c) return NULL;
    close(c->turn[0]), close(c->turn[1]);
    json_t *entry = json_loadf(c->entry, 0, NULL);
    fclose(c->entry);
    if (c->process > 0) waitpid(c->process, NULL, 0);
    free(c);
    return entry;
}

void checker_await_turn(int turns)
{
    char turn;
    if (read(turns, &turn, 1) < 0) { /* the first process has ended, and so will this */
    }
}

json_t *checker_take(checker *c)
{
    if (c->turns >= 0 && write(c->turns, "", 1) != 1) return NULL;
    return json_loadf(c->entries, JSON_DISABLE_EOF_CHECK, NULL);
}

bool checker_is_ready(checker *c)
{
    const int fd = fileno(c->entries), flags = fcntl(fd, F_GETFL);
    if (c->turns >= 0) return false; /* it works only while it is waited for */
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    const int first = getc(c->entries); /* some may have been read already */
    const bool ready = first != EOF || errno != EAGAIN;
    if (first != EOF) ungetc(first, c->entries);
    clearerr(c->entries);
    fcntl(fd, F_SETFL, flags);
    return ready;
}

void checker_stop(checker *c)
{
    if (!c) return;
    if (c->turns >= 0) close(c->turns);
    fclose(c->entries);
    kill(c->process, SIGTERM);
    waitpid(c->process, NULL, 0);
    free(c);
}
