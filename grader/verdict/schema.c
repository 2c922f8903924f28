/*
 * schema.c: is this a results.json? A table of fields, each with its type. Fields that the table
 * does not name are allowed: later versions may have more. Files that were written before a field
 * existed may lack it when it is marked so.
 */
#include "verdict.h"

#include <string.h>

enum {
    STRING = 1,
    NUMBER = 2,
    INTEGER = 4,
    ARRAY = 8,
    OBJECT = 16,
    NOTHING = 32,
    ABSENT = 64,
    BOOLEAN = 128
};

typedef struct field {
    const char *name;
    int types; /* any of these */
} field;

static const field of_results[] = {{"schema", INTEGER},
                                   {"backend", STRING},
                                   {"commit", STRING | ABSENT},
                                   {"modified", BOOLEAN | NOTHING | ABSENT},
                                   {"hashes", OBJECT | ABSENT},
                                   {"signature", OBJECT | ABSENT},
                                   {"device", OBJECT | ABSENT},
                                   {"submission", STRING | ABSENT},
                                   {"started", STRING | ABSENT},
                                   {"seconds", NUMBER | ABSENT},
                                   {"isolation", OBJECT | ABSENT},
                                   {"error", STRING | ABSENT},
                                   {"points", NUMBER},
                                   {"max_points", NUMBER},
                                   {"bonus", NUMBER | ABSENT},
                                   {"exercises", ARRAY},
                                   {NULL, 0}};

static const field of_exercise[] = {{"id", INTEGER | STRING},
                                    {"name", STRING},
                                    {"file", STRING},
                                    {"sha256", STRING | NOTHING | ABSENT},
                                    {"status", STRING},
                                    {"points", NUMBER},
                                    {"max_points", NUMBER},
                                    {"reason", STRING},
                                    {"prerequisites", STRING | ABSENT},
                                    {"warnings", STRING | ABSENT},
                                    {"parts", ARRAY | ABSENT},
                                    {"cases", ARRAY},
                                    {"checks", OBJECT | NOTHING | ABSENT},
                                    {"speed", OBJECT | NOTHING},
                                    {"speeds", ARRAY},
                                    {"traffic", ARRAY | ABSENT},
                                    {NULL, 0}};

static const field of_part[] = {{"name", STRING}, {"status", STRING}, {NULL, 0}};

static const field of_case[] = {{"name", STRING},
                                {"part", STRING | NOTHING | ABSENT},
                                {"status", STRING},
                                {"message", STRING},
                                {"finding", STRING | ABSENT},
                                {"mismatch", BOOLEAN | ABSENT},
                                {"mistake", STRING | ABSENT},
                                {"findings", ARRAY | ABSENT},
                                {"seed", INTEGER | NOTHING},
                                {"seconds", NUMBER | NOTHING},
                                {NULL, 0}};

static const field of_finding[] = {
    {"text", STRING},  {"function", STRING},        {"kind", STRING},   {"cause", STRING},
    {"file", STRING},  {"line", INTEGER},           {"kernel", STRING}, {"block", ARRAY},
    {"thread", ARRAY}, {"count", INTEGER | ABSENT}, {NULL, 0}};

static const field of_checks[] = {
    {"verdict", STRING}, {"points", NUMBER}, {"max_points", NUMBER}, {NULL, 0}};

/* Of a timing or a count: its sentence, and the same as data. */
static const field of_metric[] = {{"metric", STRING},
                                  {"quantity", STRING | ABSENT},
                                  {"per", STRING | NOTHING | ABSENT},
                                  {"relative_to", STRING | NOTHING | ABSENT},
                                  {"over", STRING | NOTHING | ABSENT},
                                  {"shape", STRING | NOTHING | ABSENT},
                                  {"function", STRING},
                                  {NULL, 0}};

static const field of_speed[] = {{"ratio", NUMBER | NOTHING},
                                 {"low", NUMBER | NOTHING},
                                 {"high", NUMBER | NOTHING},
                                 {"threshold", NUMBER},
                                 {"verdict", STRING},
                                 {"message", STRING},
                                 {"waited", NUMBER | ABSENT},
                                 {"stolen", NUMBER | ABSENT},
                                 {"clocks", OBJECT | NOTHING | ABSENT},
                                 {"credit", NUMBER | NOTHING | ABSENT},
                                 {NULL, 0}};

static const field of_traffic[] = {{"bound", STRING},
                                   {"counted", NUMBER | NOTHING},
                                   {"wanted", NUMBER},
                                   {"verdict", STRING},
                                   {"message", STRING},
                                   {"credit", NUMBER | NOTHING | ABSENT},
                                   {NULL, 0}};

static int type_of(const json_t *value)
{
    if (!value) return ABSENT;
    switch (json_typeof(value)) {
    case JSON_STRING: return STRING;
    case JSON_INTEGER: return INTEGER | NUMBER;
    case JSON_REAL: return NUMBER;
    case JSON_ARRAY: return ARRAY;
    case JSON_OBJECT: return OBJECT;
    case JSON_NULL: return NOTHING;
    case JSON_TRUE:
    case JSON_FALSE: return BOOLEAN;
    default: return 0;
    }
}

static bool has_fields(const json_t *object, const field *fields, const char *what, char why[256])
{
    if (!json_is_object(object)) {
        snprintf(why, 256, "%s is no object", what);
        return false;
    }
    for (const field *f = fields; f->name; f++) {
        const int type = type_of(json_object_get(object, f->name));
        if (type & f->types) continue;
        snprintf(why, 256, "%s %s field \"%s\"", what,
                 type == ABSENT ? "lacks the" : "has another type in the", f->name);
        return false;
    }
    return true;
}

static bool all_have_fields(const json_t *array, const field *fields, const char *what,
                            char why[256])
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)array, i, one)
    {
        if (!has_fields(one, fields, what, why)) return false;
    }
    return true;
}

static bool tests_are_valid(const json_t *tests, const field *fields, const char *what,
                            char why[256])
{
    return all_have_fields(tests, of_metric, what, why) &&
           all_have_fields(tests, fields, what, why);
}

static bool is_status(const char *s, char why[256])
{
    static const char *const all[] = {"passed", "failed", "build_failed", "not_started", "skipped"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(s, all[i]) == 0) return true;
    }
    snprintf(why, 256, "an exercise's status is \"%.80s\"", s);
    return false;
}

static bool findings_are_valid(const json_t *cases, char why[256])
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)cases, i, one)
    {
        const json_t *found = json_object_get(one, "findings");
        if (!all_have_fields(found, of_finding, "a finding", why)) return false;
    }
    return true;
}

static bool exercise_is_valid(const json_t *e, char why[256])
{
    const json_t *checks = json_object_get(e, "checks"), *speed = json_object_get(e, "speed");
    return has_fields(e, of_exercise, "an exercise", why) &&
           is_status(string_of(e, "status"), why) &&
           all_have_fields(json_object_get(e, "parts"), of_part, "a part", why) &&
           all_have_fields(json_object_get(e, "cases"), of_case, "a case", why) &&
           findings_are_valid(json_object_get(e, "cases"), why) &&
           (!json_is_object(checks) || has_fields(checks, of_checks, "checks", why)) &&
           (!json_is_object(speed) || (has_fields(speed, of_metric, "speed", why) &&
                                       has_fields(speed, of_speed, "speed", why))) &&
           tests_are_valid(json_object_get(e, "speeds"), of_speed, "a speed", why) &&
           tests_are_valid(json_object_get(e, "traffic"), of_traffic, "a traffic test", why);
}

bool results_are_valid(const json_t *results, char why[256])
{
    size_t i;
    json_t *one;
    if (!has_fields(results, of_results, "the file", why)) return false;
    if (json_integer_value(json_object_get(results, "schema")) != 1) {
        snprintf(why, 256, "its schema is not 1");
        return false;
    }
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        if (!exercise_is_valid(one, why)) return false;
    }
    return true;
}
