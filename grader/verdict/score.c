/*
 * score.c: from verdicts to points; pure functions. An exercise is one part, or several that its
 * cases name. The points for correctness are divided evenly over its parts, and a part earns its
 * share when all of its cases pass. On softgpu a fifth of that, the checks, is for a part in which
 * it found nothing: no race, no read of memory that was never written; of a GPU's entry checks.c takes it.
 *
 * Speed, and traffic where it stands for speed, counts where the part is right and clean. It earns
 * nothing up to what the plain version reaches, and rises from there to the threshold. A timing
 * that is too noisy to be passed or failed earns the same of the low end of its interval. A plain
 * kernel meets some tests, so several of one call earn what the least of them does, and a function
 * that saves nothing over the plain version earns nothing. What this place cannot judge counts in
 * neither points nor max_points.
 *
 * A challenge is right by calling the exercise that it is to beat: it earns all of its points when
 * every timing or count passes, else nothing, and nothing is to be had where none can be judged.
 */
#include "verdict.h"

#include <math.h>
#include <string.h>

#define CHECKS_SHARE 0.2 /* of the points for correctness */

double checks_points(const exercise *e, place where)
{
    return where == ON_SOFTGPU ? fmax(1.0, round(CHECKS_SHARE * e->points)) : 0.0;
}

/* ---- parts and tests ------------------------------------------------------------------------- */

account account_begin(const exercise *e, place where)
{
    account s = {.exercise = e, .where = where};
    s.part_count = parts_of(e, s.names);
    return s;
}

void account_case(account *s, const char *name, const char *status, bool found)
{
    const int only = part_number(s->exercise, name);
    for (int i = 0; i < s->part_count; i++) {
        if (only >= 0 && i != only) continue;
        s->parts[i].passed = s->parts[i].passed || strcmp(status, "passed") == 0;
        s->parts[i].wrong = s->parts[i].wrong || strcmp(status, "passed") != 0;
        s->parts[i].found = s->parts[i].found || found;
    }
}

static bool is_right(const account *s, int i)
{
    return s->parts[i].passed && !s->parts[i].wrong;
}

/* One that has no case here is as good as the others. */
bool account_has(const account *s, const char *name)
{
    bool any = false;
    const int only = part_number(s->exercise, name);
    for (int i = 0; i < s->part_count; i++) {
        any = any || is_right(s, i);
        if ((only < 0 || i == only) && (s->parts[i].wrong || s->parts[i].found)) return false;
    }
    return any;
}

void account_test(account *s, const char *function, const char *shape, double credit,
                  bool reduction)
{
    int i = 0;
    const char *of = shape ? shape : "";
    if (!account_has(s, function)) credit = 0.0;
    while (i < s->call_count &&
           (strcmp(s->calls[i].function, function) != 0 || strcmp(s->calls[i].shape, of) != 0))
        i++;
    if (i == CALLS_MAX) return;
    if (i == s->call_count) s->calls[s->call_count++] = (account_call){function, of, credit, false};
    s->calls[i].credit = fmin(s->calls[i].credit, credit);
    s->calls[i].plain = s->calls[i].plain || (reduction && credit <= 0.0);
}

const char *account_part(const account *s, int i)
{
    if (!s->parts[i].passed && !s->parts[i].wrong) return "skipped";
    return is_right(s, i) && !s->parts[i].found ? "passed" : "failed";
}

int account_judged(const account *s)
{
    int judged = 0;
    for (int i = 0; i < s->part_count; i++) judged += s->parts[i].passed || s->parts[i].wrong;
    return judged;
}

/* @param clean only those in which nothing was found */
static int count_right(const account *s, bool clean)
{
    int right = 0;
    for (int i = 0; i < s->part_count; i++)
        right += is_right(s, i) && !(clean && s->parts[i].found);
    return right;
}

bool account_passed(const account *s)
{
    return account_judged(s) > 0 && count_right(s, true) == account_judged(s);
}

double account_checks(const account *s)
{
    const double points = checks_points(s->exercise, s->where);
    return account_judged(s) ? points * count_right(s, true) / account_judged(s) : 0.0;
}

static bool is_plain(const account *s, const char *function)
{
    for (int i = 0; i < s->call_count; i++) {
        if (s->calls[i].plain && strcmp(s->calls[i].function, function) == 0) return true;
    }
    return false;
}

/* @return what the calls earned together, of 1 */
static double speed_share(const account *s)
{
    double sum = 0.0;
    for (int i = 0; i < s->call_count; i++)
        sum += is_plain(s, s->calls[i].function) ? 0.0 : s->calls[i].credit;
    return s->call_count > 0 ? sum / s->call_count : 0.0;
}

double account_points(const account *s)
{
    const exercise *e = s->exercise;
    if (account_judged(s) == 0) return 0.0;
    const double speed = speed_share(s), checks = checks_points(e, s->where);
    if (id_is_challenge(e->id) && !(account_passed(s) && s->call_count > 0 && speed >= 1.0))
        return 0.0;
    const double right = (e->points - checks) * count_right(s, false) / account_judged(s);
    return right + account_checks(s) + e->speed_points * speed;
}

double account_most(const account *s)
{
    const exercise *e = s->exercise;
    if (s->call_count == 0) return id_is_challenge(e->id) ? 0.0 : e->points;
    return e->points + e->speed_points;
}

/* ---- what one test earns, of 1 --------------------------------------------------------------- */

/* @return where x lies on the way */
static double way(double from, double x, double to)
{
    const double part = (x - from) / (to - from);
    return part > 0.0 && to > from ? fmin(part, 1.0) : 0.0; /* and of NAN */
}

double speed_credit(const speed_result *s)
{
    const bool noisy = s->status == TOO_NOISY;
    const double begin = s->test->begin > 0.0 ? s->test->begin : 1.0;
    if (s->status == PASSED) return 1.0;
    if (s->status == NOT_RUN || (s->message && !noisy)) return 0.0;
    return way(begin, noisy ? s->low : s->ratio, s->test->threshold);
}

static bool is_reduction(const traffic_test *t)
{
    return t->baseline && t->bound == AT_LEAST;
}

/* Of what is to be small, how many times less than the plain version's. What is met, but not for
 * secret inputs, is not met. */
double traffic_credit(const traffic_result *t)
{
    const traffic_test *test = t->test;
    const double begin = test->begin > 0.0 || !is_reduction(test) ? test->begin : 1.0;
    if (t->status == PASSED) return 1.0;
    if (t->status == NOT_RUN || begin <= 0.0 || test->bound == EXACTLY) return 0.0;
    const double share = test->bound == AT_LEAST
                             ? way(begin, t->counted, test->wanted)
                             : way(1.0, begin / t->counted, begin / test->wanted);
    return share < 1.0 ? share : 0.0;
}

bool is_settled(const exercise_result *r)
{
    for (int i = 0; i < r->speed_count; i++) {
        if (r->speeds[i].status == TOO_NOISY) return false;
    }
    return true;
}

/* ---- an exercise ----------------------------------------------------------------------------- */

account account_of(const exercise_result *r)
{
    account s = account_begin(r->exercise, r->place);
    for (int i = 0; i < r->case_count; i++) {
        const case_result *c = &r->cases[i];
        if (c->status == SKIPPED) continue;
        account_case(&s, c->part, status_name(c->status), c->finding && *c->finding);
    }
    for (int i = 0; i < r->speed_count; i++) {
        const speed_test *t = r->speeds[i].test;
        if (r->speeds[i].status != SKIPPED)
            account_test(&s, t->function, t->metric.shape, speed_credit(&r->speeds[i]), false);
    }
    for (int i = 0; i < r->traffic_count; i++) {
        const traffic_test *t = r->traffics[i].test;
        if (r->traffics[i].status != SKIPPED)
            account_test(&s, t->function, t->metric.shape, traffic_credit(&r->traffics[i]),
                         is_reduction(t));
    }
    return s;
}

status checks_status(const exercise_result *r)
{
    const account s = account_of(r);
    if (r->place != ON_SOFTGPU || r->status == SKIPPED) return SKIPPED;
    for (int i = 0; i < s.part_count; i++) {
        if (s.parts[i].found) return FAILED;
    }
    return account_passed(&s) ? PASSED : NOT_RUN;
}

void score(exercise_result *r)
{
    const account s = account_of(r);
    r->points = r->max_points = 0.0;
    if (r->status == SKIPPED) return;
    r->max_points = account_most(&s);
    if (r->status != PASSED && r->status != FAILED) return;
    r->status = account_passed(&s) ? PASSED : FAILED;
    r->points = account_points(&s);
}
