/*
 * gather.c: brings together what fused.c makes one operation of. Compilers put the arithmetic of
 * addresses between two loads and their multiply-add, and between one such group and the next; it
 * moves up.
 *
 * Interface
 *   gather_loads     for decode.c, before stride classes are marked
 *
 * Only arithmetic moves, past loads of words and multiply-adds with which it shares no register. It
 * has no effect but its result, so findings stay what and where they were.
 */
#include "fusion.h"

enum { MOST_BETWEEN = 32, MOST_TOGETHER = 96 }; /* drafts; farther it does not look */

typedef struct gathering {
    decoder *decoder;
    handler *fma;
    const uint32_t *reads; /* how often, by register */
} gathering;

static bool is_plain_load(const draft *x)
{
    bool word = x->op.run == run_load_global_word || x->op.run == run_load_shared_word;
    return word && !x->op.guard;
}

static bool writes(draft *x, uint32_t reg)
{
    use u;
    for (uint32_t k = 0; next_use(x, &k, &u);) {
        if (u.writes && *u.where == reg) return true;
    }
    return false;
}

/* Does one of them write a register that the other one reads or writes? */
static bool share(draft *x, draft *y)
{
    use u;
    for (uint32_t k = 0; next_use(x, &k, &u);) {
        if (writes(y, *u.where)) return true;
    }
    for (uint32_t k = 0; next_use(y, &k, &u);) {
        if (writes(x, *u.where)) return true;
    }
    return false;
}

/* Draft i moves up to `to`, past those between. @return false: it may not */
static bool raise(const gathering *g, uint32_t to, uint32_t i)
{
    draft *x = g->decoder->drafts, up = x[i];
    if (!rule_of(up.op.run)) return false;
    for (uint32_t k = to; k < i; k++)
        if (share(&x[k], &up)) return false;
    memmove(&x[to + 1], &x[to], (i - to) * sizeof *x);
    x[to] = up;
    return true;
}

/* What lies between `length` drafts and draft `end` moves up past them. @return where they then are
 */
static uint32_t raise_all(const gathering *g, uint32_t at, uint32_t length, uint32_t end)
{
    while (at + length < end && raise(g, at, at + length)) at++;
    return at;
}

/* The load that alone makes what draft `end` alone reads there, with only arithmetic and one other
 * load between; or `end`. */
static uint32_t find_load(const gathering *g, uint32_t end, operand reg)
{
    const draft *x = g->decoder->drafts;
    uint32_t loads = 0, least = end > MOST_BETWEEN ? end - MOST_BETWEEN : 0;
    if (g->reads[reg] != 1) return end;
    for (uint32_t i = end; i-- > least && loads < 2 && !x[i].leader;) {
        if (is_plain_load(&x[i]) && x[i].op.d == reg) return i;
        if (is_plain_load(&x[i]))
            loads++;
        else if (!rule_of(x[i].op.run))
            break;
    }
    return end;
}

/* Two loads and the multiply-add at draft `end`. @return where they then begin, or `end` */
static uint32_t gather(const gathering *g, uint32_t end)
{
    const draft *z = &g->decoder->drafts[end];
    if (z->op.run != g->fma || z->op.guard || !(z->reads >> FIELD_A & z->reads >> FIELD_B & 1))
        return end;
    uint32_t x = find_load(g, end, z->op.a), y = find_load(g, end, z->op.b);
    if (x == end || y == end || x == y) return end;
    uint32_t first = x < y ? x : y, second = x < y ? y : x;
    first = raise_all(g, first, 1, second);
    if (first + 1 != second) return end;
    first = raise_all(g, first, 2, end);
    return first + 2 == end ? first : end;
}

void gather_loads(decoder *d)
{
    gathering g = {d, rule_find("fma.f32")->run, count_reads(d)};
    uint32_t start = 0, length = 0; /* drafts that are together so far */
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t first = gather(&g, i);
        if (first == i) continue;
        bool joins = length && length < MOST_TOGETHER;
        if (joins) start = raise_all(&g, start, length, first);
        if (!joins || start + length != first) start = first, length = 0;
        length += i + 1 - first;
    }
}
