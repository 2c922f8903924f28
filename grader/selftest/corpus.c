/*
 * corpus.c: the grader graded. Every submission of the corpus must get the verdict that it
 * claims (expectations.c). All are built first, then judged, several at a time, each by a process
 * of its own: so the effect of a hostile one on its grader is seen, and disturbs no other.
 */
#include "selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define HURRY 0.1 /* deadlines of those that wait for them, of the usual ones */

/* The exit status of the process that judges one. */
typedef enum outcome { AGREES, DISAGREES, UNDECIDED } outcome;

typedef struct entry {
    const claim *claim;
    build build;
    const build *baseline;
    judging judging;
    char stamp[HASH_HEX]; /* the key of its verdict; "" */
    bool failed;          /* the grader says something else */
    bool from_start;      /* it is one of those that were begun from the start of the list */
} entry;

typedef struct tally {
    int passed, failed, skipped;
    int stamped; /* of those that passed: as before, not judged now */
} tally;

/* ---- one submission -------------------------------------------------------------------------- */

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The text of a claim, or one of several with " / " between them: softgpu and a GPU may say it
 * differently. */
static bool says(const char *message, const char *claim)
{
    char one[256];
    for (const char *at = claim; message && at; at = strstr(at, " / ")) {
        at += at == claim ? 0 : 3;
        const char *end = strstr(at, " / ");
        snprintf(one, sizeof one, "%.*s", (int)(end ? end - at : (long)strlen(at)), at);
        if (strstr(message, one)) return true;
    }
    return false;
}

/* The case or metric that shows it here. */
static const char *name_of(const claim *c, place where)
{
    return where == ON_GPU ? c->name_on_gpu : c->name;
}

/* In a case, or in one that passed but for what softgpu found. Only a wrong one may keep the points
 * of its case. */
static bool case_failed(const claim *c, const exercise_result *r)
{
    if (r->status != FAILED) return false;
    for (int i = 0; i < r->case_count; i++) {
        const case_result *one = &r->cases[i];
        if (!begins(one->name, name_of(c, r->place))) continue;
        if (c->kind != CLAIM_WRONG && part_is_right(r->cases, r->case_count, one->part)) continue;
        if (one->status == FAILED && says(one->message, c->text)) return true;
        if (says(one->finding, c->text)) return true;
    }
    return c->kind == CLAIM_WRONG && says(r->reason, c->text); /* no other case was run */
}

/* All is right but the one timing or count; or a call was wrong in it. Of a hostile one that may
 * leave a timing undecided, "too slow / too noisy", that is enough: it earns nothing either. */
static bool metric_failed(const claim *c, const exercise_result *r)
{
    if (r->status != PASSED) return c->kind == CLAIM_HOSTILE && case_failed(c, r);
    if (c->kind == CLAIM_SLOW && r->place == ON_GPU) return true; /* it is a matter of counts */
    for (int i = 0; i < r->traffic_count; i++) {
        const traffic_result *t = &r->traffics[i];
        if (t->status != FAILED || !begins(t->metric, c->name)) continue;
        if (says(t->message, c->text)) return true;
    }
    for (int i = 0; i < r->speed_count; i++) {
        const speed_result *s = &r->speeds[i];
        if (s->status != FAILED && s->status != TOO_NOISY) continue;
        if (!begins(s->metric, c->name)) continue;
        if (says(s->message ? s->message : "too slow", c->text)) return true;
    }
    return false;
}

static bool right_in_all(const exercise_result *r)
{
    for (int i = 0; i < r->traffic_count; i++) {
        if (r->traffics[i].status == FAILED) return false;
    }
    return r->status == PASSED;
}

bool as_claimed(const claim *c, const exercise_result *r)
{
    if (c->kind == CLAIM_RIGHT) return right_in_all(r);
    if (c->part == IN_METRIC) return metric_failed(c, r);
    if (c->part == IN_CASE) return case_failed(c, r);
    return r->status == BUILD_FAILED && says(r->reason, c->text);
}

/* Other programs kept the cores from the timing that the claim is about. It earns nothing, and
 * proves nothing. */
static bool is_undecided(const claim *c, const exercise_result *r)
{
    if (c->kind != CLAIM_SLOW || c->part != IN_METRIC || r->status != PASSED) return false;
    for (int i = 0; i < r->speed_count; i++) {
        const speed_result *s = &r->speeds[i];
        if (s->status == TOO_NOISY && begins(s->metric, c->name)) return true;
    }
    return false;
}

static void show_disagreement(const claim *c, const exercise_result *r)
{
    printf("  FAIL %s: %s with %.1f points, %s\n", c->label, status_name(r->status), r->points,
           r->reason);
    for (int i = 0; i < r->traffic_count; i++) {
        const traffic_result *t = &r->traffics[i];
        if (t->message) printf("       %s: %s\n", t->metric, t->message);
    }
    for (int i = 0; i < r->speed_count; i++) {
        const speed_result *s = &r->speeds[i];
        if (s->message) printf("       %s: %s\n", s->metric, s->message);
    }
    if (c->kind == CLAIM_RIGHT) return;
    printf("       wanted: %s fails with \"%s\"\n", name_of(c, r->place), c->text);
}

/* Others need not fail, nor does one that cheats do anything else in them. Of a slow one the first
 * is enough: that it is right shows in what is counted or timed, which a GPU does not do here. */
static const char *first_of(const claim *c, place where)
{
    switch (c->kind) {
    case CLAIM_WRONG:
    case CLAIM_FAST: return name_of(c, where);
    case CLAIM_SLOW: return where == ON_GPU ? NULL : first_case(c->exercise, where)->name;
    case CLAIM_HOSTILE: return c->part == IN_CASE ? name_of(c, where) : NULL;
    default: return NULL;
    }
}

/* Does the grader say what the claim says? */
static outcome check_entry(const options *o, const entry *e, const device_facts *device)
{
    options one = *o;
    const claim *c = e->claim;
    one.jobs = judging_jobs(o);
    one.case_start = first_of(c, e->build.place);
    if (c->part == IN_METRIC) one.metric_start = c->name;
    if (strstr(c->condition, "hangs")) one.slow = HURRY;
    if (c->part != IN_METRIC) one.rounds = 1; /* whatever it decides */
    exercise_result r = judge(&one, &e->build, e->baseline, device);
    const outcome is = as_claimed(c, &r) ? AGREES : is_undecided(c, &r) ? UNDECIDED : DISAGREES;
    if (is == DISAGREES) show_disagreement(c, &r);
    if (is == UNDECIDED) printf("skipped %s: other programs kept the cores\n", c->label);
    exercise_result_free(&r);
    return is;
}

/* What only a missing layer of isolation stops is skipped by name. */
static bool layer_is_missing(const claim *c)
{
    const layers on = sandbox_layers();
    const char *names = strstr(c->condition, "needs ");
    if (!names || (on.namespaces && strstr(names, "namespaces")) ||
        (on.files && strstr(names, "files")) || (on.user && strstr(names, "user")) ||
        (on.limits && strstr(names, "limits")) || (on.seccomp && strstr(names, "seccomp")) ||
        (on.environment && strstr(names, "environment")))
        return false;
    printf("skipped %s: %s\n", c->label, names);
    return true;
}

/* A claim about nvcc's code. Elsewhere than on softgpu there is no other. */
static bool wants_nvcc(const claim *c, place where)
{
    return where == ON_SOFTGPU && strstr(c->condition, "nvcc");
}

static bool lacks_nvcc(const claim *c, place where)
{
    const char *nvcc = getenv("NVCC");
    if (!wants_nvcc(c, where) || (nvcc && *nvcc)) return false;
    printf("skipped %s: it is about the code that nvcc makes\n", c->label);
    return true;
}

/* A timing by the wall clock is judged where its threads have cores. */
static bool lacks_cores(const claim *c)
{
    const speed_test *s = c->part == IN_METRIC ? c->exercise->speed : NULL;
    for (; s && s->function; s++) {
        if (s->wall_clock && metric_begins(c->exercise, s->function, &s->metric, c->name))
            return core_count() < WALL_CLOCK_CORES;
    }
    return false;
}

static bool judged_here(const options *o, const entry *e)
{
    const bool gpu = o->backend == BACKEND_CUDA;
    const char *when = e->claim->condition;
    if (layer_is_missing(e->claim)) return false;
    if (exercise_needs(o, e->build.exercise, e->build.place)) return false;
    if (lacks_cores(e->claim) || lacks_nvcc(e->claim, e->build.place)) return false;
    if (gpu && e->claim->kind == CLAIM_HOSTILE) return strstr(when, "on a gpu");
    if (begins(when, "gpu")) return gpu;
    return !gpu || !(begins(when, "race") || begins(when, "softgpu"));
}

/* ---- many at a time -------------------------------------------------------------------------- */

typedef struct task {
    const options *options;
    entry *entry;
    const device_facts *device;
} task;

static int check_task(const void *context)
{
    const task *t = context;
    return check_entry(t->options, t->entry, t->device);
}

/* Wait for any judge to end and count its verdict. @return whether it was begun from the start */
static bool finish_one(const options *o, tally *t)
{
    judging *j = judging_wait();
    entry *e = j->what;
    const outcome is = WIFEXITED(j->status) ? (outcome)WEXITSTATUS(j->status) : DISAGREES;
    report_progress("%s", "");
    judging_show(j);
    if (WIFSIGNALED(j->status)) {
        printf("  FAIL %s: signal %d ended the grader\n", e->claim->label, WTERMSIG(j->status));
    }
    if (is == AGREES && *e->stamp) stamp_put(o, e->stamp, e->claim);
    e->failed = is != AGREES && is != UNDECIDED;
    t->passed += is == AGREES;
    t->skipped += is == UNDECIDED;
    t->failed += e->failed;
    return e->from_start;
}

/* Did it hold before, of the same? */
static bool is_stamped(const options *o, const char *judges, entry *e)
{
    if (!stamp_of(o, judges, e->claim, &e->build, e->baseline, e->stamp)) e->stamp[0] = '\0';
    return *e->stamp && stamp_exists(o, e->stamp);
}

/* Move those that have to be judged to the front. @return how many */
static int leave_stamped(const options *o, const device_facts *device, entry entries[], int count,
                         tally *t)
{
    char judges[HASH_HEX];
    int left = 0;
    stamps_begin(o, device, judges);
    for (int i = 0; i < count; i++) {
        if (is_stamped(o, judges, &entries[i])) continue;
        const entry moved = entries[left];
        entries[left++] = entries[i];
        if (left - 1 != i) entries[i] = moved;
    }
    t->stamped = count - left;
    t->passed += t->stamped;
    return left;
}

/* A time of the CPU: others at work would leave it undecided. They come last: before each of them
 * all would have to end. */
static bool wants_to_be_alone(const entry *e)
{
    return e->claim->part == IN_METRIC && e->claim->kind == CLAIM_SLOW && e->build.place == ON_HOST;
}

/* Whole networks, at the end, keep cores busy; those of phase 1, at the start, mostly wait for
 * their deadlines. So half of the judges come from each end. */
static void judge_at_once(const options *o, const device_facts *device, entry entries[], int count,
                          tally *t)
{
    const int jobs = judging_jobs(o);
    int running = 0, from_start = 0; /* of those that run */
    for (int first = 0, last = count - 1; first <= last;) {
        if (running == jobs) {
            from_start -= finish_one(o, t);
            running--;
        }
        const bool start = 2 * from_start < running;
        entry *e = &entries[start ? first++ : last--];
        report_progress("%d of %d: %s", count - 1 - last + first, count, e->claim->label);
        e->from_start = start;
        judging_begin(&e->judging, e, check_task, &(task){o, e, device});
        from_start += start;
        running++;
    }
    for (; running > 0; running--) finish_one(o, t);
}

static void judge_alone(const options *o, const device_facts *device, entry *e, tally *t)
{
    report_progress("%s", e->claim->label);
    judging_begin(&e->judging, e, check_task, &(task){o, e, device});
    finish_one(o, t);
}

static int by_claim(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->claim > y->claim) - (x->claim < y->claim);
}

static int alone_last(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const bool one = wants_to_be_alone(x), other = wants_to_be_alone(y);
    return one != other ? one - other : by_claim(a, b);
}

/* @return how many had to be */
static int judge_all(const options *o, entry entries[], int taken, tally *t)
{
    const int gpu = gpu_take(o); /* the judges share it */
    const device_facts device = device_facts_read(o);
    const int count = leave_stamped(o, &device, entries, taken, t);
    int crowd = count;
    qsort(entries, (size_t)count, sizeof *entries, alone_last);
    while (crowd > 0 && wants_to_be_alone(&entries[crowd - 1])) crowd--;
    judge_at_once(o, &device, entries, crowd, t);
    for (int i = crowd; i < count; i++) judge_alone(o, &device, &entries[i], t);
    qsort(entries, (size_t)count, sizeof *entries, by_claim);
    if (gpu >= 0) close(gpu);
    return count;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Counts of right and slow ones are held against the baseline, and what a claim itself names. */
static bool wants_baseline(const entry *e)
{
    if (e->claim->part == IN_METRIC) return true;
    return e->build.place == ON_SOFTGPU && e->claim->kind == CLAIM_RIGHT;
}

static int take_entries(const options *o, const claim claims[], int count, entry entries[],
                        tally *t)
{
    int taken = 0;
    for (int i = 0; i < count; i++) {
        entry *e = &entries[taken];
        const claim *c = &claims[i];
        *e = (entry){.claim = c};
        e->build = (build){.exercise = c->exercise, .root = c->root, .file = c->file};
        e->build.parts_root = c->parts_root;
        e->build.place = exercise_place(c->exercise, o->backend);
        if (c->part == IN_BUILD && strstr(c->condition, "hangs")) e->build.hurry = HURRY;
        if (!judged_here(o, e))
            t->skipped++;
        else if (patch_apply(o, c))
            taken++;
        else
            t->failed++;
    }
    return taken;
}

/* Those that want nvcc, or the others. */
static void build_entries(library_set *libraries, entry entries[], int count, bool with_nvcc)
{
    build **builds = calloc((size_t)count + 1, sizeof *builds);
    int taken = 0;
    for (int i = 0; i < count; i++) {
        build *b = &entries[i].build;
        if (wants_nvcc(entries[i].claim, b->place) != with_nvcc) continue;
        builds[taken++] = b;
        library_set_needs(libraries, b);
        if (wants_baseline(&entries[i]) && b->exercise->baseline_file) {
            entries[i].baseline = library_set_baseline(libraries, b->exercise);
        }
    }
    report_progress("building %d submissions", taken);
    if (taken) library_set_build(libraries, builds, taken);
    free(builds);
}

/* With libraries of their own, since these are compiled by it too. */
static library_set *build_with_nvcc(const options *o, entry entries[], int count)
{
    library_set *libraries = library_set_create(o, NULL);
    char *usual = strdup(getenv("CUCC_FRONTEND") ? getenv("CUCC_FRONTEND") : "");
    setenv("CUCC_FRONTEND", "nvcc", 1);
    build_entries(libraries, entries, count, true);
    setenv("CUCC_FRONTEND", usual, 1);
    free(usual);
    return libraries;
}

/* By exercise. A submission that shares the processors with others takes longer than alone. */
static void show_seconds(const entry entries[], int count)
{
    printf("\nseconds   built  judged   submissions\n");
    for (int i = 0, next; i < count; i = next) {
        const exercise *e = entries[i].claim->exercise;
        double built = 0.0, judged = 0.0;
        for (next = i; next < count && entries[next].claim->exercise == e; next++) {
            built += entries[next].build.seconds;
            judged += entries[next].judging.seconds;
        }
        printf("%15.0f %7.0f   %d of %s %s\n", built, judged, next - i, id_words(e->id), e->name);
    }
    printf("\n");
}

/* Once more, at the end, with what repeats it. */
static void show_failed(const entry entries[], int count)
{
    for (int i = 0; i < count; i++) {
        const claim *c = entries[i].claim;
        if (!entries[i].failed) continue;
        printf("FAILED %s: make corpus EX=%s\n", c->label, id_words(c->exercise->id));
    }
}

int corpus(const options *o)
{
    tally t = {0};
    int count;
    if (!sandbox_start(o)) return 2;
    claim *claims = claims_read(o, &count, &t.failed);
    entry *entries = calloc((size_t)count + 1, sizeof *entries);
    library_set *libraries = library_set_create(o, NULL);
    const int taken = take_entries(o, claims, count, entries, &t);
    build_entries(libraries, entries, taken, false);
    library_set *of_nvcc = build_with_nvcc(o, entries, taken);
    const int judged = judge_all(o, entries, taken, &t);
    report_progress("%s", "");
    library_set_free(libraries);
    library_set_free(of_nvcc);
    show_seconds(entries, judged);
    show_failed(entries, judged);
    for (int i = 0; i < taken; i++) free(entries[i].build.log);
    free(entries);
    claims_free(claims, count);
    if (t.stamped) printf("%d held before, and nothing changed that judges them\n", t.stamped);
    printf("corpus: %d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped);
    return t.failed ? 1 : 0;
}
