/*
 * score.c: from verdicts to points; a pure function. Correctness gates: all cases or nothing. On
 * softgpu a part of its points, the checks, is for a run in which it found nothing: no race, no
 * read of what was never written; of a GPU's entry checks.c takes it. Speed, and traffic where it
 * stands for speed, is proportional below its threshold and nothing beyond ten times too slow. A
 * timing that is too noisy to be passed or failed earns the same share of the low end of its
 * interval. What this place cannot judge counts in neither points nor max_points.
 *
 * A challenge is right by calling the exercise that it is to beat: it earns all of its points when
 * every timing or count passes, else nothing, and nothing is to be had where none can be judged.
 */
#include "verdict.h"

#include <math.h>

#define CHECKS_SHARE 0.2 /* of the points for correctness */

static bool all_passed(const exercise_result *r)
{
    int passed = 0;
    for (int i = 0; i < r->case_count; i++) {
        if (r->cases[i].status == FAILED || r->cases[i].status == NOT_RUN) return false;
        passed += r->cases[i].status == PASSED;
    }
    return passed > 0;
}

static bool any_finding(const exercise_result *r)
{
    for (int i = 0; i < r->case_count; i++) {
        if (r->cases[i].finding && *r->cases[i].finding) return true;
    }
    return false;
}

double checks_points(const exercise *e, place where)
{
    return where == ON_SOFTGPU ? fmax(1.0, round(CHECKS_SHARE * e->points)) : 0.0;
}

status checks_status(const exercise_result *r)
{
    if (r->place != ON_SOFTGPU || r->status == SKIPPED) return SKIPPED;
    if (any_finding(r)) return FAILED;
    return all_passed(r) ? PASSED : NOT_RUN;
}

/* What is too noisy earns what it has shown for certain: the low end of its interval. */
static double speed_credit(const speed_result *s)
{
    const bool noisy = s->status == TOO_NOISY;
    if (s->status == PASSED) return 1.0;
    if (s->status == NOT_RUN || (s->message && !noisy)) return 0.0;
    const double share = (noisy ? s->low : s->ratio) / s->test->threshold;
    return share >= 1.0 ? 1.0 : share < 0.1 ? 0.0 : share;
}

bool is_settled(const exercise_result *r)
{
    for (int i = 0; i < r->speed_count; i++) {
        if (r->speeds[i].status == TOO_NOISY) return false;
    }
    return true;
}

static double traffic_credit(const traffic_result *t)
{
    const double wanted = t->test->wanted;
    if (t->status == PASSED) return 1.0;
    if (t->status == NOT_RUN || t->test->bound == EXACTLY) return 0.0;
    const double share = t->test->bound == AT_LEAST ? t->counted / wanted : wanted / t->counted;
    return share >= 0.1 && share < 1.0 ? share : 0.0;
}

/* @return the sum of what the timings, or the counts, earned, each between 0 and 1 */
static double add_up(const exercise_result *r, int *judged)
{
    double credit = 0.0;
    *judged = 0;
    for (int i = 0; i < r->speed_count; i++) {
        if (r->speeds[i].status == SKIPPED) continue;
        credit += speed_credit(&r->speeds[i]);
        ++*judged;
    }
    for (int i = 0; i < r->traffic_count; i++) {
        if (r->traffics[i].status == SKIPPED) continue;
        credit += traffic_credit(&r->traffics[i]);
        ++*judged;
    }
    return credit;
}

void score(exercise_result *r)
{
    int judged;
    const double credit = add_up(r, &judged);
    const bool challenge = id_is_challenge(r->exercise->id);
    r->points = r->max_points = 0.0;
    if (r->status == SKIPPED) return;
    r->max_points = r->exercise->points + (judged ? r->exercise->speed_points : 0.0);
    if (challenge && judged == 0) r->max_points = 0.0;
    if (r->status != PASSED && r->status != FAILED) return;
    const bool right = all_passed(r), clean = checks_status(r) != FAILED;
    r->status = right && clean ? PASSED : FAILED;
    if (!right) return;
    r->points = r->exercise->points;
    if (!clean) r->points -= checks_points(r->exercise, r->place);
    if (clean && judged) r->points += r->exercise->speed_points * credit / judged;
    if (challenge && (judged == 0 || credit < judged || !clean)) r->points = 0.0;
}
