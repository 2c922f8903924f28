/*
 * pool.c: the submissions to grade, and several graders at once on this machine. With several GPUs
 * they share them out; on one GPU they build side by side and measure one after the other, which
 * the grader itself sees to (gpu.c).
 */
#include "gradings.h"

#include "timer.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS_MAX 256

typedef struct pool {
    const class_options *options;
    submission **waiting;
    size_t count, next;
    task tasks[TASKS_MAX];
    int task_count;
    progress progress;
} pool;

/* "0,1" for four tasks: 0 1 0 1. @return memory that the tasks' names lie in */
static char *share_out(const char *list, task *tasks, int count)
{
    char *words = strdup(list ? list : ""), *rest = words, *word;
    int gpus = 0;
    while (*words && gpus < count && (word = strsep(&rest, ","))) tasks[gpus++].gpu = word;
    for (int i = gpus; gpus > 0 && i < count; i++) tasks[i].gpu = tasks[i - gpus].gpu;
    return words;
}

static void start_more(pool *p)
{
    for (int i = 0; i < p->task_count && p->next < p->count; i++) {
        if (p->tasks[i].submission) continue;
        p->tasks[i].submission = p->waiting[p->next++];
        p->progress.at_work++;
        task_start(p->options, &p->tasks[i]);
    }
}

static void look_after(pool *p, task *t)
{
    if (!t->submission || !task_ended(p->options, t)) return;
    p->progress.at_work--;
    progress_done(&p->progress, p->options, t->submission, seconds_now() - t->began);
    t->submission = NULL;
}

void pool_run(const class_options *o, submission **waiting, size_t count)
{
    pool p = {.options = o, .waiting = waiting, .count = count};
    p.task_count = o->jobs < TASKS_MAX ? o->jobs : TASKS_MAX;
    p.progress = (progress){.all = count, .at_once = (size_t)p.task_count, .began = seconds_now()};
    char *gpus = share_out(o->gpus, p.tasks, p.task_count);
    while (p.progress.done < count) {
        start_more(&p);
        for (int i = 0; i < p.task_count; i++) look_after(&p, &p.tasks[i]);
        progress_show(&p.progress);
        usleep(20000);
    }
    free(gpus);
}

/* ---- what is to be graded -------------------------------------------------------------------- */

static bool can_be_graded(const submission *s)
{
    return !*s->refused && !*s->trouble;
}

static bool is_waiting(submission *const *waiting, size_t count, const submission *s)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(waiting[i]->key, s->key) == 0) return true;
    }
    return false;
}

/* Equal files get equal results; a failure of the grader is everybody's. */
static void share_results(const class_options *o, submission *all, size_t count)
{
    load_results(o, all, count);
    for (size_t i = 0; i < count; i++) all[i].failed = !*all[i].refused && !all[i].results;
}

bool grade_submissions(const class_options *o, const settings *s, submission *all, size_t count)
{
    size_t to_grade = 0;
    bool done = true;
    submission **waiting = calloc(count + 1, sizeof *waiting);
    load_results(o, all, count);
    for (size_t i = 0; i < count; i++) {
        if (!can_be_graded(&all[i]) || all[i].results) continue;
        if (!is_waiting(waiting, to_grade, &all[i])) waiting[to_grade++] = &all[i];
    }
    printf("class: %zu submissions, %zu to grade\n", count, to_grade);
    if (to_grade > 0 && o->slurm) {
        done = slurm_run(o, s, waiting, to_grade);
    } else {
        pool_run(o, waiting, to_grade);
    }
    share_results(o, all, count);
    free(waiting);
    return done;
}
