/* main.c: all suites, each test in a process of its own. */
#include "tests.h"

#include <stdlib.h>
#include <string.h>

/* CK_RUN_SUITE is for the tests, not for the suites that the grader makes in them. */
static void run(SRunner *runner)
{
    const char *asked = getenv("CK_RUN_SUITE");
    char *suite = asked ? strdup(asked) : NULL;
    unsetenv("CK_RUN_SUITE");
    srunner_run(runner, suite, NULL, CK_NORMAL);
    free(suite);
}

int main(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "900", 0); /* seconds of one test: no machine is too slow */
    SRunner *runner = srunner_create(suite_compare());
    srunner_add_suite(runner, suite_pattern());
    srunner_add_suite(runner, suite_process());
    srunner_add_suite(runner, suite_terminal());
    srunner_add_suite(runner, suite_options());
    srunner_add_suite(runner, suite_score());
    srunner_add_suite(runner, suite_checks());
    srunner_add_suite(runner, suite_traffic());
    srunner_add_suite(runner, suite_catalog());
    srunner_add_suite(runner, suite_submission());
    srunner_add_suite(runner, suite_gpu());
    srunner_add_suite(runner, suite_hidden());
    srunner_add_suite(runner, suite_idx());
    srunner_add_suite(runner, suite_history());
    srunner_add_suite(runner, suite_loop());
    srunner_add_suite(runner, suite_digits());
    srunner_add_suite(runner, suite_random());
    srunner_add_suite(runner, suite_resnet18());
    srunner_add_suite(runner, suite_gpt());
    srunner_add_suite(runner, suite_resnet());
    srunner_add_suite(runner, suite_sizes());
    srunner_add_suite(runner, suite_views());
    srunner_add_suite(runner, suite_gradescope());
    srunner_add_suite(runner, suite_schema());
    srunner_add_suite(runner, suite_verify());
    srunner_add_suite(runner, suite_speed());
    srunner_add_suite(runner, suite_usage());
    srunner_add_suite(runner, suite_wall_clock());
    srunner_add_suite(runner, suite_noisy());
    srunner_add_suite(runner, suite_files());
    srunner_add_suite(runner, suite_build());
    srunner_add_suite(runner, suite_prebuilt());
    srunner_add_suite(runner, suite_judge());
    srunner_add_suite(runner, suite_results());
    srunner_add_suite(runner, suite_element());
    srunner_add_suite(runner, suite_worker());
    srunner_add_suite(runner, suite_kinds());
    srunner_add_suite(runner, suite_calls());
    srunner_add_suite(runner, suite_promises());
    srunner_add_suite(runner, suite_device_process());
    srunner_add_suite(runner, suite_parallel());
    srunner_add_suite(runner, suite_sandbox());
    srunner_add_suite(runner, suite_threads());
    srunner_add_suite(runner, suite_python());
    srunner_add_suite(runner, suite_answers());
    srunner_add_suite(runner, suite_file());
    srunner_add_suite(runner, suite_claims());
    srunner_add_suite(runner, suite_corpus());
    srunner_add_suite(runner, suite_compare_runs());
    run(runner);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
