/*
 * mutants.c: a solution with one mistake, again and again: how many do the cases find? The mistakes
 * come from tools/mutants, on standard input, one a line:
 *
 *     file TAB first line TAB number of lines TAB these lines TAB what takes their place
 *
 * They are taken in this order until COUNT are judged. One that does not compile does not count,
 * nor one that becomes the same code as the solution. It is killed where it does not get the points
 * that the solution gets. A survivor is printed, unless equivalent.txt of its exercise has it:
 *
 *     these lines => what takes their place # why nobody can tell the difference
 */
#include "selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define COUNT 60
#define HURRY 0.3 /* deadlines, of the usual ones: many mutants are endless */
#define FACT  "%s\t%d\t%d\t%d\t%d\t%d\t%.3f\n"

typedef enum fate { UNBUILT, KILLED, SURVIVED, SAME } fate;

typedef struct mutant {
    char *row, *file, *old, *text; /* the last three are parts of the first */
    long line, lines;
    char root[PATH_MAX];
    build build, bare; /* the second to be compared: without the numbers of lines */
    judging judging;
    fate fate;
    const char *reason; /* why it is equivalent, or NULL */
} mutant;

typedef struct field {
    const options *options;
    const exercise *exercise;
    const build *baseline, *solution; /* the second without the numbers of lines */
    library_set *libraries, *bare;
    device_facts device;
    char judges[HASH_HEX]; /* of all that judges, but the cases */
    mutant *mutants;
    char *equivalents; /* the text of equivalent.txt, behind an end of line */
    int count;
} field;

/* ---- what there is --------------------------------------------------------------------------- */

static char *read_equivalents(const options *o, const exercise *e)
{
    char path[PATH_MAX], *text = NULL, *all = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/grader/exercises/%s_%s/equivalent.txt", o->root,
             id_words(e->id), e->name);
    FILE *file = fopen(path, "r");
    if (file && getdelim(&text, &bytes, '\0', file) < 0) text[0] = '\0';
    if (file) fclose(file);
    if (asprintf(&all, "\n%s", text ? text : "") < 0) abort();
    free(text);
    return all;
}

static bool read_mutant(mutant *m, char *row)
{
    char *rest = row, *line, *lines;
    *m = (mutant){.row = row, .file = strsep(&rest, "\t")};
    line = strsep(&rest, "\t");
    lines = strsep(&rest, "\t");
    m->old = strsep(&rest, "\t");
    m->text = rest;
    m->line = line ? atol(line) : 0;
    m->lines = lines ? atol(lines) : 0;
    return m->text && m->line > 0 && m->lines > 0;
}

static void read_mutants(field *f)
{
    char *row = NULL;
    size_t bytes = 0;
    for (long length; (length = getline(&row, &bytes, stdin)) > 0; row = NULL) {
        row[strcspn(row, "\n")] = '\0';
        f->mutants = realloc(f->mutants, (size_t)(f->count + 1) * sizeof *f->mutants);
        if (!f->mutants) abort();
        if (read_mutant(&f->mutants[f->count], row)) f->count++;
    }
}

/* The reason that the exercise's list has, with the rest of the list; or NULL. */
static const char *reason_of(const field *f, const mutant *m)
{
    char *entry = NULL;
    const int length = asprintf(&entry, "\n%s => %s # ", m->old, m->text);
    if (length < 0) abort();
    const char *at = strstr(f->equivalents, entry);
    free(entry);
    return at ? at + length : NULL;
}

/* ---- one mutant ------------------------------------------------------------------------------ */

static bool write_mutant(const options *o, const mutant *m)
{
    char from[PATH_MAX], to[PATH_MAX], line[4096];
    snprintf(from, sizeof from, "%s/solutions/%s", o->root, m->file);
    snprintf(to, sizeof to, "%s/%s", m->root, m->file);
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    for (long i = 1; in && out && fgets(line, sizeof line, in); i++) {
        if (i == m->line) fprintf(out, "%.*s%s\n", (int)strspn(line, " "), line, m->text);
        if (i > m->line && i < m->line + m->lines)
            fprintf(out, "\n"); /* lines keep their numbers */
        if (i < m->line || i >= m->line + m->lines) fputs(line, out);
    }
    if (in) fclose(in);
    return out && fclose(out) == 0;
}

static bool make_mutant(field *f, mutant *m)
{
    const exercise *e = f->exercise;
    m->build = (build){.exercise = e, .root = m->root, .file = e->file};
    m->build.place = exercise_place(e, f->options->backend);
    m->bare = m->build;
    m->bare.processor = "native";
    library_set_needs(f->libraries, &m->build);
    library_set_needs(f->bare, &m->bare);
    snprintf(m->root, sizeof m->root, "%s/mutants/%s/%d", f->options->build, id_words(e->id),
             (int)(m - f->mutants));
    return copy_solution(f->options, e, m->root) && write_mutant(f->options, m);
}

/* On a busy machine any mutant may miss a short deadline: one that does gets the usual ones. */
static fate judge_cases(const field *f, const build *b)
{
    options one = *f->options;
    one.slow = fmin(1.0, HURRY * judging_jobs(&one));
    one.until_failed = true;
    exercise_result r = judge(&one, b, NULL, &f->device);
    if (r.dead || r.interrupted) {
        exercise_result_free(&r);
        one.slow = 1.0;
        r = judge(&one, b, NULL, &f->device);
    }
    if (r.status != PASSED) printf("%s\n", r.reason);
    const fate is = r.status == PASSED ? SURVIVED : KILLED;
    exercise_result_free(&r);
    return is;
}

/* Of the cases the first is enough: they have been run. */
static fate judge_metrics(const field *f, const build *b)
{
    options one = *f->options;
    bool fails = false;
    one.jobs = judging_jobs(&one);
    one.case_start = first_case(f->exercise, b->place)->name;
    exercise_result r = judge(&one, b, f->baseline, &f->device);
    for (int i = 0; i < r.speed_count; i++) fails = fails || r.speeds[i].status == FAILED;
    for (int i = 0; i < r.traffic_count; i++) fails = fails || r.traffics[i].status == FAILED;
    fails = fails || r.status != PASSED;
    if (fails) printf("%s\n", *r.reason ? r.reason : "too slow");
    exercise_result_free(&r);
    return fails ? KILLED : SURVIVED;
}

typedef struct task {
    const field *field;
    const build *build;
} task;

static int judge_task(const void *context)
{
    const task *t = context;
    const fate is = judge_cases(t->field, t->build);
    return is == SURVIVED ? judge_metrics(t->field, t->build) : is;
}

/* The key of a fate, under which it is kept while nothing changes that judges. */
static bool key_of(const field *f, const mutant *m, fate fate, char key[HASH_HEX])
{
    claim c = {.exercise = f->exercise};
    snprintf(c.label, sizeof c.label, "%s_%s/mutant", id_words(f->exercise->id), f->exercise->name);
    snprintf(c.text, sizeof c.text, fate == KILLED ? "killed" : "survived");
    return stamp_of(f->options, f->judges, &c, &m->build, f->baseline, key);
}

static bool is_known(const field *f, mutant *m)
{
    char key[HASH_HEX];
    for (fate is = KILLED; is <= SURVIVED; is++) {
        if (!key_of(f, m, is, key) || !stamp_exists(f->options, key)) continue;
        m->fate = is;
        return true;
    }
    return false;
}

static void finish_one(const field *f)
{
    char key[HASH_HEX];
    judging *j = judging_wait();
    mutant *m = j->what;
    m->fate = WIFEXITED(j->status) ? (fate)WEXITSTATUS(j->status) : KILLED;
    if (key_of(f, m, m->fate, key)) stamp_put(f->options, key, &(claim){.label = "a mutant"});
    fclose(j->words);
}

static void judge_mutants(const field *f, mutant mutants[], int count)
{
    int running = 0;
    for (int i = 0; i < count; i++) {
        mutant *m = &mutants[i];
        if (!m->build.ok || is_known(f, m)) continue;
        if (running == judging_jobs(f->options)) {
            finish_one(f);
            running--;
        }
        report_progress("%d of %d: %s:%ld", i + 1, count, m->file, m->line);
        judging_begin(&m->judging, m, judge_task, &(task){f, &m->build});
        running++;
    }
    for (; running > 0; running--) finish_one(f);
}

/* ---- the same code --------------------------------------------------------------------------- */

static void hash_library(const build *b, char key[HASH_HEX])
{
    hash *h = hash_begin();
    hash_file(h, b->library);
    hash_end(h, key);
}

static bool is_same(const build *a, const build *b)
{
    char one[HASH_HEX], other[HASH_HEX];
    if (!a->ok || !b->ok) return false;
    hash_library(a, one);
    hash_library(b, other);
    return strcmp(one, other) == 0;
}

static void build_some(library_set *libraries, mutant mutants[], int count, bool bare)
{
    build **builds = calloc((size_t)count + 1, sizeof *builds);
    int taken = 0;
    for (int i = 0; i < count; i++) {
        mutant *m = &mutants[i];
        if (!bare) builds[taken++] = &m->build;
        if (bare && m->fate == SURVIVED) builds[taken++] = &m->bare;
    }
    report_progress("building %d mutants", taken);
    library_set_build(libraries, builds, taken);
    free(builds);
}

/* Only a survivor can be: the others are compiled once. */
static void find_same(field *f, mutant mutants[], int count)
{
    build_some(f->bare, mutants, count, true);
    for (int i = 0; i < count; i++) {
        mutant *m = &mutants[i];
        if (m->fate == SURVIVED && is_same(&m->bare, f->solution)) m->fate = SAME;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int count_of(const field *f, fate fate)
{
    int count = 0;
    for (int i = 0; i < f->count; i++) count += f->mutants[i].fate == fate;
    return count;
}

static void judge_until(field *f, int wanted)
{
    for (int next = 0, batch; next < f->count; next += batch) {
        mutant *mutants = &f->mutants[next];
        batch = wanted - count_of(f, KILLED) - count_of(f, SURVIVED);
        if (batch <= 0) return;
        if (batch > f->count - next) batch = f->count - next;
        for (int i = 0; i < batch; i++) make_mutant(f, &mutants[i]);
        build_some(f->libraries, mutants, batch, false);
        judge_mutants(f, mutants, batch);
        find_same(f, mutants, batch);
    }
}

static void show(const field *f, bool left, int *equivalent)
{
    for (int i = 0; i < f->count; i++) {
        mutant *m = &f->mutants[i];
        if (m->fate != SURVIVED) continue;
        const char *reason = reason_of(f, m);
        *equivalent += reason != NULL;
        if (reason && left) continue;
        printf("solutions/%s:%ld: %s => %s\n", m->file, m->line, m->old, m->text);
        if (reason) printf("    equivalent: %.*s\n", (int)strcspn(reason, "\n"), reason);
    }
}

/* The row of the table, in the file --output. */
static bool write_row(const field *f, int wanted, int killed, int equivalent, int survived)
{
    const int judged = killed + equivalent + survived, countable = killed + survived;
    FILE *to = f->options->output ? fopen(f->options->output, "w") : NULL;
    const double rate = countable ? (double)killed / countable : 1.0;
    printf("%s %s: %d mutants judged, %d killed, %d equivalent, %d survived\n",
           id_words(f->exercise->id), f->exercise->name, judged, killed, equivalent, survived);
    if (!to) return f->options->output == NULL;
    fprintf(to, FACT, id_words(f->exercise->id), wanted, judged, killed, equivalent, survived,
            rate);
    return fclose(to) == 0;
}

static void prepare(field *f)
{
    char path[PATH_MAX];
    const exercise *e = f->exercise;
    read_mutants(f);
    f->equivalents = read_equivalents(f->options, e);
    f->device = device_facts_read(f->options);
    stamps_begin(f->options, &f->device, f->judges);
    f->libraries = library_set_create(f->options, NULL);
    f->bare = library_set_create(f->options, "native");
    f->baseline = library_set_baseline(f->libraries, e);
    f->solution = library_set_reference(f->bare, e);
    snprintf(path, sizeof path, "%s/mutants/%s", f->options->build, id_words(e->id));
    remove_tree(path);
}

/* What kills the solution would kill them all. */
static bool solution_survives(field *f)
{
    judging j;
    const build *solution = library_set_reference(f->libraries, f->exercise);
    library_set_build(f->libraries, NULL, 0);
    judging_begin(&j, NULL, judge_task, &(task){f, solution});
    judging_wait();
    const bool survives = WIFEXITED(j.status) && WEXITSTATUS(j.status) == SURVIVED;
    if (!survives) printf("the solution itself does not pass: ");
    judging_show(&j);
    return survives;
}

static void release(field *f)
{
    for (int i = 0; i < f->count; i++) {
        free(f->mutants[i].row);
        free(f->mutants[i].build.log);
        free(f->mutants[i].bare.log);
    }
    library_set_free(f->libraries);
    library_set_free(f->bare);
    free(f->mutants);
    free(f->equivalents);
}

static const exercise *only_exercise(const options *o)
{
    const exercise *only = NULL;
    for (const exercise *const *e = catalog(); o->exercises && *e; e++) {
        if (!options_want(o, *e)) continue;
        if (only) return NULL;
        only = *e;
    }
    return only;
}

int mutants(const options *o)
{
    field f = {.options = o, .exercise = only_exercise(o)};
    const char *count = getenv("COUNT"), *left = getenv("LEFT");
    const int wanted = count && *count ? atoi(count) : COUNT;
    int equivalent = 0;
    if (!f.exercise) {
        fprintf(stderr, "grader: mutants are of one exercise: --exercise 211\n");
        return 2;
    }
    if (!sandbox_start(o)) return 2;
    prepare(&f);
    bool done = solution_survives(&f);
    if (done) {
        judge_until(&f, wanted);
        report_progress("%s", "");
        show(&f, left && *left, &equivalent);
        const int survived = count_of(&f, SURVIVED) - equivalent;
        done = write_row(&f, wanted, count_of(&f, KILLED), equivalent, survived);
    }
    release(&f);
    return done ? 0 : 2;
}
