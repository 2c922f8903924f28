/*
 * junit.c: JUnit XML, as CI viewers read it. An exercise is a suite; its cases, findings, timings
 * and counts are its tests. What was not judged is skipped; a file that does not build is an error.
 * tests/grader/views/junit.xsd says the same as a schema.
 */
#include "views.h"

#include <string.h>

typedef struct tally {
    int tests, failures, errors, skipped;
    double seconds;
} tally;

/* How a verdict looks in the file. */
typedef struct outcome {
    const char *status, *element;
} outcome;

static const char *element_of(const verdict *v)
{
    static const outcome outcomes[] = {
        {"passed", NULL}, {"failed", "failure"}, {"build_failed", "error"}};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        if (strcmp(outcomes[i].status, v->status) == 0) return outcomes[i].element;
    }
    return "skipped";
}

static void count(const verdict *v, void *context)
{
    tally *t = context;
    const char *element = element_of(v);
    t->tests++;
    t->seconds += strcmp(v->part, "case") == 0 ? v->seconds : 0.0;
    if (!element) return;
    t->failures += strcmp(element, "failure") == 0;
    t->errors += strcmp(element, "error") == 0;
    t->skipped += strcmp(element, "skipped") == 0;
}

typedef struct place_in_file {
    FILE *to;
    const json_t *exercise;
} place_in_file;

static void attribute(FILE *to, const char *name, const char *value)
{
    fprintf(to, " %s=\"", name);
    put_xml(to, value);
    fputc('"', to);
}

static void put_suite_name(FILE *to, const json_t *exercise)
{
    fprintf(to, "%s ", id_words(id_of(exercise)));
    put_xml(to, string_of(exercise, "name"));
}

/* The first line is the message; all of it, and how to repeat it, is the text. */
static void put_failure(FILE *to, const json_t *exercise, const verdict *v, const char *element)
{
    char first[400], again[512];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(v->words, "\n"), v->words);
    repeat_command(exercise, v, again, sizeof again);
    fprintf(to, "      <%s", element);
    attribute(to, "message", *first ? first : v->status);
    if (strcmp(element, "skipped") == 0) {
        fputs("/>\n", to);
        return;
    }
    attribute(to, "type", v->part);
    fputc('>', to);
    put_xml(to, v->words);
    if (*again) fprintf(to, "\n\nagain: ");
    put_xml(to, again);
    fprintf(to, "</%s>\n", element);
}

static void put_test(const verdict *v, void *context)
{
    long line = v->line;
    const place_in_file *at = context;
    const char *element = element_of(v), *file = string_of(at->exercise, "file");
    fprintf(at->to, "    <testcase classname=\"");
    put_suite_name(at->to, at->exercise);
    fputs("\" name=\"", at->to);
    put_xml(at->to, v->part);
    if (*v->name) fputs(": ", at->to);
    put_xml(at->to, v->name);
    fputc('"', at->to);
    attribute(at->to, "file", file);
    if (strcmp(v->part, "build") == 0) locate(v->words, file, &line);
    if (line > 0) fprintf(at->to, " line=\"%ld\"", line);
    fprintf(at->to, " time=\"%.4f\"", v->seconds);
    if (!element) {
        fputs("/>\n", at->to);
        return;
    }
    fputs(">\n", at->to);
    put_failure(at->to, at->exercise, v, element);
    fputs("    </testcase>\n", at->to);
}

static void put_counts(FILE *to, const tally *t)
{
    fprintf(to, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.4f\"",
            t->tests, t->failures, t->errors, t->skipped, t->seconds);
}

static void put_suite(FILE *to, const json_t *exercise, const char *started)
{
    tally t = {0};
    char parts[32];
    place_in_file at = {to, exercise};
    each_verdict(exercise, count, &t);
    fputs("  <testsuite name=\"", to);
    put_suite_name(to, exercise);
    fputc('"', to);
    put_counts(to, &t);
    if (*started) fprintf(to, " timestamp=\"%.19s\"", started);
    fprintf(to, ">\n    <properties>\n");
    fprintf(to, "      <property name=\"points\" value=\"%.2f\"/>\n", real_of(exercise, "points"));
    fprintf(to, "      <property name=\"max_points\" value=\"%.2f\"/>\n",
            real_of(exercise, "max_points"));
    if (*parts_words(exercise, parts))
        fprintf(to, "      <property name=\"parts\" value=\"%s\"/>\n", parts);
    fprintf(to, "    </properties>\n");
    each_verdict(exercise, put_test, &at);
    if (*string_of(exercise, "warnings")) {
        fputs("    <system-err>", to);
        put_xml(to, string_of(exercise, "warnings"));
        fputs("</system-err>\n", to);
    }
    fputs("  </testsuite>\n", to);
}

/* Grading itself could not be done. */
static void put_error(FILE *to, const char *error)
{
    fputs("  <testsuite name=\"grading\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" "
          "time=\"0\">\n    <testcase classname=\"grading\" name=\"grading\" time=\"0\">\n"
          "      <error",
          to);
    attribute(to, "message", error);
    fputs(" type=\"grading\"/>\n    </testcase>\n  </testsuite>\n", to);
}

/* A time stamp as XML Schema wants it, or "": nobody else writes this file, but anybody can. */
static const char *time_stamp(const json_t *results)
{
    const char *started = string_of(results, "started"), *shape = "0000-00-00T00:00:00";
    for (size_t i = 0; shape[i]; i++) {
        const bool digit = started[i] >= '0' && started[i] <= '9';
        if (shape[i] == '0' ? !digit : started[i] != shape[i]) return "";
    }
    return started;
}

bool junit_view(const options *o, const json_t *results, FILE *to)
{
    (void)o;
    size_t i;
    json_t *one;
    tally all = {0};
    const char *error = string_of(results, "error");
    json_array_foreach(json_object_get(results, "exercises"), i, one)
        each_verdict(one, count, &all);
    all.tests += *error != '\0';
    all.errors += *error != '\0';
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"course\"", to);
    put_counts(to, &all);
    fputs(">\n", to);
    if (*error) put_error(to, error);
    json_array_foreach(json_object_get(results, "exercises"), i, one)
        put_suite(to, one, time_stamp(results));
    fputs("</testsuites>\n", to);
    return true;
}
