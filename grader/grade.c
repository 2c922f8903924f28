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
    bool own;       /* linked with the submission's own prerequisites */
    bool judged;    /* now, not remembered */
    json_t *entry;  /* of results.json, once judged */
} item;

typedef struct run {
    const options *options;
    library_set *libraries;
    item items[EXERCISES_MAX];
    int count;
} run;

static item *find_item(run *r, int id)
{
    for (int i = 0; i < r->count; i++) {
        if (r->items[i].exercise->id == id) return &r->items[i];
    }
    return NULL;
}

/* ---- what is graded -------------------------------------------------------------------------- */

static bool needed_by_wanted(const options *o, const exercise *e)
{
    for (const exercise *const *other = catalog(); *other; other++) {
        if (!(*other)->own_prerequisites || !options_want(o, *other)) continue;
        for (int i = 0; (*other)->prerequisites[i]; i++) {
            if ((*other)->prerequisites[i] == e->id) return true;
        }
    }
    return false;
}

static void collect(run *r)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        const bool wanted = options_want(r->options, *e);
        if (!wanted && !needed_by_wanted(r->options, *e)) continue;
        r->items[r->count++] = (item){.exercise = *e, .wanted = wanted};
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
    const char *needs = place_needs(r->options, where);
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
                        .place = exercise_place(it->exercise, r->options->backend)};
    library_set_needs(r->libraries, &it->build);
    it->baseline = library_set_baseline(r->libraries, it->exercise);
}

static void build_items(run *r, bool on_own_prerequisites)
{
    build *builds[EXERCISES_MAX];
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (!it->buildable || it->exercise->own_prerequisites != on_own_prerequisites) continue;
        builds[count++] = &it->build;
    }
    library_set_build(r->libraries, builds, count);
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
    static const char *const programs[] = {
        "grader",        "worker_cpu",           "worker_softgpu", "worker_cuda",
        "libsoftgpu.so", "remote/libsoftgpu.so", "softgpu_device", "libcourse.so"};
    char path[PATH_MAX];
    hash *h = hash_begin();
    hash_text(h, it->build.key);
    hash_text(h, it->baseline ? it->baseline->key : "");
    hash_text(h, it->own ? "own" : "reference");
    hash_text(h, device->name);
    hash_text(h, hidden_hash());
    hash_layers(h);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(path, sizeof path, "%s/%s", r->options->build, programs[i]);
        hash_file(h, path);
    }
    hash_end(h, key);
}

static void judge_item(run *r, item *it, const device_facts *device)
{
    char key[HASH_HEX];
    const options *o = r->options;
    const bool remember =
        !o->case_name && !o->seed_given && o->slow == 0; /* all of it was judged */
    judge_key(r, it, device, key);
    if (remember && !r->options->fresh && it->build.ok)
        it->entry = cache_load(r->options->build, key);
    if (it->entry) return;
    report_progress("%d %s", it->exercise->id, it->exercise->name);
    it->judged = true;
    exercise_result result = judge(r->options, &it->build, it->baseline, device);
    if (it->exercise->own_prerequisites) result.prerequisites = it->own ? "own" : "reference";
    it->entry = results_exercise(&result);
    const bool settled = it->build.ok && !result.dead && is_settled(&result);
    if (remember && settled) cache_store(r->options->build, key, it->entry);
    exercise_result_free(&result);
}

static bool passed(const item *it)
{
    const char *status = json_string_value(json_object_get(it->entry, "status"));
    return status && strcmp(status, "passed") == 0;
}

/* A network stands on the submission's own layers when all of them passed, or when asked to. */
static void choose_prerequisites(run *r, item *it)
{
    it->own = true;
    for (int i = 0; it->exercise->prerequisites[i] && it->own; i++) {
        item *needed = find_item(r, it->exercise->prerequisites[i]);
        it->own = needed && needed->buildable && (passed(needed) || r->options->own);
    }
    for (int i = 0; it->exercise->prerequisites[i] && it->own; i++) {
        it->build.needs[i] = &find_item(r, it->exercise->prerequisites[i])->build;
    }
}

/* Of what was built, whatever has been saved since. */
static json_t *hash_of_file(const run *r, const item *it)
{
    if (*it->build.source) return json_string(it->build.source);
    return origin_file_hash(r->options->submission, it->exercise);
}

static void judge_items(run *r, bool on_own_prerequisites, const grading *g)
{
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (it->exercise->own_prerequisites != on_own_prerequisites) continue;
        if (it->buildable) judge_item(r, it, &g->device);
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
        if (!has_hidden_cases(&r->items[i]) || place_needs(r->options, where)) continue;
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
    build_items(r, false);
    return r;
}

static void end(run *r)
{
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
        if (!r->items[i].wanted) continue;
        json_array_append(g->exercises, entry);
        g->points += json_number_value(json_object_get(entry, "points"));
        g->max_points += json_number_value(json_object_get(entry, "max_points"));
    }
    g->complete = g->points >= g->max_points - 1e-6;
}

static bool device_exists(const options *o)
{
    char uuid[64];
    if (o->backend != BACKEND_CUDA || gpu_find(o, uuid)) return true;
    fprintf(stderr, "grader: there is no CUDA device here; BACKEND=cpu uses the software GPU\n");
    results_write_failure(o, "no CUDA device");
    return false;
}

/* All that a device takes part in, alone with it. */
static void judge_all(run *r, grading *g)
{
    const int gpu = gpu_take(r->options);
    g->device = device_facts_read(r->options);
    judge_items(r, false, g);
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (it->exercise->own_prerequisites && it->buildable) choose_prerequisites(r, it);
    }
    build_items(r, true);
    judge_items(r, true, g);
    if (gpu >= 0) close(gpu);
}

int grade(const options *o, grading *g)
{
    const double began = seconds_now();
    const time_t started = time(NULL);
    if (!submission_exists(o) || !libraries_are_whole(o) || !is_isolated(o)) return 2;
    if (!device_exists(o) || !read_hidden_file(o)) return 2;
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
    printf("  %d %-22s %s\n", it->exercise->id, it->exercise->name,
           b->ok ? "built" : "does not build");
    if (b->log && *b->log) printf("%s\n", b->log);
    return b->ok ? 0 : 1;
}

int build_only(const options *o)
{
    int failed = 0;
    if (!submission_exists(o) || !libraries_are_whole(o) || !is_isolated(o)) return 2;
    run *r = begin(o);
    build_items(r, true);
    report_progress("%s", "");
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (!it->wanted) continue;
        if (it->buildable) {
            failed |= show_build(it);
        } else {
            printf("  %d %-22s %s\n", it->exercise->id, it->exercise->name,
                   json_string_value(json_object_get(it->entry, "status")));
        }
    }
    end(r);
    return failed;
}
