/* main.c: all suites, each test in a process of its own. Many tests only wait for a deadline, so a
 * few rows of suites run side by side; each prints its own "Checks:". */
#include "tests.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 4 };

static Suite *(*const suites[])(void) = {
    suite_compare,  suite_pattern,  suite_process,    suite_terminal,     suite_options,
    suite_score,    suite_checks,   suite_traffic,    suite_catalog,      suite_submission,
    suite_gpu,      suite_hidden,   suite_idx,        suite_history,      suite_loop,
    suite_digits,   suite_random,   suite_resnet18,   suite_gpt,          suite_resnet,
    suite_sizes,    suite_views,    suite_gradescope, suite_schema,       suite_verify,
    suite_speed,    suite_usage,    suite_wall_clock, suite_noisy,        suite_files,
    suite_build,    suite_prebuilt, suite_judge,      suite_results,      suite_element,
    suite_worker,   suite_kinds,    suite_calls,      suite_promises,     suite_device_process,
    suite_parallel, suite_sandbox,  suite_threads,    suite_python,       suite_answers,
    suite_file,     suite_claims,   suite_corpus,     suite_compare_runs, suite_several,
};

/* CK_RUN_SUITE is for the tests, not for the suites that the grader makes in them. */
static int run(SRunner *runner)
{
    const char *asked = getenv("CK_RUN_SUITE");
    char *suite = asked ? strdup(asked) : NULL;
    unsetenv("CK_RUN_SUITE");
    srunner_run(runner, suite, NULL, CK_NORMAL);
    free(suite);
    return srunner_ntests_failed(runner);
}

/* Every ROWS-th suite. @return how many tests failed */
static int run_row(size_t row)
{
    SRunner *runner = srunner_create(suites[row]());
    for (size_t i = row + ROWS; i < sizeof suites / sizeof *suites; i += ROWS) {
        srunner_add_suite(runner, suites[i]());
    }
    const int failed = run(runner);
    srunner_free(runner);
    return failed;
}

int main(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "900", 0); /* seconds of one test: no machine is too slow */
    pid_t rows[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = fork();
        if (rows[i] == 0) exit(run_row(i) > 0);
    }
    bool failed = false;
    for (size_t i = 0; i < ROWS; i++) {
        int status = 1;
        failed |= rows[i] < 0 || waitpid(rows[i], &status, 0) < 0 || status != 0;
    }
    return failed;
}
