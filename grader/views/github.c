/*
 * github.c: two views for a workflow of GitHub Actions. `github` prints annotations: each failure
 * at the line of the student's file that a compiler or softgpu named, else at the file. `summary`
 * is the page of the run, in Markdown: append it to $GITHUB_STEP_SUMMARY.
 *
 * Paths in annotations count from the repository: a submission below $GITHUB_WORKSPACE is taken
 * from there. GitHub shows ten errors and ten warnings per step; so one line of a file gets one,
 * and says how many more there were.
 */
#include "views.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 64, SHOWN = 3 };

/* What is said already of one exercise: for each line the first words, and how often. */
typedef struct spot {
    long line;
    int times;
    bool warning;
    char *title, *words;
} spot;

typedef struct spots {
    const json_t *exercise;
    int count;
    spot at[LINES];
} spots;

static void add_spot(spots *all, long line, bool warning, const char *title, const char *words)
{
    for (int i = 0; i < all->count; i++) {
        spot *s = &all->at[i];
        if (s->line != line || s->warning != warning) continue;
        s->times++;
        return;
    }
    if (all->count == LINES) return;
    all->at[all->count++] = (spot){line, 1, warning, strdup(title), strdup(words)};
}

/* A compiler's output names many lines: each gets the words on it. */
static void add_compiler(spots *all, const char *log, bool warning)
{
    long line;
    const char *file = string_of(all->exercise, "file");
    while (*log) {
        const size_t length = strcspn(log, "\n");
        char *text = strndup(log, length);
        const char *rest = locate(text, file, &line);
        if (rest && strstr(rest, warning ? "warning" : "error")) {
            add_spot(all, line, warning, "compiler", rest + strspn(rest, ":0123456789 "));
        }
        free(text);
        log += length + (log[length] == '\n');
    }
}

static void add_verdict(const verdict *v, void *context)
{
    spots *all = context;
    char title[200];
    snprintf(title, sizeof title, "%s %s", v->part, v->name);
    if (is_noisy(v)) add_spot(all, 0, true, title, v->words);
    if (!is_failed(v)) return;
    if (strcmp(v->part, "build") == 0) {
        add_compiler(all, v->words, false);
        add_compiler(all, v->words, true);
        if (all->count == 0) add_spot(all, 0, false, "does not build", v->words);
        return;
    }
    add_spot(all, v->line, false, title, v->words);
}

static void put_path(FILE *to, const json_t *results, const json_t *exercise)
{
    const char *folder = string_of(results, "submission"), *top = getenv("GITHUB_WORKSPACE");
    const size_t length = top ? strlen(top) : 0;
    char path[PATH_MAX];
    if (length > 0 && strncmp(folder, top, length) == 0 && strchr("/", folder[length])) {
        folder += length + (folder[length] == '/');
    }
    if (strcmp(folder, ".") == 0) folder = "";
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", string_of(exercise, "file"));
    put_command(to, path, true);
}

static void put_spot(FILE *to, const json_t *results, const json_t *exercise, const spot *s)
{
    char title[256];
    snprintf(title, sizeof title, "%s %s, %s", id_words(id_of(exercise)),
             string_of(exercise, "name"), s->title);
    fprintf(to, "::%s file=", s->warning ? "warning" : "error");
    put_path(to, results, exercise);
    if (s->line > 0) fprintf(to, ",line=%ld", s->line);
    fputs(",title=", to);
    put_command(to, title, true);
    fputs("::", to);
    put_command(to, s->words, false);
    if (s->times > 1) fprintf(to, "%%0A(and %d more here)", s->times - 1);
    fputc('\n', to);
}

bool github_view(const options *o, const json_t *results, FILE *to)
{
    (void)o;
    size_t i;
    json_t *one;
    if (*string_of(results, "error")) {
        fputs("::error title=grading::", to);
        put_command(to, string_of(results, "error"), false);
        fputc('\n', to);
    }
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        spots all = {.exercise = one};
        each_verdict(one, add_verdict, &all);
        add_compiler(&all, string_of(one, "warnings"), true);
        for (int k = 0; k < all.count; k++) {
            put_spot(to, results, one, &all.at[k]);
            free(all.at[k].title);
            free(all.at[k].words);
        }
    }
    return true;
}

/* ---- the page of the run --------------------------------------------------------------------- */

typedef struct list {
    FILE *to;
    const json_t *exercise;
    int failed;
} list;

static void put_failure(const verdict *v, void *context)
{
    list *l = context;
    char again[512];
    if (!is_failed(v) && !is_noisy(v)) return;
    if (++l->failed > SHOWN) return;
    fprintf(l->to, "- **%s** ", v->part);
    put_markdown(l->to, v->name);
    fputs(*v->name ? ": " : "", l->to);
    put_markdown(l->to, v->words);
    repeat_command(l->exercise, v, again, sizeof again);
    if (*again) {
        fputs("<br>again: <code>", l->to);
        put_markdown(l->to, again);
        fputs("</code>", l->to);
    }
    fputc('\n', l->to);
}

static void put_failures(FILE *to, const json_t *exercise)
{
    list l = {to, exercise, 0};
    const char *status = string_of(exercise, "status");
    const bool passed = strcmp(status, "passed") == 0 && !any_noisy(exercise);
    if (passed || strcmp(status, "not_started") == 0) return;
    fprintf(to, "\n### %s ", id_words(id_of(exercise)));
    put_markdown(to, string_of(exercise, "name"));
    fputs("\n\n", to);
    each_verdict(exercise, put_failure, &l);
    if (l.failed > SHOWN) fprintf(to, "- and %d more\n", l.failed - SHOWN);
    if (l.failed == 0) {
        put_markdown(to, string_of(exercise, "reason"));
        fputc('\n', to);
    }
}

bool summary_view(const options *o, const json_t *results, FILE *to)
{
    size_t i;
    json_t *one;
    fprintf(to, "## %.1f of %.1f points\n\n", real_of(results, "points"),
            real_of(results, "max_points"));
    if (*string_of(results, "error")) {
        fputs("Grading could not be done: ", to);
        put_markdown(to, string_of(results, "error"));
        fputs("\n\n", to);
    }
    if (!markdown_view(o, results, to)) return false;
    json_array_foreach(json_object_get(results, "exercises"), i, one) put_failures(to, one);
    return true;
}
