/*
 * tsv.c: for programs such as awk: a line for each exercise and one for each of its timings, with
 * tabs between the columns. An exercise's number is its points, a timing's its ratio.
 */
#include "views.h"

#include <string.h>

/* A metric has no tabs; what somebody else wrote into the file may. */
static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

static void put_line(FILE *to, const json_t *exercise, const char *name, const char *verdict,
                     double number, double wanted)
{
    fprintf(to, "%s\t", id_words(id_of(exercise)));
    put_text(to, name);
    fputc('\t', to);
    put_text(to, verdict);
    fprintf(to, "\t%.4g\t%.4g\n", number, wanted);
}

static void put_exercise(FILE *to, const json_t *exercise)
{
    size_t i;
    int passed, all;
    json_t *one;
    char verdict[80];
    const char *checks = string_of(json_object_get(exercise, "checks"), "verdict");
    cases_of(exercise, &passed, &all);
    snprintf(verdict, sizeof verdict, "%s %d/%d%s%s", string_of(exercise, "status"), passed, all,
             *checks ? ", checks " : "", checks);
    put_line(to, exercise, "points", verdict, real_of(exercise, "points"),
             real_of(exercise, "max_points"));
    json_array_foreach(json_object_get(exercise, "speeds"), i, one)
        put_line(to, exercise, string_of(one, "metric"), string_of(one, "verdict"),
                 real_of(one, "ratio"), real_of(one, "threshold"));
}

static void put_machine(FILE *to, const json_t *results)
{
    const json_t *device = json_object_get(results, "device");
    fputs("# device ", to);
    put_text(to, string_of(device, "name"));
    if (*string_of(device, "driver")) {
        fprintf(to, ", driver for CUDA %s, runtime %s", string_of(device, "driver"),
                string_of(device, "runtime"));
    }
    fputs(", commit ", to);
    put_text(to, string_of(results, "commit"));
    fputc('\n', to);
}

bool tsv_view(const options *o, const json_t *results, FILE *to)
{
    (void)o;
    size_t i;
    json_t *one;
    put_machine(to, results);
    fputs("exercise\tname\tverdict\tnumber\twanted\n", to);
    json_array_foreach(json_object_get(results, "exercises"), i, one) put_exercise(to, one);
    return true;
}
