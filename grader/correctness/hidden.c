/*
 * hidden.c: the private file of an instructor (--hidden FILE): one seed, from which the secret seed
 * of every case follows, and more cases for some exercises.
 *
 *     seed = 8172635417               ; the same inputs for everybody who is graded with this file
 *     [211]
 *     case = 129x65x257               ; as its cases that are named after their shape
 *     case = misaligned 30x31x33      ; as its case "misaligned", with another shape
 *     [303]
 *     case = forward 1x4097x3         ; as the first case whose name begins so
 *
 * The cases join those of their exercises, as "hidden 1", "hidden 2", ... The reference solution
 * has to pass them before any student is judged by them. Students see only that a hidden case
 * failed, and the kind of the failure.
 */
#include "correctness.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASES_MAX     64         /* of one exercise */
#define NUMBER_MAX    100000000L /* of a shape */
#define ELEMENTS_MAX  1000000000L
#define TRIAL_SECONDS 300

static struct {
    char text[HASH_HEX]; /* of the file: its hash; "" when there is none */
    unsigned long long seed;
    bool seeded;
} hidden;

/* ---- a shape --------------------------------------------------------------------------------- */

bool hidden_shape(const char *text, long shape[SHAPE_MAX], int *count)
{
    char *end;
    for (*count = 0; *count < SHAPE_MAX; text = end + 1) {
        errno = 0;
        shape[(*count)++] = strtol(text, &end, 10);
        if (end == text || errno || isspace((unsigned char)*text)) return false;
        if (*end == '\0') return true;
        if (*end != 'x') return false;
    }
    return false;
}

static bool is_too_large(const long *shape, int count)
{
    long first = 1, second = 1;
    for (int i = 0; i < count; i++) {
        const long n = labs(shape[i]);
        if (n > NUMBER_MAX) return true;
        if (n > second) second = n;
        if (second > first) second = first, first = n;
    }
    return first > ELEMENTS_MAX / second;
}

int case_dimensions(const exercise *e, const grading_case *like)
{
    int most = 0;
    for (const grading_case *c = e->cases; c->name; c++) {
        for (int i = 0; c->run == like->run && i < SHAPE_MAX; i++) {
            if (c->shape[i] && i + 1 > most) most = i + 1;
        }
    }
    return most;
}

/* The shape of a case, as it would stand in the file. */
static const char *shape_of(const exercise *e, const grading_case *c)
{
    static char text[128];
    int n = 0;
    for (int i = 0; i < case_dimensions(e, c); i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%ld", i > 0 ? "x" : "", c->shape[i]);
    return text;
}

/* The last of the public cases, an example of one. */
static const grading_case *example_of(const exercise *e)
{
    const grading_case *last = e->cases;
    for (const grading_case *c = last; c->name && !c->line; c++) {
        if (!c->where && c->shape[0]) last = c;
    }
    return last;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static bool is_named_after_its_shape(const grading_case *c)
{
    long shape[SHAPE_MAX] = {0};
    int count;
    return hidden_shape(c->name, shape, &count) && memcmp(shape, c->shape, sizeof shape) == 0;
}

const grading_case *case_like(const exercise *e, const char *name)
{
    const grading_case *found = NULL;
    for (const grading_case *c = e->cases; c->name && !c->line; c++) {
        if (strcmp(c->name, name) == 0) return c;
        if (!found && strncmp(c->name, name, strlen(name)) == 0) found = c;
    }
    return found;
}

const char *case_reshape(const exercise *e, const grading_case *like, const char *text,
                         grading_case *one)
{
    static char wrong[256];
    long shape[SHAPE_MAX] = {0};
    int count;
    if (!hidden_shape(text, shape, &count)) {
        snprintf(wrong, sizeof wrong, "the shape of %s is like %s", like->name, shape_of(e, like));
        return wrong;
    }
    if (count != case_dimensions(e, like)) {
        snprintf(wrong, sizeof wrong, "the shape of %s has %d numbers, not %d", like->name,
                 case_dimensions(e, like), count);
        return wrong;
    }
    if (is_too_large(shape, count)) return "this shape is too large";
    *one = *like;
    memcpy(one->shape, shape, sizeof shape);
    memset(one->most, 0, sizeof one->most);
    return NULL;
}

/* The last public case that is named after its shape and runs everywhere. */
static const grading_case *find_shaped(const exercise *e)
{
    const grading_case *found = NULL;
    for (const grading_case *c = e->cases; c->name && !c->line; c++) {
        if (!c->where && is_named_after_its_shape(c)) found = c;
    }
    return found;
}

/* The exercise in the catalog becomes one of our own, with a case more. */
static const char *add_case(const exercise *e, grading_case one)
{
    int count = 0, ours = 0;
    for (; e->cases[count].name; count++) ours += e->cases[count].line != 0;
    if (ours >= CASES_MAX) return "these are too many cases of one exercise";
    grading_case *cases = calloc((size_t)count + 2, sizeof *cases);
    exercise *copy = malloc(sizeof *copy);
    memcpy(cases, e->cases, (size_t)count * sizeof *cases);
    if (asprintf((char **)&one.name, "hidden %d", ours + 1) < 0) abort();
    cases[count] = one;
    *copy = *e;
    copy->cases = cases;
    catalog_replace(copy);
    if (ours > 0) { /* it was one of our own already */
        free((void *)e->cases);
        free((void *)e);
    }
    return NULL;
}

/* @return what is wrong with "[NAME] SHAPE", or NULL */
static const char *read_case(const exercise *e, const char *value, int line)
{
    static char wrong[256];
    char words[3][128] = {"", "", ""};
    grading_case one;
    const int given = sscanf(value, "%127s %127s %127s", words[0], words[1], words[2]);
    const char *name = given == 2 ? words[0] : "";
    if (given != 1 && given != 2) return "a case is a shape, or the name of a case and a shape";
    const grading_case *like = *name ? case_like(e, name) : find_shaped(e);
    if (!like) {
        const grading_case *c = example_of(e);
        snprintf(wrong, sizeof wrong, "%s: say which, e.g. case = %s %s",
                 *name ? "it has no such case" : "its cases are not named after their shapes",
                 c->name, shape_of(e, c));
        return wrong;
    }
    const char *bad = case_reshape(e, like, words[given - 1], &one);
    one.line = line;
    one.part = part_of_case(e, (int)(like - e->cases));
    return bad ? bad : add_case(e, one);
}

/* ---- the file -------------------------------------------------------------------------------- */

static const char *read_seed(const char *value)
{
    char *end;
    errno = 0;
    hidden.seed = strtoull(value, &end, 0);
    if (hidden.seeded) return "there is a seed already";
    hidden.seeded = true;
    return isdigit((unsigned char)*value) && !*end && !errno ? NULL : "a seed is a number";
}

static const char *take_setting(void *unused, const ini_line *at)
{
    char *end;
    const int id = id_parse(at->section, &end);
    (void)unused;
    if (!*at->name) return *end || !catalog_find(id) ? "there is no such exercise" : NULL;
    if (strcmp(at->name, "seed") == 0 && !id) return read_seed(at->value);
    if (strcmp(at->name, "case") == 0 && id)
        return read_case(catalog_find(id), at->value, at->number);
    return "not a setting: first seed = N, then [EXERCISE] and case = [NAME] SHAPE";
}

bool hidden_read(const options *o)
{
    if (!o->hidden || *hidden.text) return true;
    if (prebuilt_exists(o)) {
        fprintf(stderr, "grader: hidden cases are for the whole course, with its solutions\n");
        return false;
    }
    FILE *file = fopen(o->hidden, "r");
    if (!file) {
        fprintf(stderr, "grader: cannot read %s: %s\n", o->hidden, strerror(errno));
        return false;
    }
    int number;
    hash *h = hash_begin();
    hash_file(h, o->hidden);
    hash_text(h, o->reveal ? "revealed" : "");
    hash_end(h, hidden.text);
    const char *wrong = ini_read(file, take_setting, NULL, &number);
    fclose(file);
    unsetenv("HIDDEN"); /* nobody whom we start is to find it */
    unsetenv("MAKEFLAGS");
    if (wrong) fprintf(stderr, "grader: %s:%d: %s\n", o->hidden, number, wrong);
    return !wrong;
}

const char *hidden_hash(void)
{
    return hidden.text;
}

bool hidden_seed(const exercise *e, const char *what, unsigned long long *seed)
{
    char hex[HASH_HEX], text[128];
    if (!hidden.seeded) return false;
    hash *h = hash_begin();
    snprintf(text, sizeof text, "%llu %d", hidden.seed, e ? e->id : 0);
    hash_text(h, text);
    hash_text(h, what);
    hash_end(h, hex);
    hex[12] = '\0'; /* 48 bits, as other seeds */
    *seed = strtoull(hex, NULL, 16);
    return true;
}

/* ---- what a student sees --------------------------------------------------------------------- */

char *hidden_words(failure failure, const char *mistake)
{
    static const char *const words[FAILURES] = {
        [FAILURE_NONE] = "",
        [FAILURE_RESULT] = "wrong result",
        [FAILURE_CALL] = "wrong result",
        [FAILURE_STUB] = "not implemented yet",
        [FAILURE_NO_FUNCTION] = "a function is missing",
        [FAILURE_DEADLINE] = "too slow, or endless",
        [FAILURE_CRASH] = "crash",
        [FAILURE_WROTE_OUTSIDE] = "wrote outside of its arrays",
        [FAILURE_CHANGED_INPUT] = "changed its input",
        [FAILURE_OUT_OF_BOUNDS] = "access out of bounds",
        [FAILURE_MISALIGNED] = "misaligned access",
        [FAILURE_NO_BARRIER] = "missing barrier",
        [FAILURE_RACE] = "race",
        [FAILURE_UNWRITTEN] = "read of memory that was never written",
        [FAILURE_DEADLOCK] = "deadlock",
        [FAILURE_CUDA] = "CUDA error",
    };
    char *all = NULL;
    const bool tells = failure == FAILURE_RESULT && mistake && !strpbrk(mistake, "0123456789");
    return asprintf(&all, "%s%s", words[failure], tells ? mistake : "") < 0 ? strdup("") : all;
}

static void replace(char **text, char *by)
{
    free(*text);
    *text = by;
}

void hidden_hide(const options *o, const grading_case *c, case_result *result)
{
    char *shown = NULL;
    if (o->reveal) {
        if (c->line &&
            asprintf(&shown, "[line %d of the hidden file] %s", c->line, result->message) >= 0) {
            replace(&result->message, shown);
        }
        return;
    }
    result->seed_withheld = c->line || (hidden.seeded && !o->seed_given);
    if (!c->line) return;
    result->seconds = NAN;
    const failure seen =
        *result->finding ? failure_of(&result->found[result->found_count - 1].what) : FAILURE_NONE;
    replace(&result->message, hidden_words(result->failure, result->mistake));
    replace(&result->mistake, NULL); /* what may be said of it, the message says */
    replace(&result->finding, hidden_words(seen, NULL));
    case_forget_found(result); /* places and sizes are in it */
}

/* ---- the reference first --------------------------------------------------------------------- */

/* In a child, for a shape that a case cannot take may end it. */
static void try_here(const options *o, const build *reference, const grading_case *c, int to)
{
    options one = *o;
    one.case_name = c->name;
    one.seed_given = false;
    one.reveal = true;
    one.submission = reference->root;
    case_state s = case_begin(&one, reference->exercise, reference->place, reference->library);
    s.trial = true;
    const long index = c - reference->exercise->cases;
    case_result *results = calloc((size_t)index + 1 + CASES_MAX, sizeof *results);
    alarm(TRIAL_SECONDS);
    run_cases(&s, results);
    case_drop_worker(&s);
    const char *message = results[index].message;
    const bool good = results[index].status == PASSED || results[index].status == SKIPPED;
    _exit(!good && write(to, message, strlen(message)) >= 0 ? 1 : 0);
}

/* @return whether the reference passes; else what it fails of is in why */
static bool try_case(const options *o, const build *reference, const grading_case *c, char why[512])
{
    int ends[2], status = 0;
    *why = '\0';
    if (pipe(ends) != 0) return false;
    const pid_t child = fork();
    if (child == 0) try_here(o, reference, c, ends[1]);
    close(ends[1]);
    const ssize_t n = read(ends[0], why, 511);
    why[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child) return false;
    if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
    snprintf(why, 512,
             WTERMSIG(status) == SIGALRM ? "it takes more than five minutes"
                                         : "it cannot take this shape");
    return false;
}

static void trial_key(const build *reference, char key[HASH_HEX])
{
    hash *h = hash_begin();
    hash_text(h, "trial of hidden cases");
    hash_text(h, hidden.text);
    hash_text(h, reference->key);
    hash_file(h, "/proc/self/exe");
    hash_end(h, key);
}

bool hidden_try(const options *o, const build *reference)
{
    char why[512], key[HASH_HEX];
    trial_key(reference, key);
    json_t *before = cache_load(o->build, key);
    json_decref(before);
    if (before) return true;
    for (const grading_case *c = reference->exercise->cases; c->name; c++) {
        if (!c->line || !reference->ok || try_case(o, reference, c, why)) continue;
        fprintf(stderr, "grader: %s:%d: the reference solution does not pass: %s\n", o->hidden,
                c->line, why);
        return false;
    }
    json_t *passed = json_object();
    if (reference->ok) cache_store(o->build, key, passed);
    json_decref(passed);
    return true;
}
