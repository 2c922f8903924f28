/*
 * score.c: from verdicts to points; a pure function. Correctness gates: all cases or nothing. Speed
 * is proportional below its threshold and nothing beyond ten times too slow. What this place cannot
 * judge counts in neither points nor max_points.
 */
#include "grader.h"

static bool all_passed(const exercise_result *r)
{
    int passed = 0;
    for (int i = 0; i < r->case_count; i++) {
        if (r->cases[i].status == FAILED || r->cases[i].status == NOT_RUN) return false;
        passed += r->cases[i].status == PASSED;
    }
    return passed > 0;
}

static double speed_credit(const speed_result *s)
{
    if (s->message || s->status == NOT_RUN) return 0.0;
    const double share = s->ratio / s->test->threshold;
    return share >= 1.0 ? 1.0 : share < 0.1 ? 0.0 : share;
}

void score(exercise_result *r)
{
    double credit = 0.0;
    int judged = 0;
    for (int i = 0; i < r->speed_count; i++) {
        if (r->speeds[i].status == SKIPPED) continue;
        credit += speed_credit(&r->speeds[i]);
        judged++;
    }
    r->points = r->max_points = 0.0;
    if (r->status == SKIPPED) return;
    r->max_points = r->exercise->points + (judged ? r->exercise->speed_points : 0.0);
    if (r->status != PASSED && r->status != FAILED) return;
    r->status = all_passed(r) ? PASSED : FAILED;
    if (r->status == FAILED) return;
    r->points = r->exercise->points;
    if (judged) r->points += r->exercise->speed_points * credit / judged;
}
