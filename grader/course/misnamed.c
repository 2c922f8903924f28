/*
 * misnamed.c: a file whose name is not quite that of the exercise: 209_Transpose.cu,
 * 207_shared_memory (1).cu, 101_compare.cpp. It is not graded, and the grader says so.
 */
#include "course.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_source(const char *name)
{
    static const char *const ends[] = {".c", ".cu", ".cpp", ".cc", ".cxx", ".py", ".txt"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++) {
        if (strcasecmp(dot, ends[i]) == 0) return true;
    }
    return false;
}

/* Its number stands in front, and it is none of the files that are graded. */
static bool looks_like(const exercise *e, const char *name)
{
    const char *id = id_words(e->id);
    const size_t digits = strlen(id);
    if (strncasecmp(name, id, digits) != 0 || isalnum((unsigned char)name[digits])) return false;
    for (int i = 0; exercise_file(e, i); i++) {
        if (strcmp(strrchr(exercise_file(e, i), '/') + 1, name) == 0) return false;
    }
    return is_source(name);
}

static bool find_in(const exercise *e, const char *folder, char name[NAME_MAX + 1])
{
    struct dirent *entry;
    bool found = false;
    DIR *there = opendir(folder);
    while (there && !found && (entry = readdir(there))) {
        found = looks_like(e, entry->d_name);
        if (found) snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
    }
    if (there) closedir(there);
    return found;
}

bool misnamed_file(const exercise *e, const char *submission, char words[MISNAMED_WORDS])
{
    char folder[PATH_MAX], name[NAME_MAX + 1];
    const char *file = strrchr(e->file, '/') + 1;
    const int lengths[] = {(int)(file - 1 - e->file), (int)strcspn(e->file, "/"), 0};
    *words = '\0';
    for (int i = 0; i < 3 && !*words; i++) { /* its folder, its phase's, or flat */
        snprintf(folder, sizeof folder, "%s/%.*s", submission, lengths[i], e->file);
        if (find_in(e, folder, name))
            snprintf(words, MISNAMED_WORDS, "%.80s looks like %s: not graded", name, file);
    }
    return *words;
}
