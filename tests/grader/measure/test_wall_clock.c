/*
 * test_wall_clock.c: a timing by the wall clock, for functions with threads: what threads gain
 * there and not elsewhere, what they may not keep, and where it is skipped.
 */
#include "grader/tests.h"

#include "verdict/verdict.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] =
    "#include <pthread.h>\n#include <time.h>\n"
    "static double worked(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);\n"
    "    return t.tv_sec + 1e-9 * t.tv_nsec; }\n"
    "static void *work(void *share) { const double end = worked() + *(double *)share;\n"
    "    while (worked() < end) { } return 0; }\n"
    "void shared(int threads) { pthread_t t[8]; double share = 0.004 / threads;\n"
    "    for (int i = 1; i < threads; i++) pthread_create(&t[i], 0, work, &share);\n"
    "    work(&share);\n"
    "    for (int i = 1; i < threads; i++) pthread_join(t[i], 0); }\n"
    "void kept(int threads) { static pthread_t t; static double share = 1e9;\n"
    "    pthread_create(&t, 0, work, &share); }\n";

static char folder[PATH_MAX], library[PATH_MAX + 16];
static options course;
static case_state state;

static void call_shared(const char *function, const long *shape)
{
    call_void(function, ARGS(i32((int)shape[0])));
}

static void check_nothing(const long *shape)
{
    (void)shape;
}

static const grading_case cases[] = {{.name = "nothing", .run = check_nothing}, {0}};
static const speed_test speed[] = {{.metric = {"speedup", .over = "one thread"},
                                    .function = "shared",
                                    .run = call_shared,
                                    .where = ON_HOST,
                                    .wall_clock = true,
                                    .threshold = 2.0},
                                   {0}};
static const exercise threaded = {.id = 107,
                                  .name = "threaded",
                                  .file = "phase1_cpu/107_threaded.c",
                                  .points = 10,
                                  .speed_points = 5,
                                  .cases = cases,
                                  .speed = speed};

static void compile_library(void)
{
    char *arguments[] = {"unit_tests", "grade", NULL};
    ck_assert(options_parse(&course, 2, arguments) && sandbox_start(&course));
    snprintf(folder, sizeof folder, "%s/wall clock test %d", course.build, (int)getpid());
    snprintf(library, sizeof library, "%s/made.so", folder);
    make_library(folder, source);
}

static void remove_library(void)
{
    remove_tree(folder);
}

static void start(void)
{
    state = case_begin(&course, &threaded, ON_HOST, library);
    state.request.timed = true;
}

static void stop(void)
{
    case_drop_worker(&state);
}

#define TRIES 20

/* What threads work in the call is none of what goes on beside it.
 * @return how many of the calls were timed by the clock */
static int count_by_the_clock(bool wall_clock)
{
    int count = 0;
    double least_beside = 1.0;
    state.request.wall_clock = wall_clock;
    for (int i = 0; i < TRIES; i++) {
        char *message = run_guarded(&state, call_shared, "shared", (const long[]){2});
        ck_assert_msg(!message, "%s", message);
        count += state.last.seconds == state.last.wall;
        least_beside = fmin(least_beside, state.last.overhead_cpu);
    }
    ck_assert_double_le(least_beside, 1e-3);
    return count;
}

START_TEST(the_clock_counts_and_not_the_work)
{
    ck_assert_int_eq(count_by_the_clock(false), 0);
    ck_assert_int_eq(count_by_the_clock(true), TRIES);
}
END_TEST

START_TEST(no_thread_is_kept)
{
    state.request.wall_clock = true;
    char *message = run_guarded(&state, call_shared, "kept", (const long[]){2});
    ck_assert_str_eq(message, "kept left 1 thread running");
    free(message);
}
END_TEST

START_TEST(few_cores_skip_it)
{
    ck_assert_str_eq(speed_needs(&speed[0], ON_HOST, 3), "skipped: needs 4 cores");
    ck_assert_str_eq(speed_needs(&speed[0], ON_GPU, 3), "skipped: needs a GPU");
    ck_assert_ptr_null(speed_needs(&speed[0], ON_HOST, 4));
    const speed_test by_work = {.where = ON_HOST};
    ck_assert_ptr_null(speed_needs(&by_work, ON_HOST, 1));
}
END_TEST

/* Its points are not missed. Without a baseline it is not run either. */
START_TEST(a_skipped_one_is_seen)
{
    const build b = {.exercise = &threaded, .place = ON_HOST, .ok = true, .log = ""};
    const bool few = core_count() < WALL_CLOCK_CORES;
    exercise_result r = judge(&course, &b, NULL, &(device_facts){.name = "none"});
    json_t *entry = results_exercise(&r), *timing = json_object_get(entry, "speed");
    ck_assert_str_eq(string_of(entry, "status"), "passed");
    ck_assert_str_eq(string_of(timing, "verdict"), few ? "skipped: needs 4 cores" : "not_run");
    ck_assert_double_eq(real_of(entry, "max_points"), few ? 10 : 15);
    json_decref(entry);
    exercise_result_free(&r);
}
END_TEST

Suite *suite_wall_clock(void)
{
    Suite *suite = suite_create("wall_clock");
    TCase *tcase = tcase_create("wall_clock");
    tcase_add_unchecked_fixture(tcase, compile_library, remove_library);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, the_clock_counts_and_not_the_work);
    tcase_add_test(tcase, no_thread_is_kept);
    tcase_add_test(tcase, few_cores_skip_it);
    tcase_add_test(tcase, a_skipped_one_is_seen);
    suite_add_tcase(suite, tcase);
    return suite;
}
