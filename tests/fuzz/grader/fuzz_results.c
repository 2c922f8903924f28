/*
 * fuzz_results.c: any bytes as results.json: what the schema lets through, every view can show, and
 * a signature under it survives writing and reading. The charts' scripts are written, but there is
 * no gnuplot to draw them.
 */
#include "fuzz.h"
#include "views/views.h"

#include <stdlib.h>
#include <string.h>

static void view_all(const json_t *results)
{
    static const char *const formats[] = {"junit", "gradescope", "github",  "summary",
                                          "csv",   "html",       "markdown"};
    const options o = {.visibility = "visible"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t size = 0;
        char *text = NULL;
        FILE *to = open_memstream(&text, &size);
        view_find(formats[i])->write(&o, results, to);
        fclose(to);
        free(text);
    }
}

static void sign(json_t *results)
{
    char why[256];
    const signing_key key = {.bytes = (unsigned char *)"a key of many bytes", .count = 19};
    points_flaw(results, why);
    if (!results_sign(results, &key)) abort();
    char *text = json_dumps(results, JSON_INDENT(1));
    json_t *again = json_loads(text, 0, NULL);
    if (!again || signature_flaw(again, &key)) abort();
    json_decref(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char why[256];
    setenv("PATH", "", 1);
    json_t *results = json_loadb((const char *)data, bytes, 0, NULL);
    if (results && results_are_valid(results, why)) {
        view_all(results);
        sign(results);
    }
    json_decref(results);
    return 0;
}
