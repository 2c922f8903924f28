/* judging.c: each exercise is judged, or its verdict comes from an earlier grading; and then it is
 * said. */
#include "grade.h"
#include "student/student.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (r->at_once) {
        o.await_turn = check_await_turn;
        o.end_turn = check_end_turn;
        o.jobs = r->at_once;
    }
    if (it->wanted) return o;
    o.case_name = NULL;
    o.fresh = false;
    return o;
}

void judge_item(run *r, item *it, const device_facts *device)
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

/* They come in the order of the items. @return whether there are more */
static bool read_checks(run *r)
{
    json_t *theirs = checker_take(r->checker);
    item *it = theirs ? find_item(r, id_of(theirs)) : NULL;
    if (it) it->checks = theirs;
    return it != NULL;
}

static bool has_checks(const run *r, const item *it)
{
    return r->checker && exercise_place(it->exercise, r->options->backend) == ON_GPU;
}

/* What softgpu says of it, once it is that far. */
static void take_checks(run *r, item *it)
{
    if (!has_checks(r, it)) return;
    if (!it->checks)
        report_progress("%s %s: on softgpu", id_words(it->exercise->id), it->exercise->name);
    while (!it->checks && read_checks(r)) {
    }
    if (json_object_get(it->checks, "cases"))
        checks_take(it->entry, it->exercise, it->checks);
    else
        fprintf(stderr, "grader: the grading of %s on softgpu ended\n", id_words(it->exercise->id));
}

static void report_item(run *r, const grading *g, item *it)
{
    json_object_set_new(it->entry, "sha256", hash_of_file(r, it));
    if (!it->wanted) return;
    report_exercise(r->options, it->entry);
    history_note(g, it->entry, it->judged);
}

/* Does one that has no verdict stand on it? */
static bool is_stood_on(const run *r, const item *it)
{
    for (int i = 0; i < r->count; i++) {
        const exercise *e = r->items[i].exercise;
        if (!e->own_prerequisites || r->items[i].entry) continue;
        for (int k = 0; e->prerequisites[k]; k++)
            if (e->prerequisites[k] == it->exercise->id) return true;
    }
    return false;
}

/* Would softgpu be waited for? */
static bool lacks_checks(run *r, const item *it)
{
    if (!it->buildable || !has_checks(r, it)) return false;
    while (!it->checks && checker_is_ready(r->checker) && read_checks(r)) {
    }
    return !it->checks;
}

/* Softgpu is waited for where others need its word, and at the end. */
static void report_items(run *r, const grading *g, bool at_end)
{
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (!it->entry || it->done) continue;
        if (!at_end && !is_stood_on(r, it) && lacks_checks(r, it)) continue;
        if (it->buildable) take_checks(r, it);
        it->done = true;
    }
    while (r->reported < r->count && r->items[r->reported].done)
        report_item(r, g, &r->items[r->reported++]);
}

void report_judged(run *r, const grading *g)
{
    report_items(r, g, false);
}

void judge_items(run *r, const grading *g)
{
    report_judged(r, g); /* those that are not built */
    while (judge_several(r, g, jobs_of(r->options))) report_judged(r, g);
    report_items(r, g, true);
}
