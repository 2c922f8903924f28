/* changed.c: the verdicts that changed (gradings/changes.c), as a table. */
#include "reports.h"

#include <stdlib.h>
#include <string.h>

size_t unexplained_changes(const submission *all, size_t count)
{
    size_t found = 0, i;
    json_t *one;
    for (size_t s = 0; s < count; s++) {
        json_array_foreach(all[s].changes, i, one)
        {
            found += strcmp(string_of(one, "why"), NOISE) == 0;
        }
    }
    return found;
}

void write_changes(FILE *to, const submission *all, size_t count, const settings *ignored)
{
    static const char *const columns[] = {"exercise", "was", "is", "why", "when"};
    size_t i;
    json_t *one;
    (void)ignored;
    fputs("student,exercise,was,is,why,when\n", to);
    for (size_t s = 0; s < count; s++) {
        json_array_foreach(all[s].changes, i, one)
        {
            put_csv(to, all[s].student);
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
                fputc(',', to);
                put_csv(to, string_of(one, columns[c]));
            }
            fputc('\n', to);
        }
    }
}

/* How often each change happened; nobody's name. */
static json_t *count_changes(const submission *all, size_t count)
{
    size_t i;
    json_t *one, *rows = json_object();
    for (size_t s = 0; s < count; s++) {
        json_array_foreach(all[s].changes, i, one)
        {
            char row[640];
            snprintf(row, sizeof row, "%s\n%s\n%s\n%s", string_of(one, "exercise"),
                     string_of(one, "was"), string_of(one, "is"), string_of(one, "why"));
            const json_int_t before = json_integer_value(json_object_get(rows, row));
            json_object_set_new(rows, row, json_integer(before + 1));
        }
    }
    return rows;
}

static void put_row(FILE *to, const char *row, json_int_t times)
{
    const bool alarming = strcmp(strrchr(row, '\n') + 1, NOISE) == 0;
    fprintf(to, "<tr%s>", alarming ? " class=\"alarm\"" : "");
    for (const char *at = row; at; at = strchr(at, '\n')) {
        char cell[200];
        at += *at == '\n';
        snprintf(cell, sizeof cell, "%.*s", (int)strcspn(at, "\n"), at);
        fputs("<td>", to);
        put_xml(to, cell);
    }
    fprintf(to, "<td class=\"n\">%lld\n", (long long)times);
}

void put_changes(FILE *to, const submission *all, size_t count)
{
    const char *row;
    json_t *times, *rows = count_changes(all, count);
    if (json_object_size(rows) > 0) {
        fputs("<h2>Verdicts that changed</h2>\n<div class=\"wide\"><table><tr><th>exercise<th>was"
              "<th>is<th>why<th class=\"n\">times\n",
              to);
        json_object_foreach(rows, row, times) put_row(to, row, json_integer_value(times));
        fputs("</table></div>\n", to);
    }
    json_decref(rows);
}
