/*
 * terminal.c: what stands on the terminal. On a terminal one line shows what is at work and is overwritten;
 * elsewhere there is one plain line an exercise. Colours only on a terminal, and not with NO_COLOR.
 */
#include "views.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *colour(const char *code)
{
    const char *forbidden = getenv("NO_COLOR");
    return on_terminal() && !(forbidden && *forbidden) ? code : "";
}

#define GREEN  colour("\033[32m")
#define RED    colour("\033[31m")
#define YELLOW colour("\033[33m")
#define PLAIN  colour("\033[0m")

static const char *status_colour(const char *status)
{
    if (strcmp(status, "passed") == 0) return GREEN;
    return strstr(status, "failed") ? RED : YELLOW;
}

static void count_cases(json_t *entry, int *passed, int *all)
{
    size_t i;
    json_t *one;
    *passed = *all = 0;
    json_array_foreach(json_object_get(entry, "cases"), i, one)
    {
        *passed += strcmp(string_of(one, "status"), "passed") == 0;
        ++*all;
    }
}

static void print_indented(const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        printf("      %.*s\n", length, text);
        text += length + (text[length] == '\n');
    }
}

/* NAME='VALUE', for a shell and then for make, which takes $$ for a $. */
static void print_variable(const char *name, const char *value)
{
    printf(" %s='", name);
    for (; *value; value++) {
        if (*value == '\'')
            fputs("'\\''", stdout);
        else if (*value == '$')
            fputs("$$", stdout);
        else
            putchar(*value);
    }
    putchar('\'');
}

void report_again(const char *submission, const json_t *entry, const json_t *one)
{
    printf("again: make check EX=%lld", json_integer_value(json_object_get(entry, "id")));
    print_variable("CASE", string_of(one, "name"));
    printf(" SEED=%lld", json_integer_value(json_object_get(one, "seed")));
    if (*submission && strcmp(submission, ".") != 0) print_variable("SUBMISSION", submission);
    putchar('\n');
}

static void print_again(const options *o, const json_t *entry, const json_t *one)
{
    if (json_is_null(json_object_get(one, "seed"))) return; /* the instructor's */
    printf("        ");
    report_again(o->submission, entry, one);
}

static void print_failed_cases(const options *o, json_t *entry)
{
    size_t i;
    json_t *one;
    int shown = 0;
    json_array_foreach(json_object_get(entry, "cases"), i, one)
    {
        if (strcmp(string_of(one, "status"), "failed") != 0) continue;
        if (shown++ >= 3) continue;
        printf("      %s%s%s: %s\n", RED, string_of(one, "name"), PLAIN, string_of(one, "message"));
        if (*string_of(one, "finding")) printf("        %s\n", string_of(one, "finding"));
        print_again(o, entry, one);
    }
    if (shown > 3) printf("      and %d more cases\n", shown - 3);
}

/* What softgpu found in cases that passed otherwise. */
static void print_checks(const options *o, json_t *entry)
{
    size_t i;
    json_t *one;
    int shown = 0;
    json_array_foreach(json_object_get(entry, "cases"), i, one)
    {
        if (!*string_of(one, "finding") || strcmp(string_of(one, "status"), "passed")) continue;
        if (shown++ >= 3) continue;
        printf("      %schecks%s, in %s: %s\n", RED, PLAIN, string_of(one, "name"),
               string_of(one, "finding"));
        print_again(o, entry, one);
    }
    if (shown > 3) printf("      checks: and in %d more cases\n", shown - 3);
}

static void print_notes(json_t *entry)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(entry, "cases"), i, one)
    {
        if (strcmp(string_of(one, "status"), "passed") || !*string_of(one, "message")) continue;
        printf("      %s: %s\n", string_of(one, "name"), string_of(one, "message"));
    }
}

static void print_speeds(json_t *entry)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(entry, "speeds"), i, one)
    {
        const char *verdict = string_of(one, "verdict"), *message = string_of(one, "message");
        const bool noisy = strcmp(verdict, "too_noisy") == 0;
        if (!noisy && strcmp(verdict, "failed") != 0) continue;
        printf("      %sspeed%s: ", noisy ? YELLOW : RED, PLAIN);
        if (*message)
            printf("%s\n", message);
        else {
            printf("%.2f %s; the threshold is %.2f\n", real_of(one, "ratio"),
                   string_of(one, "metric"), real_of(one, "threshold"));
        }
    }
}

static void print_traffic(json_t *entry)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(entry, "traffic"), i, one)
    {
        const char *message = string_of(one, "message"), *verdict = string_of(one, "verdict");
        if (strcmp(verdict, "passed") != 0 && strcmp(verdict, "failed") != 0) continue;
        printf("      %straffic%s: %s: ", *message ? RED : "", *message ? PLAIN : "",
               string_of(one, "metric"));
        if (*message) {
            printf("%s\n", message);
        } else {
            printf("counted %.2f, wanted %s %.2f\n", real_of(one, "counted"),
                   string_of(one, "bound"), real_of(one, "wanted"));
        }
    }
}

void report_exercise(const options *o, json_t *entry)
{
    const char *status = string_of(entry, "status");
    int passed, all;
    count_cases(entry, &passed, &all);
    if (on_terminal()) printf("\r\033[K");
    printf("  %lld %-22s %s%s%s", json_integer_value(json_object_get(entry, "id")),
           string_of(entry, "name"), status_colour(status), status, PLAIN);
    if (all > 0) printf(" (%d of %d cases)", passed, all);
    printf("\n");
    if (strcmp(status, "build_failed") == 0) print_indented(string_of(entry, "reason"));
    if (*string_of(entry, "warnings")) {
        printf("      %swarnings%s of the compiler:\n", YELLOW, PLAIN);
        print_indented(string_of(entry, "warnings"));
    }
    print_failed_cases(o, entry);
    print_checks(o, entry);
    print_notes(entry);
    print_speeds(entry);
    print_traffic(entry);
    fflush(stdout);
}

/* @return false when nothing of it is counted in this place */
static bool traffic_column(char column[64], json_t *entry)
{
    size_t i, passed = 0, judged = 0;
    json_t *one, *all = json_object_get(entry, "traffic");
    const char *first = string_of(json_array_get(all, 0), "verdict");
    json_array_foreach(all, i, one)
    {
        const char *verdict = string_of(one, "verdict");
        passed += strcmp(verdict, "passed") == 0;
        judged += strcmp(verdict, "passed") == 0 || strcmp(verdict, "failed") == 0;
    }
    if (!*first || strstr(first, "needs")) return false;
    snprintf(column, 64, "traffic: %s", first);
    if (judged > 0) snprintf(column, 64, "traffic: %zu of %zu passed", passed, judged);
    return true;
}

static void speed_column(char column[64], json_t *entry)
{
    json_t *speed = json_object_get(entry, "speed");
    const char *verdict = string_of(speed, "verdict");
    if (strcmp(verdict, "too_noisy") == 0) verdict = "too noisy";
    if (traffic_column(column, entry)) return;
    if (!json_is_object(speed)) {
        snprintf(column, 64, "-");
    } else if (real_of(speed, "ratio") > 0) {
        snprintf(column, 64, "%.2f of %.2f %s", real_of(speed, "ratio"),
                 real_of(speed, "threshold"), verdict);
    } else {
        snprintf(column, 64, "%s", verdict);
    }
}

static const char *checks_column(json_t *entry)
{
    const char *verdict = string_of(json_object_get(entry, "checks"), "verdict");
    return *verdict && strncmp(verdict, "skipped", 7) != 0 ? verdict : "-";
}

static void table_row(json_t *entry)
{
    char speed[64], correctness[64], points[32];
    const char *status = string_of(entry, "status");
    int passed, all;
    count_cases(entry, &passed, &all);
    speed_column(speed, entry);
    snprintf(correctness, sizeof correctness, "%s", status);
    if (all > 0) snprintf(correctness, sizeof correctness, "%s %d/%d", status, passed, all);
    if (strcmp(status, "skipped") == 0) {
        snprintf(correctness, sizeof correctness, "skipped: %s", string_of(entry, "reason"));
    }
    snprintf(points, sizeof points, "%.1f / %.1f", real_of(entry, "points"),
             real_of(entry, "max_points"));
    printf("  %-4lld %-22s %s%-20s%s %-8s %-26s %13s\n",
           json_integer_value(json_object_get(entry, "id")), string_of(entry, "name"),
           status_colour(status), correctness, PLAIN, checks_column(entry), speed, points);
}

void report_table(const grading *g)
{
    size_t i;
    json_t *entry;
    printf("\n  %-27s %-20s %-8s %-26s %13s\n", "exercise", "correctness", "checks",
           "speed or traffic", "points");
    json_array_foreach(g->exercises, i, entry) table_row(entry);
    printf("  %-27s %-20s %-8s %-26s %6.1f / %.1f\n", "total", "", "", "", g->points,
           g->max_points);
    printf("\n  on %s, %.0f s; details in %s\n", g->device.name, g->seconds, g->options->results);
}
