/*
 * origin.c: where a verdict comes from: the course's commit, and hashes of the sources. They are
 * not of programs: two machines with the same course have the same.
 */
#include "course.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATTERNS 8

static const struct {
    const char *name, *patterns[PATTERNS];
} parts[] = {
    {"cases", {"grader/exercises/*/cases.c", "grader/exercises/shared/*"}},
    {"contracts", {"phase[1-5]_*/*.h", "phase[1-5]_*/*/*.h", "common/*.h"}},
    {"references", {"solutions/phase[1-5]_*/*/*", "grader/exercises/*/baseline.c*"}},
    {"grader", {"grader/*.[ch]", "grader/*/*.[ch]", "grader/worker/*.py", "common/*.c"}},
    {"emulator",
     {"emulator/cucc", "emulator/*.h", "emulator/frontends/*", "emulator/include/*",
      "emulator/include/*/*", "emulator/device/*", "emulator/device/*/*", "emulator/runtime/*/*"}},
};

/* The course's folder may have any name: none of its letters is a pattern. */
static void write_pattern(char to[2 * PATH_MAX], const char *root, const char *pattern)
{
    size_t n = 0;
    for (; *root && n < PATH_MAX; root++) {
        if (strchr("*?[\\", *root)) to[n++] = '\\';
        to[n++] = *root;
    }
    snprintf(to + n, 2 * PATH_MAX - n, "/%s", pattern);
}

/* In the order of their names: what they are called, how long they are, what is in them. */
size_t hash_files(hash *h, const char *root, const char *pattern)
{
    glob_t found = {0};
    size_t files = 0;
    char whole[2 * PATH_MAX], length[32];
    write_pattern(whole, root, pattern);
    const bool any = glob(whole, 0, NULL, &found) == 0;
    for (size_t i = 0; any && i < found.gl_pathc; i++) {
        struct stat facts;
        const char *path = found.gl_pathv[i];
        if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        snprintf(length, sizeof length, "%lld", (long long)facts.st_size);
        hash_text(h, path + strlen(root) + 1);
        hash_text(h, length);
        hash_file(h, path);
        files++;
    }
    globfree(&found);
    return files;
}

static json_t *hash_of_part(const char *root, const char *const patterns[PATTERNS])
{
    char hex[HASH_HEX];
    size_t files = 0;
    hash *h = hash_begin();
    for (int i = 0; i < PATTERNS && patterns[i]; i++) files += hash_files(h, root, patterns[i]);
    hash_end(h, hex);
    return files > 0 ? json_string(hex) : json_null();
}

json_t *origin_hashes(const options *o)
{
    json_t *all = json_object();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        json_object_set_new(all, parts[i].name, hash_of_part(o->root, parts[i].patterns));
    }
    return all;
}

json_t *origin_file_hash(const char *submission, const exercise *e)
{
    char hex[HASH_HEX];
    exercise_hash(e, submission, hex);
    return *hex ? json_string(hex) : json_null();
}

/* Without the lock that git takes to remember what it has seen: killed, it would leave it behind.
 */
static process_result git(const options *o, const char *const words[])
{
    const char *argv[16] = {"git", "--no-optional-locks", "-C", o->root};
    for (int i = 0; words[i] && i < 11; i++) argv[4 + i] = words[i];
    return process_run(argv, NULL, 10.0, 256);
}

static bool read_commit_file(const options *o, char commit[64])
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/COMMIT", o->root);
    FILE *file = fopen(path, "r");
    const bool found = file && fgets(commit, 64, file);
    if (file) fclose(file);
    return found;
}

/* A copy without git may be told, and a handout has it in a file. */
void origin_commit(const options *o, char commit[64])
{
    const char *told = getenv("COURSE_COMMIT");
    const char *const words[] = {"rev-parse", "--short=12", "HEAD", NULL};
    process_result r = git(o, words);
    const bool known = r.status == 0 && r.output;
    if ((told && *told) || !read_commit_file(o, commit)) {
        snprintf(commit, 64, "%s", told && *told ? told : known ? r.output : "unknown");
    }
    commit[strcspn(commit, "\n")] = '\0';
    free(r.output);
}

/* The exercises are the student's to change. A copy that is told its commit has no git to ask. */
json_t *origin_modified(const options *o)
{
    const char *told = getenv("COURSE_COMMIT");
    if (told && *told) return json_null();
    const char *const words[] = {"status",     "--porcelain",  "--",       "grader",
                                 "common",     "solutions",    "emulator", "Makefile",
                                 "phase*/*.h", "phase*/*/*.h", NULL};
    process_result r = git(o, words);
    json_t *modified = r.status == 0 ? json_boolean(r.output && *r.output) : json_null();
    free(r.output);
    return modified;
}
