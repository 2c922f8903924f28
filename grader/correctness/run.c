/*
 * run.c: the cases of one exercise, as a Check suite that runs in this process (CK_NOFORK): the
 * student's code is in the worker, and the worker has its own deadlines. A failed expectation
 * leaves the case through Check; the record of verdicts is ours.
 */
#include <check.h>
#undef fail /* Check's old name for ck_abort; ours is in case.h */

#include "correctness.h"

#include "timer.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DEADLINE 10.0  /* seconds for one call */
#define CASES_BUDGET     600.0 /* seconds for all cases of an exercise: after it no case begins */
#define SOFTGPU_SLOWNESS 3.0   /* an emulated call may take this much longer */

context now;
static case_result *current_results;

const char *status_name(status s)
{
    static const char *const names[] = {"passed",  "failed",  "build_failed", "not_started",
                                        "skipped", "not_run", "too_noisy"};
    return names[s];
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    free(now.message);
    if (vasprintf(&now.message, format, arguments) < 0) now.message = strdup("out of memory");
    va_end(arguments);
    ck_abort_msg("%s", now.message);
    abort(); /* not reached: ck_abort_msg does not return */
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
    free(now.note);
    if (vasprintf(&now.note, format, arguments) < 0) now.note = NULL;
    va_end(arguments);
}

place case_place(void)
{
    return now.place;
}

bool call_is_timed(void)
{
    return now.timed;
}

void context_need_worker(void)
{
    char why[512];
    if (now.worker) return;
    now.worker = worker_start(now.options, now.place, now.library, why);
    if (!now.worker) {
        now.dead = true; /* it would not load the next time either */
        fail("the worker cannot load it: %s", why);
    }
}

void context_drop_worker(void)
{
    worker_stop(now.worker);
    now.worker = NULL;
    now.output = NULL;
}

unsigned long long secret_seed(const char *what)
{
    static random_state seeds;
    static bool seeded;
    unsigned long long given;
    if (now.options->seed_given) return now.options->seed;
    if (hidden_seed(what, &given)) return given;
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
        now.random = random_seed(trial == 1 ? seed + 1 : seed);
        now.relocate = trial == 2;
        now.against_guard = trial != 2;
        c->run(c->shape);
        inputs_free();
    }
}

START_TEST(one_case)
{
    const grading_case *c = now.grading_case = &now.exercise->cases[_i];
    case_result *result = &current_results[_i];
    now.deadline = c->seconds > 0 ? c->seconds : DEFAULT_DEADLINE;
    if (now.place == ON_SOFTGPU && c->seconds <= 0) now.deadline *= SOFTGPU_SLOWNESS;
    if (now.options->slow > 0) now.deadline *= now.options->slow;
    now.counted = false; /* an earlier case may have ended in call_counted */
    result->seed = secret_seed(c->name);
    run_trials(c, result->seed);
    result->status = PASSED;
}
END_TEST

static bool wanted(const grading_case *c)
{
    const char *only = now.options->case_name, *start = now.options->case_start;
    if (start && strncmp(start, c->name, strlen(start)) != 0) return false;
    return !only || strcmp(only, c->name) == 0;
}

static bool runs_here(const grading_case *c)
{
    return c->where == 0 || (c->where & now.place);
}

static void run_under_check(int index)
{
    Suite *suite = suite_create(now.exercise->name);
    TCase *tcase = tcase_create(now.exercise->cases[index].name);
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
    if (now.dead) return "not run after an earlier deadline";
    return seconds_now() > end ? "not run: the cases before it took too long together" : NULL;
}

static void run_case(int index, double end)
{
    const grading_case *c = &now.exercise->cases[index];
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
    if (c->line) context_drop_worker(); /* what a worker has seen of it, no public case may tell */
    report_progress("%d %s: %s", now.exercise->id, now.exercise->name, c->name);
    const double began = seconds_now();
    run_under_check(index);
    result->seconds = seconds_now() - began;
    result->finding = take(&now.finding, "");
    if (result->status == PASSED) {
        result->message = take(&now.note, "");
    } else {
        result->message = take(&now.message, "the case ended without a verdict");
    }
    if (c->line) context_drop_worker();
    hidden_hide(now.options, c, result);
}

void run_cases(case_result results[])
{
    const double slow = now.options->slow > 0 ? now.options->slow : 1.0;
    const double end = seconds_now() + CASES_BUDGET * slow;
    current_results = results;
    for (int i = 0; now.exercise->cases[i].name; i++) run_case(i, end);
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

char *run_guarded(void (*run)(const char *, const long *), const char *function, const long *shape)
{
    guarded = run;
    guarded_function = function;
    guarded_shape = shape;
    free(now.message);
    now.message = NULL;
    Suite *suite = suite_create(now.exercise->name);
    TCase *tcase = tcase_create("guarded");
    tcase_add_test(tcase, one_guarded);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    inputs_free();
    char *message = now.message;
    now.message = NULL;
    return message;
}

char *run_in(worker **where, const char *library, void (*run)(const char *, const long *),
             const char *function, const long *shape)
{
    worker *own = now.worker;
    const char *own_library = now.library;
    now.worker = *where;
    now.library = library;
    char *message = run_guarded(run, function, shape);
    worker *after = now.worker; /* it may have been started, or lost */
    now.library = own_library;
    now.worker = own;
    *where = after; /* last, for it may be now.worker itself */
    return message;
}
