/* main.c: the commands of the grader. */
#include "grade/grade.h"
#include "selftest/selftest.h"
#include "student/student.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void make_folders(const options *o)
{
    char scratch[PATH_MAX];
    snprintf(scratch, sizeof scratch, "%s/scratch", o->build); /* where workers run */
    mkdir(o->build, 0777);
    mkdir(scratch, 0777);
}

/* Better said before the grading than after it. Compilers and workers need not know where it is. */
static bool key_is_usable(const options *o)
{
    static const char *const telling[] = {"KEY", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES"};
    signing_key key;
    if (!o->key) return true;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) unsetenv(telling[i]);
    const bool usable = key_read(&key, o->key);
    key_free(&key);
    return usable;
}

/* Cases are Check suites: which of them run is not for Check's variables to say, nor for softgpu's
 * what it looks for: a verdict would be remembered that others do not get. Of make's variables gcc
 * tells when it says what it is, and that is part of an object's key: each command would compile.
 */
static void forget_variables(void)
{
    static const char *const names[] = {"CK_RUN_SUITE",    "CK_RUN_CASE",    "CK_INCLUDE_TAGS",
                                        "CK_EXCLUDE_TAGS", "SOFTGPU_CHECKS", "MAKEFLAGS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

/* Each exercise once was a file in the folder of its phase. */
static bool layout_is_known(const options *o)
{
    const char *file = o->submission ? misplaced_file(o->submission) : NULL;
    if (!file) return true;
    fprintf(
        stderr,
        "grader: in %s each exercise must lie in a folder of its own: move %.*s%s, and the others,"
        " to %s\n",
        o->submission, (int)strcspn(file, "/"), file, strrchr(file, '/'), file);
    return false;
}

static int grade_and_report(const options *o)
{
    grading g = {.options = o};
    if (!key_is_usable(o)) return 2;
    int status = grade(o, &g);
    if (status == 0 && !results_write(&g)) status = 2;
    if (status == 0) report_table(&g);
    if (status == 0) suggest_next(&g);
    grading_free(&g);
    return status == 0 && (g.interrupted || (o->strict && !g.complete)) ? 1 : status;
}

static const struct {
    const char *name;
    int (*run)(const options *);
} commands[] = {
    {"grade", grade_and_report},
    {"build", build_only},
    {"run", run_once},
    {"hint", hint},
    {"corpus", corpus},
    {"mutants", mutants},
    {"prebuild", prebuild},
    {"report", report},
    {"progress", progress},
    {"next", next},
    {"compare", compare_runs},
    {"watch", watch},
    {"findings", findings},
    {"profile", profile},
    {"see", see},
    {"isolation", isolation},
    {"verify", verify},
    {"needs", needs},
    {"drawn", drawn},
    {"messages", messages},
};

int main(int argc, char **argv)
{
    options o;
    guard_output();
    if (!options_parse(&o, argc, argv) || !layout_is_known(&o)) return 2;
    signal(SIGPIPE, SIG_IGN);
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* large arrays come and go: keep their pages */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    forget_variables();
    make_folders(&o);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(o.command, commands[i].name) == 0) return commands[i].run(&o);
    }
    fprintf(stderr, "grader: unknown command \"%s\"\n", o.command);
    return 2;
}
