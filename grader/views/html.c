/*
 * html.c: one self-contained page. Charts are pictures inside it; a policy in its head forbids it
 * to load anything, whatever results.json says. Made for the width of a phone first.
 */
#include "views.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" "
    "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>Course results</title>\n<style>\n"
    ":root { color-scheme: light dark; --line: #8886; --good: #2a7f62; --bad: #b3261e; --open: "
    "#8a5a00 }\n"
    "@media (prefers-color-scheme: dark) { :root { --good: #6fcfa8; --bad: #ff8f85; --open: "
    "#f0b860 } }\n"
    "* { box-sizing: border-box }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem "
    "}\n"
    "h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem }\n"
    ".total { font-size: 2.4rem; font-weight: 700; line-height: 1.2 }\n"
    ".facts { opacity: .75; overflow-wrap: anywhere }\n"
    ".charts { display: flex; flex-wrap: wrap; gap: 1rem }\n"
    "figure { margin: 0; flex: 1 1 20rem; max-width: 30rem }\n"
    "figcaption { font-size: .9rem; padding: .2rem 0 }\n"
    "figure img { width: 100%; height: auto; display: block; border-radius: .4rem }\n"
    "details { border-top: 1px solid var(--line) }\n"
    "summary { display: flex; flex-wrap: wrap; gap: 0 .75rem; padding: .6rem 0; cursor: pointer }\n"
    "summary::before { content: '\\25B8' } details[open] > summary::before { content: '\\25BE' }\n"
    "summary a { color: inherit }\n"
    "summary .name { font-weight: 600; flex: 1 1 12rem }\n"
    "summary .points { font-variant-numeric: tabular-nums }\n"
    ".outcome { flex: 1 1 100%; font-size: .9rem } .passed { color: var(--good) }\n"
    ".failed, .build_failed { color: var(--bad) } .noisy, .short { color: var(--open) }\n"
    ".rest { border-top: 1px solid var(--line); padding-top: .6rem }\n"
    "ul { margin: 0 0 1rem; padding-left: 1.2rem } li { margin: .4rem 0; overflow-wrap: anywhere "
    "}\n"
    "pre, code { font: .85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; "
    "overflow-wrap: anywhere }\n"
    "pre { margin: .2rem 0 } pre.log { white-space: pre; overflow-x: auto }\n"
    "</style>\n</head>\n<body>\n";

/* ---- charts ---------------------------------------------------------------------------------- */

static void put_chart(FILE *to, char *picture, const char *words)
{
    if (!picture) return;
    const size_t length = strlen(picture);
    unsigned char *text = malloc(4 * ((length + 2) / 3) + 1);
    if (text) {
        EVP_EncodeBlock(text, (const unsigned char *)picture, (int)length);
        fprintf(to,
                "<figure><figcaption>%s</figcaption><img alt=\"%s\" "
                "src=\"data:image/svg+xml;base64,%s\"></figure>\n",
                words, words, text);
    }
    free(text);
    free(picture);
}

static void put_charts(FILE *to, const options *o, const json_t *results)
{
    if (json_array_size(json_object_get(results, "exercises")) == 0) return;
    if (!chart_can_draw()) {
        fputs("<p class=\"facts\">No charts: they need gnuplot (<code>apt-get install "
              "gnuplot-nox</code>).</p>\n",
              to);
        return;
    }
    fputs("<div class=\"charts\">\n", to);
    put_chart(to, chart_points(results), "Points of each exercise, out of its maximum");
    put_chart(to, chart_speed(results),
              "Speed, as a multiple of the threshold, with 95 % intervals");
    put_chart(to, chart_traffic(results),
              "Traffic: how many times better than its bound a count is");
    put_chart(to, chart_history(o->history, string_of(results, "submission")),
              "Points of each grading so far");
    fputs("</div>\n", to);
}

/* ---- exercises ------------------------------------------------------------------------------- */

typedef struct list {
    FILE *to;
    const json_t *exercise;
} list;

/* Cases that passed and have nothing to say are counted, not listed. */
static void put_verdict(const verdict *v, void *context)
{
    const list *l = context;
    char again[512];
    const bool log = strcmp(v->part, "build") == 0; /* its columns mean something */
    const bool quiet = is_passed(v) && !*v->words;
    if (quiet || (!is_failed(v) && strcmp(v->part, "case") == 0 && !*v->words)) return;
    fprintf(l->to, "<li><span class=\"%s\">%s</span> ",
            is_passed(v)   ? "passed"
            : is_failed(v) ? "failed"
            : is_noisy(v)  ? "noisy"
                           : "other",
            v->part);
    put_xml(l->to, v->name);
    if (!is_passed(v) && !is_failed(v) && !is_noisy(v)) {
        fputs(": ", l->to);
        put_xml(l->to, v->status);
    }
    if (*v->words) fputs(log ? "<pre class=\"log\">" : "<pre>", l->to);
    put_xml(l->to, v->words);
    if (*v->words) fputs("</pre>", l->to);
    repeat_command(l->exercise, v, again, sizeof again);
    if (is_failed(v) && *again) {
        fputs("again: <code>", l->to);
        put_xml(l->to, again);
        fputs("</code>", l->to);
    }
    fputs("</li>\n", l->to);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* From one folder, which ends in a slash, to a file; both are whole paths. */
static void relate(char link[PATH_MAX], const char *from, const char *to)
{
    size_t common = 0, n = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++) {
        if (from[i] == '/') common = i + 1;
    }
    for (const char *c = from + common; *c && n + 4 < PATH_MAX; c++) {
        if (*c == '/') n += (size_t)snprintf(link + n, PATH_MAX - n, "../");
    }
    snprintf(link + n, PATH_MAX - n, "%s", to + common);
}

/* A report that is handed on, a class's, knows no course: it has no links. */
static bool find_page(const options *o, const json_t *exercise, char link[PATH_MAX])
{
    char path[PATH_MAX], page[PATH_MAX], folder[PATH_MAX + 1];
    const char *file = string_of(exercise, "file");
    const char *report = o->output ? o->output : o->results;
    const int length = (int)(base_of(file) - file);
    if (!o->root || !report) return false;
    snprintf(path, sizeof path, "%s/book/%.*sREADME.html", o->build, length, file);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof path, "%s/%.*sREADME.md", o->root, length, file);
    if (!realpath(path, page)) return false;
    snprintf(path, sizeof path, "%.*s.", (int)(base_of(report) - report), report);
    if (!realpath(path, folder)) return false;
    strcat(folder, "/");
    relate(link, folder, page);
    return true;
}

/* With a link to its page, where there is one. */
static void put_name(FILE *to, const options *o, const json_t *exercise)
{
    char link[PATH_MAX];
    const bool linked = find_page(o, exercise, link);
    if (linked) {
        fputs("<a href=\"", to);
        put_xml(to, link);
        fputs("\">", to);
    }
    fprintf(to, "%s ", id_words(id_of(exercise)));
    put_xml(to, string_of(exercise, "name"));
    if (linked) fputs("</a>", to);
}

static bool has_kernels(const json_t *exercise)
{
    const char *file = string_of(exercise, "file"), *dot = strrchr(file, '.');
    return dot && strcmp(dot, ".cu") == 0;
}

/* Right and with points to gain is not green. */
static const char *kind_of(const json_t *exercise)
{
    const char *status = string_of(exercise, "status"); /* one of the schema's */
    const double left = real_of(exercise, "max_points") - real_of(exercise, "points");
    if (any_noisy(exercise)) return "noisy";
    return strcmp(status, "passed") == 0 && left > 1e-6 ? "short" : status;
}

/* How a failed exercise is drawn; and the picture, if it lies in see/ beside the report. */
static void put_see(FILE *to, const options *o, const json_t *exercise)
{
    char path[PATH_MAX];
    const char *id = id_words(id_of(exercise)), *report = o->output ? o->output : o->results;
    if (strcmp(string_of(exercise, "status"), "failed") != 0 || !has_kernels(exercise)) return;
    snprintf(path, sizeof path, "%.*ssee/%s.html", report ? (int)(base_of(report) - report) : 0,
             report, id);
    fprintf(to, "<p>What its kernels do: <code>make see EX=%s</code>", id);
    if (access(path, F_OK) == 0) fprintf(to, " (<a href=\"see/%s.html\">as last seen</a>)", id);
    fputs("</p>\n", to);
}

static void put_exercise(FILE *to, const options *o, const json_t *exercise)
{
    char outcome[160];
    list l = {to, exercise};
    const bool listed = json_array_size(json_object_get(exercise, "cases")) > 0;
    print_outcome(exercise, outcome, sizeof outcome);
    fputs("<details><summary><span class=\"name\">", to);
    put_name(to, o, exercise);
    fprintf(to,
            "</span><span class=\"points\">%.1f / %.1f</span><span class=\"outcome %s\">%s</span>"
            "</summary>\n<p class=\"facts\">",
            real_of(exercise, "points"), real_of(exercise, "max_points"), kind_of(exercise),
            outcome);
    put_xml(to, string_of(exercise, "file"));
    fputs("</p>\n", to);
    if (!listed && strcmp(string_of(exercise, "status"), "failed") == 0) {
        fputs("<p>", to);
        put_xml(to, string_of(exercise, "reason"));
        fputs("</p>\n", to);
    }
    fputs("<ul>\n", to);
    each_verdict(exercise, put_verdict, &l);
    fputs("</ul>\n", to);
    put_see(to, o, exercise);
    if (*string_of(exercise, "warnings")) {
        fputs("<p>Warnings of the compiler:</p><pre class=\"log\">", to);
        put_xml(to, string_of(exercise, "warnings"));
        fputs("</pre>\n", to);
    }
    fputs("</details>\n", to);
}

/* There is nothing to say of these but their names. */
static void put_all_that(FILE *to, const options *o, const json_t *results, const char *status)
{
    size_t i;
    json_t *one;
    bool any = false;
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        if (strcmp(status_of(one), status) != 0) continue;
        if (any)
            fputs(", ", to);
        else
            fprintf(to, "<p class=\"rest\">%c%s: ", *status - 'a' + 'A', status + 1);
        put_name(to, o, one);
        any = true;
    }
    if (any) fputs("</p>\n", to);
}

static void put_fact(FILE *to, const char *before, const char *fact)
{
    if (!*fact) return;
    fputs(before, to);
    put_xml(to, fact);
}

/* Files that were written before there was isolation say nothing of it. */
static void put_isolation(FILE *to, json_t *layers)
{
    const char *name, *before = ", isolated by ";
    json_t *on;
    bool any = false;
    json_object_foreach(layers, name, on)
    {
        if (!json_is_true(on)) continue;
        put_fact(to, any ? ", " : before, name);
        any = true;
    }
    if (layers && !any) put_fact(to, ", ", "not isolated");
}

static void put_top(FILE *to, const json_t *results)
{
    const json_t *device = json_object_get(results, "device");
    fputs("<h1>Course results</h1>\n", to);
    if (*string_of(results, "error")) {
        fputs("<p class=\"failed\">Grading could not be done: ", to);
        put_xml(to, string_of(results, "error"));
        fputs("</p>\n", to);
    }
    fprintf(to, "<p class=\"total\">%.1f of %.1f points</p>\n<p class=\"facts\">",
            real_of(results, "points"), real_of(results, "max_points"));
    put_fact(to, "submission ", base_of(string_of(results, "submission"))); /* not where it lies */
    put_fact(to, ", on ", string_of(device, "name"));
    put_fact(to, ", ", string_of(results, "started"));
    put_fact(to, ", course at ", string_of(results, "commit"));
    put_isolation(to, json_object_get(results, "isolation"));
    put_fact(to, ", signed with key ", string_of(json_object_get(results, "signature"), "key_id"));
    fputs("</p>\n", to);
}

bool html_view(const options *o, const json_t *results, FILE *to)
{
    size_t i, challenges = 0;
    json_t *one;
    fputs(head, to);
    put_top(to, results);
    put_charts(to, o, results);
    fputs("<h2>Exercises</h2>\n", to);
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        if (strncmp(status_of(one), "not ", 4) == 0) continue;
        if (id_is_challenge(id_of(one)) && challenges++ == 0)
            fprintf(to, "<h2>Challenges: a bonus of %.1f points</h2>\n", real_of(results, "bonus"));
        put_exercise(to, o, one);
    }
    put_all_that(to, o, results, "not started");
    put_all_that(to, o, results, "not handed in");
    fputs("</body>\n</html>\n", to);
    return true;
}
