/* plot.c: how an exercise's numbers moved from grading to grading, as SVG by gnuplot. */
#include "student.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARGIN_MOST 100.0 /* a count of 0 where "at most" is wanted is infinitely good */
#define DRAWN_MOST  4.0   /* what is much better than wanted must not flatten all the rest */

double margin_of(const json_t *test)
{
    const double threshold = real_of(test, "threshold"), ratio = real_of(test, "ratio");
    const double wanted = real_of(test, "wanted"), counted = real_of(test, "counted");
    const char *verdict = string_of(test, "verdict"), *bound = string_of(test, "bound");
    const bool judged = !strcmp(verdict, "passed") || !strcmp(verdict, "failed");
    if (!judged && strcmp(verdict, "too_noisy") != 0) return NAN;
    if (threshold > 0) return ratio > 0 ? ratio / threshold : NAN;
    if (!json_is_number(json_object_get(test, "counted"))) return NAN;
    if (counted == wanted) return 1.0;
    if (!strcmp(bound, "at least")) return wanted > 0 ? fmin(counted / wanted, MARGIN_MOST) : NAN;
    if (!strcmp(bound, "at most")) return fmin(wanted / counted, MARGIN_MOST);
    return NAN; /* exactly, and it is not */
}

bool test_is_shown(const json_t *test)
{
    return strncmp(string_of(test, "verdict"), "skipped", 7) != 0;
}

static void write_margins(FILE *to, const json_t *record, const char *list)
{
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(json_object_get(record, "entry"), list), i, test)
    {
        const double margin = margin_of(test);
        if (isnan(margin))
            fprintf(to, " NaN");
        else
            fprintf(to, " %.6g", fmin(margin, DRAWN_MOST));
    }
}

/* One line a record: its number, the share of cases that passed, the margins of its tests. */
static void write_data(FILE *to, const char *name, const json_t *records)
{
    fprintf(to, "$%s << EOD\n", name);
    for (size_t i = 0; i < json_array_size(records); i++) {
        const json_t *record = json_array_get(records, i);
        const long cases = integer_of(record, "cases");
        fprintf(to, "%zu %.4f", i + 1,
                cases ? (double)integer_of(record, "cases_passed") / (double)cases : 0.0);
        write_margins(to, record, "speeds");
        write_margins(to, record, "traffic");
        fprintf(to, "\n");
    }
    fprintf(to, "EOD\n");
}

static const json_t *test_at(const json_t *record, size_t i)
{
    const json_t *entry = json_object_get(record, "entry");
    const json_t *speeds = json_object_get(entry, "speeds");
    const size_t timed = json_array_size(speeds);
    return i < timed ? json_array_get(speeds, i)
                     : json_array_get(json_object_get(entry, "traffic"), i - timed);
}

/* Level with the newest of other records, from end to end. */
static void write_level(FILE *to, const char *data, const char *whose, const json_t *records,
                        size_t column, char letter, size_t gradings, int dashes)
{
    const size_t count = json_array_size(records);
    if (count == 0) return;
    fprintf(to,
            ", \\\n $%s every ::%zu::%zu using (0.5):%zu:(%zu):(0) with vectors nohead "
            "dt %d lc %d title '%c of the %s'",
            data, count - 1, count - 1, column, gradings, dashes, letter - 'A' + 2, letter, whose);
}

/* Of the last record, which all others are compared with. */
static void write_curves(FILE *to, const json_t *own, const json_t *reference, const json_t *median)
{
    const size_t gradings = json_array_size(own);
    const json_t *test, *last = json_array_get(own, gradings - 1);
    char letter = 'A';
    fprintf(to, "plot $own using 1:2 with linespoints pt 5 ps 0.6 lc 1 title 'cases passed, of "
                "all'");
    for (size_t i = 0; (test = test_at(last, i)); i++) {
        if (!test_is_shown(test)) continue;
        fprintf(to, ", \\\n $own using 1:%zu with linespoints pt 7 ps 0.7 lw 2 lc %d title '%c'",
                i + 3, letter - 'A' + 2, letter);
        write_level(to, "reference", "reference", reference, i + 3, letter, gradings, 2);
        write_level(to, "median", "class: median", median, i + 3, letter, gradings, 3);
        letter++;
    }
    fprintf(to, "\n");
}

static bool write_script(const char *path, const exercise *e, const json_t *own,
                         const json_t *reference, const json_t *median, const char *picture)
{
    FILE *to = fopen(path, "w");
    if (!to) return false;
    fprintf(to, "set terminal svg noenhanced size 720,420 font 'sans,13' background '#ffffff'\n");
    fprintf(to,
            "set output '%s'\nset title '%d %s: 1 is what is wanted, more is better (up to 4)'\n",
            picture, e->id, e->name);
    fprintf(to, "set xlabel 'grading'\nset grid\nset key outside\n");
    fprintf(to, "set xrange [0.5:%zu.5]\nset xtics %zu\nset yrange [0:*]\n", json_array_size(own),
            1 + json_array_size(own) / 10);
    fprintf(to, "set arrow from graph 0, first 1 to graph 1, first 1 nohead lc '#888888'\n");
    write_data(to, "own", own);
    if (json_array_size(reference) > 0) write_data(to, "reference", reference);
    if (json_array_size(median) > 0) write_data(to, "median", median);
    write_curves(to, own, reference, median);
    return fclose(to) == 0;
}

bool plot_history(const exercise *e, const json_t *own, const json_t *reference,
                  const json_t *median, const char *picture)
{
    char script[PATH_MAX];
    if (json_array_size(own) == 0 || strchr(picture, '\'')) return false;
    snprintf(script, sizeof script, "%s.gp", picture);
    if (!write_script(script, e, own, reference, median, picture)) return false;
    const char *const argv[] = {"gnuplot", script, NULL};
    process_result r = process_run(argv, NULL, 20.0, 4096);
    if (r.status != 0 && r.status != 127) fprintf(stderr, "%s", r.output);
    unlink(script);
    free(r.output);
    return r.status == 0;
}
