/* markdown.c: results.json as a table for a document, such as docs/measured.md. */
#include "views.h"

#include <string.h>

static void put_count(FILE *to, const json_t *one)
{
    if (json_is_number(json_object_get(one, "counted"))) {
        fprintf(to, "%.2f (", real_of(one, "counted"));
    } else {
        fputs("not counted (", to);
    }
    put_cell(to, string_of(one, "bound"));
    fprintf(to, " %.2f) ", real_of(one, "wanted"));
}

static void put_numbers(FILE *to, json_t *speeds, json_t *traffic)
{
    size_t i;
    json_t *one;
    bool any = false;
    json_array_foreach(speeds, i, one)
    {
        if (real_of(one, "ratio") <= 0) continue;
        fprintf(to, "%s%.2f ", any ? "<br>" : "", real_of(one, "ratio"));
        put_cell(to, string_of(one, "metric"));
        if (strcmp(string_of(one, "verdict"), "too_noisy") == 0) fputs(" (too noisy)", to);
        any = true;
    }
    json_array_foreach(traffic, i, one)
    {
        const char *verdict = string_of(one, "verdict");
        if (strcmp(verdict, "passed") != 0 && strcmp(verdict, "failed") != 0) continue;
        fputs(any ? "<br>traffic: " : "traffic: ", to);
        put_count(to, one);
        put_cell(to, string_of(one, "metric"));
        any = true;
    }
    if (!any) fprintf(to, "–");
}

/* Cases, and where softgpu looked, whether it found something. */
static void put_correctness(FILE *to, json_t *entry)
{
    char parts[32];
    const char *checks = string_of(json_object_get(entry, "checks"), "verdict");
    fputs(string_of(entry, "status"), to);
    if (*parts_words(entry, parts)) fprintf(to, ", %s", parts);
    fprintf(to, ", %zu cases", json_array_size(json_object_get(entry, "cases")));
    if (!*checks || strncmp(checks, "skipped", 7) == 0) return;
    fputs(", checks ", to);
    put_cell(to, checks);
}

static void put_words(FILE *to, const char *before, const char *words)
{
    fputs(before, to);
    put_cell(to, words);
}

static void put_caption(FILE *to, const json_t *results)
{
    const json_t *device = json_object_get(results, "device");
    fputs("Measured on ", to);
    put_markdown(to, string_of(device, "name"));
    if (*string_of(device, "driver")) {
        put_words(to, " (driver for CUDA ", string_of(device, "driver"));
        put_words(to, ", runtime ", string_of(device, "runtime"));
        fputs(")", to);
    }
    put_words(to, ", commit ", string_of(results, "commit"));
    put_words(to, ", ", string_of(results, "started"));
    fputs(":\n\n", to);
}

static void put_row(FILE *to, json_t *entry)
{
    fprintf(to, "| %s ", id_words(id_of(entry)));
    put_cell(to, string_of(entry, "name"));
    fputs(" | ", to);
    put_correctness(to, entry);
    fputs(" | ", to);
    put_numbers(to, json_object_get(entry, "speeds"), json_object_get(entry, "traffic"));
    fprintf(to, " | %.1f / %.1f |\n", real_of(entry, "points"), real_of(entry, "max_points"));
}

/* @return whether there are any */
static bool put_rows(FILE *to, const json_t *results, bool of_challenges)
{
    size_t i;
    json_t *entry;
    bool any = false;
    json_array_foreach(json_object_get(results, "exercises"), i, entry)
    {
        if (id_is_challenge(id_of(entry)) != of_challenges) continue;
        put_row(to, entry);
        any = true;
    }
    return any;
}

bool markdown_view(const options *o, const json_t *results, FILE *to)
{
    (void)o;
    const bool on_cpu = strcmp(string_of(results, "backend"), "cpu") == 0;
    put_caption(to, results);
    fprintf(to, "| Exercise | Correctness | %s | Points |\n|---|---|---|---|\n",
            on_cpu ? "Speed or traffic" : "Speed");
    put_rows(to, results, false);
    fprintf(to, "| **total** | | | **%.1f / %.1f** |\n", real_of(results, "points"),
            real_of(results, "max_points"));
    if (!put_rows(to, results, true)) return true;
    fprintf(to, "| **bonus** | | | **%.1f** |\n", real_of(results, "bonus"));
    return true;
}
