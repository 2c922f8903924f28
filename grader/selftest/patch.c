/*
 * patch.c: a submission of the corpus that is a patch: a claim in its first line, then the
 * difference from the reference solution, or from a file of right/, for `git apply`. What it
 * changes is copied to the claim's root, below the build folder, and changed there.
 *
 * A patch that no longer applies is a failure with its name and git's words.
 */
#include "selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIT_SECONDS 10.0
#define GIT_WORDS   2000

bool is_patch(const char *name)
{
    const char *ending = strrchr(name, '.');
    return ending && strcmp(ending, ".patch") == 0;
}

/* "right/NAME" where it is a file of right/ that it changes; else the file of the exercise. */
static char *file_changed(const char *patch, const exercise *e)
{
    char line[512], right[PATH_MAX] = "";
    FILE *file = fopen(patch, "r");
    while (file && !*right && fgets(line, sizeof line, file)) {
        if (sscanf(line, "--- a/right/%[^\t\n]", right) == 1) break;
    }
    if (file) fclose(file);
    char *changed = NULL;
    if (asprintf(&changed, "%s%s", *right ? "right/" : "", *right ? right : e->file) < 0) abort();
    return changed;
}

void patch_open(const options *o, claim *c, const char *path)
{
    c->patch = strdup(path);
    c->file = file_changed(path, c->exercise);
    if (asprintf(&c->root, "%s/patched/%s", o->build, c->label) < 0) abort();
}

static bool copy_to(const char *root, const char *file, const char *from)
{
    char source[PATH_MAX], copy[PATH_MAX];
    snprintf(source, sizeof source, "%s/%s", from, file);
    snprintf(copy, sizeof copy, "%s/%s", root, file);
    make_folders_of(copy);
    return copy_file(source, copy);
}

bool copy_solution(const options *o, const exercise *e, const char *root)
{
    char folder[PATH_MAX];
    bool whole = remove_tree(root);
    snprintf(folder, sizeof folder, "%s/solutions", o->root);
    for (int i = 0; exercise_file(e, i); i++) {
        whole = whole && copy_to(root, exercise_file(e, i), folder);
    }
    return whole;
}

/* The solution with its parts, and the file of right/ beside them. */
static bool copy_originals(const options *o, const claim *c)
{
    const exercise *e = c->exercise;
    char folder[PATH_MAX];
    const bool whole = copy_solution(o, e, c->root);
    if (strcmp(c->file, e->file) == 0) return whole;
    const int kind = (int)(strchr(c->label, '/') - c->label);
    snprintf(folder, sizeof folder, "%s/grader/exercises/%.*s", o->root, kind, c->label);
    return whole && copy_to(c->root, c->file, folder);
}

/* With no look for a repository above: there it would take the paths for the repository's. */
static process_result git_apply(const options *o, const claim *c)
{
    char above[PATH_MAX];
    snprintf(above, sizeof above, "GIT_CEILING_DIRECTORIES=%s", o->build);
    const char *const argv[] = {"env",    above, "git", "apply", "--whitespace=nowarn",
                                c->patch, NULL};
    return process_run(argv, c->root, GIT_SECONDS, GIT_WORDS);
}

bool patch_apply(const options *o, const claim *c)
{
    if (!c->patch) return true;
    if (!copy_originals(o, c)) {
        printf("  FAIL %s: the file that it changes does not exist: %s\n", c->label, c->file);
        return false;
    }
    process_result git = git_apply(o, c);
    if (git.status != 0) {
        const char *to = strcmp(c->file, c->exercise->file) == 0 ? "the solution" : c->file;
        printf("  FAIL %s: does not apply to %s: %.*s\n", c->label, to,
               (int)strcspn(git.output, "\n"), git.output);
    }
    free(git.output);
    return git.status == 0;
}
