/* out.c: a file of OUT is there whole, or as it was. */
#include "settings.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void out_path(char path[PATH_MAX], const class_options *o, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", o->out, name);
}

bool write_whole(const class_options *o, const char *name, const char *text)
{
    char path[PATH_MAX], unfinished[PATH_MAX];
    out_path(path, o, name);
    out_path(unfinished, o, "unfinished");
    FILE *file = fopen(unfinished, "w");
    const bool whole = file && fputs(text, file) >= 0;
    if (file && fclose(file) == 0 && whole && rename(unfinished, path) == 0) return true;
    fprintf(stderr, "class: cannot write %s: %s\n", path, strerror(errno));
    unlink(unfinished);
    return false;
}
