/*
 * views.c: `grader report --format F --results FILE [--output FILE]`. The output is written whole
 * or not at all; without --output it goes to standard output, and a page to report.html beside
 * FILE. FILE may be a folder with the tables of a grading.
 */
#include "views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const view views[] = {
    {"junit", junit_view},       {"gradescope", gradescope_view},
    {"github", github_view},     {"summary", summary_view},
    {"csv", csv_view},           {"html", html_view},
    {"markdown", markdown_view}, {"grades", grades_view},
    {"tests", tests_view},
};

const view *view_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof views / sizeof *views; i++) {
        if (strcmp(views[i].name, name) == 0) return &views[i];
    }
    return NULL;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static json_t *load(const char *path)
{
    char why[256];
    json_error_t error;
    const bool tables = is_folder(path);
    json_t *results = tables ? tables_load(path) : json_load_file(path, 0, &error);
    if (!results && tables) {
        fprintf(stderr, "grader: %s lacks grades.tsv or tests.tsv\n", path);
    } else if (!results) {
        fprintf(stderr, "grader: %s", error.text); /* which names a file that cannot be opened */
        if (error.line > 0) fprintf(stderr, " in %s, line %d", path, error.line);
        fputc('\n', stderr);
    } else if (!results_are_valid(results, why)) {
        fprintf(stderr, "grader: %s is no results.json: %s\n", path, why);
        json_decref(results);
        return NULL;
    }
    return results;
}

/* To memory first, so that a view that fails leaves what is there. */
static char *render(const options *o, const view *v, const json_t *results, size_t *size)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, size);
    if (!memory) return NULL;
    const bool done = v->write(o, results, memory);
    if (fclose(memory) == 0 && done) return text;
    free(text);
    return NULL;
}

static bool write_whole(const char *path, const char *text, size_t size)
{
    char unfinished[PATH_MAX];
    if (!path) return fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0;
    snprintf(unfinished, sizeof unfinished, "%s.%d", path, (int)getpid());
    FILE *file = fopen(unfinished, "w");
    bool whole = file && fwrite(text, 1, size, file) == size;
    if (file && fclose(file) != 0) whole = false;
    if (whole && rename(unfinished, path) == 0) return true;
    fprintf(stderr, "grader: cannot write %s: %s\n", path, strerror(errno));
    unlink(unfinished);
    return false;
}

static void name_formats(const char *asked)
{
    fprintf(stderr, "grader: there is no format \"%s\"; there are", asked ? asked : "");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) fprintf(stderr, " %s", views[i].name);
    fprintf(stderr, "\n");
}

/* A page is nothing for a terminal: it goes beside the results. */
static const char *output_of(const options *o, char path[PATH_MAX])
{
    const char *slash = strrchr(o->results, '/');
    if (o->output || strcmp(o->format, "html") != 0) return o->output;
    snprintf(path, PATH_MAX, "%.*sreport.html", slash ? (int)(slash + 1 - o->results) : 0,
             o->results);
    return path;
}

int report(const options *o)
{
    char path[PATH_MAX];
    const view *v = view_find(o->format);
    if (!v) {
        name_formats(o->format);
        return 2;
    }
    size_t size = 0;
    json_t *results = load(o->results);
    if (results && v->write == html_view) add_last_verdicts(results, o->history);
    const char *output = output_of(o, path);
    if (output) make_folders_of(output);
    char *text = results ? render(o, v, results, &size) : NULL;
    const bool done = text && write_whole(output, text, size);
    if (done && output == path) printf("written: %s\n", path);
    free(text);
    json_decref(results);
    return done ? 0 : 2;
}
