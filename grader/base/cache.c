/* cache.c: entries of results.json of exercises that have not changed since they were judged. */
#include "base.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void entry_path(char path[PATH_MAX], const char *build, const char *key, const char *suffix)
{
    snprintf(path, PATH_MAX, "%s/graded/%.32s%s", build, key, suffix);
}

json_t *cache_load(const char *build, const char *key)
{
    char path[PATH_MAX];
    entry_path(path, build, key, ".json");
    return json_load_file(path, 0, NULL);
}

void cache_store(const char *build, const char *key, json_t *entry)
{
    char folder[PATH_MAX], path[PATH_MAX], unfinished[PATH_MAX], suffix[32];
    snprintf(folder, sizeof folder, "%s/graded", build);
    mkdir(folder, 0777);
    snprintf(suffix, sizeof suffix, ".%d", (int)getpid());
    entry_path(path, build, key, ".json");
    entry_path(unfinished, build, key, suffix);
    if (json_dump_file(entry, unfinished, JSON_COMPACT) == 0) rename(unfinished, path);
}
