/* markdown.c: results.json as a table for a document: `grader markdown --results FILE`. */
#include "grader.h"

#include <stdio.h>
#include <string.h>

static const char *string_of(json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static double real_of(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void print_speeds(json_t *speeds, json_t *traffic)
{
    size_t i;
    json_t *one;
    bool any = false;
    json_array_foreach(speeds, i, one)
    {
        if (real_of(one, "ratio") <= 0) continue;
        printf("%s%.2f %s", any ? "<br>" : "", real_of(one, "ratio"), string_of(one, "metric"));
        any = true;
    }
    json_array_foreach(traffic, i, one)
    {
        if (strncmp(string_of(one, "verdict"), "skipped", 7) == 0) continue;
        printf("%straffic: %.2f (%s %.2f) %s", any ? "<br>" : "", real_of(one, "counted"),
               string_of(one, "bound"), real_of(one, "wanted"), string_of(one, "metric"));
        any = true;
    }
    if (!any) printf("–");
}

/* Cases, and where softgpu looked, whether it found something. */
static void print_correctness(json_t *entry)
{
    const char *checks = string_of(json_object_get(entry, "checks"), "verdict");
    printf("%s, %zu cases", string_of(entry, "status"),
           json_array_size(json_object_get(entry, "cases")));
    if (*checks && strncmp(checks, "skipped", 7) != 0) printf(", checks %s", checks);
}

int markdown(const options *o)
{
    size_t i;
    json_error_t error;
    json_t *entry, *root = json_load_file(o->results, 0, &error);
    if (!root) {
        fprintf(stderr, "grader: %s: %s\n", o->results, error.text);
        return 2;
    }
    json_t *device = json_object_get(root, "device");
    printf("Measured on %s (driver for CUDA %s, runtime %s), commit %s, %s:\n\n",
           string_of(device, "name"), string_of(device, "driver"), string_of(device, "runtime"),
           string_of(root, "commit"), string_of(root, "started"));
    printf("| Exercise | Correctness | %s | Points |\n|---|---|---|---|\n",
           strcmp(string_of(root, "backend"), "cpu") == 0 ? "Speed or traffic" : "Speed");
    json_array_foreach(json_object_get(root, "exercises"), i, entry)
    {
        printf("| %lld %s | ", json_integer_value(json_object_get(entry, "id")),
               string_of(entry, "name"));
        print_correctness(entry);
        printf(" | ");
        print_speeds(json_object_get(entry, "speeds"), json_object_get(entry, "traffic"));
        printf(" | %.1f / %.1f |\n", real_of(entry, "points"), real_of(entry, "max_points"));
    }
    printf("| **total** | | | **%.1f / %.1f** |\n", real_of(root, "points"),
           real_of(root, "max_points"));
    json_decref(root);
    return 0;
}
