/*
 * feedback.c: the feedback for each student, OUT/feedback/NAME.html and NAME.txt: the page that
 * `make report FORMAT=html` makes, and the same in plain text, for a mail. The total is the
 * gradebook's. A student without results is told why.
 */
#include "reports.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CASES_SHOWN 3 /* of an exercise, that failed */

/* The results as this student's own, with the name for the folder that they were graded in. */
static json_t *results_of(const submission *s, const mark *m)
{
    json_t *r = s->results ? json_deep_copy(s->results)
                           : json_pack("{s:s, s:[]}", "error", why_ungraded(s), "exercises");
    json_object_set_new(r, "submission", json_string(s->student));
    json_object_set_new(r, "points", json_real(m->total));
    json_object_set_new(r, "max_points", json_real(m->max_points));
    return r;
}

/* ---- the text -------------------------------------------------------------------------------- */

typedef struct list {
    FILE *to;
    const json_t *exercise;
    int shown;
} list;

static void put_indented(FILE *to, const char *text, int by)
{
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        fprintf(to, "%*s%.*s\n", by, "", length, text);
        text += length + (text[length] == '\n');
    }
}

static void put_verdict(const verdict *v, void *context)
{
    list *l = context;
    char again[512];
    if (!is_failed(v) && !is_noisy(v)) return;
    if (l->shown++ >= CASES_SHOWN) return;
    if (*v->name) fprintf(l->to, "    %s %s:\n", v->part, v->name);
    put_indented(l->to, v->words, 6);
    repeat_command(l->exercise, v, again, sizeof again);
    if (*again) fprintf(l->to, "      again: %s\n", again);
}

static void put_exercise(FILE *to, const json_t *one)
{
    char outcome[160];
    list l = {.to = to, .exercise = one};
    if (strncmp(status_of(one), "not ", 4) == 0) return;
    print_outcome(one, outcome, sizeof outcome);
    fprintf(to, "%-4s%-24s%5.1f of %5.1f   %s\n", id_words(id_of(one)), string_of(one, "name"),
            real_of(one, "points"), real_of(one, "max_points"), outcome);
    each_verdict(one, put_verdict, &l);
    if (l.shown > CASES_SHOWN) fprintf(to, "    and %d more\n", l.shown - CASES_SHOWN);
}

static void put_all_that(FILE *to, const json_t *exercises, const char *status)
{
    size_t i;
    json_t *one;
    bool any = false;
    json_array_foreach((json_t *)exercises, i, one)
    {
        if (strcmp(status_of(one), status) != 0) continue;
        if (!any) fprintf(to, "\n%s:", status);
        fprintf(to, " %s", id_words(id_of(one)));
        any = true;
    }
    if (any) fputc('\n', to);
}

static void put_text(FILE *to, const submission *s, const mark *m, const json_t *results)
{
    size_t i;
    json_t *one;
    const json_t *exercises = json_object_get(results, "exercises");
    fprintf(to, "%s: %.2f of %.2f points", s->student, m->total, m->max_points);
    if (m->days_late > 0) fprintf(to, ", %d days late", m->days_late);
    fputs("\n\n", to);
    if (!s->results) fprintf(to, "Not graded: %s\n", why_ungraded(s));
    json_array_foreach((json_t *)exercises, i, one) put_exercise(to, one);
    put_all_that(to, exercises, "not started");
    put_all_that(to, exercises, "not handed in");
}

/* ---- the files ------------------------------------------------------------------------------- */

static bool is_written(const class_options *o, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", o->out, name);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool same = true;
    for (int c; same && (c = fgetc(file)) != EOF;) same = c == (unsigned char)*text && *text++;
    fclose(file);
    return same && !*text;
}

static bool is_there(const class_options *o, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", o->out, name);
    return access(path, F_OK) == 0;
}

static char *render(view_function *view, const json_t *results)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    view(&(options){0}, results, memory);
    fclose(memory);
    return text;
}

/* The page draws charts, which takes its time: it is made again when the text says something else.
 */
static bool write_one(const class_options *o, const submission *s, const settings *with)
{
    char name[192], page[192], *text = NULL;
    size_t size = 0;
    const mark m = mark_of(s, with);
    json_t *results = results_of(s, &m);
    FILE *memory = open_memstream(&text, &size);
    put_text(memory, s, &m, results);
    fclose(memory);
    snprintf(name, sizeof name, "feedback/%s.txt", s->student);
    snprintf(page, sizeof page, "feedback/%s.html", s->student);
    bool written = is_written(o, name, text) && is_there(o, page);
    if (!written) {
        char *html = render(html_view, results);
        written = write_whole(o, page, html) && write_whole(o, name, text);
        free(html);
    }
    json_decref(results);
    free(text);
    return written;
}

bool write_feedback(const class_options *o, const submission *all, size_t count,
                    const settings *with)
{
    for (size_t i = 0; i < count; i++) {
        if (!write_one(o, &all[i], with)) return false;
    }
    return true;
}
