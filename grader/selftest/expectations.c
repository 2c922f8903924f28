/*
 * expectations.c: the claim of each submission of the corpus. The submission is in a folder of its
 * exercise, grader/exercises/NNN_name/wrong, right, slow, fast or hostile. Its first line, or that
 * of the file CLAIM where it is a folder, is one of
 *
 *     // WRONG: case | text | condition      must fail in that case with that text, or with that
 *                                            finding of softgpu
 *     // RIGHT: what is different | condition
 *                                            must pass all cases and, on softgpu, all traffic tests
 *     // SLOW: metric | text                 must be right and, on softgpu, fail that traffic test
 *                                            with that text; on the CPU, that timing ("too slow"),
 *                                            which is skipped where other programs keep the cores;
 *                                            on a GPU it must pass all cases
 *     // FAST: case | text                   quicker than the honest one, and wrong: as above, and
 *                                            not a point
 *     // HOSTILE: where | text | condition   must fail there with that text: in a case, in a timing
 *                                            or count ("too slow" where that says no more, "too
 *                                            noisy" where a busy machine cannot tell), or in the
 *                                            build; in the last, and in a case, it gets not a point
 *
 * A wrong, slow or fast one is a patch on the solution where it can be, NAME.patch (patch.c). In a
 * file of Python the line begins with "# ".
 *
 * A case or a metric is given by its name or its beginning; "one / other" is one of two texts. The
 * conditions:
 *
 *     gpu        only a real GPU shows it
 *     race       a GPU shows it only to compute-sanitizer
 *     softgpu    a GPU does not show it
 *     hangs      it waits for its deadline: a tenth of the usual one does
 *     or CASE    a GPU shows it in another case, with the same text
 *     on a gpu   a hostile one that may run on a real GPU; the others never do
 *     nvcc       it is about the code that nvcc makes: on softgpu no other compiler's is judged
 *     needs A/B  without one of these layers of isolation (sandbox.c) nothing stops it
 */
#include "selftest.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CLAIMS_MAX 2048

static const char *const folders[] = {"wrong", "right", "slow", "fast", "hostile"};
static const char *const marks[] = {"WRONG:", "RIGHT:", "SLOW:", "FAST:", "HOSTILE:"};

static void trim(char *s)
{
    size_t n = strlen(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\n')) s[--n] = '\0';
    memmove(s, s + strspn(s, " "), strlen(s + strspn(s, " ")) + 1);
}

static void take_field(char *to, size_t bytes, char **rest)
{
    char *field = strsep(rest, "|");
    snprintf(to, bytes, "%s", field ? field : "");
    trim(to);
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* What the first field names, if the exercise has it. */
static bool place_claim(claim *c)
{
    const exercise *e = c->exercise;
    c->part = strcmp(c->name, "build") == 0 ? IN_BUILD : IN_CASE;
    if (c->part == IN_BUILD) return c->kind == CLAIM_HOSTILE;
    if (strcmp(c->name, FAILURES_CASE) == 0) return c->kind != CLAIM_SLOW;
    for (const grading_case *g = e->cases; g->name; g++) {
        if (begins(g->name, c->name)) return c->kind != CLAIM_SLOW;
    }
    c->part = IN_METRIC;
    for (const traffic_test *t = e->traffic; t && t->function; t++) {
        if (!metric_begins(e, t->function, &t->metric, c->name)) continue;
        return c->kind == CLAIM_SLOW || c->kind == CLAIM_HOSTILE;
    }
    for (const speed_test *s = e->speed; s && s->function; s++) {
        if (!metric_begins(e, s->function, &s->metric, c->name)) continue;
        return c->kind == CLAIM_HOSTILE || (c->kind == CLAIM_SLOW && s->where == ON_HOST);
    }
    return false;
}

/* "or CASE" of the condition. @return false when there is no such case */
static bool place_on_gpu(claim *c)
{
    const char *other = strstr(c->condition, "or ");
    snprintf(c->name_on_gpu, sizeof c->name_on_gpu, "%s", other ? other + 3 : c->name);
    for (const grading_case *g = c->exercise->cases; other && g->name; g++) {
        if (begins(g->name, c->name_on_gpu)) return true;
    }
    return other == NULL;
}

/* @return false when the line says nothing, or names what there is not */
static bool read_claim(claim *c, const char *path)
{
    char line[512] = "";
    FILE *file = fopen(path, "r");
    if (file && !fgets(line, sizeof line, file)) line[0] = '\0';
    if (file) fclose(file);
    char *rest = line + strspn(line, "/# ");
    if (!c->exercise || rest == line || !begins(rest, marks[c->kind])) return false;
    rest += strlen(marks[c->kind]);
    if (c->kind == CLAIM_RIGHT) {
        take_field(c->text, sizeof c->text, &rest);
        take_field(c->condition, sizeof c->condition, &rest);
        return *c->text;
    }
    take_field(c->name, sizeof c->name, &rest);
    take_field(c->text, sizeof c->text, &rest);
    take_field(c->condition, sizeof c->condition, &rest);
    return *c->name && *c->text && place_claim(c) && place_on_gpu(c);
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* A folder is a whole submission with one exercise; a file is that exercise, with the solution's
 * parts; a patch changes the solution. */
static bool open_claim(const options *o, claim *c, const char *folder, const char *name)
{
    char path[PATH_MAX];
    snprintf(c->label, sizeof c->label, "%s/%s/%s", folder, folders[c->kind], name);
    snprintf(path, sizeof path, "%s/grader/exercises/%s", o->root, c->label);
    if (is_folder(path)) {
        c->root = strdup(path);
        c->file = c->exercise ? strdup(c->exercise->file) : NULL;
        strncat(path, "/CLAIM", sizeof path - strlen(path) - 1);
    } else if (c->exercise && is_patch(name)) {
        patch_open(o, c, path);
    } else {
        c->root = strdup(o->root);
        if (asprintf(&c->file, "grader/exercises/%s", c->label) < 0 ||
            asprintf(&c->parts_root, "%s/solutions", o->root) < 0)
            abort();
    }
    return read_claim(c, path);
}

static void close_claim(claim *c)
{
    free(c->root);
    free(c->file);
    free(c->parts_root);
    free(c->patch);
}

static int by_label(const void *a, const void *b)
{
    return strcmp(((const claim *)a)->label, ((const claim *)b)->label);
}

static void read_kind(const options *o, const char *folder, claim_kind kind, claim claims[],
                      int *count, int *bad)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/grader/exercises/%s/%s", o->root, folder, folders[kind]);
    DIR *list = opendir(path);
    for (struct dirent *d; list && (d = readdir(list));) {
        claim c = {.kind = kind, .exercise = catalog_find(id_parse(folder, NULL))};
        if (d->d_name[0] == '.') continue;
        if (open_claim(o, &c, folder, d->d_name) && *count < CLAIMS_MAX) {
            claims[(*count)++] = c;
            continue;
        }
        printf("  FAIL %s: its first line or its folder says nothing of the exercise\n", c.label);
        close_claim(&c);
        ++*bad;
    }
    if (list) closedir(list);
}

static bool wants_folder(const options *o, const char *folder)
{
    const exercise *e = catalog_find(id_parse(folder, NULL));
    return e ? options_want(o, e) : id_parse(folder, NULL) > 0 && !o->exercises;
}

static void read_all(const options *o, claim claims[], int *count, int *bad)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/grader/exercises", o->root);
    DIR *list = opendir(path);
    for (struct dirent *d; list && (d = readdir(list));) {
        if (!wants_folder(o, d->d_name)) continue;
        for (int kind = CLAIM_WRONG; kind <= CLAIM_HOSTILE; kind++)
            read_kind(o, d->d_name, kind, claims, count, bad);
    }
    if (list) closedir(list);
}

claim *claims_read(const options *o, int *count, int *bad)
{
    claim *claims = calloc(CLAIMS_MAX, sizeof *claims);
    *count = *bad = 0;
    read_all(o, claims, count, bad);
    qsort(claims, (size_t)*count, sizeof *claims, by_label);
    return claims;
}

void claims_free(claim *claims, int count)
{
    for (int i = 0; i < count; i++) close_claim(&claims[i]);
    free(claims);
}
