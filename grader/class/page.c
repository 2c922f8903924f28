/* page.c: what the class can do and where it fails, as one page that may be shown to the class. */
#include "class.h"

#include <stdlib.h>
#include <string.h>

#define BINS       10
#define CASES_MOST 20

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>The class</title>\n<style>\n"
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 "
    "1rem;"
    " color: #222; background: #fff }\n"
    "table { border-collapse: collapse; width: 100% }\n"
    "th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #ddd }\n"
    "td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }\n"
    "td { overflow-wrap: anywhere } td.n, th { overflow-wrap: normal } td.n { white-space: nowrap "
    "}\n"
    ".bars td { border: 0 } .bars td:nth-child(2) { width: 90% } .bars i { display: block; height: "
    "1.2em; background: #4a7ab5 }\n"
    ".wide { overflow-x: auto } .wide table { min-width: 38rem } .wide td { overflow-wrap: normal "
    "} tr.alarm td { background: #fde8e8 "
    "}\n"
    ".boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), "
    "1fr)); gap: 1.5rem; align-items: start }\n"
    "caption { text-align: left; font-weight: 600; padding: 0 .6rem } caption span { display: "
    "block; font-weight: 400; color: #666 }\n"
    "@media (max-width: 40rem) { body { font-size: 14px } th, td { padding: .2rem .25rem } "
    "caption { padding: 0 .25rem } }\n"
    "</style></head><body>\n<h1>The class</h1>\n";

/* ---- how the points are spread --------------------------------------------------------------- */

static void put_bar(FILE *to, int bin, int size, int highest)
{
    fprintf(to, "<tr><td class=\"n\">%d–%d %%<td><i style=\"width:%d%%\"></i><td class=\"n\">%d\n",
            bin * 100 / BINS, (bin + 1) * 100 / BINS, highest > 0 ? 100 * size / highest : 0, size);
}

static void put_distribution(FILE *to, const submission *all, size_t count, const settings *s)
{
    int bins[BINS] = {0}, highest = 0;
    for (size_t i = 0; i < count; i++) {
        const mark m = mark_of(&all[i], s);
        if (!all[i].results || m.max_points <= 0) continue;
        const int bin = (int)(BINS * m.total / m.max_points);
        const int size = ++bins[bin < BINS ? bin : BINS - 1];
        if (size > highest) highest = size;
    }
    fputs("<h2>Points</h2>\n<p>How many submissions got how many percent.</p>\n"
          "<table class=\"bars\">\n",
          to);
    for (int i = 0; i < BINS; i++) put_bar(to, i, bins[i], highest);
    fputs("</table>\n", to);
}

/* ---- exercises and cases --------------------------------------------------------------------- */

/* Counters under a name each, in the order of their first mention. */
static void count_up(json_t *table, const char *name, const char *what, double by)
{
    json_t *row = json_object_get(table, name);
    if (!row) json_object_set_new(table, name, row = json_object());
    json_object_set_new(row, what, json_real(real_of(row, what) + by));
}

static void count_exercise(json_t *exercises, json_t *cases, const json_t *one)
{
    char name[128], full[320];
    size_t i;
    json_t *c;
    snprintf(name, sizeof name, "%lld %s", json_integer_value(json_object_get(one, "id")),
             string_of(one, "name"));
    count_up(exercises, name, "all", 1);
    count_up(exercises, name, string_of(one, "status"), 1);
    count_up(exercises, name, "points", real_of(one, "points"));
    count_up(exercises, name, "max_points", real_of(one, "max_points"));
    json_array_foreach(json_object_get(one, "cases"), i, c)
    {
        snprintf(full, sizeof full, "%s: %s", name, string_of(c, "name"));
        count_up(cases, full, "all", 1);
        count_up(cases, full, "failed", strcmp(string_of(c, "status"), "failed") == 0);
    }
}

static void put_exercises(FILE *to, json_t *exercises)
{
    static const char *const statuses[] = {"passed", "failed", "build_failed", "not_started",
                                           "skipped"};
    const char *name;
    json_t *row;
    fputs("<h2>Exercises</h2>\n<div class=\"wide\"><table><tr><th>exercise<th "
          "class=\"n\">passed<th class=\"n\">failed"
          "<th class=\"n\">did not build<th class=\"n\">not started<th class=\"n\">skipped"
          "<th class=\"n\">points, mean\n",
          to);
    json_object_foreach(exercises, name, row)
    {
        const double all = real_of(row, "all");
        fputs("<tr><td>", to);
        put_xml(to, name);
        for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
            fprintf(to, "<td class=\"n\">%.0f", real_of(row, statuses[i]));
        }
        fprintf(to, "<td class=\"n\">%.1f of %.1f\n", real_of(row, "points") / all,
                real_of(row, "max_points") / all);
    }
    fputs("</table></div>\n", to);
}

typedef struct failing {
    const char *name;
    double failed, all;
} failing;

static int most_first(const void *a, const void *b)
{
    const failing *x = a, *y = b;
    if (x->failed != y->failed) return x->failed < y->failed ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void put_cases(FILE *to, json_t *cases)
{
    const char *name;
    json_t *row;
    size_t count = 0;
    failing *all = calloc(json_object_size(cases) + 1, sizeof *all);
    json_object_foreach(cases, name, row)
    {
        if (real_of(row, "failed") <= 0) continue;
        all[count++] = (failing){name, real_of(row, "failed"), real_of(row, "all")};
    }
    qsort(all, count, sizeof *all, most_first);
    fputs("<h2>Cases that fail most</h2>\n", to);
    if (count == 0) fputs("<p>None failed.</p>\n", to);
    if (count > 0) fputs("<table><tr><th>case<th class=\"n\">failed<th class=\"n\">of\n", to);
    for (size_t i = 0; i < count && i < CASES_MOST; i++) {
        fputs("<tr><td>", to);
        put_xml(to, all[i].name);
        fprintf(to, "<td class=\"n\">%.0f<td class=\"n\">%.0f\n", all[i].failed, all[i].all);
    }
    if (count > 0) fputs("</table>\n", to);
    free(all);
}

void write_page(FILE *to, const submission *all, size_t count, const settings *settings)
{
    json_t *exercises = json_object(), *cases = json_object(), *one;
    size_t graded = 0, refused = 0, i;
    for (size_t s = 0; s < count; s++) {
        graded += all[s].results != NULL;
        refused += *all[s].refused != '\0';
        json_array_foreach(json_object_get(all[s].results, "exercises"), i, one)
        {
            count_exercise(exercises, cases, one);
        }
    }
    fputs(head, to);
    fprintf(
        to,
        "<p>%zu submissions: %zu graded, %zu refused, %zu that the grader could not grade.</p>\n",
        count, graded, refused, count - graded - refused);
    put_distribution(to, all, count, settings);
    put_exercises(to, exercises);
    put_cases(to, cases);
    put_leaderboards(to, all, count);
    put_changes(to, all, count);
    fputs("</body></html>\n", to);
    json_decref(exercises);
    json_decref(cases);
}
