/*
 * see.c: `grader see --exercise N`: pictures of the kernels of one case on softgpu, as a page that
 * is opened from disk: results/see/N.html.
 *
 * The case is graded in a process of its own, where SOFTGPU_TRACE has softgpu write down a block of
 * each kernel; so is the reference, at the same time, to be shown next to it. Without solutions the
 * page shows the trace from before the last change of the file there. The page is that of
 * student/see/, with its parts and the traces put in.
 */
#include "student.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENOUGH 1024 /* elements of a case that shows more than its tails */

/* ---- the case -------------------------------------------------------------------------------- */

/* The smallest of them that is not tiny. */
static const char *smallest_case(const exercise *e)
{
    const grading_case *best = NULL;
    for (const grading_case *c = e->cases; c->name; c++) {
        if (!can_be_profiled(c)) continue;
        const bool fits = case_size(c) >= ENOUGH, fitted = best && case_size(best) >= ENOUGH;
        const bool less = best && case_size(c) < case_size(best);
        if (!best || (fits && !fitted) || (fits == fitted && less == fits)) best = c;
    }
    return best ? best->name : e->cases->name;
}

/* ---- one version of the exercise ------------------------------------------------------------- */

typedef struct version {
    const options *options;
    const exercise *exercise;
    const char *case_name, *submission, *title;
    char trace[PATH_MAX], results[PATH_MAX];
} version;

static version version_of(const options *o, const exercise *e, const char *case_name,
                          const char *submission, const char *name, const char *title)
{
    version v = {o, e, case_name, submission, title, "", ""};
    snprintf(v.trace, sizeof v.trace, "%s/see/%s.trace", o->build, name);
    snprintf(v.results, sizeof v.results, "%s.json", v.trace);
    make_folders_of(v.trace);
    return v;
}

/* @return whether a trace was written; else after a message */
static bool run_version(const version *v)
{
    unlink(v->trace);
    setenv("SOFTGPU_TRACE", v->trace, 1);
    if (v->options->block) setenv("SOFTGPU_TRACE_BLOCK", v->options->block, 1);
    char *said = grade_one_case(v->options, v->exercise, v->case_name, v->submission, v->results);
    const bool traced = said && access(v->trace, F_OK) == 0;
    if (said && !traced)
        fprintf(stderr, "%s\ngrader: case %s was not traced\n", said, v->case_name);
    free(said);
    return traced;
}

static char *read_text(const char *path)
{
    char *text = NULL, block[4096];
    size_t bytes = 0;
    FILE *from = fopen(path, "r"), *to = from ? open_memstream(&text, &bytes) : NULL;
    for (size_t n; to && (n = fread(block, 1, sizeof block, from)) > 0;) fwrite(block, 1, n, to);
    if (to) fclose(to);
    if (from) fclose(from);
    return text;
}

/* What is no UTF-8 becomes question marks. */
static json_t *text_json(char *text)
{
    json_t *string = json_string(text);
    for (char *c = text; !string && *c; c++) {
        if ((unsigned char)*c > 0x7e) *c = '?';
    }
    return string ? string : json_string(text);
}

static json_t *read_sources(const version *v)
{
    json_t *all = json_object();
    for (int i = 0; exercise_file(v->exercise, i); i++) {
        char path[PATH_MAX];
        const char *name = exercise_file(v->exercise, i);
        snprintf(path, sizeof path, "%s/%s", v->submission, name);
        char *text = read_text(path);
        if (text) json_object_set_new(all, strrchr(name, '/') + 1, text_json(text));
        free(text);
    }
    return all;
}

/* Each kernel once, whatever workers there were. */
static json_t *read_kernels(const char *trace)
{
    json_t *all = json_array(), *seen = json_object(), *one;
    FILE *file = fopen(trace, "r");
    while (file && (one = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
        const char *id = string_of(one, "id");
        if (!json_object_get(seen, id)) json_array_append(all, one);
        json_object_set_new(seen, id, json_true());
        json_decref(one);
    }
    if (file) fclose(file);
    json_decref(seen);
    return all;
}

static const char *block_of(const options *o)
{
    return o->block ? o->block : "0,0,0";
}

static json_t *read_version(const version *v)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "title", v->title, "case", v->case_name, "block",
                     block_of(v->options), "sources", read_sources(v), "kernels",
                     read_kernels(v->trace));
}

/* ---- what stands beside ---------------------------------------------------------------------- */

static bool is_same(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* Keeps the version, and the one before it if its file was another.
 * @return that one, if it ran the same case, or NULL */
static json_t *exchange_last(const version *v, const json_t *now)
{
    char last[PATH_MAX], before[PATH_MAX];
    snprintf(last, sizeof last, "%s/see/%s.last", v->options->build, id_words(v->exercise->id));
    snprintf(before, sizeof before, "%s/see/%s.before", v->options->build,
             id_words(v->exercise->id));
    json_t *old = json_load_file(last, 0, NULL);
    if (old && !is_same(old, now, "sources")) rename(last, before);
    json_decref(old);
    json_dump_file(now, last, JSON_COMPACT);
    json_t *other = json_load_file(before, 0, NULL);
    const bool fits = other && is_same(other, now, "case") && is_same(other, now, "block");
    if (fits) json_object_set_new(other, "title", json_string("Before your last change"));
    if (!fits) json_decref(other);
    return fits ? other : NULL;
}

/* Both at once. @return false when the submission's own left nothing */
static bool run_both(const version *own, const version *other)
{
    fflush(NULL);
    const pid_t child = other ? fork() : -1;
    if (child == 0) _exit(run_version(other) ? 0 : 1);
    const bool good = run_version(own);
    if (child > 0) waitpid(child, NULL, 0);
    return good;
}

/* ---- the page -------------------------------------------------------------------------------- */

/* Nothing in it ends the script that holds it. */
static void put_data(FILE *to, const json_t *data)
{
    char *text = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII);
    for (const char *c = text; *c; c++) {
        if (*c == '<')
            fputs("\\u003c", to);
        else
            fputc(*c, to);
    }
    fputc('\n', to);
    free(text);
}

/* A line @NAME stands for that file, @data for the data. */
static bool put_page(FILE *to, const char *root, const char *name, const json_t *data)
{
    char path[PATH_MAX], line[4096];
    snprintf(path, sizeof path, "%s/grader/student/see/%s", root, name);
    FILE *from = fopen(path, "r");
    bool whole = from != NULL;
    if (!from) fprintf(stderr, "grader: there is no %s\n", path);
    while (whole && fgets(line, sizeof line, from)) {
        if (strcmp(line, "@data\n") == 0) {
            put_data(to, data);
        } else if (line[0] == '@' && strchr(line, '.') && !strchr(line, ' ')) {
            line[strcspn(line, "\n")] = '\0';
            whole = put_page(to, root, line + 1, data);
        } else {
            fputs(line, to);
        }
    }
    if (from) fclose(from);
    return whole;
}

static bool write_page(const options *o, const char *path, const json_t *data)
{
    make_folders_of(path);
    FILE *to = fopen(path, "w");
    if (!to) fprintf(stderr, "grader: cannot write %s\n", path);
    if (!to) return false;
    const bool whole = put_page(to, o->root, "page.html", data);
    return fclose(to) == 0 && whole;
}

void see_page(const options *o, const exercise *e, char path[PATH_MAX])
{
    const char *slash = strrchr(o->results, '/');
    snprintf(path, PATH_MAX, "%.*ssee/%s.html", slash ? (int)(slash + 1 - o->results) : 0,
             o->results, id_words(e->id));
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* "passed", or what is wrong with it. */
static json_t *verdict_of(const version *v)
{
    json_t *results = json_load_file(v->results, 0, NULL);
    const json_t *entry = json_array_get(json_object_get(results, "exercises"), 0);
    const json_t *one = json_array_get(json_object_get(entry, "cases"), 0);
    const char *message = string_of(one, "message");
    json_t *words = json_string(*message ? message : string_of(one, "status"));
    json_decref(results);
    return words;
}

/* The counts that failed in the last grading, of those that a picture can show. */
static json_t *failed_counts(const options *o, const exercise *e)
{
    size_t i;
    char whole[PATH_MAX];
    json_t *test, *names = json_array();
    if (!o->history || !realpath(o->submission, whole)) return names;
    json_t *records = history_of(o, whole, e->id);
    const json_t *entry = json_object_get(last_record(records, e->id), "entry");
    json_array_foreach(json_object_get(entry, "traffic"), i, test)
    {
        if (strcmp(string_of(test, "verdict"), "failed") == 0)
            json_array_append(names, json_object_get(test, "metric"));
    }
    json_decref(records);
    return names;
}

static json_t *data_of(const version *own, const version *other)
{
    json_t *mine = read_version(own);
    json_t *last = exchange_last(own, mine), *beside = other ? read_version(other) : last;
    if (other) json_decref(last);
    return json_pack("{s:s, s:s, s:s, s:o, s:i, s:o, s:o, s:o}", "id", id_words(own->exercise->id),
                     "name", own->exercise->name, "case", own->case_name, "verdict",
                     verdict_of(own), "warp", own->options->warp, "mine", mine, "beside",
                     beside ? beside : json_null(), "failed",
                     failed_counts(own->options, own->exercise));
}

static bool has_kernels(const json_t *data)
{
    return json_array_size(json_object_get(json_object_get(data, "mine"), "kernels")) > 0;
}

static int show(const version *own, const version *other)
{
    char path[PATH_MAX];
    if (!run_both(own, other)) return 2;
    json_t *data = data_of(own, other);
    see_page(own->options, own->exercise, path);
    const bool any = has_kernels(data), good = any && write_page(own->options, path, data);
    if (!any)
        fprintf(stderr, "grader: no kernel of case %s has a block %s\n", own->case_name,
                block_of(own->options));
    if (good)
        printf("  case %s, block %s: open %s in a browser; ? explains\n", own->case_name,
               block_of(own->options), path);
    json_decref(data);
    return good ? 0 : 2;
}

int see(const options *o)
{
    char solutions[PATH_MAX], whole[PATH_MAX];
    const exercise *e = the_exercise(o, "see");
    if (!e || !options_case_exists(o)) return 2;
    if (exercise_place(e, BACKEND_CPU) != ON_SOFTGPU) {
        fprintf(stderr, "grader: %s has no kernels to look at\n", id_words(e->id));
        return 2;
    }
    if (exercise_is_skeleton(o, e)) {
        fprintf(stderr, "grader: %s is not started: its file is %s\n", id_words(e->id), e->file);
        return 2;
    }
    const char *name = o->case_name ? o->case_name : e->see ? e->see : smallest_case(e);
    snprintf(solutions, sizeof solutions, "%s/solutions", o->root);
    const version own = version_of(o, e, name, o->submission, "own", "Your kernel");
    const version other = version_of(o, e, name, solutions, "other", "The reference");
    const bool compares = realpath(o->submission, whole) && strcmp(whole, solutions) != 0 &&
                          access(solutions, F_OK) == 0;
    return show(&own, compares ? &other : NULL);
}
