/*
 * load_tables.c: what tables.c has written, as results again, in the fields that tables have:
 * messages and the names of cases are "". Columns are found by their names: a table may have more.
 */
#include "views.h"

#include <stdlib.h>
#include <string.h>

/* ---- a table --------------------------------------------------------------------------------- */

/* The parts of the comment: "# device NVIDIA H200, driver for CUDA 13.0, ...". */
static void take_machine(json_t *results, char *line)
{
    static const struct {
        const char *before, *key;
    } parts[] = {{"device ", "name"},
                 {"driver for CUDA ", "driver"},
                 {"runtime ", "runtime"},
                 {"commit ", "commit"},
                 {"started ", "started"}};
    json_t *device = json_object_get(results, "device");
    for (char *part, *next = line; (part = next);) {
        next = strstr(part, ", ");
        if (next) *next = '\0', next += 2;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            const size_t n = strlen(parts[i].before);
            if (strncmp(part, parts[i].before, n) != 0) continue;
            json_object_set_new(i < 3 ? device : results, parts[i].key, json_string(part + n));
        }
    }
}

static json_t *cells_of(char *line)
{
    json_t *cells = json_array();
    while (line) json_array_append_new(cells, json_string(strsep(&line, "\t")));
    return cells;
}

/* {column: text} */
static json_t *row_of(const json_t *columns, char *line)
{
    size_t i;
    json_t *column, *row = json_object(), *cells = cells_of(line);
    json_array_foreach((json_t *)columns, i, column)
        json_object_set(row, json_string_value(column), json_array_get(cells, i));
    json_decref(cells);
    return row;
}

/* All rows; the first line that is no comment names the columns. @return NULL where there is no
 * such table */
static json_t *rows_of(const char *folder, const char *table, json_t *results)
{
    char path[PATH_MAX], *line = NULL;
    size_t bytes = 0;
    json_t *columns = NULL, *rows = json_array();
    snprintf(path, sizeof path, "%s/%s.tsv", folder, table);
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &bytes, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#') {
            take_machine(results, line + strspn(line, "# "));
        } else if (!columns) {
            columns = cells_of(line);
        } else {
            json_array_append_new(rows, row_of(columns, line));
        }
    }
    if (file) fclose(file);
    free(line);
    if (!columns) {
        json_decref(rows);
        return NULL;
    }
    json_decref(columns);
    return rows;
}

/* ---- from rows to entries -------------------------------------------------------------------- */

/* null where the cell is empty */
static json_t *number_of(const json_t *row, const char *column)
{
    const char *text = string_of(row, column);
    return *text ? json_real(strtod(text, NULL)) : json_null();
}

static int id_of_row(const json_t *row)
{
    return id_parse(string_of(row, "exercise"), NULL);
}

static json_t *cases_of_row(const json_t *row)
{
    json_t *cases = json_array();
    const long right = atol(string_of(row, "right")), all = atol(string_of(row, "cases"));
    for (long i = 0; i < all; i++) {
        json_array_append_new(cases, json_pack("{s:s, s:s, s:s, s:n, s:n}", "name", "", "status",
                                               i < right ? "passed" : "failed", "message", "",
                                               "seed", "seconds"));
    }
    return cases;
}

static json_t *entry_of_row(const json_t *row)
{
    const char *checks = string_of(row, "checks");
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o*, s:n, s:[], s:[]}", "id",
        id_json(id_of_row(row)), "name", string_of(row, "name"), "file", string_of(row, "file"),
        "status", string_of(row, "status"), "reason", string_of(row, "reason"), "points",
        number_of(row, "points"), "max_points", number_of(row, "of"), "cases", cases_of_row(row),
        "checks",
        *checks ? json_pack("{s:s, s:i, s:i}", "verdict", checks, "points", 0, "max_points", 0)
                : NULL,
        "speed", "speeds", "traffic");
}

/* The test's metric: its sentence, and its fields where it has them. */
static json_t *with_metric(json_t *test, const json_t *row)
{
    json_object_set_new(test, "metric", json_string(string_of(row, "metric")));
    for (size_t i = 0; i < METRIC_FIELDS; i++) {
        const char *text = string_of(row, metric_fields[i]);
        json_object_set_new(test, metric_fields[i], *text ? json_string(text) : json_null());
    }
    return test;
}

static json_t *timing_of_row(const json_t *row)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "function",
                     string_of(row, "function"), "verdict", string_of(row, "verdict"), "message",
                     "", "threshold", number_of(row, "wanted"), "ratio", number_of(row, "number"),
                     "low", number_of(row, "low"), "high", number_of(row, "high"), "seconds",
                     number_of(row, "seconds"), "baseline_seconds",
                     number_of(row, "baseline_seconds"));
}

static json_t *count_of_row(const json_t *row)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "function", string_of(row, "function"),
                     "verdict", string_of(row, "verdict"), "message", "", "bound",
                     string_of(row, "bound"), "wanted", number_of(row, "wanted"), "counted",
                     number_of(row, "number"));
}

static void add_test(json_t *exercises, const json_t *row)
{
    size_t i;
    json_t *entry;
    const bool timed = strcmp(string_of(row, "kind"), "speed") == 0;
    json_array_foreach(exercises, i, entry)
    {
        if (id_of(entry) != id_of_row(row)) continue;
        json_array_append_new(json_object_get(entry, timed ? "speeds" : "traffic"),
                              with_metric(timed ? timing_of_row(row) : count_of_row(row), row));
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_points(json_t *results)
{
    size_t i;
    json_t *entry;
    double points = 0.0, max_points = 0.0, bonus = 0.0;
    json_array_foreach(json_object_get(results, "exercises"), i, entry)
    {
        const bool is_bonus = id_is_challenge(id_of(entry));
        *(is_bonus ? &bonus : &points) += real_of(entry, "points");
        if (!is_bonus) max_points += real_of(entry, "max_points");
    }
    json_object_set_new(results, "points", json_real(points));
    json_object_set_new(results, "max_points", json_real(max_points));
    json_object_set_new(results, "bonus", json_real(bonus));
}

json_t *tables_load(const char *folder)
{
    size_t i;
    json_t *row, *results = json_pack("{s:i, s:{}, s:[]}", "schema", 1, "device", "exercises");
    json_t *exercises = json_object_get(results, "exercises");
    json_t *grades = rows_of(folder, "grades", results), *tests = rows_of(folder, "tests", results);
    json_array_foreach(grades, i, row) json_array_append_new(exercises, entry_of_row(row));
    json_array_foreach(tests, i, row) add_test(exercises, row);
    const bool on_gpu = *string_of(json_object_get(results, "device"), "driver");
    json_object_set_new(results, "backend", json_string(on_gpu ? "cuda" : "cpu"));
    add_points(results);
    const bool there = grades && tests;
    json_decref(grades);
    json_decref(tests);
    if (there) return results;
    json_decref(results);
    return NULL;
}
