/*
 * similar.c: pairs of students who handed in nearly the same. A file becomes tokens, in which all
 * of the student's own names and numbers are alike, and each GRAM tokens in a row become a hash. Of
 * WINDOW hashes in a row the smallest is a mark (winnowing), so that whatever two files share of
 * GRAM + WINDOW - 1 tokens gives them a mark in common. Text of the skeleton, or of the exercise's
 * page, does not count; a line that the page's hints give is left out, also of the reference.
 *
 *   write_similar()   each pair, exercise by exercise, the most alike first
 *
 * It proves nothing: a person has to look.
 */
#include "reports.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GRAM       12
#define WINDOW     4
#define LEAST      16  /* marks of a file: with fewer, right solutions are all alike */
#define ALIKE      0.7 /* of the marks of the one that has fewer */
#define FILE_LIMIT (1 << 21)

/* ---- lists of hashes ------------------------------------------------------------------------- */

typedef struct hashes {
    uint64_t *all;
    size_t count;
} hashes;

static void append(hashes *h, uint64_t one)
{
    const bool full = (h->count & (h->count - 1)) == 0; /* room grows by doubling */
    if (full) h->all = realloc(h->all, (2 * h->count + 1) * sizeof *h->all);
    h->all[h->count++] = one;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort(hashes *h)
{
    size_t kept = 0;
    if (h->count > 0) qsort(h->all, h->count, sizeof *h->all, by_value);
    for (size_t i = 0; i < h->count; i++) {
        if (kept == 0 || h->all[kept - 1] != h->all[i]) h->all[kept++] = h->all[i];
    }
    h->count = kept;
}

static bool holds(const hashes *sorted, uint64_t one)
{
    return sorted->count > 0 &&
           bsearch(&one, sorted->all, sorted->count, sizeof one, by_value) != NULL;
}

static size_t in_common(const hashes *a, const hashes *b)
{
    size_t found = 0;
    for (size_t i = 0; i < a->count; i++) found += holds(b, a->all[i]);
    return found;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* Names that mean the same in every file. */
static const char *const words[] = {
    "break",      "case",          "char",       "const",      "continue", "do",       "double",
    "else",       "float",         "for",        "if",         "int",      "long",     "return",
    "short",      "sizeof",        "static",     "struct",     "switch",   "unsigned", "void",
    "while",      "size_t",        "bool",       "threadIdx",  "blockIdx", "blockDim", "gridDim",
    "__shared__", "__syncthreads", "__global__", "__device__", "restrict", "def",      "in"};

/* FNV-1a */
static uint64_t hash_of(const void *bytes, size_t count)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < count; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return h;
}

/* @return the length of a blank or a comment, or 0 */
static size_t nothing_at(const char *at)
{
    if (isspace((unsigned char)*at)) return 1;
    if (strncmp(at, "//", 2) == 0) return strcspn(at, "\n");
    if (strncmp(at, "/*", 2) != 0) return 0;
    const char *end = strstr(at + 2, "*/");
    return end ? (size_t)(end + 2 - at) : strlen(at);
}

static size_t quoted_at(const char *at)
{
    size_t n = 1;
    while (at[n] && at[n] != *at && at[n] != '\n') n += at[n] == '\\' && at[n + 1] ? 2 : 1;
    return n + (at[n] == *at);
}

static uint64_t name_of(const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == length && strncmp(at, words[i], length) == 0) return 256 + i;
    }
    return 'a';
}

static uint64_t token_at(const char *at, size_t *length)
{
    const bool quoted = *at == '"' || *at == '\'', number = isdigit((unsigned char)*at);
    *length = quoted ? quoted_at(at) : strspn(at, number ? LETTERS "." : LETTERS);
    if (quoted) return '"';
    if (number) return '0';
    if (*length > 0) return name_of(at, *length);
    *length = 1;
    return (unsigned char)*at;
}

/* Do these tokens stand there one after another? */
static bool stands_in(const hashes *where, const uint64_t *tokens, size_t count)
{
    for (size_t i = 0; i + count <= where->count; i++) {
        if (memcmp(where->all + i, tokens, count * sizeof *tokens) == 0) return true;
    }
    return false;
}

/* The tokens of a text, but for those from `line` on, if hints give them. */
static void end_line(hashes *tokens, size_t line, const hashes *hints)
{
    const size_t count = tokens->count - line;
    if (hints && count > 0 && stands_in(hints, tokens->all + line, count)) tokens->count = line;
}

static hashes tokens_of(const char *text, const hashes *hints)
{
    hashes tokens = {0};
    size_t line = 0;
    for (size_t n; *text; text += n) {
        if (*text == '\n') {
            end_line(&tokens, line, hints);
            line = tokens.count;
        }
        if ((n = nothing_at(text)) == 0) append(&tokens, token_at(text, &n));
    }
    end_line(&tokens, line, hints);
    return tokens;
}

static void add_grams(hashes *to, const char *text, const hashes *hints)
{
    hashes tokens = tokens_of(text, hints);
    for (size_t i = 0; i + GRAM <= tokens.count; i++) {
        append(to, hash_of(tokens.all + i, GRAM * sizeof *tokens.all));
    }
    free(tokens.all);
}

/* @return its text, or NULL; the caller frees */
static char *text_of(const char *folder, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    char *text = calloc(1, FILE_LIMIT + 1);
    if (text && fread(text, 1, FILE_LIMIT, file) == 0) *text = '\0';
    fclose(file);
    return text;
}

static void add_file(hashes *to, const char *folder, const char *name, const hashes *hints)
{
    char *text = text_of(folder, name);
    if (text) add_grams(to, text, hints);
    free(text);
}

/* ---- what is whose own ----------------------------------------------------------------------- */

static const char *course(void)
{
    const char *root = getenv("COURSE_ROOT");
    return root ? root : ".";
}

static void name_page(const exercise *e, char page[PATH_MAX])
{
    snprintf(page, PATH_MAX, "%.*s/README.md", (int)(strrchr(e->file, '/') - e->file), e->file);
}

static hashes known_of(const exercise *e)
{
    char page[PATH_MAX];
    hashes known = {0};
    for (int i = 0; exercise_file(e, i); i++) add_file(&known, course(), exercise_file(e, i), NULL);
    name_page(e, page);
    add_file(&known, course(), page, NULL);
    sort(&known);
    return known;
}

/* What the page has between backticks: its last hint is a piece of the solution, in the middle of
 * sentences. A backtick in between is a token, too: no line goes over it. */
static hashes hints_of(const exercise *e)
{
    char page[PATH_MAX];
    hashes hints = {0};
    name_page(e, page);
    char *text = text_of(course(), page), *rest = text;
    for (bool code = false; rest; code = !code) {
        char *piece = strsep(&rest, "`");
        hashes one = code ? tokens_of(piece, NULL) : (hashes){0};
        for (size_t i = 0; i < one.count; i++) append(&hints, one.all[i]);
        append(&hints, '`');
        free(one.all);
    }
    free(text);
    return hints;
}

static hashes marks_of(const submission *s, const exercise *e, const hashes *known,
                       const hashes *hints)
{
    hashes grams = {0}, marks = {0};
    size_t last = SIZE_MAX;
    for (int i = 0; exercise_file(e, i); i++)
        add_file(&grams, s->folder, exercise_file(e, i), hints);
    for (size_t i = 0; i + WINDOW <= grams.count; i++) {
        size_t least = i;
        for (size_t j = i; j < i + WINDOW; j++) {
            if (grams.all[j] <= grams.all[least]) least = j;
        }
        if (least != last && !holds(known, grams.all[least])) append(&marks, grams.all[least]);
        last = least;
    }
    free(grams.all);
    sort(&marks);
    return marks;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

typedef struct pair {
    double share;
    const submission *a, *b;
} pair;

typedef struct pairs {
    pair *all;
    size_t count;
} pairs;

static void compare(pairs *to, const submission *a, const hashes *of_a, const submission *b,
                    const hashes *of_b)
{
    const size_t fewer = of_a->count < of_b->count ? of_a->count : of_b->count;
    if (fewer < LEAST) return;
    const double share = (double)in_common(of_a, of_b) / (double)fewer;
    if (share < ALIKE) return;
    to->all = realloc(to->all, (to->count + 1) * sizeof *to->all);
    to->all[to->count++] = (pair){share, a, b};
}

static int most_first(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->share != y->share) return x->share < y->share ? 1 : -1;
    const int order = strcmp(x->a->student, y->a->student);
    return order ? order : strcmp(x->b->student, y->b->student);
}

static void put_pairs(FILE *to, const exercise *e, const pairs *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const pair *p = &found->all[i];
        fprintf(to, "%s %s,%.2f,", id_words(e->id), e->name, p->share);
        put_csv(to, p->a->student);
        fputc(',', to);
        put_csv(to, p->b->student);
        fputc('\n', to);
    }
}

static void put_similar(FILE *to, const exercise *e, const submission *all, size_t count)
{
    hashes known = known_of(e), hints = hints_of(e), *marks = calloc(count + 1, sizeof *marks);
    pairs found = {0};
    for (size_t i = 0; i < count; i++) {
        if (*all[i].refused) continue;
        marks[i] = marks_of(&all[i], e, &known, &hints);
        for (size_t j = 0; j < i; j++) compare(&found, &all[j], &marks[j], &all[i], &marks[i]);
    }
    if (found.count > 0) qsort(found.all, found.count, sizeof *found.all, most_first);
    put_pairs(to, e, &found);
    for (size_t i = 0; i < count; i++) free(marks[i].all);
    free(marks);
    free(known.all);
    free(hints.all);
    free(found.all);
}

void write_similar(FILE *to, const submission *all, size_t count, const settings *ignored)
{
    (void)ignored;
    fputs("exercise,share,student,student\n", to);
    for (const exercise *const *e = catalog(); *e; e++) put_similar(to, *e, all, count);
}
