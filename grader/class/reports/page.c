/* page.c: the results of the class and its mistakes, as one page that may be shown to it. */
#include "reports.h"

#include <stdlib.h>
#include <string.h>

#define BINS          10
#define MISTAKES_MOST 20

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
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
    ".facts { color: #666; overflow-wrap: anywhere }\n"
    "</style>\n";

/* ---- what was graded, when, on what ---------------------------------------------------------- */

static void put_title(FILE *to, const char *name)
{
    fputs("<title>", to);
    put_xml(to, name);
    fputs("</title></head><body>\n<h1>", to);
    put_xml(to, name);
    fputs("</h1>\n", to);
}

static const char *device_in(const json_t *results)
{
    return string_of(json_object_get(results, "device"), "name");
}

static const char *commit_in(const json_t *results)
{
    return string_of(results, "commit");
}

/* Each that there is, once. */
static void put_each(FILE *to, const char *before, const submission *all, size_t count,
                     const char *fact_in(const json_t *results))
{
    json_t *seen = json_object();
    for (size_t i = 0; i < count; i++) {
        const char *fact = fact_in(all[i].results);
        if (!*fact || json_object_get(seen, fact)) continue;
        fputs(json_object_size(seen) == 0 ? before : ", ", to);
        put_xml(to, fact);
        json_object_set_new(seen, fact, json_true());
    }
    json_decref(seen);
}

/* Nothing is graded twice: the newest grading may be of one submission alone. */
static void put_facts(FILE *to, const submission *all, size_t count)
{
    const char *newest = "";
    for (size_t i = 0; i < count; i++) {
        const char *started = string_of(all[i].results, "started");
        if (strcmp(started, newest) > 0) newest = started;
    }
    fputs("<p class=\"facts\">Last graded ", to);
    put_xml(to, *newest ? newest : "never");
    put_each(to, "; on ", all, count, device_in);
    put_each(to, "; course at ", all, count, commit_in);
    fputs("</p>\n", to);
}

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
    fputs("<h2>Points</h2>\n<p>Submissions by percentage of points.</p>\n<table class=\"bars\">\n",
          to);
    for (int i = 0; i < BINS; i++) put_bar(to, i, bins[i], highest);
    fputs("</table>\n", to);
}

/* ---- exercises ------------------------------------------------------------------------------- */

/* Counters under a name each, in the order of their first mention. */
static void count_up(json_t *table, const char *name, const char *what, double by)
{
    json_t *row = json_object_get(table, name);
    if (!row) json_object_set_new(table, name, row = json_object());
    json_object_set_new(row, what, json_real(real_of(row, what) + by));
}

static void count_exercise(json_t *exercises, const json_t *one)
{
    char name[128];
    snprintf(name, sizeof name, "%s %s", id_words(id_of(one)), string_of(one, "name"));
    count_up(exercises, name, "all", 1);
    count_up(exercises, name, status_of(one), 1);
    count_up(exercises, name, "points", real_of(one, "points"));
    count_up(exercises, name, "max_points", real_of(one, "max_points"));
}

static void put_exercises(FILE *to, json_t *exercises)
{
    static const char *const statuses[] = {"passed",      "failed",        "did not build",
                                           "not started", "not handed in", "skipped"};
    const char *name;
    json_t *row;
    fputs("<h2>Exercises</h2>\n<div class=\"wide\"><table><tr><th>exercise<th "
          "class=\"n\">passed<th class=\"n\">failed"
          "<th class=\"n\">did not build<th class=\"n\">not started<th class=\"n\">not handed "
          "in<th class=\"n\">skipped"
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

/* ---- mistakes -------------------------------------------------------------------------------- */

/* In the words of docs/messages.md: the likely one behind wrong results, else behind what softgpu
 * found, else what it found. */
static const char *mistake_in(const json_t *one_case)
{
    const json_t *found = json_array_get(json_object_get(one_case, "findings"), 0);
    const char *words = string_of(one_case, "mistake");
    if (!*words) words = string_of(found, "cause");
    return *words ? words : string_of(found, "kind");
}

/* Whoever made it in many cases of an exercise made it once. */
static void count_mistakes(json_t *mistakes, const json_t *exercise)
{
    size_t i;
    const char *words;
    json_t *one, *ignored, *made = json_object();
    json_array_foreach(json_object_get(exercise, "cases"), i, one)
    {
        words = mistake_in(one);
        if (*words) json_object_set_new(made, words, json_true());
    }
    json_object_foreach(made, words, ignored)
    {
        count_up(mistakes, words, "", 1);
        count_up(mistakes, words, id_words(id_of(exercise)), 1);
    }
    json_decref(made);
}

typedef struct mistake {
    const char *words;
    json_t *row; /* {"": times, "206": times, ...} */
} mistake;

static int most_first(const void *a, const void *b)
{
    const mistake *x = a, *y = b;
    const double difference = real_of(y->row, "") - real_of(x->row, "");
    if (difference != 0) return difference > 0 ? 1 : -1;
    return strcmp(x->words, y->words);
}

static void put_mistake(FILE *to, const mistake *m)
{
    const char *id, *before = "";
    json_t *ignored;
    fputs("<tr><td>", to);
    put_xml(to, m->words);
    fprintf(to, "<td class=\"n\">%.0f<td>", real_of(m->row, ""));
    json_object_foreach(m->row, id, ignored)
    {
        if (!*id) continue;
        fprintf(to, "%s%s (%.0f)", before, id, real_of(m->row, id));
        before = ", ";
    }
    fputc('\n', to);
}

static void put_mistakes(FILE *to, json_t *mistakes)
{
    const char *words;
    json_t *row;
    size_t count = 0;
    mistake *all = calloc(json_object_size(mistakes) + 1, sizeof *all);
    json_object_foreach(mistakes, words, row) all[count++] = (mistake){words, row};
    qsort(all, count, sizeof *all, most_first);
    fputs("<h2>Mistakes</h2>\n", to);
    if (count == 0) fputs("<p>None that the grader knows by name.</p>\n", to);
    if (count > 0)
        fputs("<table><tr><th>mistake<th class=\"n\">made<th>in exercise (students)\n", to);
    for (size_t i = 0; i < count && i < MISTAKES_MOST; i++) put_mistake(to, &all[i]);
    if (count > 0) fputs("</table>\n", to);
    free(all);
}

void write_page(FILE *to, const submission *all, size_t count, const settings *settings)
{
    json_t *exercises = json_object(), *mistakes = json_object(), *one;
    size_t graded = 0, refused = 0, i;
    for (size_t s = 0; s < count; s++) {
        graded += all[s].results != NULL;
        refused += *all[s].refused != '\0';
        json_array_foreach(json_object_get(all[s].results, "exercises"), i, one)
        {
            count_exercise(exercises, one);
            count_mistakes(mistakes, one);
        }
    }
    const char *name = settings_find(settings, "course", "name");
    fputs(head, to);
    put_title(to, name ? name : "The class");
    put_facts(to, all, count);
    fprintf(
        to,
        "<p>%zu submissions: %zu graded, %zu refused, %zu that the grader could not grade.</p>\n",
        count, graded, refused, count - graded - refused);
    put_distribution(to, all, count, settings);
    put_exercises(to, exercises);
    put_mistakes(to, mistakes);
    put_leaderboards(to, all, count);
    put_changes(to, all, count);
    fputs("</body></html>\n", to);
    json_decref(exercises);
    json_decref(mistakes);
}
