/* gradebook.c: one line a student, for a spreadsheet or the school's own system. */
#include "class.h"

#include <stdlib.h>

mark mark_of(const submission *s, const settings *settings)
{
    size_t i;
    json_t *one;
    mark m = {.status = *s->refused ? "refused" : s->results ? "graded" : "error"};
    if (!s->results) return m;
    json_array_foreach(json_object_get(s->results, "exercises"), i, one)
    {
        const double weight =
            settings_weight(settings, json_integer_value(json_object_get(one, "id")));
        m.points += weight * real_of(one, "points");
        m.max_points += weight * real_of(one, "max_points");
    }
    m.days_late =
        settings_days_late(settings, settings_submitted(settings, s->student, s->submitted));
    m.total = m.points * settings_late_factor(settings, m.days_late);
    return m;
}

static json_t *find_exercise(const submission *s, int id)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(s->results, "exercises"), i, one)
    {
        if (json_integer_value(json_object_get(one, "id")) == id) return one;
    }
    return NULL;
}

static bool is_graded(const submission *all, size_t count, int id)
{
    for (size_t i = 0; i < count; i++) {
        if (find_exercise(&all[i], id)) return true;
    }
    return false;
}

/* What the student may not be held to: "too noisy: 104 106". */
static void put_noisy(FILE *to, const submission *s)
{
    size_t i;
    json_t *one;
    const char *before = *s->note ? "; too noisy:" : "too noisy:";
    json_array_foreach(json_object_get(s->results, "exercises"), i, one)
    {
        if (!any_noisy(one)) continue;
        fprintf(to, "%s %lld", before, json_integer_value(json_object_get(one, "id")));
        before = "";
    }
}

static void put_remark(FILE *to, const submission *s)
{
    char *remark = NULL;
    size_t size = 0;
    FILE *words = open_memstream(&remark, &size);
    if (*s->refused || *s->trouble) {
        fputs(*s->refused ? s->refused : s->trouble, words);
    } else {
        fputs(s->failed ? "the grader could not do its work" : s->note, words);
        put_noisy(words, s);
    }
    fclose(words);
    put_csv(to, remark);
    free(remark);
}

static void put_row(FILE *to, const submission *s, const settings *settings, const int *ids)
{
    const mark m = mark_of(s, settings);
    put_csv(to, s->student);
    fprintf(to, ",%s,%.2f,%.2f,%d,%.2f", m.status, m.points, m.max_points, m.days_late, m.total);
    for (; *ids; ids++) {
        json_t *one = find_exercise(s, *ids);
        fputc(',', to);
        if (one) fprintf(to, "%.2f", real_of(one, "points"));
    }
    fputc(',', to);
    put_remark(to, s);
    fputc('\n', to);
}

void write_gradebook(FILE *to, const submission *all, size_t count, const settings *settings)
{
    int ids[1024] = {0}, exercises = 0;
    fputs("student,status,points,max_points,days_late,total", to);
    for (const exercise *const *e = catalog(); *e && exercises < 1023; e++) {
        if (!is_graded(all, count, (*e)->id)) continue;
        ids[exercises++] = (*e)->id;
        fprintf(to, ",%d %s", (*e)->id, (*e)->name);
    }
    fputs(",remark\n", to);
    for (size_t i = 0; i < count; i++) put_row(to, &all[i], settings, ids);
}
