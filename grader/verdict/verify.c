/*
 * verify.c: is a results.json what a grader wrote, is it of this submission, was it judged by this
 * course, and do its points follow from its verdicts? One line for each question.
 */
#include "verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CENT 0.005 /* points are written with two digits */

/* One line of the answer. What a stranger's file says is not for the terminal to obey.
 * @return holds */
__attribute__((format(printf, 3, 4))) static bool say(bool holds, const char *what,
                                                      const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c; c++) {
        if (*c < ' ' || *c > '~') *c = '?';
    }
    printf("  %-11s %s%s\n", what, holds ? "" : "NO: ", line);
    return holds;
}

/* ---- the signature --------------------------------------------------------------------------- */

static bool check_signature(const options *o, const json_t *results, const signing_key *key)
{
    const json_t *signature = json_object_get(results, "signature");
    const char *flaw = o->key ? signature_flaw(results, key) : NULL;
    if (flaw) return say(false, "signature", "%s; asked for key %s", flaw, key->id);
    if (o->key) return say(true, "signature", "valid, by key %s", key->id);
    if (!signature) return say(o->allow_unsigned, "signature", "there is none");
    return say(o->allow_unsigned, "signature", "by key %s, not checked: KEY=FILE names the key",
               string_of(signature, "key_id"));
}

/* ---- the points ------------------------------------------------------------------------------ */

static const char *flaw(char why[256], const json_t *entry, const char *words)
{
    snprintf(why, 256, "%s %s", id_words(id_of(entry)), words);
    return why;
}

static bool all_cases_passed(const json_t *entry)
{
    int passed, all;
    cases_of(entry, &passed, &all);
    return all > 0 && passed == all;
}

/* All cases of one part, or of an exercise without parts. */
static bool any_part_passed(const json_t *entry, const exercise *e)
{
    if (!e || id_is_challenge(e->id)) return all_cases_passed(entry);
    const account s = account_of_entry(entry, e);
    return account_points(&s) > 0.0;
}

static const char *entry_flaw(const json_t *entry, char why[256])
{
    const double points = real_of(entry, "points"), most = real_of(entry, "max_points");
    const exercise *e = catalog_find(id_of(entry));
    if (!(points >= 0 && points <= most + CENT))
        return flaw(why, entry, "has points outside its range");
    if (e && most > e->points + e->speed_points + CENT)
        return flaw(why, entry, "has more points than the exercise");
    if (points > 0 && !any_part_passed(entry, e))
        return flaw(why, entry, "has points though not all of its cases passed");
    if (strcmp(string_of(entry, "status"), "passed") == 0 && !all_cases_passed(entry))
        return flaw(why, entry, "passed though not all of its cases did");
    return NULL;
}

static bool is_there_before(const json_t *exercises, size_t index)
{
    const json_t *own = json_object_get(json_array_get(exercises, index), "id");
    for (size_t i = 0; i < index; i++) {
        if (json_equal(own, json_object_get(json_array_get(exercises, i), "id"))) return true;
    }
    return false;
}

const char *points_flaw(const json_t *results, char why[256])
{
    size_t i;
    json_t *one, *exercises = json_object_get(results, "exercises");
    double points = 0, most = 0, bonus = 0;
    json_array_foreach(exercises, i, one)
    {
        if (entry_flaw(one, why)) return why;
        if (is_there_before(exercises, i)) return flaw(why, one, "is there twice");
        if (id_is_challenge(id_of(one))) {
            bonus += real_of(one, "points");
            continue;
        }
        points += real_of(one, "points");
        most += real_of(one, "max_points");
    }
    const double room = CENT * (1 + (double)json_array_size(exercises));
    const bool sums = fabs(points - real_of(results, "points")) <= room &&
                      fabs(most - real_of(results, "max_points")) <= room &&
                      fabs(bonus - real_of(results, "bonus")) <= room;
    if (sums) return NULL;
    snprintf(why, 256, "the exercises have %.2f of %.2f points, the total says %.2f of %.2f",
             points, most, real_of(results, "points"), real_of(results, "max_points"));
    return why;
}

static bool check_points(const json_t *results)
{
    char why[256];
    const char *wrong = points_flaw(results, why);
    return say(!wrong, "points", "%s", wrong ? wrong : "follow from the verdicts");
}

/* ---- the files ------------------------------------------------------------------------------- */

/* @return 1 when the file is another than the entry says, 0 when it is the same, -1: it says none
 */
static int differs(const options *o, const json_t *entry)
{
    const exercise *e = catalog_find(id_of(entry));
    const json_t *then = json_object_get(entry, "sha256");
    if (!e || !then || strcmp(e->file, string_of(entry, "file")) != 0) return -1;
    json_t *here = origin_file_hash(o->submission, e);
    const bool same = json_equal(then, here);
    json_decref(here);
    return !same;
}

static bool check_submission(const options *o, const json_t *results)
{
    size_t i;
    json_t *one;
    int same = 0, other = 0, unknown = 0;
    if (!o->submission_given)
        return say(true, "submission", "not compared: SUBMISSION=DIR names its folder");
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        const int d = differs(o, one);
        same += d == 0;
        unknown += d < 0;
        if (d > 0) say(false, other++ ? "" : "submission", "%s differs", string_of(one, "file"));
    }
    if (unknown > 0)
        return say(false, "submission", "%d exercises have no hash of a file", unknown);
    return other > 0 ? false
                     : say(true, "submission", "its %d files are those that were graded", same);
}

/* @param then, here: hashes of one part of the course, null where a copy has no such files */
static bool check_part(const char *name, const json_t *then, const json_t *here)
{
    if (!then) return say(false, name, "there is no hash of them");
    if (!json_is_string(then) || !json_is_string(here)) {
        return say(true, name, "not compared: not all copies of the course have them");
    }
    const bool same = json_equal(then, here);
    return say(same, name, "%s", same ? "as in this course" : "not as in this course");
}

static bool check_course(const options *o, const json_t *results)
{
    bool holds = true;
    const char *name;
    json_t *here, *hashes = origin_hashes(o), *then = json_object_get(results, "hashes");
    say(true, "commit", "%s%s", string_of(results, "commit"),
        json_is_true(json_object_get(results, "modified")) ? ", with uncommitted changes" : "");
    json_object_foreach(hashes, name, here)
    {
        holds &= check_part(name, json_object_get(then, name), here);
    }
    json_decref(hashes);
    return holds;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static json_t *load_strictly(const char *path)
{
    char why[256];
    json_error_t error;
    json_t *results = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!results) {
        fprintf(stderr, "grader: %s, line %d: %s\n", path, error.line, error.text);
        return NULL;
    }
    if (results_are_valid(results, why)) return results;
    fprintf(stderr, "grader: %s is no results.json: %s\n", path, why);
    json_decref(results);
    return NULL;
}

static int verify_with(const options *o, const signing_key *key)
{
    json_t *results = load_strictly(o->results);
    if (!results) return 2;
    bool holds = check_signature(o, results, key);
    holds &= check_submission(o, results);
    holds &= check_course(o, results);
    holds &= check_points(results);
    json_decref(results);
    return holds ? 0 : 1;
}

int verify(const options *o)
{
    signing_key key = {0};
    int status = 2;
    if (!o->key || key_read(&key, o->key)) status = verify_with(o, &key);
    key_free(&key);
    return status;
}
