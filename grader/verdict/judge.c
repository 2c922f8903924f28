/* judge.c: one exercise whose library is built: its cases, its speed or traffic, its points. */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_LEAST 8 /* a smaller number of a shape may be no size */
#define LIMIT_CASES 3 /* that pass: fewer do not show where a limit is */

static int count_cases(const exercise *e)
{
    int count = 0;
    while (e->cases[count].name) count++;
    return count;
}

static int count_speeds(const exercise *e)
{
    int count = 0;
    while (e->speed && e->speed[count].function) count++;
    return count;
}

static int count_traffic(const exercise *e)
{
    int count = 0;
    while (e->traffic && e->traffic[count].function) count++;
    return count;
}

/* The case that is the last to pass, or (way -1) the first to fail, in number `at` of the shape, of
 * those that run as this one. One that draws it tells nothing. @return NULL: none did */
static const grading_case *outermost(const exercise_result *r, const grading_case *like, status s,
                                     int at, int way)
{
    const grading_case *best = NULL;
    for (int i = 0; i < r->case_count; i++) {
        const grading_case *c = &r->exercise->cases[i];
        if (c->run != like->run || c->line || c->most[at] || r->cases[i].status != s) continue;
        if (!best || way * c->shape[at] > way * best->shape[at]) best = c;
    }
    return best;
}

/* Where one number of the shape, which is no small one, parts those that pass from those that fail:
 * the largest and the smallest of them. */
static char *limit_words(const exercise_result *r, const grading_case *failed)
{
    double nearest = INFINITY;
    char *words = strdup("");
    int passed = 0;
    for (int i = 0; i < r->case_count; i++)
        passed += r->exercise->cases[i].run == failed->run && r->cases[i].status == PASSED;
    for (int at = 0; at < SHAPE_MAX && !failed->line && passed >= LIMIT_CASES; at++) {
        const grading_case *right = outermost(r, failed, PASSED, at, 1);
        const grading_case *wrong = outermost(r, failed, FAILED, at, -1);
        if (!right || !wrong || right->shape[at] < LIMIT_LEAST) continue;
        const double ratio = (double)wrong->shape[at] / (double)right->shape[at];
        if (ratio <= 1.0 || ratio >= nearest) continue;
        nearest = ratio;
        free(words);
        if (asprintf(&words, "; right up to %ld (%s), wrong from %ld (%s) on", right->shape[at],
                     right->name, wrong->shape[at], wrong->name) < 0)
            return strdup("");
    }
    return words;
}

/* With what softgpu found, which has the likely mistake too. */
static void give(char **reason, const case_result *c, const char *text, const char *limit)
{
    const char *found = text == c->message ? c->finding : "";
    size_t length = strlen(text);
    if (*found && *c->mistake && strstr(found, c->mistake)) length -= strlen(c->mistake);
    free(*reason);
    if (asprintf(reason, "%s: %.*s%s%s%s", c->name, (int)length, text, *found ? "; " : "", found,
                 limit) < 0)
        *reason = strdup("");
}

/* The first case that failed, else the first that softgpu found something in. */
static void give_reason(exercise_result *r)
{
    for (int i = 0; i < r->case_count; i++) {
        const case_result *c = &r->cases[i];
        if (c->status != FAILED) continue;
        char *limit = limit_words(r, &r->exercise->cases[i]);
        give(&r->reason, c, c->message, limit);
        free(limit);
        return;
    }
    for (int i = 0; i < r->case_count; i++) {
        const case_result *c = &r->cases[i];
        if (!*c->finding) continue;
        give(&r->reason, c, c->finding, "");
        return;
    }
}

/* Of what is right: is it right, too, when the runtime's calls fail? Where not, that is a case. */
static void judge_failures(case_state *s, exercise_result *r)
{
    const bool under_checker = s->options->slow > 1; /* mutants are hurried, by no more than 1 */
    if (!failures_wanted(s->options) || under_checker || s->dead) return;
    r->case_count = run_failures(s, r->cases, r->case_count);
}

static void judge_cases(case_state *s, exercise_result *r)
{
    r->case_count = count_cases(r->exercise);
    /* A failing call may add one for each part, and a timed or counted call one. */
    r->cases = calloc((size_t)r->case_count + PARTS_MAX + 1, sizeof *r->cases);
    run_cases(s, r->cases);
    judge_failures(s, r);
    give_reason(r);
}

static void list_speeds(exercise_result *r)
{
    r->speed_count = count_speeds(r->exercise);
    r->speeds = calloc((size_t)r->speed_count + 1, sizeof *r->speeds);
    for (int i = 0; i < r->speed_count; i++) {
        const speed_test *s = &r->exercise->speed[i];
        r->speeds[i].test = s;
        r->speeds[i].status = speed_needs(s, r->place, core_count()) ? SKIPPED : NOT_RUN;
        metric_text(r->speeds[i].metric, r->exercise, s->function, &s->metric);
    }
}

static void list_traffic(exercise_result *r)
{
    r->traffic_count = count_traffic(r->exercise);
    r->traffics = calloc((size_t)r->traffic_count + 1, sizeof *r->traffics);
    for (int i = 0; i < r->traffic_count; i++) {
        const traffic_test *t = &r->exercise->traffic[i];
        r->traffics[i].test = t;
        r->traffics[i].status = traffic_needs(r->exercise, t, r->place) ? SKIPPED : NOT_RUN;
        metric_text(r->traffics[i].metric, r->exercise, t->function, &t->metric);
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
        if (!is_wanted(o, r->speeds[i].metric)) r->speeds[i].status = SKIPPED;
    }
    for (int i = 0; i < r->traffic_count; i++) {
        if (!is_wanted(o, r->traffics[i].metric)) r->traffics[i].status = SKIPPED;
    }
}

/* Where a threshold belongs to other GPUs. */
static void skip_on_other_gpus(exercise_result *r, const device_facts *device)
{
    for (int i = 0; i < r->speed_count; i++) {
        speed_result *s = &r->speeds[i];
        const int wanted = s->test->capability;
        if (r->place != ON_GPU || !wanted || wanted == device->capability) continue;
        s->status = SKIPPED;
        if (r->exercise->sm_90a && wanted == 90)
            strcpy(s->elsewhere, "skipped: needs sm_90a");
        else
            snprintf(s->elsewhere, sizeof s->elsewhere, "skipped: needs compute capability %d.%d",
                     wanted / 10, wanted % 10);
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

/* The part that a test times or counts, by its function; NULL: all of the exercise. */
static const char *part_of_test(const exercise_result *r, const char *function)
{
    return part_number(r->exercise, function) < 0 ? NULL : function;
}

/* Is what it times or counts right, and was nothing that was timed before it wrong? */
static bool may_run(const exercise_result *r, status verdict, const char *function)
{
    const account s = account_of(r);
    return verdict != SKIPPED && !r->broken && account_has(&s, function);
}

/* A call that went wrong while it was timed or counted is a case that failed, and nothing is timed
 * or counted any more. */
static void take_broken(case_state *s, exercise_result *r, const char *metric, const char *function,
                        status *verdict, char **message)
{
    r->cases[r->case_count++] = case_of_call(s, metric, part_of_test(r, function), *message);
    *message = NULL;
    *verdict = NOT_RUN;
    r->broken = true;
    give_reason(r);
}

static void judge_speeds(case_state *state, exercise_result *r, const build *baseline,
                         const device_facts *device)
{
    for (int i = 0; i < r->speed_count; i++) {
        speed_result *s = &r->speeds[i];
        if (!may_run(r, s->status, s->test->function)) continue;
        if (baseline && baseline->ok)
            run_speed(state, s->test, baseline->library, device, s);
        else
            s->message = no_baseline(baseline);
        if (s->broken) take_broken(state, r, s->metric, s->test->function, &s->status, &s->message);
    }
}

/* Timings disturb each other. Whoever waits for its turn keeps no worker, and so nothing on a GPU.
 */
static void await_turn(case_state *s, const exercise_result *r)
{
    bool any = false;
    for (int i = 0; i < r->speed_count; i++)
        any = any || may_run(r, r->speeds[i].status, r->speeds[i].test->function);
    if (!any || !s->options->await_turn) return;
    case_drop_worker(s);
    s->options->await_turn();
}

static void judge_traffic(case_state *s, exercise_result *r, const build *baseline)
{
    counted_calls so_far = {0};
    for (int i = 0; i < r->traffic_count; i++) {
        traffic_result *t = &r->traffics[i];
        const bool ready = baseline && baseline->ok;
        if (!may_run(r, t->status, t->test->function)) continue;
        if (ready || !t->test->baseline)
            run_traffic(s, t->test, ready ? baseline->library : NULL, &so_far, t);
        else
            t->message = no_baseline(baseline);
        if (t->broken) take_broken(s, r, t->metric, t->test->function, &t->status, &t->message);
    }
}

exercise_result judge(const options *o, const build *b, const build *baseline,
                      const device_facts *device)
{
    exercise_result r = {
        .exercise = b->exercise, .place = b->place, .status = FAILED, .prerequisites = ""};
    case_state s = case_begin(o, b->exercise, b->place, b->library);
    if (b->root) s.folder = b->parts_root ? b->parts_root : b->root;
    r.reason = strdup(b->ok ? "" : b->log);
    r.warnings = strdup(b->ok ? b->log : "");
    if (b->ok) {
        judge_cases(&s, &r);
    } else {
        r.status = BUILD_FAILED;
    }
    list_tests(&r);
    skip_unwanted(o, &r);
    skip_on_other_gpus(&r, device);
    if (b->ok) {
        await_turn(&s, &r);
        judge_speeds(&s, &r, baseline, device);
        if (s.options->end_turn) s.options->end_turn();
        judge_traffic(&s, &r, baseline);
    }
    case_drop_worker(&s);
    worker_stop(s.baseline_worker);
    r.dead = s.dead;
    r.interrupted = s.interrupted;
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
