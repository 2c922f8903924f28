/*
 * gradebook.c: one line per student, for a spreadsheet; or with the columns that Moodle or Canvas
 * import.
 */
#include "reports.h"

#include <stdlib.h>
#include <string.h>

#define EXERCISES_MOST 1023

mark mark_of(const submission *s, const settings *settings)
{
    size_t i;
    json_t *one;
    double bonus = 0;
    mark m = {.status = *s->refused ? "refused" : s->results ? "graded" : "error"};
    if (!s->results) return m;
    json_array_foreach(json_object_get(s->results, "exercises"), i, one)
    {
        const double weight = settings_weight(settings, id_of(one));
        if (id_is_challenge(id_of(one))) {
            bonus += weight * real_of(one, "points");
            continue;
        }
        m.points += weight * real_of(one, "points");
        m.max_points += weight * real_of(one, "max_points");
    }
    m.days_late =
        settings_days_late(settings, settings_submitted(settings, s->student, s->submitted));
    m.total = (m.points + bonus) * settings_late_factor(settings, m.days_late);
    return m;
}

const char *why_ungraded(const submission *s)
{
    if (*s->refused) return s->refused;
    return *s->trouble ? s->trouble : "the grader failed";
}

/* An archive has one time, the files of a folder each their own. */
static time_t submitted(const submission *s, const settings *with, int id)
{
    const json_t *own = json_object_get(s->times, id_words(id));
    const time_t file = (time_t)json_integer_value(own);
    return settings_submitted(with, s->student, own && file < s->submitted ? file : s->submitted);
}

void note_lateness(submission *s, const settings *with)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(s->results, "exercises"), i, one)
    {
        const int days = settings_days_after(with, id_of(one), submitted(s, with, id_of(one)));
        if (days == 0 || strncmp(status_of(one), "not ", 4) == 0) continue;
        json_object_set_new(one, "days_late", json_integer(days));
    }
}

/* ---- the exercises --------------------------------------------------------------------------- */

static json_t *find_exercise(const submission *s, int id)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(s->results, "exercises"), i, one)
    {
        if (id_of(one) == id) return one;
    }
    return NULL;
}

static const exercise *const *exercises_of(const submission *all, size_t count)
{
    static const exercise *graded[EXERCISES_MOST + 1];
    int exercises = 0;
    for (const exercise *const *e = catalog(); *e && exercises < EXERCISES_MOST; e++) {
        size_t s = 0;
        while (s < count && !find_exercise(&all[s], (*e)->id)) s++;
        if (s < count) graded[exercises++] = *e;
    }
    graded[exercises] = NULL;
    return graded;
}

static void put_points(FILE *to, const submission *s, const exercise *e)
{
    const json_t *one = find_exercise(s, e->id);
    fputc(',', to);
    if (one) fprintf(to, "%.2f", real_of(one, "points"));
}

/* Not every zero is the same. */
static void put_status(FILE *to, const submission *s, const exercise *e)
{
    char words[64];
    const json_t *one = find_exercise(s, e->id);
    const char *status = s->results ? status_of(one) : mark_of(s, &(settings){0}).status;
    const long days = integer_of(one, "days_late");
    const int n = snprintf(words, sizeof words, "%s", status);
    if (days > 0) {
        snprintf(words + n, sizeof words - (size_t)n, ", %ld %s late", days,
                 days == 1 ? "day" : "days");
    }
    fputc(',', to);
    put_csv(to, words);
}

/* ---- remarks --------------------------------------------------------------------------------- */

/* What the student may not be held to: "too noisy: 104 106". */
static void put_noisy(FILE *to, const submission *s, const char *before)
{
    size_t i;
    json_t *one;
    bool any = false;
    json_array_foreach(json_object_get(s->results, "exercises"), i, one)
    {
        if (!any_noisy(one)) continue;
        fprintf(to, "%s%s", any ? " " : before, any ? "" : "too noisy: ");
        fputs(id_words(id_of(one)), to);
        any = true;
    }
}

/* @return what the compiler's first error says, and its line; NULL: it is not in this file */
static const char *first_error(const json_t *one, long *line)
{
    static const char *const words[] = {" error: ", " fatal error: "};
    const char *file = strrchr(string_of(one, "file"), '/'), *at = string_of(one, "reason");
    while (file && (at = locate(at, file + 1, line))) {
        const char *said = at + strcspn(at, " \n");
        for (int i = 0; i < 2; i++) {
            if (strncmp(said, words[i], strlen(words[i])) == 0) return said + strlen(words[i]);
        }
    }
    return NULL;
}

/* "206 did not build: line 20: expected ';'" */
static void put_unbuilt(FILE *to, const json_t *one, const char *before)
{
    long line = 0;
    const char *words = first_error(one, &line);
    fprintf(to, "%s%s did not build: ", before, id_words(id_of(one)));
    if (words) fprintf(to, "line %ld: ", line);
    if (!words) words = string_of(one, "reason");
    fprintf(to, "%.*s", (int)strcspn(words, "\n"), words);
}

static void put_remark(FILE *to, const submission *s)
{
    size_t i, size = 0;
    json_t *one;
    char *remark = NULL;
    FILE *words = open_memstream(&remark, &size);
    fputs(s->results ? s->note : why_ungraded(s), words);
    json_array_foreach(json_object_get(s->results, "exercises"), i, one)
    {
        if (strcmp(status_of(one), "did not build") != 0) continue;
        put_unbuilt(words, one, ftell(words) > 0 ? "; " : "");
    }
    put_noisy(words, s, ftell(words) > 0 ? "; " : "");
    fclose(words);
    put_csv(to, remark);
    free(remark);
}

/* ---- the gradebook --------------------------------------------------------------------------- */

static void put_row(FILE *to, const submission *s, const settings *settings,
                    const exercise *const *e)
{
    const mark m = mark_of(s, settings);
    put_csv(to, s->student);
    fprintf(to, ",%s,%.2f,%.2f,%d,%.2f", m.status, m.points, m.max_points, m.days_late, m.total);
    for (; *e; e++) {
        put_points(to, s, *e);
        put_status(to, s, *e);
    }
    fputc(',', to);
    put_remark(to, s);
    if (s->results) fprintf(to, ",graded/%.32s.json\n", s->key);
    if (!s->results) fputs(",\n", to);
}

void write_gradebook(FILE *to, const submission *all, size_t count, const settings *settings)
{
    const exercise *const *exercises = exercises_of(all, count);
    fputs("student,status,points,max_points,days_late,total", to);
    for (const exercise *const *e = exercises; *e; e++) {
        fprintf(to, ",%s %s,%s status", id_words((*e)->id), (*e)->name, id_words((*e)->id));
    }
    fputs(",remark,result\n", to);
    for (size_t i = 0; i < count; i++) put_row(to, &all[i], settings, exercises);
}

/* ---- for a school's own system --------------------------------------------------------------- */

static void put_names(FILE *to, const exercise *const *e)
{
    for (; *e; e++) fprintf(to, ",%s %s", id_words((*e)->id), (*e)->name);
    fputc('\n', to);
}

/* A column of each row that says who it is, then the points. */
static void put_rows(FILE *to, const submission *all, size_t count,
                     const exercise *const *exercises, const char *between)
{
    for (size_t i = 0; i < count; i++) {
        put_csv(to, all[i].student);
        fputs(between, to);
        if (*between) put_csv(to, all[i].student);
        if (*between) fputc(',', to);
        for (const exercise *const *e = exercises; *e; e++) put_points(to, &all[i], *e);
        fputc('\n', to);
    }
}

void write_moodle(FILE *to, const submission *all, size_t count, const settings *ignored)
{
    (void)ignored;
    const exercise *const *exercises = exercises_of(all, count);
    fputs("Username", to);
    put_names(to, exercises);
    put_rows(to, all, count, exercises, "");
}

static double most_of(const submission *all, size_t count, int id)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *one = find_exercise(&all[i], id);
        if (one) return real_of(one, "max_points");
    }
    return 0;
}

void write_canvas(FILE *to, const submission *all, size_t count, const settings *ignored)
{
    (void)ignored;
    const exercise *const *exercises = exercises_of(all, count);
    fputs("Student,ID,SIS User ID,SIS Login ID,Section", to);
    put_names(to, exercises);
    fputs("    Points Possible,,,,", to);
    for (const exercise *const *e = exercises; *e; e++)
        fprintf(to, ",%.2f", most_of(all, count, (*e)->id));
    fputc('\n', to);
    put_rows(to, all, count, exercises, ",,,");
}
