/* main.c: all suites, each test in a process of its own. */
#include "tests.h"

int main(void)
{
    SRunner *runner = srunner_create(suite_compare());
    srunner_add_suite(runner, suite_pattern());
    srunner_add_suite(runner, suite_process());
    srunner_add_suite(runner, suite_options());
    srunner_add_suite(runner, suite_score());
    srunner_add_suite(runner, suite_traffic());
    srunner_add_suite(runner, suite_catalog());
    srunner_add_suite(runner, suite_submission());
    srunner_add_suite(runner, suite_gpu());
    srunner_add_suite(runner, suite_hidden());
    srunner_add_suite(runner, suite_idx());
    srunner_add_suite(runner, suite_history());
    srunner_add_suite(runner, suite_digits());
    srunner_add_suite(runner, suite_random());
    srunner_add_suite(runner, suite_views());
    srunner_add_suite(runner, suite_schema());
    srunner_add_suite(runner, suite_verify());
    srunner_add_suite(runner, suite_speed());
    srunner_add_suite(runner, suite_noisy());
    srunner_add_suite(runner, suite_parallel());
    srunner_add_suite(runner, suite_sandbox());
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
