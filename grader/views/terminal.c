/*
 * terminal.c: the output on the terminal. On a terminal one line shows the work in progress and is
 * overwritten; elsewhere there is one plain line per exercise. Colours only on a terminal, and not
 * with NO_COLOR.
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

/* A status as a word: "not run". Valid until the fourth call after. */
static const char *plain(const char *status)
{
    static char words[4][32];
    static int at;
    char *word = words[at++ % 4];
    snprintf(word, sizeof words[0], "%s", status);
    for (char *c = word; *c; c++) {
        if (*c == '_') *c = ' ';
    }
    return word;
}

/* Cases that this place leaves to a GPU. */
static int left_to_a_gpu(const options *o, const json_t *entry)
{
    int count = 0;
    const exercise *e = catalog_find(id_of(entry));
    if (!e || o->case_name || exercise_place(e, o->backend) != ON_SOFTGPU) return 0;
    for (const grading_case *c = e->cases; c->name; c++) {
        count += (c->where & ON_GPU) && !(c->where & ON_SOFTGPU);
    }
    return count;
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

static void print_command(const char *words, const char *submission, const json_t *entry,
                          const json_t *one)
{
    printf("%s EX=%s", words, id_words(id_of(entry)));
    print_variable("CASE", string_of(one, "name"));
    printf(" SEED=%lld", json_integer_value(json_object_get(one, "seed")));
    if (*submission && strcmp(submission, ".") != 0) print_variable("SUBMISSION", submission);
    putchar('\n');
}

void report_again(const char *submission, const json_t *entry, const json_t *one)
{
    print_command("again: make check", submission, entry, one);
}

static void print_again(const options *o, const json_t *entry, const json_t *one)
{
    if (json_is_null(json_object_get(one, "seed"))) return; /* the instructor's */
    printf("        ");
    report_again(o->submission, entry, one);
    if (has_race(one)) print_command("        see it: make see", o->submission, entry, one);
}

/* The line that the first finding of a case is about. */
static void print_quote(const options *o, const json_t *entry, const json_t *one)
{
    char text[QUOTE_MAX];
    const json_t *first = json_array_get(json_object_get(one, "findings"), 0);
    const long number = (long)integer_of(first, "line");
    if (quote_line(o->submission, string_of(entry, "file"), string_of(first, "file"), number, text))
        printf("        %5ld | %s\n", number, text);
}

#define SHOWN 3

typedef struct sentence {
    char words[2048];
} sentence;

/* What a case says without its numbers: words that hold a digit up to it, no NaN and no infinity;
 * with the line that softgpu names. */
static sentence sentence_of(const json_t *one)
{
    sentence s = {""};
    const json_t *first = json_array_get(json_object_get(one, "findings"), 0);
    for (const char *word = string_of(one, "message"); *word;) {
        const size_t length = strcspn(word, " "), kept = strcspn(word, " 0123456789");
        const bool number = !strncmp(word, "nan", 3) || !strncmp(word, "inf,", 4) || *word == '-';
        const size_t used = strlen(s.words);
        snprintf(s.words + used, sizeof s.words - used, "%.*s ", number ? 0 : (int)kept, word);
        word += length + (word[length] == ' ');
    }
    const size_t used = strlen(s.words);
    snprintf(s.words + used, sizeof s.words - used, "%s:%ld", string_of(first, "kind"),
             (long)integer_of(first, "line"));
    return s;
}

/* Three cases of one mistake say it three times: one of each sentence is shown. */
static bool is_new(sentence said[], int count, const json_t *one)
{
    const sentence s = sentence_of(one);
    if (count == SHOWN) return false;
    for (int i = 0; i < count; i++) {
        if (strcmp(said[i].words, s.words) == 0) return false;
    }
    said[count] = s;
    return true;
}

static void print_failed_case(const options *o, const json_t *entry, const json_t *one)
{
    printf("      %s%s%s: %s\n", RED, string_of(one, "name"), PLAIN, string_of(one, "message"));
    if (*string_of(one, "finding")) printf("        %s\n", string_of(one, "finding"));
    print_quote(o, entry, one);
    print_again(o, entry, one);
}

/* @return how many failed; of those that name a mistake, or of those that do not, new ones are
 * shown. */
static int print_those(const options *o, json_t *entry, bool named, sentence said[], int *shown)
{
    size_t i;
    json_t *one;
    int failed = 0;
    json_array_foreach(json_object_get(entry, "cases"), i, one)
    {
        if (strcmp(string_of(one, "status"), "failed") != 0) continue;
        failed++;
        const bool names = *string_of(one, "mistake") || *string_of(one, "finding");
        if (names != named || !is_new(said, *shown, one)) continue;
        ++*shown;
        print_failed_case(o, entry, one);
    }
    return failed;
}

/* What names a mistake comes first. */
static void print_failed_cases(const options *o, json_t *entry)
{
    int shown = 0;
    sentence said[SHOWN];
    print_those(o, entry, true, said, &shown);
    const int failed = print_those(o, entry, false, said, &shown);
    if (failed > shown)
        printf("      and %d more case%s\n", failed - shown, failed - shown == 1 ? "" : "s");
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
        print_quote(o, entry, one);
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
        printf("      %s%straffic%s: %s: ", *message ? RED : "", *message ? "FAILED " : "",
               *message ? PLAIN : "", string_of(one, "metric"));
        if (*message) {
            printf("%s\n        look: make profile EX=%s\n        see it: make see EX=%s\n",
                   message, id_words(id_of(entry)), id_words(id_of(entry)));
        } else {
            char counted[32], wanted[32];
            printf("counted %s, wanted %s %s\n", count_text(counted, real_of(one, "counted")),
                   string_of(one, "bound"), count_text(wanted, real_of(one, "wanted")));
        }
    }
}

void report_exercise(const options *o, json_t *entry)
{
    const char *status = string_of(entry, "status");
    int passed, all;
    char parts[32];
    cases_of(entry, &passed, &all);
    if (on_terminal()) printf("\r\033[K");
    if (strcmp(status, "not_started") == 0 && !*string_of(entry, "reason"))
        return; /* the table counts them */
    printf("  %-3s %-22s %s%s%s", id_words(id_of(entry)), string_of(entry, "name"),
           status_colour(status), plain(status), PLAIN);
    if (*parts_words(entry, parts)) printf(": %s passed", parts);
    if (passed < all)
        printf("%s%d of %d cases wrong", *parts ? ", " : ": ", all - passed, all);
    else if (all > 0)
        printf(" (%d case%s)", all, all == 1 ? "" : "s");
    printf("\n");
    if (strcmp(status, "build_failed") == 0 || strcmp(status, "not_started") == 0)
        print_indented(string_of(entry, "reason"));
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
    size_t i, passed = 0, judged = 0, here = 0;
    json_t *one, *all = json_object_get(entry, "traffic");
    const char *first = string_of(json_array_get(all, 0), "verdict");
    const bool timed = real_of(json_object_get(entry, "speed"), "ratio") > 0;
    json_array_foreach(all, i, one)
    {
        const char *verdict = string_of(one, "verdict");
        passed += strcmp(verdict, "passed") == 0;
        judged += strcmp(verdict, "passed") == 0 || strcmp(verdict, "failed") == 0;
        here += strncmp(verdict, "skipped", 7) != 0;
    }
    if (!*first || (judged == 0 && strstr(first, "needs"))) return false;
    snprintf(column, 64, "traffic: %s", plain(first));
    if (judged > 0)
        snprintf(column, 64, timed ? ", %zu of %zu" : "traffic: %zu of %zu passed", passed, here);
    return true;
}

static void speed_column(char column[64], json_t *entry)
{
    json_t *speed = json_object_get(entry, "speed");
    const char *verdict = string_of(speed, "verdict");
    char counts[64] = "";
    const bool counted = traffic_column(counts, entry), timed = real_of(speed, "ratio") > 0;
    if (counted && !timed) {
        snprintf(column, 64, "%s", counts);
    } else if (!json_is_object(speed)) {
        snprintf(column, 64, "-");
    } else if (timed) {
        snprintf(column, 64, "%.2f of %.2f %s%.20s", real_of(speed, "ratio"),
                 real_of(speed, "threshold"), plain(verdict), counts);
    } else {
        snprintf(column, 64, "%s", plain(verdict));
    }
}

static const char *checks_column(json_t *entry)
{
    const char *verdict = string_of(json_object_get(entry, "checks"), "verdict");
    return *verdict && strncmp(verdict, "skipped", 7) != 0 ? plain(verdict) : "-";
}

static void table_row(const options *o, json_t *entry)
{
    char speed[64], correctness[64], points[32], parts[32];
    const char *status = string_of(entry, "status");
    const int more = left_to_a_gpu(o, entry);
    int passed, all;
    cases_of(entry, &passed, &all);
    speed_column(speed, entry);
    snprintf(correctness, sizeof correctness, "%s", plain(status));
    if (*parts_words(entry, parts))
        snprintf(correctness, sizeof correctness, "%s: %s", plain(status), parts);
    else if (passed < all)
        snprintf(correctness, sizeof correctness, "%s: %d of %d", plain(status), all - passed, all);
    else if (all > 0)
        snprintf(correctness, sizeof correctness, "%s %d/%d", plain(status), passed, all);
    if (strcmp(status, "skipped") == 0) {
        snprintf(correctness, sizeof correctness, "skipped: %s", string_of(entry, "reason"));
    }
    snprintf(points, sizeof points, "%.1f / %.1f", real_of(entry, "points"),
             real_of(entry, "max_points"));
    printf("  %-4s %-22s %s%-20s%s %-8s %-26s %13s", id_words(id_of(entry)),
           string_of(entry, "name"), status_colour(status), correctness, PLAIN,
           checks_column(entry), speed, points);
    if (all > 0 && more > 0)
        printf("  (%d more case%s a GPU)", more, more > 1 ? "s need" : " needs");
    printf("\n");
}

/* What exercises of the CPU alone ran on is no device. */
static const char *device_of(const grading *g)
{
    size_t i;
    json_t *entry;
    json_array_foreach(g->exercises, i, entry)
    {
        const exercise *e = catalog_find(id_of(entry));
        if (!e || exercise_place(e, g->options->backend) != ON_HOST) return g->device.name;
    }
    return "this CPU";
}

/* Cases of a GPU's grading that softgpu could not look at. */
static void tell_left_out(const json_t *exercises)
{
    size_t i;
    json_t *entry;
    long count = 0;
    json_array_foreach((json_t *)exercises, i, entry)
    {
        count += integer_of(json_object_get(entry, "checks"), "left_out");
    }
    if (count > 0)
        printf("\n  checks: on softgpu, without %ld case%s that only a GPU can run\n", count,
               count == 1 ? "" : "s");
}

/* Of an exercise that was skipped: how many it would count for. */
static double points_skipped(json_t *entry)
{
    size_t i;
    json_t *one;
    bool judged = false;
    const exercise *e = catalog_find(id_of(entry));
    if (!e || id_is_challenge(e->id)) return 0;
    json_array_foreach(json_object_get(entry, "speeds"), i, one) judged |=
        strncmp(string_of(one, "verdict"), "skipped", 7) != 0;
    json_array_foreach(json_object_get(entry, "traffic"), i, one) judged |=
        strncmp(string_of(one, "verdict"), "skipped", 7) != 0;
    return e->points + (judged ? e->speed_points : 0);
}

/* Exercises that need a package which is not there. */
static void tell_missing(const json_t *exercises, const char *needs, const char *what,
                         const char *package)
{
    char ids[64] = "";
    size_t i, count = 0;
    double points = 0;
    json_t *entry;
    json_array_foreach((json_t *)exercises, i, entry)
    {
        const size_t n = strlen(ids);
        if (strcmp(string_of(entry, "reason"), needs) != 0) continue;
        snprintf(ids + n, sizeof ids - n, "%s%s", count++ ? ", " : "", id_words(id_of(entry)));
        points += points_skipped(entry);
    }
    if (count == 0) return;
    if (count > 8) snprintf(ids, sizeof ids, "%zu exercises", count);
    printf("\n  not graded for lack of %s: %s (%.0f points); `apt-get install %s` or `make setup` "
           "fixes it\n",
           what, ids, points, package);
}

/* Of many, not those that nobody has begun. @return how many there are */
static size_t table_rows(const grading *g, bool of_challenges, size_t *untouched)
{
    size_t i;
    json_t *entry;
    size_t rows = 0;
    const bool many = json_array_size(g->exercises) > 1;
    json_array_foreach(g->exercises, i, entry)
    {
        const bool skip = many && strcmp(string_of(entry, "status"), "not_started") == 0;
        if (id_is_challenge(id_of(entry)) != of_challenges) continue;
        *untouched += skip;
        rows += !skip;
        if (!skip) table_row(g->options, entry);
    }
    return rows;
}

void report_table(const grading *g)
{
    size_t untouched = 0;
    printf("\n  %-27s %-20s %-8s %-26s %13s\n", "exercise", "correctness", "checks",
           "speed or traffic", "points");
    table_rows(g, false, &untouched);
    printf("  %-27s %-20s %-8s %-26s %6.1f / %.1f\n", "total", "", "", "", g->points,
           g->max_points);
    if (table_rows(g, true, &untouched) > 0)
        printf("  %-27s %-20s %-8s %-26s %6.1f\n", "bonus", "", "", "", g->bonus);
    if (untouched > 0) printf("  %zu not started\n", untouched);
    tell_left_out(g->exercises);
    tell_missing(g->exercises, "needs python3 with NumPy", "NumPy", "python3-numpy");
    tell_missing(g->exercises, "needs nvcc or clang", "a compiler for CUDA", "clang");
    printf("\n  on %s, %.0f s; details in %s\n", device_of(g), g->seconds, g->options->results);
}
