/* plot.c: an exercise's numbers from grading to grading, as SVG by gnuplot. */
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

/* Colours that most eyes tell apart; a shape is the series' own. */
static void write_look(FILE *to, const char *colour, size_t shape)
{
    fprintf(to, "pt %zu ps 0.7 lw 1.5 lc rgb '%s'", 4 + shape, colour);
}

static const char *colour_of(size_t series)
{
    static const char *const all[] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#666666"};
    return all[series % (sizeof all / sizeof *all)];
}

/* Between single quotes of gnuplot's. */
static void write_title(FILE *to, char letter, const char *metric)
{
    fprintf(to, " title '%c  ", letter);
    for (; *metric; metric++)
        fputc(*metric == '\'' || (unsigned char)*metric < ' ' ? ' ' : *metric, to);
    fputc('\'', to);
}

/* Level with the newest of other records, from end to end. */
static void write_level(FILE *to, const char *data, const json_t *records, size_t column,
                        const char *colour, size_t gradings, int dashes)
{
    const size_t count = json_array_size(records);
    if (count == 0) return;
    fprintf(to,
            ", \\\n $%s every ::%zu::%zu using (0.5):%zu:(%zu):(0) with vectors nohead "
            "dt %d lc rgb '%s' notitle",
            data, count - 1, count - 1, column, gradings, dashes, colour);
}

static void write_whose(FILE *to, const char *whose, const json_t *records, int dashes)
{
    if (json_array_size(records) == 0) return;
    fprintf(to, ", \\\n NaN with lines dt %d lc rgb '#000000' title '%s'", dashes, whose);
}

static size_t shown_in(const json_t *record)
{
    size_t count = 0;
    const json_t *test;
    for (size_t i = 0; (test = test_at(record, i)); i++) count += test_is_shown(test);
    return count;
}

/* Of the last record, which all others are compared with. Equal numbers stand side by side. */
static void write_curves(FILE *to, const json_t *own, const json_t *reference, const json_t *median)
{
    const size_t gradings = json_array_size(own);
    const json_t *test, *last = json_array_get(own, gradings - 1);
    const double apart = 0.5 / (double)(1 + shown_in(last));
    size_t series = 0;
    fprintf(to, "plot $own using ($1 - 0.25):2 with linespoints ");
    write_look(to, "#000000", 0);
    fprintf(to, " title 'cases passed, of all'");
    for (size_t i = 0; (test = test_at(last, i)); i++) {
        if (!test_is_shown(test)) continue;
        const char *colour = colour_of(series);
        fprintf(to, ", \\\n $own using ($1 - 0.25 + %.3f):%zu with linespoints ",
                apart * (double)(series + 1), i + 3);
        write_look(to, colour, series + 1);
        write_title(to, (char)('A' + series), string_of(test, "metric"));
        write_level(to, "reference", reference, i + 3, colour, gradings, 2);
        write_level(to, "median", median, i + 3, colour, gradings, 3);
        series++;
    }
    write_whose(to, "the same for the reference", reference, 2);
    write_whose(to, "the median of the class", median, 3);
    fprintf(to, "\n");
}

static bool write_script(const char *path, const exercise *e, const json_t *own,
                         const json_t *reference, const json_t *median, const char *picture)
{
    FILE *to = fopen(path, "w");
    if (!to) return false;
    const size_t keys = shown_in(json_array_get(own, json_array_size(own) - 1)) + 3;
    fprintf(to, "set terminal svg noenhanced size 720,%zu font 'sans,12' background '#ffffff'\n",
            380 + 18 * keys);
    fprintf(to,
            "set output '%s'\nset title '%s %s: 1 is the threshold, more is better (up to 4)'\n",
            picture, id_words(e->id), e->name);
    fprintf(to,
            "set xlabel 'grading'\nset grid linecolor rgb '#dddddd'\nset border 3\n"
            "set tics nomirror\nset key below left vertical maxrows %zu Left reverse samplen 3\n",
            keys);
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
