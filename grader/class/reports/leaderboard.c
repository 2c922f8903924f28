/*
 * leaderboard.c: the fastest students, among those who want to be listed (submissions/nickname.c).
 * The tables show timings and counts that passed, never points.
 */
#include "reports.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 10

typedef struct entry {
    const char *nickname;
    double number;
} entry;

typedef struct board {
    char name[256]; /* of the exercise and what was measured */
    bool less;      /* is better */
    entry *entries;
    size_t count;
} board;

typedef struct boards {
    board *all;
    size_t count;
} boards;

static board *find_board(boards *b, const char *name, bool less)
{
    for (size_t i = 0; i < b->count; i++) {
        if (strcmp(b->all[i].name, name) == 0) return &b->all[i];
    }
    b->all = realloc(b->all, (b->count + 1) * sizeof *b->all);
    b->all[b->count] = (board){.less = less};
    snprintf(b->all[b->count].name, sizeof b->all->name, "%s", name);
    return &b->all[b->count++];
}

/* Where exactly one number is right, nobody leads. */
static void enter(boards *all, const submission *s, const json_t *exercise, const json_t *test,
                  const char *number)
{
    char name[256];
    const char *bound = string_of(test, "bound");
    const double value = real_of(test, number);
    if (strcmp(string_of(test, "verdict"), "passed") != 0 || value <= 0) return;
    if (strcmp(bound, "exactly") == 0) return;
    snprintf(name, sizeof name, "%s %s: %s", id_words(id_of(exercise)), string_of(exercise, "name"),
             string_of(test, "metric"));
    board *b = find_board(all, name, strcmp(bound, "at most") == 0);
    b->entries = realloc(b->entries, (b->count + 1) * sizeof *b->entries);
    b->entries[b->count++] = (entry){s->nickname, value};
}

static void enter_all(boards *all, const submission *s)
{
    size_t i, k;
    json_t *exercise, *test;
    json_array_foreach(json_object_get(s->results, "exercises"), i, exercise)
    {
        if (strcmp(string_of(exercise, "status"), "passed") != 0) continue;
        json_array_foreach(json_object_get(exercise, "speeds"), k, test)
            enter(all, s, exercise, test, "ratio");
        json_array_foreach(json_object_get(exercise, "traffic"), k, test)
            enter(all, s, exercise, test, "counted");
    }
}

static int by_number(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return strcmp(x->nickname, y->nickname);
}

static int by_number_down(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->number != y->number ? by_number(b, a) : by_number(a, b);
}

static int by_name(const void *a, const void *b)
{
    const board *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Equal numbers share a place. */
static void put_board(FILE *to, board *b)
{
    size_t place = 0;
    qsort(b->entries, b->count, sizeof *b->entries, b->less ? by_number : by_number_down);
    fputs("<table><caption>", to);
    put_xml(to, b->name);
    fprintf(to, "<span>%s is better</span></caption>\n", b->less ? "less" : "more");
    for (size_t i = 0; i < b->count && i < SHOWN; i++) {
        if (i == 0 || b->entries[i].number != b->entries[i - 1].number) place = i + 1;
        fprintf(to, "<tr><td class=\"n\">%zu<td>", place);
        put_xml(to, b->entries[i].nickname);
        fprintf(to, "<td class=\"n\">%.2f\n", b->entries[i].number);
    }
    fputs("</table>\n", to);
}

void put_leaderboards(FILE *to, const submission *all, size_t count)
{
    boards found = {0};
    for (size_t i = 0; i < count; i++) {
        if (*all[i].nickname) enter_all(&found, &all[i]);
    }
    if (found.count > 0) {
        qsort(found.all, found.count, sizeof *found.all, by_name);
        fputs("<h2>Leaderboard</h2>\n<p>Students who put a nickname into "
              "<code>leaderboard.txt</code>.</p>\n<div class=\"boards\">\n",
              to);
        for (size_t i = 0; i < found.count; i++) put_board(to, &found.all[i]);
        fputs("</div>\n", to);
    }
    for (size_t i = 0; i < found.count; i++) free(found.all[i].entries);
    free(found.all);
}
