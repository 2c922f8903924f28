/* progress.c: where a student stands: `grader progress` draws the map of the course, the path
 * first; `grader next` says what to do next on the path, or, with --all, of everything. Both read
 * the history and the files, and grade nothing. */
#include "student.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum state {
    UNTOUCHED, /* still as it was handed out */
    MISSING,   /* there is no such file */
    BEGUN,     /* worked on, never graded */
    CHANGED,   /* worked on since it was graded */
    WRONG,     /* graded: failed, or does not build */
    SHORT,     /* right, but not all points */
    DONE
} state;

/* How an exercise stands. The record is borrowed from the history; NULL: never graded. */
typedef struct standing {
    const exercise *exercise;
    state state;
    const json_t *record, *entry;
    double points, max_points;
} standing;

static const struct {
    char mark;
    const char *colour, *words;
} states[] = {
    [UNTOUCHED] = {'.', "", "not started"},
    [MISSING] = {'?', "\033[31m", "the file is gone"},
    [BEGUN] = {'o', "\033[33m", "begun, not graded yet"},
    [CHANGED] = {'o', "\033[33m", "changed since it was graded"},
    [WRONG] = {'x', "\033[31m", "failed"},
    [SHORT] = {'+', "\033[32m", "right, points to gain"},
    [DONE] = {'#', "\033[32m", "done"},
};

static const char *const phase_names[] = {"",       "CPU",          "CUDA basics",
                                          "Layers", "Optimization", "Full network"};

static const char *colour(const char *code)
{
    return isatty(STDOUT_FILENO) ? code : "";
}

/* ---- how things stand ------------------------------------------------------------------------ */

static state judge_state(const standing *s, const char *hash, const options *o)
{
    if (!*hash) return MISSING;
    if (exercise_is_skeleton(o, s->exercise)) return UNTOUCHED;
    if (!s->record) return BEGUN;
    if (strcmp(string_of(s->record, "sha256"), hash) != 0) return CHANGED;
    if (strcmp(string_of(s->entry, "status"), "passed") != 0) return WRONG;
    return s->points >= s->max_points - 1e-6 ? DONE : SHORT;
}

static standing stand(const options *o, const exercise *e, const json_t *records)
{
    char hash[HASH_HEX];
    standing s = {.exercise = e, .max_points = e->points + e->speed_points};
    exercise_hash(e, o->submission, hash);
    s.record = last_record(records, e->id);
    s.entry = json_object_get(s.record, "entry");
    if (s.entry) s.points = real_of(s.entry, "points");
    if (real_of(s.entry, "max_points") > 0) s.max_points = real_of(s.entry, "max_points");
    s.state = judge_state(&s, hash, o);
    if (s.state == UNTOUCHED || s.state == MISSING) s.points = 0;
    return s;
}

/* @return the records that standings borrow from; NULL after a message */
static json_t *open_history(const options *o)
{
    char whole[PATH_MAX];
    if (!o->history || !realpath(o->submission, whole)) {
        fprintf(stderr, "grader: there is no %s\n", o->history ? o->submission : "--history FILE");
        return NULL;
    }
    return history_of(o, whole, 0);
}

/* ---- the map --------------------------------------------------------------------------------- */

static void print_standing(const standing *s)
{
    char words[96], parts[32];
    const char *kind = states[s->state].words;
    snprintf(words, sizeof words, "%s", kind);
    if (s->state == WRONG && !strcmp(string_of(s->entry, "status"), "build_failed")) {
        snprintf(words, sizeof words, "does not build");
    } else if (s->state == WRONG && *parts_words(s->entry, parts)) {
        snprintf(words, sizeof words, "%s passed", parts);
    } else if (s->state == WRONG) {
        snprintf(words, sizeof words, "%s, %ld of %ld cases passed", kind,
                 integer_of(s->record, "cases_passed"), integer_of(s->record, "cases"));
    }
    printf("  %s%c%s %-3s %-22s %-34s %5.1f / %.1f\n", colour(states[s->state].colour),
           states[s->state].mark, colour("\033[0m"), id_words(s->exercise->id), s->exercise->name,
           words, s->points, s->max_points);
}

/* Behind the path, which goes phase by phase. */
enum { BESIDE = 9, CHALLENGES };

static int group_of(const standing *s)
{
    if (id_is_challenge(s->exercise->id)) return CHALLENGES;
    return s->exercise->core ? id_phase(s->exercise->id) : BESIDE;
}

static void name_group(int group, char title[32])
{
    if (group == CHALLENGES)
        strcpy(title, "Challenges, a bonus:");
    else if (group == BESIDE)
        strcpy(title, "Beside the path:");
    else
        snprintf(title, 32, "Phase %d: %s", group, group < 6 ? phase_names[group] : "");
}

static void print_group(int group, const standing all[], int count)
{
    char title[32], marks[64] = "";
    size_t n = 0;
    double points = 0, max_points = 0;
    for (int i = 0; i < count; i++) {
        if (group_of(&all[i]) != group) continue;
        if (n + 1 < sizeof marks) marks[n++] = states[all[i].state].mark;
        points += all[i].points;
        max_points += all[i].max_points;
    }
    if (n == 0) return;
    marks[n] = '\0';
    name_group(group, title);
    printf("\n  %-26s [%s]%*s %5.1f / %.1f\n", title, marks, n < 34 ? (int)(34 - n) : 0, "", points,
           max_points);
    for (int i = 0; i < count; i++) {
        if (group_of(&all[i]) == group) print_standing(&all[i]);
    }
}

static bool is_right(const standing *s)
{
    return s->state == DONE || s->state == SHORT;
}

static void print_total(const standing all[], int count)
{
    double points = 0, max_points = 0;
    int done = 0, path = 0, path_done = 0;
    while (count > 0 && group_of(&all[count - 1]) == CHALLENGES) count--; /* they are the last */
    for (int i = 0; i < count; i++) {
        points += all[i].points;
        max_points += all[i].max_points;
        done += is_right(&all[i]);
        path += all[i].exercise->core;
        path_done += all[i].exercise->core && is_right(&all[i]);
    }
    printf("\n  %d of %d exercises on the path. Next: make next\n", path_done, path);
    printf("  %d of %d exercises, %.1f of %.1f points\n", done, count, points, max_points);
    printf("  (# done, + right, x failed, o not graded since it was saved, . not started)\n");
}

static int stand_all(const options *o, const json_t *records, standing all[], int most)
{
    int count = 0;
    for (const exercise *const *e = catalog(); *e && count < most; e++) {
        if (options_want(o, *e)) all[count++] = stand(o, *e, records);
    }
    return count;
}

int progress(const options *o)
{
    standing all[256];
    json_t *records = open_history(o);
    if (!records) return 2;
    const int count = stand_all(o, records, all, 256);
    for (int group = 1; group <= CHALLENGES; group++) print_group(group, all, count);
    print_total(all, count);
    json_decref(records);
    return 0;
}

/* ---- what to do next ------------------------------------------------------------------------- */

/* Only the path, unless all is asked for, or exercises are. */
static bool keeps_to_path(const options *o)
{
    return !o->all && (!o->exercises || !*o->exercises);
}

/* The first behind `after` (NULL: of all) that is not right yet; else the first with points to
 * gain; else NULL. Behind the last comes the first. */
static const standing *choose(const standing all[], int count, const exercise *after, bool path)
{
    const standing *gain = NULL;
    int begin = 0;
    for (int i = 0; i < count; i++) {
        if (all[i].exercise == after) begin = i + 1;
    }
    for (int i = begin; i < begin + count; i++) {
        const standing *s = &all[i % count];
        if (path && !s->exercise->core) continue;
        if (s->state < SHORT) return s;
        if (s->state == SHORT && !gain) gain = s;
    }
    return gain;
}

/* The title, and the words under "## Line budget". */
static void print_page(const options *o, const char *page)
{
    char path[2 * PATH_MAX], line[1024];
    bool inside = false;
    snprintf(path, sizeof path, "%s/%s", o->root, page);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (line[0] == '#') inside = strncmp(line, "## Line budget", 14) == 0;
        if (line[0] != '#' && inside && line[0] != '\n') printf("  %s", line);
    }
    if (file) fclose(file);
}

static void print_advice(const standing *s)
{
    const char *id = id_words(s->exercise->id);
    switch (s->state) {
    case UNTOUCHED: printf("  Fill in the file, then: make grade EX=%s\n", id); break;
    case MISSING: printf("  The file is gone: make reset EX=%s hands it out again.\n", id); break;
    case BEGUN:
    case CHANGED: printf("  You worked on it: make grade EX=%s\n", id); break;
    case WRONG:
        printf("  The last grading said: %s\n", string_of(s->entry, "reason"));
        printf("  A hint: make hint EX=%s\n", id);
        break;
    default:
        printf("  It is right; %.1f points are left: make compare EX=%s, make profile EX=%s\n",
               s->max_points - s->points, id, id);
    }
}

void page_of(const exercise *e, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/README.md", (int)(strrchr(e->file, '/') - e->file), e->file);
}

static void print_next(const options *o, const standing *s)
{
    char page[PATH_MAX];
    page_of(s->exercise, page);
    printf("  %s %s: %s\n\n", id_words(s->exercise->id), s->exercise->name, states[s->state].words);
    printf("  Read    %s\n", page);
    for (int i = 0; exercise_file(s->exercise, i); i++) {
        printf("  %s  %s/%s\n", i == 0 ? "Edit  " : "      ",
               strcmp(o->submission, ".") ? o->submission : ".", exercise_file(s->exercise, i));
    }
    printf("  Worth   %.1f points\n", s->max_points);
    if (s->exercise->prerequisites[0]) {
        printf("  Calls   what you wrote (or the course did) in");
        for (int i = 0; s->exercise->prerequisites[i]; i++) {
            printf(" %s", id_words(s->exercise->prerequisites[i]));
        }
        printf("\n");
    }
    printf("\n");
    print_page(o, page);
    print_advice(s);
}

int next_after(const options *o, const exercise **current)
{
    standing all[256];
    json_t *records = open_history(o);
    if (!records) return 2;
    const int count = stand_all(o, records, all, 256);
    const standing *s = choose(all, count, *current, keeps_to_path(o));
    if (s) print_next(o, s);
    if (s) *current = s->exercise;
    if (!s && keeps_to_path(o))
        printf("  All points of the path are yours. For all other exercises: make next ALL=1\n");
    else if (!s)
        printf("  All points of %d exercises are yours. make mnist trains your network.\n", count);
    json_decref(records);
    return 0;
}

int next(const options *o)
{
    const exercise *current = NULL;
    return next_after(o, &current);
}

void suggest_next(const grading *g)
{
    standing all[256];
    options o = *g->options;
    const json_t *entry = json_array_get(g->exercises, 0);
    const bool passed = strcmp(string_of(entry, "status"), "passed") == 0;
    if (json_array_size(g->exercises) != 1 || !passed || !o.history || o.case_name) return;
    o.exercises = NULL, o.phase = 0;
    json_t *records = open_history(&o);
    const int count = records ? stand_all(&o, records, all, 256) : 0;
    const exercise *graded = catalog_find(id_of(entry));
    const standing *s = count > 0 ? choose(all, count, graded, keeps_to_path(&o)) : NULL;
    printf("\n  How it compares: make compare EX=%s.", id_words(id_of(entry)));
    if (s && s->exercise->id != id_of(entry))
        printf(" Next: %s %s, make next EX=%s", id_words(s->exercise->id), s->exercise->name,
               id_words(s->exercise->id));
    printf("\n");
    json_decref(records);
}

const exercise *the_exercise(const options *o, const char *command)
{
    const exercise *only = NULL;
    int count = 0;
    for (const exercise *const *e = catalog(); *e && o->exercises && *o->exercises; e++) {
        if (!options_want(o, *e)) continue;
        only = *e;
        count++;
    }
    if (count == 1) return only;
    fprintf(stderr, "grader: which exercise? e.g. make %s EX=211\n", command);
    return NULL;
}
