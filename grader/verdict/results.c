/* results.c: results.json, the one truth; every other report is a view of it. */
#include "verdict.h"

#include "correctness/mistakes/mistakes.h"
#include "supervisor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What turns the direction of text or begins a new line: U+061C, 200E, 200F, 2028 .. 202E, 2066 ..
 * 2069, in UTF-8. @return how many bytes of it begin here, or 0 */
static int mark_bytes(const unsigned char *c)
{
    if (*c == 0xd8 && c[1] == 0x9c) return 2;
    if (*c != 0xe2 || (c[1] != 0x80 && c[1] != 0x81)) return 0;
    const bool turns = c[1] == 0x80 ? c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae)
                                    : c[2] >= 0xa6 && c[2] <= 0xa9;
    return turns ? 3 : 0;
}

/* Control characters: bytes of their own, or in UTF-8 two of them, the first of which is 0xc2.
 * @return how many bytes of it begin here, or 0 */
static int order_bytes(const unsigned char *c)
{
    if (mark_bytes(c)) return mark_bytes(c);
    if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) return 2;
    return (*c < ' ' && *c != '\n' && *c != '\t') || *c == 127;
}

/* Compilers and students may print anything. JSON wants UTF-8, and a terminal no orders: what would
 * be one is replaced. */
static json_t *text(const char *s)
{
    char *clean = strdup(s ? s : "");
    if (!clean) return NULL;
    for (char *c = clean; *c; c++) {
        memset(c, '?', (size_t)order_bytes((const unsigned char *)c));
    }
    json_t *value = json_string(clean);
    for (char *c = clean; !value && *c; c++) {
        if ((unsigned char)*c >= 128) *c = '?';
    }
    if (!value) value = json_string(clean);
    free(clean);
    return value;
}

/* What a worker has a part in is one line: it cannot look like the grader's next one. */
static json_t *line(const char *s)
{
    char *whole = strdup(s ? s : "");
    for (char *c = whole; c && (c = strchr(c, '\n'));) *c = ' ';
    json_t *value = text(whole);
    free(whole);
    return value;
}

/* To this unit, as the nearest number: 700 * 1e-3 would be 0.7000000000000001. */
static json_t *number(double x, double unit)
{
    const double units = round(1 / unit);
    if (isnan(x)) return json_null();
    return json_real(round(x * units) / units);
}

/* What is in a header may have been inlined in the exercise's file, which is the one to look at. */
static bool is_inlined_in(const device_finding *f, const char *file)
{
    return strcmp(f->file, base_name(file)) != 0 && strcmp(f->inlined_file, base_name(file)) == 0;
}

static json_t *finding_entry(const case_finding *c, const char *file)
{
    const device_finding *f = &c->what;
    const uint32_t *b = f->block, *t = f->thread;
    const bool inlined = is_inlined_in(f, file);
    return json_pack("{s:o, s:s, s:s, s:s, s:o, s:I, s:o, s:[I,I,I], s:[I,I,I], s:I}", "text",
                     line(c->text), "function", c->function, "kind", finding_name(f), "cause",
                     symptom_name(f->cause) + strspn(symptom_name(f->cause), "; "), "file",
                     line(inlined ? f->inlined_file : f->file), "line",
                     (json_int_t)(inlined ? f->inlined_line : f->line), "kernel", line(f->kernel),
                     "block", (json_int_t)b[0], (json_int_t)b[1], (json_int_t)b[2], "thread",
                     (json_int_t)t[0], (json_int_t)t[1], (json_int_t)t[2], "count",
                     (json_int_t)f->count);
}

/* The likely mistake behind wrong results, in the words of docs/messages.md; "" */
static json_t *mistake_entry(const case_result *c)
{
    char *kind = mistake_kind(c->mistake ? c->mistake : "");
    json_t *entry = text(kind);
    free(kind);
    return entry;
}

static json_t *case_entry(const case_result *c, const char *file)
{
    json_t *seed = c->seed_withheld ? json_null() : json_integer((json_int_t)c->seed);
    json_t *found = json_array();
    for (int i = 0; i < c->found_count; i++)
        json_array_append_new(found, finding_entry(&c->found[i], file));
    return json_pack("{s:o, s:s?, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "name", text(c->name),
                     "part", c->part, "status", status_name(c->status), "message", line(c->message),
                     "finding", text(c->finding), "mismatch", c->failure == FAILURE_RESULT,
                     "mistake", mistake_entry(c), "findings", found, "seed", seed, "seconds",
                     number(c->seconds, 1e-4));
}

/* @param elsewhere not NULL: what would be needed to judge it */
static const char *verdict_of(status s, const char *elsewhere)
{
    return s == SKIPPED && elsewhere ? elsewhere : status_name(s);
}

static json_t *checks_entry(const exercise_result *r)
{
    const status s = checks_status(r);
    const account now = account_of(r);
    const char *elsewhere = r->place == ON_SOFTGPU ? NULL : "skipped: needs softgpu";
    if (r->place & ON_CPU) return json_null();
    return json_pack("{s:s, s:o, s:o}", "verdict", verdict_of(s, elsewhere), "points",
                     number(account_checks(&now), 1e-2), "max_points",
                     number(checks_points(r->exercise, r->place), 1e-2));
}

json_t *parts_entry(const account *s)
{
    json_t *parts = json_array();
    for (int i = 0; i < s->part_count && s->names[0] && account_judged(s) > 0; i++) {
        json_array_append_new(
            parts, json_pack("{s:s, s:s}", "name", s->names[i], "status", account_part(s, i)));
    }
    return parts;
}

static json_t *gpu_state_entry(const gpu_state *s)
{
    return json_pack("{s:i, s:i, s:i}", "sm_mhz", (int)s->sm_mhz, "memory_mhz", (int)s->memory_mhz,
                     "celsius", (int)s->celsius);
}

static json_t *clocks_entry(const speed_clocks *c)
{
    if (!c->before.known) return json_null();
    return json_pack("{s:o, s:o, s:s, s:b, s:i}", "before", gpu_state_entry(&c->before), "after",
                     gpu_state_entry(&c->after), "lowered_by", clocks_reasons(c), "throttled",
                     clocks_throttled(c), "other_processes", (int)c->others);
}

/* What both kinds of test begin with: the sentence, and the fields that code reads. */
static json_t *metric_entry(const char *sentence, const metric *m, const char *function)
{
    return json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:s}", "metric", sentence, "quantity",
                     m->quantity, "per", m->per, "relative_to", m->relative_to, "over", m->over,
                     "shape", m->shape, "function", function);
}

static json_t *credit_entry(status s, double credit)
{
    return s == SKIPPED ? json_null() : json_real(credit);
}

static json_t *speed_entry(const speed_result *s, place where)
{
    const char *elsewhere =
        *s->elsewhere ? s->elsewhere : speed_needs(s->test, where, core_count());
    json_t *entry = metric_entry(s->metric, &s->test->metric, s->test->function);
    json_object_update_new(
        entry, json_pack("{s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}",
                         "ratio", number(s->ratio, 1e-3), "low", number(s->low, 1e-3), "high",
                         number(s->high, 1e-3), "threshold", number(s->test->threshold, 1e-3),
                         "pairs", s->pairs, "seconds", json_real(s->seconds), "baseline_seconds",
                         json_real(s->baseline_seconds), "waited", number(s->waited, 1e-4),
                         "stolen", number(s->stolen, 1e-4), "clocks", clocks_entry(&s->clocks),
                         "verdict", verdict_of(s->status, elsewhere), "message", line(s->message),
                         "credit", credit_entry(s->status, speed_credit(s))));
    return entry;
}

static json_t *traffic_entry(const traffic_result *t, const exercise_result *r)
{
    const char *elsewhere = traffic_needs(r->exercise, t->test, r->place);
    json_t *entry = metric_entry(t->metric, &t->test->metric, t->test->function);
    json_object_update_new(entry,
                           json_pack("{s:o, s:s, s:o, s:s, s:o, s:o}", "counted",
                                     number(t->counted, 1e-3), "bound", bound_name(t->test->bound),
                                     "wanted", number(t->test->wanted, 1e-3), "verdict",
                                     verdict_of(t->status, elsewhere), "message", line(t->message),
                                     "credit", credit_entry(t->status, traffic_credit(t))));
    return entry;
}

/* The test that decides: the one furthest below its threshold. */
static int weakest_speed(const exercise_result *r)
{
    int weakest = 0;
    for (int i = 1; i < r->speed_count; i++) {
        const speed_result *a = &r->speeds[i], *b = &r->speeds[weakest];
        if (a->ratio / a->test->threshold < b->ratio / b->test->threshold) weakest = i;
    }
    return weakest;
}

json_t *results_exercise(const exercise_result *r)
{
    json_t *cases = json_array(), *speeds = json_array(), *traffic = json_array();
    for (int i = 0; i < r->case_count; i++) {
        const case_result *c = &r->cases[i];
        if (c->status != SKIPPED) json_array_append_new(cases, case_entry(c, r->exercise->file));
    }
    for (int i = 0; i < r->speed_count; i++) {
        json_array_append_new(speeds, speed_entry(&r->speeds[i], r->place));
    }
    for (int i = 0; i < r->traffic_count; i++) {
        json_array_append_new(traffic, traffic_entry(&r->traffics[i], r));
    }
    json_t *speed = json_null();
    if (r->speed_count > 0) speed = json_deep_copy(json_array_get(speeds, weakest_speed(r)));
    const account now = account_of(r);
    return json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "id", id_json(r->exercise->id), "name", r->exercise->name, "file",
                     r->exercise->file, "status", status_name(r->status), "points",
                     number(r->points, 1e-2), "max_points", number(r->max_points, 1e-2), "reason",
                     r->status == BUILD_FAILED ? text(r->reason) : line(r->reason), "prerequisites",
                     r->prerequisites, "warnings", text(r->warnings), "parts", parts_entry(&now),
                     "cases", cases, "checks", checks_entry(r), "speed", speed, "speeds", speeds,
                     "traffic", traffic);
}

static bool write_json(const char *path, json_t *root)
{
    char unfinished[PATH_MAX];
    make_folders_of(path);
    snprintf(unfinished, sizeof unfinished, "%s.%d", path, (int)getpid());
    bool whole =
        json_dump_file(root, unfinished, JSON_INDENT(1)) == 0 && rename(unfinished, path) == 0;
    if (!whole) fprintf(stderr, "grader: cannot write %s: %s\n", path, strerror(errno));
    json_decref(root);
    return whole;
}

/* The key is read again only now, when no worker is left. */
static bool sign_and_write(const options *o, json_t *root)
{
    signing_key key;
    bool is_signed = !o->key;
    if (o->key) {
        is_signed = key_read(&key, o->key) && results_sign(root, &key);
        key_free(&key);
    }
    return write_json(o->results, root) && is_signed;
}

bool results_write(const grading *g)
{
    const options *o = g->options;
    const double *flop = g->device.flop_per_second;
    json_t *device =
        json_pack("{s:o, s:s, s:s, s:o, s:o, s:{s:f, s:f, s:f}}", "name", text(g->device.name),
                  "driver", g->device.driver, "runtime", g->device.runtime, "copy_bytes_per_second",
                  json_real(g->device.copy_bytes_per_second), "flop_per_second",
                  json_real(flop[IN_FP32]), "tensor_flop_per_second", "tf32", flop[IN_TF32], "half",
                  flop[IN_HALF], "int8", flop[IN_INT8]);
    json_t *root = json_pack(
        "{s:i, s:s, s:O, s:O, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:O}", "schema", 1,
        "commit", g->commit, "modified", g->modified, "hashes", g->hashes, "backend",
        o->backend == BACKEND_CUDA ? "cuda" : "cpu", "device", device, "submission",
        text(o->submission), "started", g->started, "seconds", number(g->seconds, 1e-2),
        "isolation", sandbox_json(), "points", number(g->points, 1e-2), "max_points",
        number(g->max_points, 1e-2), "bonus", number(g->bonus, 1e-2), "exercises", g->exercises);
    return sign_and_write(o, root);
}

void results_write_failure(const options *o, const char *why)
{
    sign_and_write(o, json_pack("{s:i, s:s, s:o, s:f, s:f, s:[]}", "schema", 1, "backend",
                                o->backend == BACKEND_CUDA ? "cuda" : "cpu", "error", text(why),
                                "points", 0.0, "max_points", 0.0, "exercises"));
}
