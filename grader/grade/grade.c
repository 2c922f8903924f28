/* grade.c: a whole submission, from the request to the sum of the points. */
#include "grade.h"
#include "student/student.h"

#include "timer.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

run *run_begin(const options *o)
{
    run *r = calloc(1, sizeof *r);
    r->options = o;
    r->libraries = library_set_create(o, NULL);
    select_items(r);
    for (int i = 0; i < r->count; i++) sort_out(r, &r->items[i]);
    for (int i = 0; i < r->count; i++) {
        if (r->items[i].buildable) describe_build(r, &r->items[i]);
    }
    return r;
}

void run_build(run *r)
{
    report_progress("building %d exercises", r->count);
    build_items(r);
}

void run_end(run *r)
{
    checker_stop(r->checker);
    for (int i = 0; i < r->count; i++) {
        json_decref(r->items[i].entry);
        json_decref(r->items[i].checks);
        free(r->items[i].build.log);
    }
    library_set_free(r->libraries);
    free(r);
}

static void add_up(run *r, grading *g)
{
    g->exercises = json_array();
    g->complete = true;
    for (const exercise *const *e = catalog(); *e; e++) {
        const item *it = find_item(r, (*e)->id);
        if (!it || !it->wanted) continue;
        json_t *entry = it->entry;
        const double points = real_of(entry, "points"), most = real_of(entry, "max_points");
        json_array_append(g->exercises, entry);
        g->complete = g->complete && points >= most - 1e-6;
        if (id_is_challenge((*e)->id)) {
            g->bonus += points;
            continue;
        }
        g->points += points;
        g->max_points += most;
    }
}

/* All that a device takes part in, alone with it. */
static void judge_all(run *r, grading *g)
{
    const int gpu = gpu_take(r->options);
    g->device = device_facts_read(r->options);
    judge_items(r, g);
    if (gpu >= 0) close(gpu);
}

/* That of calls that fail no table has. */
static bool case_exists(const options *o)
{
    return (o->case_name && strcmp(o->case_name, FAILURES_CASE) == 0) || options_case_exists(o);
}

int grade(const options *o, grading *g)
{
    const double began = seconds_now();
    const time_t started = time(NULL);
    if (!submission_exists(o) || !libraries_are_whole(o) || !device_exists(o)) return 2;
    if (!is_isolated(o) || !read_hidden_file(o) || !case_exists(o)) return 2;
    strftime(g->started, sizeof g->started, "%Y-%m-%dT%H:%M:%SZ", gmtime(&started));
    origin_commit(o, g->commit);
    g->modified = origin_modified(o);
    g->hashes = origin_hashes(o);
    run *r = run_begin(o);
    start_checks(r);
    run_build(r);
    const bool good = hidden_cases_are_good(r);
    if (good) {
        judge_all(r, g);
        report_progress("%s", "");
        add_up(r, g);
        g->interrupted = r->interrupted;
        history_note_total(g);
        g->seconds = seconds_now() - began;
    }
    run_end(r);
    return good ? 0 : 2;
}

void grading_free(grading *g)
{
    json_decref(g->exercises);
    json_decref(g->modified);
    json_decref(g->hashes);
}
