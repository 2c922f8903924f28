/*
 * messages.c: every sentence with which the grader names a mistake, and the wrong submission that
 * must get it. `grader messages` prints them for docs/messages.md, a line each: where the sentence
 * is from (pattern, finding or formula), the sentence with N for a number, and the example.
 */
#include "selftest.h"

#include "correctness/mistakes/mistakes.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX 256
#define SOURCE_BYTES (1 << 20)

typedef struct list {
    message messages[MESSAGES_MAX + 1]; /* the last one has nothing */
    int count;
} list;

/* ---- the sentences --------------------------------------------------------------------------- */

static void add(list *l, const char *from, const char *words, size_t length)
{
    message m = {.from = from};
    snprintf(m.words, sizeof m.words, "%.*s", (int)length, words);
    for (int i = 0; i < l->count; i++) {
        if (strcmp(l->messages[i].words, m.words) == 0) return;
    }
    if (l->count == MESSAGES_MAX) abort();
    l->messages[l->count++] = m;
}

/* The strings in calls of suspect(). A call with words of its caller has a sentence without
 * quotes. */
static void add_suspects_in(list *l, const char *text)
{
    for (const char *at = text; (at = strstr(at, "suspect")); at++) {
        const char *open = strchr(at, '('), *end = open ? strstr(open, ");") : NULL;
        if (!end || strcspn(at, "( \n;") != (size_t)(open - at)) continue;
        for (const char *quote = open; (quote = strchr(quote, '"')) && quote < end;) {
            const char *close = strchr(quote + 1, '"');
            add(l, "formula", quote + 1, (size_t)(close - quote - 1));
            quote = close + 1;
        }
    }
}

static void add_suspects(list *l, const options *o, const char *pattern)
{
    char path[PATH_MAX];
    glob_t found = {0};
    snprintf(path, sizeof path, "%s/%s", o->root, pattern);
    if (glob(path, 0, NULL, &found) != 0) return;
    char *text = malloc(SOURCE_BYTES);
    for (size_t i = 0; text && i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r");
        text[file ? fread(text, 1, SOURCE_BYTES - 1, file) : 0] = '\0';
        if (file) fclose(file);
        add_suspects_in(l, text);
    }
    free(text);
    globfree(&found);
}

static void add_all(list *l, const options *o)
{
    const char *words;
    for (size_t i = 0; (words = pattern_words(i)); i++) add(l, "pattern", words, strlen(words));
    for (unsigned i = CAUSE_NONE + 1; i < ALL_CAUSES; i++) {
        words = symptom_name(i);
        add(l, "finding", words + 2, strlen(words) - 2);
    }
    add_suspects(l, o, "grader/correctness/mistakes/products.c");
    add_suspects(l, o, "grader/exercises/*/*.c");
    add_suspects(l, o, "grader/exercises/shared/*/*.c");
}

/* ---- who demands them ------------------------------------------------------------------------ */

/* Of all sentences, the text must be of this one alone. */
static bool is_of(const char *text, const message *m, const list *l)
{
    if (strlen(text) <= 8 || !strstr(m->words, text)) return false;
    for (int i = 0; i < l->count; i++) {
        if (&l->messages[i] != m && strstr(l->messages[i].words, text)) return false;
    }
    return true;
}

/* "one / other" */
static bool demands(const claim *c, const message *m, const list *l)
{
    char text[sizeof c->text], *rest = text, *one;
    if (c->kind != CLAIM_WRONG) return false;
    snprintf(text, sizeof text, "%s", c->text);
    while ((one = strsep(&rest, "/"))) {
        one += strspn(one, " ");
        while (*one && one[strlen(one) - 1] == ' ') one[strlen(one) - 1] = '\0';
        if (is_of(one, m, l)) return true;
    }
    return false;
}

/* 103_matmul_cpu/wrong/tf32.c is 103_tf32 */
static void set_example(message *m, const claim *c)
{
    const char *name = strrchr(c->label, '/') + 1;
    snprintf(m->example, sizeof m->example, "%s_%.*s", id_words(c->exercise->id),
             (int)strcspn(name, "."), name);
}

/* With N for the number; it comes last, because a claim is held against the words as they are. */
static void write_number(message *m)
{
    char *hole = strstr(m->words, "%zu");
    if (!hole) return;
    *hole = 'N';
    memmove(hole + 1, hole + 3, strlen(hole + 3) + 1);
}

const message *messages_list(const options *o)
{
    static list l;
    int count, bad;
    l.count = 0;
    add_all(&l, o);
    claim *claims = claims_read(o, &count, &bad);
    for (int i = 0; i < l.count; i++) {
        message *m = &l.messages[i];
        for (int c = 0; c < count && !*m->example; c++) {
            if (demands(&claims[c], m, &l)) set_example(m, &claims[c]);
        }
    }
    claims_free(claims, count);
    for (int i = 0; i < l.count; i++) write_number(&l.messages[i]);
    l.messages[l.count] = (message){0};
    return l.messages;
}

int messages(const options *o)
{
    for (const message *m = messages_list(o); m->from; m++) {
        printf("%s\t%s\t%s\n", m->from, m->words, m->example);
    }
    return 0;
}
