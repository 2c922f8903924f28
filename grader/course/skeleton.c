/* skeleton.c: is a file still as it was handed out? */
#include "course.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOURCE_LIMIT (1 << 20) /* bytes: none that was handed out is larger */

/* The hashes of all that were ever generated: a handout has them beside the skeletons. */
static FILE *open_list(const options *o)
{
    static const char *const folders[] = {"skeletons", "solutions"};
    char path[PATH_MAX];
    FILE *file = NULL;
    for (int i = 0; i < 2 && !file; i++) {
        snprintf(path, sizeof path, "%s/%s/skeletons.sha256", o->root, folders[i]);
        file = fopen(path, "r");
    }
    return file;
}

bool file_is_skeleton(const options *o, const char *path)
{
    char line[PATH_MAX], hex[HASH_HEX];
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > SOURCE_LIMIT) {
        return false;
    }
    hash *h = hash_begin();
    hash_file(h, path);
    hash_end(h, hex);
    FILE *file = open_list(o);
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, hex, HASH_HEX - 1) == 0;
    }
    if (file) fclose(file);
    return found;
}

bool exercise_is_skeleton(const options *o, const exercise *e)
{
    char path[PATH_MAX];
    for (int i = 0; exercise_file(e, i); i++) {
        snprintf(path, sizeof path, "%s/%s", o->submission,
                 submitted_file(o->submission, exercise_file(e, i)));
        if (!file_is_skeleton(o, path)) return false;
    }
    return true;
}
