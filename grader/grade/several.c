/*
 * several.c: exercises judged several at a time, each in a process of its own. What a process times
 * waits until the cases of all others are done, and then the timings take turns: they would disturb
 * each other. What stands on the submission's own earlier exercises is judged after these, in
 * another round.
 */
#include "grade.h"

#include <stdlib.h>

typedef struct round {
    run *run;
    const grading *grading;
    item *items[EXERCISES_MAX];
    check *begun[EXERCISES_MAX];
    int count;
} round_of;

bool must_wait(run *r, const item *it)
{
    for (int i = 0; it->exercise->own_prerequisites && it->exercise->prerequisites[i]; i++) {
        const item *needed = find_item(r, it->exercise->prerequisites[i]);
        if (needed && needed < it && needed->buildable && !needed->entry) return true;
    }
    return false;
}

/* In its process: what the other needs of it. */
static json_t *judge_one(void *context, int i)
{
    const round_of *all = context;
    item *it = all->items[i];
    judge_item(all->run, it, &all->grading->device);
    return json_pack("{s:O, s:b, s:b}", "entry", it->entry, "judged", it->judged, "interrupted",
                     all->run->interrupted);
}

static void take(round_of *all, int i)
{
    run *r = all->run;
    item *it = all->items[i];
    json_t *said = check_take(all->begun[i]);
    it->entry = json_incref(json_object_get(said, "entry"));
    it->judged = json_is_true(json_object_get(said, "judged"));
    if (!it->entry)
        it->entry = entry_without_verdict(it->exercise, it->build.place, SKIPPED,
                                          "the grader's process for it ended: grade it again");
    r->interrupted = r->interrupted || !said || json_is_true(json_object_get(said, "interrupted"));
    json_decref(said);
}

static void judge_at_once(round_of *all, int width)
{
    for (int i = 0; i < all->count; i++) {
        checks_await(all->begun, i, width - 1);
        build_on_prerequisites(all->run,
                               all->items[i]); /* here, where those that stand on it look */
        all->begun[i] = check_start(judge_one, all, i);
    }
    checks_await(all->begun, all->count, 0);
    check_give_turn(all->begun[0]);
    for (int i = 0; i < all->count; i++) {
        check_await_end_of_turn(all->begun[i]);
        if (i + 1 < all->count) check_give_turn(all->begun[i + 1]);
        take(all, i);
        report_judged(all->run, all->grading);
    }
}

int jobs_of(const options *o)
{
    if (o->jobs > 0) return o->jobs;
    return o->backend == BACKEND_CUDA ? (int)(core_count() + 3) / 4 : 1;
}

bool judge_several(run *r, const grading *g, int width)
{
    round_of all = {.run = r, .grading = g};
    for (int i = 0; i < r->count && (width > 1 || all.count == 0); i++) {
        item *it = &r->items[i];
        if (it->buildable && !it->entry && !must_wait(r, it)) all.items[all.count++] = it;
    }
    r->at_once = all.count > 1 ? width : 0;
    if (r->at_once)
        judge_at_once(&all, width);
    else if (all.count == 1)
        judge_item(r, all.items[0], &g->device);
    return all.count > 0;
}
