/*
 * corpus.c: the grader graded. Each file of grader/corpus/wrong begins with
 *
 *     // WRONG: case | text             (case: its name or its beginning; text: in the message)
 *     // WRONG: case | one / other     (one of two texts)
 *     // WRONG: case | text | gpu       (only a real GPU shows it)
 *     // WRONG: case | text | race      (a GPU shows it only to compute-sanitizer)
 *     // WRONG: case | text | softgpu   (a GPU does not show it)
 *
 * and must fail in that case with that text, or with that finding of softgpu. Each file of
 * grader/corpus/right begins with "// RIGHT: what is different" and must pass all cases and, on
 * softgpu, all traffic tests. Each file of grader/corpus/slow begins with
 *
 *     // SLOW: metric | text            (metric: of a traffic test, or its beginning)
 *
 * and must pass all cases and, on softgpu, fail that traffic test with that text. A file's name
 * begins with its exercise.
 */
#include "grader.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 1024

typedef struct entry {
    build build;
    char *file;                               /* relative to the root of the course */
    char name[128], text[256], condition[32]; /* name: of the case, or the metric */
    enum { WRONG, RIGHT, SLOW } kind;
    const build *baseline;
} entry;

static void trim(char *s)
{
    size_t n = strlen(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\n')) s[--n] = '\0';
    memmove(s, s + strspn(s, " "), strlen(s + strspn(s, " ")) + 1);
}

static void take_field(char *to, size_t bytes, char **rest)
{
    char *field = strsep(rest, "|");
    snprintf(to, bytes, "%s", field ? field : "");
    trim(to);
}

static const char *const folders[] = {"grader/corpus/wrong", "grader/corpus/right",
                                      "grader/corpus/slow"};
static const char *const marks[] = {"// WRONG:", "// RIGHT:", "// SLOW:"};

/* The first line of a file: what is wrong with it. @return false when it does not say */
static bool read_claim(entry *e, const char *root)
{
    char path[PATH_MAX], line[512] = "";
    snprintf(path, sizeof path, "%s/%s", root, e->file);
    FILE *file = fopen(path, "r");
    if (file && !fgets(line, sizeof line, file)) line[0] = '\0';
    if (file) fclose(file);
    const char *mark = marks[e->kind];
    if (strncmp(line, mark, strlen(mark)) != 0) return false;
    char *rest = line + strlen(mark);
    if (e->kind == RIGHT) return true;
    take_field(e->name, sizeof e->name, &rest);
    take_field(e->text, sizeof e->text, &rest);
    take_field(e->condition, sizeof e->condition, &rest);
    return e->name[0] && e->text[0];
}

static int by_file(const void *a, const void *b)
{
    return strcmp((*(entry *const *)a)->file, (*(entry *const *)b)->file);
}

static int collect(const options *o, entry *entries[], int kind, int *bad)
{
    char path[PATH_MAX];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", o->root, folders[kind]);
    DIR *list = opendir(path);
    for (struct dirent *d; list && (d = readdir(list));) {
        const exercise *exercise = catalog_find(atoi(d->d_name));
        if (d->d_name[0] == '.' || (exercise && !options_want(o, exercise))) continue;
        if (!exercise && o->exercises) continue;
        entry *e = calloc(1, sizeof *e);
        e->kind = kind;
        if (asprintf(&e->file, "%s/%s", folders[kind], d->d_name) < 0) abort();
        if (!exercise || !read_claim(e, o->root) || count >= ENTRIES_MAX) {
            printf("  FAIL %s: its first line or its name says nothing\n", e->file);
            ++*bad;
            continue;
        }
        e->build = (build){.exercise = exercise, .root = o->root, .file = e->file};
        e->build.place = exercise_place(exercise, o->backend);
        entries[count++] = e;
    }
    if (list) closedir(list);
    qsort(entries, (size_t)count, sizeof *entries, by_file);
    return count;
}

/* The text of a claim, or one of several with " / " between them: softgpu and a GPU may say it
 * differently. */
static bool says(const char *message, const char *claim)
{
    char one[256];
    for (const char *at = claim; at; at = strstr(at, " / ")) {
        at += at == claim ? 0 : 3;
        const char *end = strstr(at, " / ");
        snprintf(one, sizeof one, "%.*s", (int)(end ? end - at : (long)strlen(at)), at);
        if (strstr(message, one)) return true;
    }
    return false;
}

/* In a case, or in one that passed but for what softgpu found. */
static bool failed_as_claimed(const entry *e, const exercise_result *r)
{
    if (r->status != FAILED) return false;
    for (int i = 0; i < r->case_count; i++) {
        const case_result *c = &r->cases[i];
        if (strncmp(c->name, e->name, strlen(e->name)) != 0) continue;
        if (c->status == FAILED && says(c->message, e->text)) return true;
        if (says(c->finding, e->text)) return true;
    }
    return false;
}

static bool counted_as_claimed(const entry *e, const exercise_result *r)
{
    if (r->status != PASSED) return false;
    if (r->place != ON_SOFTGPU) return true;
    for (int i = 0; i < r->traffic_count; i++) {
        const traffic_result *t = &r->traffics[i];
        if (t->status != FAILED || strncmp(t->test->metric, e->name, strlen(e->name))) continue;
        if (says(t->message, e->text)) return true;
    }
    return false;
}

static bool right_in_all(const exercise_result *r)
{
    for (int i = 0; i < r->traffic_count; i++) {
        if (r->traffics[i].status == FAILED) return false;
    }
    return r->status == PASSED;
}

static bool as_claimed(const entry *e, const exercise_result *r)
{
    switch (e->kind) {
    case WRONG: return failed_as_claimed(e, r);
    case SLOW: return counted_as_claimed(e, r);
    default: return right_in_all(r);
    }
}

static void show_disagreement(const entry *e, const exercise_result *r)
{
    printf("  FAIL %s: %s, %s\n", e->file, status_name(r->status), r->reason);
    for (int i = 0; i < r->traffic_count; i++) {
        const traffic_result *t = &r->traffics[i];
        if (t->message) printf("       %s: %s\n", t->test->metric, t->message);
    }
    if (e->kind != RIGHT) printf("       wanted: %s fails with \"%s\"\n", e->name, e->text);
}

/* @return true when the grader says what the file's first line says */
static bool check_entry(const options *o, const entry *e, const device_facts *device)
{
    options one = *o; /* of a wrong submission, only the case that must fail */
    if (e->kind == WRONG) one.case_start = e->name;
    exercise_result r = judge(&one, &e->build, e->baseline, device);
    const bool agrees = as_claimed(e, &r);
    if (!agrees) show_disagreement(e, &r);
    exercise_result_free(&r);
    return agrees;
}

static bool judged_here(const options *o, const entry *e)
{
    if (place_needs(o, e->build.place)) return false;
    if (strcmp(e->condition, "gpu") == 0) return o->backend == BACKEND_CUDA;
    if (strcmp(e->condition, "race") == 0) return o->backend == BACKEND_CPU;
    if (strcmp(e->condition, "softgpu") == 0) return o->backend == BACKEND_CPU;
    return true;
}

int corpus(const options *o)
{
    static entry *entries[3 * ENTRIES_MAX];
    static build *builds[3 * ENTRIES_MAX];
    int passed = 0, failed = 0, skipped = 0, count = 0;
    for (int kind = WRONG; kind <= SLOW; kind++) {
        count += collect(o, entries + count, kind, &failed);
    }
    library_set *libraries = library_set_create(o);
    const device_facts device = device_facts_read(o);
    int building = 0;
    for (int i = 0; i < count; i++) {
        if (!judged_here(o, entries[i])) continue;
        library_set_needs(libraries, &entries[i]->build);
        if (entries[i]->build.place == ON_SOFTGPU && entries[i]->kind != WRONG) {
            entries[i]->baseline = library_set_baseline(libraries, entries[i]->build.exercise);
        }
        builds[building++] = &entries[i]->build;
    }
    report_progress("building %d submissions", building);
    library_set_build(libraries, builds, building);
    for (int i = 0; i < count; i++) {
        if (!judged_here(o, entries[i])) {
            skipped++;
            continue;
        }
        bool agrees = check_entry(o, entries[i], &device);
        passed += agrees;
        failed += !agrees;
    }
    report_progress("%s", "");
    library_set_free(libraries);
    printf("corpus: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
}
