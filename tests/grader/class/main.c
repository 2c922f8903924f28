/* main.c: the suites of `make class`, each test in a process of its own. */
#include "tests.h"

#include <stdlib.h>

int main(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "900", 0); /* seconds of one test: no machine is too slow */
    SRunner *runner = srunner_create(suite_unpack());
    srunner_add_suite(runner, suite_gradebook());
    srunner_add_suite(runner, suite_resume());
    srunner_add_suite(runner, suite_changes());
    srunner_add_suite(runner, suite_key());
    srunner_add_suite(runner, suite_distribution());
    srunner_add_suite(runner, suite_leaderboard());
    srunner_add_suite(runner, suite_progress());
    srunner_add_suite(runner, suite_slurm());
    srunner_add_suite(runner, suite_feedback());
    srunner_add_suite(runner, suite_similar());
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
