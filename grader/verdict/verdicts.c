/* verdicts.c: the verdicts of an exercise, in the order of the grading. */
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

bool is_passed(const verdict *v)
{
    return strcmp(v->status, "passed") == 0;
}

bool is_failed(const verdict *v)
{
    return strcmp(v->status, "failed") == 0 || strcmp(v->status, "build_failed") == 0;
}

bool is_noisy(const verdict *v)
{
    return strcmp(v->status, "too_noisy") == 0;
}

bool any_noisy(const json_t *exercise)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(exercise, "speeds"), i, one)
    {
        if (strcmp(string_of(one, "verdict"), "too_noisy") == 0) return true;
    }
    return false;
}

static void tell_build(const json_t *exercise, verdict_function *tell, void *context)
{
    const char *status = string_of(exercise, "status");
    const bool stopped = strcmp(status, "build_failed") == 0 ||
                         strcmp(status, "not_started") == 0 || strcmp(status, "skipped") == 0;
    if (!stopped) return;
    tell(&(verdict){.part = "build",
                    .name = "",
                    .status = status,
                    .words = string_of(exercise, "reason"),
                    .seed = -1},
         context);
}

/* What is withheld repeats nothing. */
static long long seed_of(const json_t *one)
{
    const json_t *seed = json_object_get(one, "seed");
    return json_is_null(seed) ? -1 : json_integer_value(seed);
}

/* A header, or a file of the grader's, is not the student's. */
static long line_of(const json_t *exercise, const json_t *one)
{
    size_t i;
    json_t *found;
    json_array_foreach(json_object_get(one, "findings"), i, found)
    {
        const char *file = base_name(string_of(exercise, "file"));
        if (strcmp(string_of(found, "file"), file) == 0) return (long)integer_of(found, "line");
    }
    return 0;
}

bool has_race(const json_t *one)
{
    size_t i;
    json_t *found;
    json_array_foreach(json_object_get(one, "findings"), i, found)
    {
        const char *kind = string_of(found, "kind");
        if (strcmp(kind, "race") == 0 || strcmp(kind, "missing __syncwarp") == 0) return true;
    }
    return false;
}

static void tell_case(const json_t *exercise, const json_t *one, verdict_function *tell,
                      void *context)
{
    const char *message = string_of(one, "message"), *finding = string_of(one, "finding");
    char *both = NULL;
    verdict v = {.part = "case",
                 .name = string_of(one, "name"),
                 .status = string_of(one, "status"),
                 .words = message,
                 .seed = seed_of(one),
                 .seconds = real_of(one, "seconds"),
                 .line = line_of(exercise, one)};
    if (*finding && is_failed(&v) && asprintf(&both, "%s\n%s", message, finding) >= 0) {
        v.words = both;
    }
    tell(&v, context);
    free(both);
}

/* Where softgpu found something in a case that was right otherwise, that is what failed; else the
 * checks are one verdict. */
static void tell_checks(const json_t *exercise, verdict_function *tell, void *context)
{
    size_t i;
    json_t *one;
    bool any = false;
    json_array_foreach(json_object_get(exercise, "cases"), i, one)
    {
        const char *finding = string_of(one, "finding");
        if (!*finding || strcmp(string_of(one, "status"), "passed") != 0) continue;
        any = true;
        tell(&(verdict){.part = "checks",
                        .name = string_of(one, "name"),
                        .status = "failed",
                        .words = finding,
                        .seed = seed_of(one),
                        .line = line_of(exercise, one)},
             context);
    }
    const char *status = string_of(json_object_get(exercise, "checks"), "verdict");
    if (any || !*status) return;
    tell(
        &(verdict){
            .part = "checks", .name = "all cases", .status = status, .words = "", .seed = -1},
        context);
}

/* The words of a test that compares a number with a threshold: its own, or the numbers. */
static void tell_number(const json_t *one, const char *part, const char *numbers,
                        verdict_function *tell, void *context)
{
    const char *message = string_of(one, "message");
    tell(&(verdict){.part = part,
                    .name = string_of(one, "metric"),
                    .status = string_of(one, "verdict"),
                    .words = *message ? message : numbers,
                    .seed = -1,
                    .seconds = real_of(one, "seconds")},
         context);
}

static void tell_speed(const json_t *one, verdict_function *tell, void *context)
{
    char numbers[160] = "";
    if (real_of(one, "ratio") > 0) {
        snprintf(numbers, sizeof numbers,
                 "%.2f, 95 %% between %.2f and %.2f; the threshold is %.2f", real_of(one, "ratio"),
                 real_of(one, "low"), real_of(one, "high"), real_of(one, "threshold"));
    }
    tell_number(one, "speed", numbers, tell, context);
}

static void tell_traffic(const json_t *one, verdict_function *tell, void *context)
{
    char numbers[160] = "";
    const char *status = string_of(one, "verdict");
    const bool judged = strcmp(status, "passed") == 0 || strcmp(status, "failed") == 0;
    if (judged && json_is_number(json_object_get(one, "counted"))) {
        char counted[32], wanted[32];
        snprintf(numbers, sizeof numbers, "counted %s, wanted %s %s",
                 count_text(counted, real_of(one, "counted")), string_of(one, "bound"),
                 count_text(wanted, real_of(one, "wanted")));
    }
    tell_number(one, "traffic", numbers, tell, context);
}

void each_verdict(const json_t *exercise, verdict_function *tell, void *context)
{
    size_t i;
    json_t *one;
    tell_build(exercise, tell, context);
    json_array_foreach(json_object_get(exercise, "cases"), i, one)
        tell_case(exercise, one, tell, context);
    if (json_array_size(json_object_get(exercise, "cases")) > 0) {
        tell_checks(exercise, tell, context);
    }
    json_array_foreach(json_object_get(exercise, "speeds"), i, one) tell_speed(one, tell, context);
    json_array_foreach(json_object_get(exercise, "traffic"), i, one)
    {
        tell_traffic(one, tell, context);
    }
}

const char *parts_words(const json_t *exercise, char words[32])
{
    size_t i, passed = 0, judged = 0;
    json_t *one;
    json_array_foreach(json_object_get(exercise, "parts"), i, one)
    {
        passed += strcmp(string_of(one, "status"), "passed") == 0;
        judged += strcmp(string_of(one, "status"), "skipped") != 0;
    }
    words[0] = '\0';
    if (passed > 0 && passed < judged) snprintf(words, 32, "%zu of %zu parts", passed, judged);
    return words;
}

void cases_of(const json_t *exercise, int *passed, int *all)
{
    size_t i;
    json_t *one;
    *passed = *all = 0;
    json_array_foreach(json_object_get(exercise, "cases"), i, one)
    {
        *passed += strcmp(string_of(one, "status"), "passed") == 0;
        ++*all;
    }
}

const char *status_of(const json_t *exercise)
{
    const char *status = string_of(exercise, "status");
    if (strcmp(status, "not_started") == 0) return "not started";
    if (strcmp(status, "build_failed") != 0) return status;
    return json_is_null(json_object_get(exercise, "sha256")) ? "not handed in" : "did not build";
}

void print_outcome(const json_t *exercise, char *line, size_t size)
{
    int passed, all;
    char parts[32];
    const char *checks = string_of(json_object_get(exercise, "checks"), "verdict");
    cases_of(exercise, &passed, &all);
    int n = snprintf(line, size, "%s", status_of(exercise));
    if (*parts_words(exercise, parts)) n += snprintf(line + n, size - n, ", %s", parts);
    if (passed < all)
        n += snprintf(line + n, size - n, ", %d of %d cases wrong", all - passed, all);
    else if (all > 0)
        n += snprintf(line + n, size - n, ", %d of %d cases", passed, all);
    if (strcmp(checks, "passed") == 0 || strcmp(checks, "failed") == 0) {
        n += snprintf(line + n, size - n, ", checks %s", checks);
    }
    if (any_noisy(exercise)) n += snprintf(line + n, size - n, ", speed too noisy");
    const long days = integer_of(exercise, "days_late"); /* a class's, where dates are due */
    if (days > 0) snprintf(line + n, size - n, ", %ld %s late", days, days == 1 ? "day" : "days");
}

/* The name goes between single quotes of a shell. */
static void put_quoted(char *line, size_t size, const char *name)
{
    size_t n = strlen(line);
    for (; *name && n + 5 < size; name++) {
        n += snprintf(line + n, size - n, *name == '\'' ? "'\\''" : "%c", *name);
    }
}

void repeat_command(const json_t *exercise, const verdict *v, char *line, size_t size)
{
    *line = '\0';
    if (v->seed < 0) return;
    snprintf(line, size, "make check EX=%s CASE='", id_words(id_of(exercise)));
    put_quoted(line, size - 32, v->name);
    const size_t n = strlen(line);
    snprintf(line + n, size - n, "' SEED=%lld", v->seed);
}
