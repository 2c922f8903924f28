/*
 * alone.c: cases that run once more. Each array of each function misaligned alone: the third trial
 * of a case shifts all arrays together, so it passes a kernel that checks one array's address
 * before it accesses another. When all cases of a part have passed, one of them runs again for each
 * array: that array begins 4 bytes past an aligned address, and the others are aligned. Then the
 * small cases run in the other order: a call must not depend on what the calls before it have left.
 */
#include "running.h"

#include "timer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAYS_MAX    96
#define BYTES_AT_ONCE 16           /* of the widest access */
#define CHEAP         (160u << 10) /* bytes: a case with more takes long */
#define SMALL         (16u << 10)  /* bytes: a case with so few runs in the other order, too */
#define CASES_MAX     400

static struct lonely {
    char function[64], name[32];
    int at;       /* of the case in which it is to be alone */
    size_t bytes; /* of all arrays of the call there */
    bool whole;   /* ... each of them in pieces of BYTES_AT_ONCE, and none empty */
    bool wanted;  /* all cases of its part are right */
} arrays[ARRAYS_MAX];
static int array_count;
static size_t most[CASES_MAX]; /* bytes of a call of each case, and 1; 0: it made none */

void alone_forget(void)
{
    array_count = 0;
    memset(most, 0, sizeof most);
}

static bool may_be_shifted(const wire_argument *w)
{
    return w->kind == WIRE_BUFFER && w->bytes > 0 && !w->opaque;
}

static struct lonely measure_call(const call_request *r)
{
    struct lonely call = {.whole = true};
    for (int i = 0; i < r->count; i++) {
        const wire_argument *w = &r->arguments[i].wire;
        if (w->kind != WIRE_BUFFER || w->opaque) continue;
        call.bytes += w->bytes;
        call.whole = call.whole && w->bytes > 0 && w->bytes % BYTES_AT_ONCE == 0;
    }
    return call;
}

/* A vector goes into whole pieces; among those the largest case that is cheap, for a kernel may
 * have a way of its own for large ones. */
static bool is_better(const struct lonely *a, const struct lonely *b)
{
    const bool cheap = a->bytes <= CHEAP;
    if (cheap != (b->bytes <= CHEAP)) return cheap;
    if (a->whole != b->whole) return a->whole;
    return (a->bytes > b->bytes) == cheap && a->bytes != b->bytes;
}

static struct lonely *entry_of(const char *function, const char *name)
{
    for (int i = 0; i < array_count; i++) {
        struct lonely *a = &arrays[i];
        if (strcmp(a->function, function) == 0 && strcmp(a->name, name) == 0) return a;
    }
    if (array_count == ARRAYS_MAX) return NULL;
    struct lonely *a = &arrays[array_count++];
    *a = (struct lonely){.bytes = SIZE_MAX};
    snprintf(a->function, sizeof a->function, "%s", function);
    snprintf(a->name, sizeof a->name, "%s", name);
    return a;
}

void alone_note(const call_request *r, int at)
{
    const struct lonely call = measure_call(r);
    if (at < CASES_MAX && call.bytes >= most[at]) most[at] = call.bytes + 1;
    for (int i = 0; i < r->count; i++) {
        const wire_argument *w = &r->arguments[i].wire;
        struct lonely *a = may_be_shifted(w) ? entry_of(r->function, w->name) : NULL;
        if (!a || w->before != 0 || !is_better(&call, a)) continue;
        a->at = at;
        a->bytes = call.bytes;
        a->whole = call.whole;
    }
}

/* @return the message, which is freed, with what may be the reason */
static char *with_reason(const struct lonely *a, char *message)
{
    char *words = NULL;
    if (!a &&
        asprintf(
            &words,
            "%s; the same case was right before: calls of the cases after it left something behind",
            message) < 0)
        abort();
    if (a &&
        asprintf(&words,
                 "%s; it was right with all arrays aligned, and with none: here only `%s` of %s is "
                 "not aligned to %d bytes",
                 message, a->name, a->function, BYTES_AT_ONCE) < 0)
        abort();
    free(message);
    return words;
}

/* A case that runs well once more has nothing to add. */
static void put(case_result *result, char *words)
{
    if (!words) return;
    case_result failed = case_of_call(running, result->name, result->part, words);
    failed.seed = result->seed;
    failed.seed_withheld = result->seed_withheld;
    failed.seconds = result->seconds;
    case_result_free(result);
    *result = failed;
}

/* @param a NULL: all as usual, but after other cases */
static void run_one(const struct lonely *a, int at, case_result *result)
{
    const call_request usual = running->request;
    running->request.relocate = running->request.against_guard = false;
    running->request.misaligned = false;
    if (a) running->request.alone = a->name, running->request.alone_in = a->function;
    running->kept = running->keepers = running->left = running->round = 0;
    char *message = run_case_once(running, &running->exercise->cases[at], result->seed);
    const bool is_found = running->found_count > 0; /* a race can be right by luck before */
    free(case_take_found(running));                 /* the case itself tells of findings */
    running->request = usual;
    put(result, message && !is_found ? with_reason(a, message) : message);
}

void alone_run(case_result results[], int count)
{
    for (int i = 0; i < array_count; i++)
        arrays[i].wanted = part_is_right(results, count, results[arrays[i].at].part);
    for (int i = 0; i < array_count && !running->dead; i++) {
        case_result *result = &results[arrays[i].at];
        if (arrays[i].wanted && result->status == PASSED) run_one(&arrays[i], arrays[i].at, result);
    }
    for (int i = count < CASES_MAX ? count - 1 : CASES_MAX - 1; i >= 0 && !running->dead; i--) {
        case_result *result = &results[i];
        const bool small = most[i] > 0 && most[i] <= SMALL && !running->exercise->cases[i].line;
        if (small && result->status == PASSED && part_is_right(results, count, result->part))
            run_one(NULL, i, result);
    }
}
