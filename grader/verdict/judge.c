/* judge.c: one exercise whose library is built: its cases, its speed or traffic, its points. */
#include "verdict.h"

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

static int count_traffic(const exercise *e)
{
    int count = 0;
    while (e->traffic && e->traffic[count].metric) count++;
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

static void judge_cases(case_state *s, exercise_result *r)
{
    r->case_count = count_cases(r->exercise);
    r->cases = calloc((size_t)r->case_count + 1, sizeof *r->cases);
    run_cases(s, r->cases);
    give_reason(r);
}

static void list_speeds(exercise_result *r)
{
    r->speed_count = count_speeds(r->exercise);
    r->speeds = calloc((size_t)r->speed_count + 1, sizeof *r->speeds);
    for (int i = 0; i < r->speed_count; i++) {
        r->speeds[i].test = &r->exercise->speed[i];
        r->speeds[i].status = r->speeds[i].test->where & r->place ? NOT_RUN : SKIPPED;
    }
}

static void list_traffic(exercise_result *r)
{
    r->traffic_count = count_traffic(r->exercise);
    r->traffics = calloc((size_t)r->traffic_count + 1, sizeof *r->traffics);
    for (int i = 0; i < r->traffic_count; i++) {
        r->traffics[i].test = &r->exercise->traffic[i];
        r->traffics[i].status = r->place == ON_SOFTGPU ? NOT_RUN : SKIPPED;
    }
}

void list_tests(exercise_result *r)
{
    list_speeds(r);
    list_traffic(r);
}

/* None is judged of a single case, or of a submission that runs under a checker. */
static bool is_wanted(const options *o, const char *metric)
{
    const char *start = o->metric_start;
    if (o->case_name || o->slow > 0) return false;
    return !start || strncmp(start, metric, strlen(start)) == 0;
}

static void skip_unwanted(const options *o, exercise_result *r)
{
    for (int i = 0; i < r->speed_count; i++) {
        if (!is_wanted(o, r->speeds[i].test->metric)) r->speeds[i].status = SKIPPED;
    }
    for (int i = 0; i < r->traffic_count; i++) {
        if (!is_wanted(o, r->traffics[i].test->metric)) r->traffics[i].status = SKIPPED;
    }
}

static char *no_baseline(const build *baseline)
{
    char *message = NULL;
    if (asprintf(&message, "the baseline did not build: %s", baseline ? baseline->log : "") < 0) {
        return NULL;
    }
    return message;
}

static void judge_speeds(case_state *state, exercise_result *r, const build *baseline,
                         const device_facts *device)
{
    for (int i = 0; i < r->speed_count; i++) {
        speed_result *s = &r->speeds[i];
        if (s->status == SKIPPED) continue;
        if (baseline && baseline->ok)
            run_speed(state, s->test, baseline->library, device, s);
        else
            s->message = no_baseline(baseline);
    }
}

static void judge_traffic(case_state *s, exercise_result *r, const build *baseline)
{
    for (int i = 0; i < r->traffic_count; i++) {
        traffic_result *t = &r->traffics[i];
        const bool ready = baseline && baseline->ok;
        if (t->status == SKIPPED) continue;
        if (ready || !t->test->baseline)
            run_traffic(s, t->test, ready ? baseline->library : NULL, t);
        else
            t->message = no_baseline(baseline);
    }
}

exercise_result judge(const options *o, const build *b, const build *baseline,
                      const device_facts *device)
{
    exercise_result r = {
        .exercise = b->exercise, .place = b->place, .status = FAILED, .prerequisites = ""};
    case_state s = case_begin(o, b->exercise, b->place, b->library);
    r.reason = strdup(b->ok ? "" : b->log);
    r.warnings = strdup(b->ok ? b->log : "");
    if (b->ok) {
        judge_cases(&s, &r);
        score(&r);
    } else {
        r.status = BUILD_FAILED;
    }
    list_tests(&r);
    skip_unwanted(o, &r);
    if (r.status == PASSED) {
        judge_speeds(&s, &r, baseline, device);
        judge_traffic(&s, &r, baseline);
    }
    case_drop_worker(&s);
    r.dead = s.dead;
    score(&r);
    return r;
}

void exercise_result_free(exercise_result *r)
{
    for (int i = 0; i < r->case_count; i++) case_result_free(&r->cases[i]);
    for (int i = 0; i < r->speed_count; i++) free(r->speeds[i].message);
    for (int i = 0; i < r->traffic_count; i++) free(r->traffics[i].message);
    free(r->cases);
    free(r->speeds);
    free(r->traffics);
    free(r->reason);
    free(r->warnings);
}
