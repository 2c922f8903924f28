/*
 * checks.c: what softgpu says of an exercise that a GPU has judged. Cases that failed there fail
 * here, and what was found costs the checks, as if it had been graded on softgpu alone. What only
 * hardware can run is left out and counted: cases of a GPU alone, and code that softgpu lacks.
 */
#include "verdict.h"

#include "supervisor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    int judged, left_out;
    bool wrong, found; /* a case failed on softgpu; it found something in one that was right */
    char *words;       /* of the first of those, for the exercise's reason; or NULL */
} tally;

static bool has_status(const json_t *one, const char *status)
{
    return strcmp(string_of(one, "status"), status) == 0;
}

static json_t *case_named(const json_t *cases, const char *name)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)cases, i, one)
    {
        if (strcmp(string_of(one, "name"), name) == 0) return one;
    }
    return NULL;
}

/* By an instruction that it does not know. */
static bool is_lacking(const json_t *theirs)
{
    const json_t *first = json_array_get(json_object_get(theirs, "findings"), 0);
    const device_finding unsupported = {.kind = FINDING_UNSUPPORTED};
    return has_status(theirs, "failed") &&
           strcmp(string_of(first, "kind"), finding_name(&unsupported)) == 0;
}

static void take_field(json_t *ours, const json_t *theirs, const char *name)
{
    json_t *value = json_object_get(theirs, name);
    if (value) json_object_set(ours, name, value);
}

static json_t *prefixed(const json_t *theirs)
{
    return json_sprintf("on softgpu: %s", string_of(theirs, "message"));
}

/* What is repeated is what softgpu found, unless the GPU has a failure of its own. */
static void take_words(json_t *ours, const json_t *theirs, bool was_right)
{
    const bool failed = has_status(theirs, "failed");
    take_field(ours, theirs, "findings");
    if (!was_right) {
        if (failed)
            json_object_set_new(ours, "finding", prefixed(theirs));
        else
            take_field(ours, theirs, "finding");
        return;
    }
    take_field(ours, theirs, "finding");
    take_field(ours, theirs, "seed");
    if (!failed) return;
    take_field(ours, theirs, "mismatch");
    json_object_set_new(ours, "status", json_string("failed"));
    json_object_set_new(ours, "message", prefixed(theirs));
}

static void note_first(tally *t, const json_t *ours, const char *field)
{
    if (t->words) return;
    if (asprintf(&t->words, "%s: %s", string_of(ours, "name"), string_of(ours, field)) < 0) abort();
}

static void take_case(json_t *cases, const json_t *theirs, tally *t)
{
    json_t *ours = case_named(cases, string_of(theirs, "name"));
    const bool failed = has_status(theirs, "failed"), found = *string_of(theirs, "finding");
    if (is_lacking(theirs) || has_status(theirs, "not_run")) return;
    t->judged++;
    if (!ours) { /* a case of softgpu alone */
        ours = json_deep_copy(theirs);
        json_object_set_new(ours, "status", json_string("passed"));
        json_array_append_new(cases, ours);
    }
    if (!failed && !found) return;
    const bool was_right = has_status(ours, "passed");
    take_words(ours, theirs, was_right);
    t->found = t->found || found;
    if (!was_right) return;
    t->wrong = t->wrong || failed;
    note_first(t, ours, failed ? "message" : "finding");
}

static tally take_cases(json_t *entry, const json_t *soft)
{
    size_t i;
    json_t *one, *cases = json_object_get(entry, "cases");
    const json_t *theirs = json_object_get(soft, "cases");
    tally t = {0};
    json_array_foreach(cases, i, one)
    {
        const json_t *same = case_named(theirs, string_of(one, "name"));
        t.left_out += !same || is_lacking(same) || has_status(same, "not_run");
    }
    json_array_foreach((json_t *)theirs, i, one) take_case(cases, one, &t);
    return t;
}

/* As score.c has it of a run on softgpu: a wrong case costs all points, a finding the checks and
 * the speed; of a challenge all. */
static void take_points(json_t *entry, const exercise *e, const tally *t)
{
    if (!has_status(entry, "passed") || !(t->wrong || t->found)) return;
    const bool none = t->wrong || id_is_challenge(e->id);
    const double left = none ? 0.0 : e->points - checks_points(e, ON_SOFTGPU);
    json_object_set_new(entry, "status", json_string("failed"));
    json_object_set_new(entry, "points", json_real(left));
    json_object_set_new(entry, "reason", json_string(t->words ? t->words : ""));
}

static const char *verdict_of(const json_t *entry, const tally *t)
{
    int passed, all;
    cases_of(entry, &passed, &all);
    if (t->found) return "failed";
    if (t->judged == 0) return "skipped: only a GPU can run it";
    return passed == all ? "passed" : "not_run";
}

void checks_take(json_t *entry, const exercise *e, const json_t *soft)
{
    const double points = checks_points(e, ON_SOFTGPU);
    if (json_array_size(json_object_get(entry, "cases")) == 0) return; /* it did not build */
    const tally t = take_cases(entry, soft);
    take_points(entry, e, &t);
    const char *verdict = verdict_of(entry, &t);
    json_object_set_new(entry, "checks",
                        json_pack("{s:s, s:f, s:f, s:i}", "verdict", verdict, "points",
                                  strcmp(verdict, "passed") == 0 ? points : 0.0, "max_points",
                                  t.judged ? points : 0.0, "left_out", t.left_out));
    free(t.words);
}
