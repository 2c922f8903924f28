/* grade.c: a whole submission: what to build, what to judge, what is remembered. */
#include "grade.h"
#include "student/student.h"

#include "timer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXERCISES_MAX 256

/* One exercise on its way through a grading. */
typedef struct item {
    const exercise *exercise;
    build build;
    const build *baseline;
    bool wanted;    /* asked for; else graded only because another builds on it */
    bool buildable; /* neither skipped nor not started */
    bool own;       /* linked with the submission's own prerequisites, all of them */
    bool judged;    /* now, not remembered */
    json_t *entry;  /* of results.json, once judged */
} item;

typedef struct run {
    const options *options;
    library_set *libraries;
    item items[EXERCISES_MAX];
    int count;
    checker *checker; /* judges the same on softgpu, beside a GPU; or NULL */
    bool interrupted; /* an exercise has no verdict: the machine ended a process of it */
} run;

static item *find_item(run *r, int id)
{
    for (int i = 0; i < r->count; i++) {
        if (r->items[i].exercise->id == id) return &r->items[i];
    }
    return NULL;
}

/* ---- what is graded -------------------------------------------------------------------------- */

static bool is_wanted_or_needed(const options *o, const exercise *e)
{
    if (options_want(o, e)) return true;
    for (const exercise *const *by = catalog(); *by; by++) {
        for (int i = 0; (*by)->own_prerequisites && (*by)->prerequisites[i]; i++) {
            if ((*by)->prerequisites[i] == e->id && is_wanted_or_needed(o, *by)) return true;
        }
    }
    return false;
}

static void collect(run *r)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        if (!is_wanted_or_needed(r->options, *e)) continue;
        r->items[r->count++] = (item){.exercise = *e, .wanted = options_want(r->options, *e)};
    }
}

static json_t *entry_without_verdict(const exercise *e, place where, status s, const char *why)
{
    exercise_result result = {.exercise = e, .place = where, .status = s, .prerequisites = ""};
    list_tests(&result);
    result.reason = strdup(why);
    result.warnings = strdup("");
    score(&result);
    json_t *entry = results_exercise(&result);
    exercise_result_free(&result);
    return entry;
}

/* Exercises that cannot run here, and files that are still as they were handed out. */
static void sort_out(run *r, item *it)
{
    char why[128];
    const place where = exercise_place(it->exercise, r->options->backend);
    const char *needs = exercise_needs(r->options, it->exercise, where);
    if (r->options->cases_only && (where & ON_CPU)) return;
    if (needs) {
        snprintf(why, sizeof why, "needs %s", needs);
        it->entry = entry_without_verdict(it->exercise, where, SKIPPED, why);
    } else if (exercise_is_skeleton(r->options, it->exercise)) {
        it->entry = entry_without_verdict(it->exercise, where, NOT_STARTED, "");
    } else {
        it->buildable = true;
    }
}

/* ---- building -------------------------------------------------------------------------------- */

static void describe_build(run *r, item *it)
{
    it->build = (build){.exercise = it->exercise,
                        .root = r->options->submission,
                        .file = it->exercise->file,
                        .own = true,
                        .place = exercise_place(it->exercise, r->options->backend)};
    if (!r->options->cases_only) it->baseline = library_set_baseline(r->libraries, it->exercise);
}

static bool passed(const item *it)
{
    const char *status = json_string_value(json_object_get(it->entry, "status"));
    return status && strcmp(status, "passed") == 0;
}

/* Can others stand on it? As long as it is not judged, when it builds, as far as is known. */
static bool bears(const run *r, const item *it)
{
    if (!it || !it->buildable) return false;
    if (it->entry) return passed(it) || r->options->own;
    return !it->build.log || it->build.ok;
}

/* An exercise stands on the submission's own where they passed, or when asked to; else on the
 * reference's. */
static void choose_prerequisites(run *r, item *it)
{
    it->own = it->exercise->own_prerequisites;
    library_set_needs(r->libraries, &it->build);
    for (int i = 0; it->exercise->own_prerequisites && it->exercise->prerequisites[i]; i++) {
        const item *needed = find_item(r, it->exercise->prerequisites[i]);
        if (bears(r, needed))
            it->build.needs[i] = &needed->build;
        else
            it->own = false;
    }
}

/* All at once, as if all passed: most do. */
static void build_items(run *r)
{
    build *builds[EXERCISES_MAX];
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        if (!r->items[i].buildable) continue;
        choose_prerequisites(r, &r->items[i]);
        builds[count++] = &r->items[i].build;
    }
    library_set_build(r->libraries, builds, count);
}

/* Anew, where one that it stands on did not pass. Those come before it. */
static void build_on_prerequisites(run *r, item *it)
{
    build *one[] = {&it->build};
    if (!it->exercise->own_prerequisites) return;
    choose_prerequisites(r, it);
    library_set_build(r->libraries, one, 1);
}

/* ---- judging --------------------------------------------------------------------------------- */

/* What ran behind fewer layers is graded again behind more. */
static void hash_layers(hash *h)
{
    json_t *layers = sandbox_json();
    char *text = json_dumps(layers, JSON_SORT_KEYS);
    hash_text(h, text);
    free(text);
    json_decref(layers);
}

/* Of everything that could change the verdict: both libraries, the programs, the device. */
static void judge_key(const run *r, const item *it, const device_facts *device, char key[HASH_HEX])
{
    static const char *const programs[] = {"grader",
                                           "worker_cpu",
                                           "worker_softgpu",
                                           "worker_cuda",
                                           "libsoftgpu.so",
                                           "remote/libsoftgpu.so",
                                           "softgpu_device",
                                           "libcourse.so",
                                           "libsoftgpu_cublas.so",
                                           "python_worker.so",
                                           "python_driver.py",
                                           "python_cases.py",
                                           "python_worker_softgpu.so",
                                           "python_worker_cuda.so"};
    char path[PATH_MAX];
    hash *h = hash_begin();
    hash_text(h, core_count() < WALL_CLOCK_CORES ? "few cores" : "");
    hash_text(h, it->build.key);
    hash_text(h, it->baseline ? it->baseline->key : "");
    hash_text(h, it->own ? "own" : "reference");
    hash_text(h, r->options->cases_only ? "cases" : "all");
    hash_text(h, device->name);
    hash_text(h, hidden_hash());
    hash_layers(h);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(path, sizeof path, "%s/%s", r->options->build, programs[i]);
        hash_file(h, path);
    }
    hash_end(h, key);
}

/* What only another builds on is judged whole, and once. */
static options options_for(const run *r, const item *it)
{
    options o = *r->options;
    if (it->wanted) return o;
    o.case_name = NULL;
    o.fresh = false;
    return o;
}

static void judge_item(run *r, item *it, const device_facts *device)
{
    char key[HASH_HEX];
    const options its = options_for(r, it), *o = &its;
    build_on_prerequisites(r, it);
    const bool remember =
        !o->case_name && !o->seed_given && o->slow == 0; /* all of it was judged */
    judge_key(r, it, device, key);
    if (remember && !o->fresh && it->build.ok) it->entry = cache_load(o->build, key);
    if (it->entry) return;
    report_progress("%s %s", id_words(it->exercise->id), it->exercise->name);
    it->judged = true;
    exercise_result result = judge(o, &it->build, it->baseline, device);
    if (it->exercise->own_prerequisites) result.prerequisites = it->own ? "own" : "reference";
    it->entry = result.interrupted
                    ? entry_without_verdict(it->exercise, it->build.place, SKIPPED,
                                            "a process of it was ended from outside "
                                            "(is there memory left?): grade it again")
                    : results_exercise(&result);
    r->interrupted = r->interrupted || result.interrupted;
    const bool settled = it->build.ok && !result.dead && !result.interrupted && is_settled(&result);
    if (remember && settled) cache_store(o->build, key, it->entry);
    exercise_result_free(&result);
}

/* Of what was built, whatever has been saved since. */
static json_t *hash_of_file(const run *r, const item *it)
{
    if (*it->build.source) return json_string(it->build.source);
    return origin_file_hash(r->options->submission, it->exercise);
}

/* What softgpu says of it, once it is that far. */
static void take_checks(run *r, item *it)
{
    if (!r->checker || exercise_place(it->exercise, r->options->backend) != ON_GPU) return;
    report_progress("%s %s: on softgpu", id_words(it->exercise->id), it->exercise->name);
    json_t *theirs = checker_take(r->checker);
    if (id_of(theirs) == it->exercise->id)
        checks_take(it->entry, it->exercise, theirs);
    else
        fprintf(stderr, "grader: the grading of %s on softgpu ended\n", id_words(it->exercise->id));
    json_decref(theirs);
}

static void judge_items(run *r, const grading *g)
{
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (it->buildable) {
            judge_item(r, it, &g->device);
            take_checks(r, it);
        }
        json_object_set_new(it->entry, "sha256", hash_of_file(r, it));
        if (!it->wanted) continue;
        report_exercise(r->options, it->entry);
        history_note(g, it->entry, it->judged);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool submission_exists(const options *o)
{
    struct stat facts;
    char why[PATH_MAX + 64];
    if (stat(o->submission, &facts) == 0 && S_ISDIR(facts.st_mode)) return true;
    snprintf(why, sizeof why, "there is no folder %s to grade", o->submission);
    fprintf(stderr, "grader: %s\n", why);
    results_write_failure(o, why);
    return false;
}

static bool is_isolated(const options *o)
{
    if (sandbox_start(o)) return true;
    results_write_failure(o, "isolation is required, and not all of it is to be had here");
    return false;
}

static bool libraries_are_whole(const options *o)
{
    char why[PREBUILT_WHY];
    if (prebuilt_check(o, why)) return true;
    fprintf(stderr, "grader: %s\n", why);
    results_write_failure(o, why);
    return false;
}

/* The cases that the instructor added are tried on the reference solution first. */
static bool has_hidden_cases(const item *it)
{
    bool any = false;
    for (const grading_case *c = it->exercise->cases; c->name; c++) any = any || c->line;
    return it->wanted && any;
}

static bool reference_passes(run *r, const exercise *e)
{
    const build *reference = library_set_reference(r->libraries, e);
    library_set_build(r->libraries, NULL, 0);
    const int gpu = gpu_take(r->options);
    const bool passes = hidden_try(r->options, reference);
    if (gpu >= 0) close(gpu);
    return passes;
}

static bool hidden_cases_are_good(run *r)
{
    for (int i = 0; i < r->count; i++) {
        const exercise *e = r->items[i].exercise;
        const place where = exercise_place(e, r->options->backend);
        if (!has_hidden_cases(&r->items[i]) || exercise_needs(r->options, e, where)) continue;
        if (reference_passes(r, e)) continue;
        results_write_failure(r->options, "the instructor's file cannot be used");
        return false;
    }
    return true;
}

static bool read_hidden_file(const options *o)
{
    if (hidden_read(o)) return true;
    results_write_failure(o, "the instructor's file cannot be used");
    return false;
}

static run *begin(const options *o)
{
    run *r = calloc(1, sizeof *r);
    r->options = o;
    r->libraries = library_set_create(o, NULL);
    collect(r);
    for (int i = 0; i < r->count; i++) sort_out(r, &r->items[i]);
    for (int i = 0; i < r->count; i++) {
        if (r->items[i].buildable) describe_build(r, &r->items[i]);
    }
    report_progress("building %d exercises", r->count);
    build_items(r);
    return r;
}

static void end(run *r)
{
    checker_stop(r->checker);
    for (int i = 0; i < r->count; i++) {
        json_decref(r->items[i].entry);
        free(r->items[i].build.log);
    }
    library_set_free(r->libraries);
    free(r);
}

static void add_up(run *r, grading *g)
{
    g->exercises = json_array();
    g->complete = true;
    for (int i = 0; i < r->count; i++) {
        json_t *entry = r->items[i].entry;
        const double points = real_of(entry, "points"), most = real_of(entry, "max_points");
        if (!r->items[i].wanted) continue;
        json_array_append(g->exercises, entry);
        g->complete = g->complete && points >= most - 1e-6;
        if (id_is_challenge(r->items[i].exercise->id)) {
            g->bonus += points;
            continue;
        }
        g->points += points;
        g->max_points += most;
    }
}

static bool device_exists(const options *o)
{
    char uuid[64];
    if (o->backend != BACKEND_CUDA || gpu_find(o, uuid)) return true;
    fprintf(stderr, "grader: there is no CUDA device here; BACKEND=cpu uses the software GPU\n");
    results_write_failure(o, "no CUDA device");
    return false;
}

/* ---- a GPU's exercises, on softgpu too --------------------------------------------------------
 */

typedef struct checking {
    run *run;
    const device_facts *device;
    check *begun[EXERCISES_MAX]; /* from `taken` on */
    int taken;
    FILE *to;
} checking;

static json_t *check_item(void *context, int i)
{
    const checking *c = context;
    judge_item(c->run, &c->run->items[i], c->device);
    return c->run->items[i].entry;
}

static void take_next(checking *c)
{
    item *it = &c->run->items[c->taken];
    check *begun = c->begun[c->taken++];
    if (!it->buildable) return;
    it->entry = check_take(begun);
    if (!it->entry) it->entry = json_object(); /* its process ended: the others go on */
    json_dumpf(it->entry, c->to, JSON_COMPACT);
    fflush(c->to);
}

/* Does what it stands on still have no verdict? */
static bool must_wait(const checking *c, const item *it)
{
    for (int i = 0; it->exercise->own_prerequisites && it->exercise->prerequisites[i]; i++) {
        for (int k = c->taken; &c->run->items[k] < it; k++)
            if (c->run->items[k].exercise->id == it->exercise->prerequisites[i]) return true;
    }
    return false;
}

/* In their order, several at once, each in a process of its own. */
static void check_items(run *r, const device_facts *device, int turns, FILE *to)
{
    checking c = {.run = r, .device = device, .to = to};
    const int width = checker_width();
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (!it->buildable) continue;
        while (c.taken < i && (i - c.taken >= width || must_wait(&c, it))) take_next(&c);
        checker_await_turn(turns);
        build_on_prerequisites(r, it); /* here, where those that stand on it look */
        c.begun[i] = check_start(check_item, &c, i);
    }
    while (c.taken < r->count) take_next(&c);
}

/* In the checker, which builds and judges what the other process does. */
static void check_all(void *context, int turns, FILE *to)
{
    const run *others = context;
    options o = *others->options;
    o.backend = BACKEND_CPU;
    o.cases_only = true;
    run *r = begin(&o);
    const device_facts device = device_facts_read(&o);
    for (int i = 0; i < r->count; i++) r->items[i].buildable &= others->items[i].buildable;
    check_items(r, &device, turns, to);
    end(r);
}

/* Under a tool that checks programs one look is enough. */
static void start_checks(run *r)
{
    const options *o = r->options;
    if (o->backend != BACKEND_CUDA || o->without_checks || o->slow > 0) return;
    if (!place_needs(o, ON_SOFTGPU)) r->checker = checker_start(check_all, r);
}

/* All that a device takes part in, alone with it. */
static void judge_all(run *r, grading *g)
{
    start_checks(r);
    const int gpu = gpu_take(r->options);
    g->device = device_facts_read(r->options);
    judge_items(r, g);
    if (gpu >= 0) close(gpu);
}

int grade(const options *o, grading *g)
{
    const double began = seconds_now();
    const time_t started = time(NULL);
    if (!submission_exists(o) || !libraries_are_whole(o) || !device_exists(o)) return 2;
    if (!is_isolated(o) || !read_hidden_file(o) || !options_case_exists(o)) return 2;
    strftime(g->started, sizeof g->started, "%Y-%m-%dT%H:%M:%SZ", gmtime(&started));
    origin_commit(o, g->commit);
    g->modified = origin_modified(o);
    g->hashes = origin_hashes(o);
    run *r = begin(o);
    const bool good = hidden_cases_are_good(r);
    if (good) {
        judge_all(r, g);
        report_progress("%s", "");
        add_up(r, g);
        g->interrupted = r->interrupted;
        history_note_total(g);
        g->seconds = seconds_now() - began;
    }
    end(r);
    return good ? 0 : 2;
}

void grading_free(grading *g)
{
    json_decref(g->exercises);
    json_decref(g->modified);
    json_decref(g->hashes);
}

static int show_build(const item *it)
{
    const build *b = &it->build;
    printf("  %s %-22s %s\n", id_words(it->exercise->id), it->exercise->name,
           b->ok ? "built" : "does not build");
    if (b->log && *b->log) printf("%s\n", b->log);
    return b->ok ? 0 : 1;
}

int build_only(const options *o)
{
    int failed = 0;
    if (!submission_exists(o) || !libraries_are_whole(o) || !is_isolated(o)) return 2;
    run *r = begin(o);
    report_progress("%s", "");
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (!it->wanted) continue;
        if (it->buildable) {
            build_on_prerequisites(r, it);
            failed |= show_build(it);
        } else {
            printf("  %s %-22s %s\n", id_words(it->exercise->id), it->exercise->name,
                   json_string_value(json_object_get(it->entry, "status")));
        }
    }
    end(r);
    return failed;
}
