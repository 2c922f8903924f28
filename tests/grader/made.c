/* made.c: files and libraries that tests make. */
#include "grader/tests.h"

#include "base/base.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void write_text(const char *text, const char *path, ...)
{
    char name[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, path);
    vsnprintf(name, sizeof name, path, arguments);
    va_end(arguments);
    make_folders_of(name);
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

void make_library(const char *folder, const char *source)
{
    char from[PATH_MAX + 16], to[PATH_MAX + 16];
    snprintf(from, sizeof from, "%s/made.c", folder);
    snprintf(to, sizeof to, "%s/made.so", folder);
    write_text(source, "%s", from);
    const char *const argv[] = {
        "cc", "-O2", "-D_FORTIFY_SOURCE=2", "-w", "-shared", "-fPIC", "-pthread", from, "-o",
        to,   NULL};
    process_result r = process_run(argv, NULL, 600.0, 1000);
    ck_assert_msg(r.status == 0, "%s", r.output);
    free(r.output);
}
