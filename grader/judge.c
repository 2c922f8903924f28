/* judge.c: one exercise whose library is built: its cases, then its speed, then its points. */
#include "grader.h"

#include <stdlib.h>
#include <string.h>

static int count_cases(const exercise *e)
{
    int count = 0;
    while (e->cases[count].name) count++;
    return count;
}

static int count_speeds(const exercise *e)
{
    int count = 0;
    while (e->speed && e->speed[count].metric) count++;
    return count;
}

static bool give(char **reason, const case_result *c, const char *text)
{
    free(*reason);
    if (asprintf(reason, "%s: %s", c->name, text) < 0) *reason = strdup("");
    return true;
}

/* The first case that failed, else the first that softgpu found something in. */
static void give_reason(exercise_result *r)
{
    for (int i = 0; i < r->case_count; i++) {
        const case_result *c = &r->cases[i];
        if (c->status == FAILED && give(&r->reason, c, c->message)) return;
    }
    for (int i = 0; i < r->case_count; i++) {
        const case_result *c = &r->cases[i];
        if (*c->finding && give(&r->reason, c, c->finding)) return;
    }
}

static void judge_cases(exercise_result *r)
{
    r->case_count = count_cases(r->exercise);
    r->cases = calloc((size_t)r->case_count + 1, sizeof *r->cases);
    run_cases(r->cases);
    give_reason(r);
}

void list_speeds(exercise_result *r, place where)
{
    r->speed_count = count_speeds(r->exercise);
    r->speeds = calloc((size_t)r->speed_count + 1, sizeof *r->speeds);
    for (int i = 0; i < r->speed_count; i++) {
        r->speeds[i].test = &r->exercise->speed[i];
        r->speeds[i].status = r->speeds[i].test->where & where ? NOT_RUN : SKIPPED;
    }
}

static void judge_speed(exercise_result *r, const build *baseline, const device_facts *device)
{
    list_speeds(r, now.place);
    for (int i = 0; i < r->speed_count; i++) {
        speed_result *s = &r->speeds[i];
        if (now.options->case_name || now.options->slow > 0) s->status = SKIPPED;
        if (s->status == SKIPPED || r->status != PASSED) continue;
        if (baseline && baseline->ok) {
            run_speed(s->test, baseline->library, device, s);
        } else if (asprintf(&s->message, "the baseline did not build: %s",
                            baseline ? baseline->log : "") < 0) {
            s->message = NULL;
        }
    }
}

exercise_result judge(const options *o, const build *b, const build *baseline,
                      const device_facts *device)
{
    exercise_result r = {
        .exercise = b->exercise, .place = b->place, .status = FAILED, .prerequisites = ""};
    now = (context){.options = o, .exercise = b->exercise, .place = b->place};
    r.reason = strdup(b->ok ? "" : b->log);
    r.warnings = strdup(b->ok ? b->log : "");
    if (b->ok) {
        now.library = b->library;
        judge_cases(&r);
        score(&r);
    } else {
        r.status = BUILD_FAILED;
    }
    judge_speed(&r, baseline, device);
    context_drop_worker();
    score(&r);
    return r;
}

void exercise_result_free(exercise_result *r)
{
    for (int i = 0; i < r->case_count; i++) {
        free(r->cases[i].message);
        free(r->cases[i].finding);
    }
    for (int i = 0; i < r->speed_count; i++) free(r->speeds[i].message);
    free(r->cases);
    free(r->speeds);
    free(r->reason);
    free(r->warnings);
}
