/*
 * parallel.c: work on the grader's own large arrays, on all cores. Nothing runs here while a call
 * is timed. Threads end before the function returns, so a worker can be forked at any time; and
 * none of them may fail a case.
 */
#include "base.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define PART    ((size_t)1 << 18) /* simple operations; fewer are not worth a thread */
#define THREADS 32

typedef struct part {
    parallel_work *work;
    void *context;
    size_t begin, end;
} part;

static void *run_part(void *argument)
{
    const part *p = argument;
    p->work(p->begin, p->end, p->context);
    return NULL;
}

size_t core_count(void)
{
    cpu_set_t ours;
    return sched_getaffinity(0, sizeof ours, &ours) == 0 ? (size_t)CPU_COUNT(&ours) : 1;
}

static size_t smaller(size_t x, size_t y)
{
    return x < y ? x : y;
}

void parallel(size_t count, size_t cost, parallel_work *work, void *context)
{
    part parts[THREADS];
    pthread_t threads[THREADS];
    bool started[THREADS] = {false};
    const size_t n = smaller(smaller(core_count(), THREADS), count * cost / PART + 1);
    const size_t size = cost > 1 ? count / n + 1 : (count / n + 1023) / 1024 * 1024;
    for (size_t i = 0; i < n; i++) {
        const size_t begin = smaller(i * size, count);
        const size_t end = i + 1 < n ? smaller(begin + size, count) : count;
        parts[i] = (part){work, context, begin, end};
        if (i > 0) started[i] = pthread_create(&threads[i], NULL, run_part, &parts[i]) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (!started[i]) run_part(&parts[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (started[i]) pthread_join(threads[i], NULL);
    }
}

/* ---- searching ------------------------------------------------------------------------------- */

typedef struct search {
    parallel_test *test;
    const void *context;
    size_t found; /* the first so far */
} search;

static void search_part(size_t begin, size_t end, void *context)
{
    search *s = context;
    size_t i = begin;
    while (i < end && !s->test(i, s->context)) i++;
    size_t best = __atomic_load_n(&s->found, __ATOMIC_RELAXED);
    while (i < end && i < best &&
           !__atomic_compare_exchange_n(&s->found, &best, i, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

size_t parallel_find(size_t count, size_t cost, parallel_test *test, const void *context)
{
    search s = {test, context, count};
    parallel(count, cost, search_part, &s);
    return s.found;
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct memory {
    unsigned char *to;
    const unsigned char *from;
    size_t bytes; /* of a copy the last word may be cut short */
    unsigned word;
    bool different;
} memory;

static size_t bytes_of(const memory *m, size_t begin, size_t end)
{
    return smaller(end * 4, m->bytes) - begin * 4;
}

static void copy_part(size_t begin, size_t end, void *context)
{
    const memory *m = context;
    if (begin < end) memcpy(m->to + begin * 4, m->from + begin * 4, bytes_of(m, begin, end));
}

static void fill_part(size_t begin, size_t end, void *context)
{
    const memory *m = context;
    for (size_t i = begin; i + 1 < end; i++) memcpy(m->to + i * 4, &m->word, 4);
    if (begin < end) memcpy(m->to + (end - 1) * 4, &m->word, bytes_of(m, end - 1, end));
}

static void compare_part(size_t begin, size_t end, void *context)
{
    memory *m = context;
    if (begin < end && memcmp(m->to + begin * 4, m->from + begin * 4, bytes_of(m, begin, end))) {
        __atomic_store_n(&m->different, true, __ATOMIC_RELAXED);
    }
}

void parallel_copy(void *to, const void *from, size_t bytes)
{
    memory m = {.to = to, .from = from, .bytes = bytes};
    parallel((bytes + 3) / 4, 1, copy_part, &m);
}

void parallel_fill(void *to, unsigned word, size_t bytes)
{
    memory m = {.to = to, .word = word, .bytes = bytes};
    parallel((bytes + 3) / 4, 1, fill_part, &m);
}

bool parallel_equal(const void *a, const void *b, size_t bytes)
{
    memory m = {.to = (void *)a, .from = b, .bytes = bytes};
    parallel((bytes + 3) / 4, 1, compare_part, &m);
    return !m.different;
}
