/*
 * run.c: the cases of one exercise, as a Check suite that runs in this process (CK_NOFORK): the
 * student's code is in the worker, and the worker has its own deadlines. A failed expectation
 * leaves the case through Check; the record of verdicts is ours.
 */
#include <check.h>
#undef fail /* Check's old name for ck_abort; ours is in case.h */

#include "running.h"

#include "timer.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DEADLINE 10.0  /* seconds for one call */
#define CASES_BUDGET     600.0 /* seconds for all cases of an exercise: after it no case begins */
#define SOFTGPU_SLOWNESS 3.0   /* an emulated call may take this much longer */

case_state *running;
static case_result *current_results;

const char *status_name(status s)
{
    static const char *const names[] = {"passed",  "failed",  "build_failed", "not_started",
                                        "skipped", "not_run", "too_noisy"};
    return names[s];
}

static void __attribute__((noreturn)) end_as(failure failure, const char *format, va_list arguments)
{
    free(running->message);
    running->failure = failure;
    if (vasprintf(&running->message, format, arguments) < 0)
        running->message = strdup("out of memory");
    ck_abort_msg("%s", running->message);
    abort(); /* not reached: ck_abort_msg does not return */
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end_as(FAILURE_RESULT, format, arguments);
}

void fail_as(failure failure, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end_as(failure, format, arguments);
}

/* Nothing that follows is of interest. A case of its own would have no verdict; see run_guarded. */
void leave_case(void)
{
    ck_abort_msg("left");
    abort(); /* not reached */
}

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    free(running->note);
    if (vasprintf(&running->note, format, arguments) < 0) running->note = NULL;
    va_end(arguments);
}

case_state case_begin(const options *o, const exercise *e, place p, const char *library)
{
    return (case_state){
        .options = o,
        .exercise = e,
        .place = p,
        .library = library,
        .request = {.place = p, .host_copies = e->host_copies, .deadline = DEFAULT_DEADLINE}};
}

void case_enter(case_state *s)
{
    running = s;
}

void case_drop_worker(case_state *s)
{
    worker_stop(s->worker);
    s->worker = NULL;
    s->last.output = NULL;
}

unsigned long long secret_seed(const case_state *s, const char *what)
{
    static random_state seeds;
    static bool seeded;
    unsigned long long given;
    if (s->options->seed_given) return s->options->seed;
    if (hidden_seed(s->exercise, what, &given)) return given;
    if (!seeded) {
        unsigned long long secret = 0;
        FILE *source = fopen("/dev/urandom", "rb");
        if (!source || fread(&secret, sizeof secret, 1, source) != 1) secret = (uintptr_t)&source;
        if (source) fclose(source);
        seeds = random_seed(secret);
        seeded = true;
    }
    return random_u64(&seeds) >> 16; /* short enough to type */
}

/* Another seed at the same addresses, then the first seed at others: a cache by address or by
 * content answers one of them wrongly. */
static void run_trials(const grading_case *c, unsigned long long seed)
{
    const int trials = c->once ? 1 : 3;
    for (int trial = 0; trial < trials; trial++) {
        running->random = random_seed(trial == 1 ? seed + 1 : seed);
        running->request.relocate = trial == 2;
        running->request.against_guard = trial != 2;
        c->run(c->shape);
        inputs_free();
    }
}

START_TEST(one_case)
{
    const grading_case *c = running->grading_case = &running->exercise->cases[_i];
    case_result *result = &current_results[_i];
    double *deadline = &running->request.deadline;
    *deadline = c->seconds > 0 ? c->seconds : DEFAULT_DEADLINE;
    if (running->place == ON_SOFTGPU && c->seconds <= 0) *deadline *= SOFTGPU_SLOWNESS;
    if (running->options->slow > 0) *deadline *= running->options->slow;
    result->seed = secret_seed(running, c->name);
    run_trials(c, result->seed);
    result->status = PASSED;
}
END_TEST

static bool wanted(const grading_case *c)
{
    const char *only = running->options->case_name, *start = running->options->case_start;
    if (start && strncmp(start, c->name, strlen(start)) != 0) return false;
    return !only || strcmp(only, c->name) == 0;
}

static bool runs_here(const grading_case *c)
{
    return c->where == 0 || (c->where & running->place);
}

static void run_under_check(int index)
{
    Suite *suite = suite_create(running->exercise->name);
    TCase *tcase = tcase_create(running->exercise->cases[index].name);
    tcase_add_loop_test(tcase, one_case, index, index + 1);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    inputs_free();
}

/* @return the text, which is the caller's from now on */
static char *take(char **text, const char *otherwise)
{
    char *taken = *text ? *text : strdup(otherwise);
    *text = NULL;
    return taken;
}

/* @return NULL, or why no more cases are run */
static const char *why_not(double end)
{
    if (running->dead) return "not run after an earlier deadline";
    return seconds_now() > end ? "not run: the cases before it took too long together" : NULL;
}

char *case_take_found(case_state *s)
{
    char *all = strdup("");
    for (int i = 0; i < s->found_count; i++) {
        char *before = all;
        if (asprintf(&all, "%s%s%s", before, i > 0 ? "\n" : "", s->found[i].text) < 0) abort();
        free(before);
        free(s->found[i].text);
    }
    free(s->found);
    s->found = NULL;
    s->found_count = 0;
    return all;
}

/* All that was found goes to the result; first what the case failed of. */
static void take_findings(case_state *s, case_result *result)
{
    const int failed = result->status == FAILED && s->culprit.what.count > 0;
    result->found_count = s->found_count + failed;
    if (result->found_count > 0) {
        result->found = calloc((size_t)result->found_count, sizeof *result->found);
        if (!result->found) abort();
    }
    for (int i = 0; i < s->found_count; i++) {
        result->found[i + failed] = s->found[i];
        result->found[i + failed].text = strdup(s->found[i].text);
    }
    if (failed) {
        result->found[0] = s->culprit;
        result->found[0].text = strdup(result->message);
    }
    result->finding = case_take_found(s);
}

void case_forget_found(case_result *r)
{
    for (int i = 0; i < r->found_count; i++) free(r->found[i].text);
    free(r->found);
    r->found = NULL;
    r->found_count = 0;
}

void case_result_free(case_result *r)
{
    case_forget_found(r);
    free(r->message);
    free(r->mistake);
    free(r->finding);
}

static void run_case(int index, double end)
{
    const grading_case *c = &running->exercise->cases[index];
    case_result *result = &current_results[index];
    const char *why = why_not(end);
    *result = (case_result){.name = c->name, .status = FAILED};
    if (!runs_here(c) || !wanted(c) || why) {
        const bool late = why && runs_here(c);
        result->finding = strdup("");
        result->status = late ? NOT_RUN : SKIPPED;
        result->message = strdup(late ? why : "");
        return;
    }
    if (c->line)
        case_drop_worker(running); /* what a worker has seen of it, no public case may tell */
    report_progress("%d %s: %s", running->exercise->id, running->exercise->name, c->name);
    const double began = seconds_now();
    running->culprit.what.count = 0;
    running->failure = FAILURE_NONE;
    run_under_check(index);
    result->seconds = seconds_now() - began;
    if (result->status == PASSED) {
        result->message = take(&running->note, "");
    } else {
        result->message = take(&running->message, "the case ended without a verdict");
        result->failure = running->failure ? running->failure : FAILURE_CALL;
    }
    result->mistake = take(&running->mistake, "");
    take_findings(running, result);
    if (c->line) case_drop_worker(running);
    hidden_hide(running->options, c, result);
}

void run_cases(case_state *s, case_result results[])
{
    case_enter(s);
    const double slow = running->options->slow > 0 ? running->options->slow : 1.0;
    const double end = seconds_now() + CASES_BUDGET * slow;
    current_results = results;
    for (int i = 0; running->exercise->cases[i].name; i++) run_case(i, end);
}

/* ---- anything else that may fail an expectation ---------------------------------------------- */

static void (*guarded)(const char *, const long *);
static const char *guarded_function;
static const long *guarded_shape;

START_TEST(one_guarded)
{
    guarded(guarded_function, guarded_shape);
}
END_TEST

char *run_guarded(case_state *s, void (*run)(const char *, const long *), const char *function,
                  const long *shape)
{
    case_enter(s);
    guarded = run;
    guarded_function = function;
    guarded_shape = shape;
    free(running->message);
    running->message = NULL;
    Suite *suite = suite_create(running->exercise->name);
    TCase *tcase = tcase_create("guarded");
    tcase_add_test(tcase, one_guarded);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    inputs_free();
    char *message = running->message;
    running->message = NULL;
    return message;
}

char *run_in(case_state *s, worker **where, const char *library,
             void (*run)(const char *, const long *), const char *function, const long *shape)
{
    worker *own = s->worker;
    const char *own_library = s->library;
    s->worker = *where;
    s->library = library;
    char *message = run_guarded(s, run, function, shape);
    worker *after = s->worker; /* it may have been started, or lost */
    s->library = own_library;
    s->worker = own;
    *where = after; /* last, for it may be s->worker itself */
    return message;
}
