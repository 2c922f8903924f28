/*
 * checks.c: softgpu's verdicts about an exercise that a GPU has judged. Cases that failed there
 * fail here, findings cost the checks, and counts are judged next to the timings, as if it had been
 * graded on softgpu. Cases that only a GPU can run, and code that softgpu lacks, are left out;
 * their number is reported.
 */
#include "verdict.h"

#include "supervisor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    int judged, left_out;
    bool found; /* softgpu found something */
    char
        *words; /* of the first case that was right till then, for the exercise's reason; or NULL */
} tally;

static bool has_status(const json_t *one, const char *status)
{
    return strcmp(string_of(one, "status"), status) == 0;
}

/* The case of that name and part: a call that fails may be one of several parts. */
static json_t *same_case(const json_t *cases, const json_t *as)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)cases, i, one)
    {
        if (strcmp(string_of(one, "name"), string_of(as, "name")) == 0 &&
            strcmp(string_of(one, "part"), string_of(as, "part")) == 0)
            return one;
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
    json_t *ours = same_case(cases, theirs);
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
    if (was_right) note_first(t, ours, failed ? "message" : "finding");
}

static tally take_cases(json_t *entry, const json_t *soft)
{
    size_t i;
    json_t *one, *cases = json_object_get(entry, "cases");
    const json_t *theirs = json_object_get(soft, "cases");
    tally t = {0};
    json_array_foreach(cases, i, one)
    {
        const json_t *same = same_case(theirs, one);
        t.left_out += !same || is_lacking(same) || has_status(same, "not_run");
    }
    json_array_foreach((json_t *)theirs, i, one) take_case(cases, one, &t);
    return t;
}

/* A count that is no verdict there (its case failed, or softgpu lacks an instruction) stays away.
 */
static void take_traffic(json_t *entry, const json_t *soft)
{
    size_t i;
    json_t *theirs, *ours = json_object_get(entry, "traffic");
    json_array_foreach(json_object_get(soft, "traffic"), i, theirs)
    {
        const char *verdict = string_of(theirs, "verdict");
        if (strcmp(verdict, "passed") == 0 || strcmp(verdict, "failed") == 0)
            json_array_set(ours, i, theirs);
    }
}

static void account_for_tests(account *s, const json_t *tests)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)tests, i, one)
    {
        const char *shape = json_string_value(json_object_get(one, "shape"));
        const json_t *credit = json_object_get(one, "credit");
        if (json_is_number(credit))
            account_test(s, string_of(one, "function"), shape, json_number_value(credit),
                         strcmp(string_of(one, "bound"), "at least") == 0 &&
                             *string_of(one, "over"));
    }
}

account account_of_entry(const json_t *entry, const exercise *e)
{
    size_t i;
    json_t *one;
    account s = account_begin(e, ON_SOFTGPU);
    json_array_foreach(json_object_get(entry, "cases"), i, one)
    {
        account_case(&s, json_string_value(json_object_get(one, "part")), string_of(one, "status"),
                     *string_of(one, "finding"));
    }
    account_for_tests(&s, json_object_get(entry, "speeds"));
    account_for_tests(&s, json_object_get(entry, "traffic"));
    return s;
}

/* As score.c has it of a run on softgpu. */
static void take_points(json_t *entry, const account *s, const tally *t)
{
    const bool was_right = has_status(entry, "passed");
    json_object_set_new(entry, "parts", parts_entry(s));
    json_object_set_new(entry, "points", json_real(account_points(s)));
    json_object_set_new(entry, "max_points", json_real(account_most(s)));
    if (!was_right || account_passed(s)) return;
    json_object_set_new(entry, "status", json_string("failed"));
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
    take_traffic(entry, soft);
    const account s = account_of_entry(entry, e);
    take_points(entry, &s, &t);
    json_object_set_new(entry, "checks",
                        json_pack("{s:s, s:f, s:f, s:i}", "verdict", verdict_of(entry, &t),
                                  "points", t.judged ? account_checks(&s) : 0.0, "max_points",
                                  t.judged ? points : 0.0, "left_out", t.left_out));
    free(t.words);
}
