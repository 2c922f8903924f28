/* markdown.c: results.json as a table for a document, such as README.md. */
#include "views.h"

#include <string.h>

static void put_numbers(FILE *to, json_t *speeds, json_t *traffic)
{
    size_t i;
    json_t *one;
    bool any = false;
    json_array_foreach(speeds, i, one)
    {
        if (real_of(one, "ratio") <= 0) continue;
        fprintf(to, "%s%.2f %s", any ? "<br>" : "", real_of(one, "ratio"),
                string_of(one, "metric"));
        any = true;
    }
    json_array_foreach(traffic, i, one)
    {
        const char *verdict = string_of(one, "verdict");
        if (strcmp(verdict, "passed") != 0 && strcmp(verdict, "failed") != 0) continue;
        fprintf(to, "%straffic: %.2f (%s %.2f) %s", any ? "<br>" : "", real_of(one, "counted"),
                string_of(one, "bound"), real_of(one, "wanted"), string_of(one, "metric"));
        any = true;
    }
    if (!any) fprintf(to, "–");
}

/* Cases, and where softgpu looked, whether it found something. */
static void put_correctness(FILE *to, json_t *entry)
{
    const char *checks = string_of(json_object_get(entry, "checks"), "verdict");
    fprintf(to, "%s, %zu cases", string_of(entry, "status"),
            json_array_size(json_object_get(entry, "cases")));
    if (*checks && strncmp(checks, "skipped", 7) != 0) fprintf(to, ", checks %s", checks);
}

static void put_caption(FILE *to, const json_t *results)
{
    const json_t *device = json_object_get(results, "device");
    fputs("Measured on ", to);
    put_markdown(to, string_of(device, "name"));
    if (*string_of(device, "driver")) {
        fprintf(to, " (driver for CUDA %s, runtime %s)", string_of(device, "driver"),
                string_of(device, "runtime"));
    }
    fprintf(to, ", commit %s, %s:\n\n", string_of(results, "commit"),
            string_of(results, "started"));
}

static void put_row(FILE *to, json_t *entry)
{
    fprintf(to, "| %lld %s | ", json_integer_value(json_object_get(entry, "id")),
            string_of(entry, "name"));
    put_correctness(to, entry);
    fputs(" | ", to);
    put_numbers(to, json_object_get(entry, "speeds"), json_object_get(entry, "traffic"));
    fprintf(to, " | %.1f / %.1f |\n", real_of(entry, "points"), real_of(entry, "max_points"));
}

bool markdown_view(const options *o, const json_t *results, FILE *to)
{
    (void)o;
    size_t i;
    json_t *entry;
    const bool on_cpu = strcmp(string_of(results, "backend"), "cpu") == 0;
    put_caption(to, results);
    fprintf(to, "| Exercise | Correctness | %s | Points |\n|---|---|---|---|\n",
            on_cpu ? "Speed or traffic" : "Speed");
    json_array_foreach(json_object_get(results, "exercises"), i, entry) put_row(to, entry);
    fprintf(to, "| **total** | | | **%.1f / %.1f** |\n", real_of(results, "points"),
            real_of(results, "max_points"));
    return true;
}
