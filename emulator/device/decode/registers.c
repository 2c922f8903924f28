/*
 * registers.c: PTX registers to rows of the register file.
 *
 * Interface
 *   assign_registers
 *
 * PTX is in SSA form: thousands of registers, few alive at once. Registers whose lives do not
 * overlap share a row, so that a warp's rows stay in the cache. Liveness by the usual backward
 * iteration over basic blocks, then a linear scan. A guarded write leaves the other lanes as they
 * were, so it ends no life.
 */
#include <stdlib.h>

#include "decode.h"

typedef struct life {
    uint32_t reg, start, end;
} life;

typedef struct blocks {
    uint32_t count, words;
    uint32_t *first, *last; /* drafts of each block */
    int (*next)[2];         /* successors, -1: none; jump tables have more */
    const ptx_label_list **list;
    uint64_t *in, *gen, *kill; /* bit sets over registers, `words` a block */
} blocks;

static int draft_of_label(const decoder *d, const char *label)
{
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->drafts[i].leader && d->drafts[i].label && !strcmp(d->drafts[i].label, label)) {
            return (int)i;
        }
    }
    return -1;
}

static bool cuts(const draft *d)
{
    return d->op.run == run_branch || d->op.run == run_jump_table || d->op.run == run_exit;
}

static uint32_t *find_blocks(const decoder *d, blocks *b)
{
    uint32_t *block_of = arena_take(d->arena, (d->count + 1) * sizeof *block_of);
    for (uint32_t i = 0; i < d->count; i++) {
        bool fresh = i == 0 || d->drafts[i].leader || cuts(&d->drafts[i - 1]);
        if (fresh) b->count++;
        block_of[i] = b->count - 1;
    }
    b->first = arena_take(d->arena, b->count * sizeof *b->first);
    b->last = arena_take(d->arena, b->count * sizeof *b->last);
    for (uint32_t i = d->count; i-- > 0;) b->first[block_of[i]] = i;
    for (uint32_t i = 0; i < d->count; i++) b->last[block_of[i]] = i;
    return block_of;
}

static void find_successors(const decoder *d, blocks *b, const uint32_t *block_of)
{
    b->next = arena_take(d->arena, b->count * sizeof *b->next);
    b->list = arena_take(d->arena, b->count * sizeof *b->list);
    for (uint32_t n = 0; n < b->count; n++) {
        const draft *end = &d->drafts[b->last[n]];
        bool through = !cuts(end) || end->op.guard;
        b->next[n][0] = through && n + 1 < b->count ? (int)n + 1 : -1;
        b->next[n][1] = -1;
        b->list[n] = end->list;
        if (end->op.run != run_branch) continue;
        int target = end->target >= 0 ? end->target : draft_of_label(d, end->label);
        if (target >= 0) b->next[n][1] = (int)block_of[target];
    }
}

static void set_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool test_bit(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static void summarise(const decoder *d, blocks *b, uint32_t n)
{
    uint64_t *gen = b->gen + (size_t)n * b->words, *kill = b->kill + (size_t)n * b->words;
    for (uint32_t i = b->first[n]; i <= b->last[n]; i++) {
        draft *o = &d->drafts[i];
        use u;
        for (uint32_t k = 0; next_use(o, &k, &u);) {
            bool reads = u.reads || (u.writes && o->op.guard);
            if (reads && !test_bit(kill, *u.where)) set_bit(gen, *u.where);
        }
        for (uint32_t k = 0; next_use(o, &k, &u);) {
            if (u.writes && !o->op.guard) set_bit(kill, *u.where);
        }
    }
}

static void add_live(const blocks *b, uint64_t *out, uint32_t from)
{
    const uint64_t *in = b->in + (size_t)from * b->words;
    for (uint32_t i = 0; i < b->words; i++) out[i] |= in[i];
}

static void live_out(const decoder *d, const blocks *b, const uint32_t *block_of, uint32_t n,
                     uint64_t *out)
{
    memset(out, 0, b->words * sizeof *out);
    for (int i = 0; i < 2; i++) {
        if (b->next[n][i] >= 0) add_live(b, out, (uint32_t)b->next[n][i]);
    }
    for (uint32_t i = 0; b->list[n] && i < b->list[n]->labels; i++) {
        int target = draft_of_label(d, b->list[n]->label[i]);
        if (target >= 0) add_live(b, out, block_of[target]);
    }
}

static void iterate(const decoder *d, blocks *b, const uint32_t *block_of)
{
    uint64_t *out = arena_take(d->arena, b->words * sizeof *out);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = b->count; n-- > 0;) {
            live_out(d, b, block_of, n, out);
            size_t base = (size_t)n * b->words;
            for (uint32_t i = 0; i < b->words; i++) {
                uint64_t in = b->gen[base + i] | (out[i] & ~b->kill[base + i]);
                changed |= in != b->in[base + i];
                b->in[base + i] = in;
            }
        }
    }
}

static void extend(life *l, uint32_t at)
{
    if (at < l->start) l->start = at;
    if (at > l->end) l->end = at;
}

static void measure(const decoder *d, const blocks *b, const uint32_t *block_of, life *lives)
{
    uint64_t *out = arena_take(d->arena, b->words * sizeof *out);
    for (uint32_t n = 0; n < b->count; n++) {
        live_out(d, b, block_of, n, out);
        for (uint32_t r = 0; r < d->registers; r++) {
            if (test_bit(b->in + (size_t)n * b->words, r)) extend(&lives[r], 2 * b->first[n]);
            if (test_bit(out, r)) extend(&lives[r], 2 * b->last[n] + 1);
        }
        for (uint32_t i = b->first[n]; i <= b->last[n]; i++) {
            use u;
            for (uint32_t k = 0; next_use(&d->drafts[i], &k, &u);) {
                if (u.reads) extend(&lives[*u.where], 2 * i);
                if (u.writes) extend(&lives[*u.where], 2 * i + 1);
            }
        }
    }
}

/* ---- the scan -------------------------------------------------------------------------------- */

typedef struct free_rows {
    uint32_t *offset;
    uint32_t count;
} free_rows;

static int by_start(const void *a, const void *b)
{
    const life *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static int by_end(const void *a, const void *b)
{
    const life *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

static uint32_t row_bytes(uint8_t width)
{
    return width ? (uint32_t)width * LANES : 4;
}

static int class_of(uint8_t width)
{
    return width == 0 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3;
}

static uint32_t fresh_row(function *f, uint8_t width, free_rows *masks)
{
    if (width == 0 && masks->count) return masks->offset[--masks->count];
    uint32_t offset = f->register_bytes;
    uint32_t bytes = row_bytes(width);
    f->register_bytes += bytes < ROW_ALIGNMENT ? ROW_ALIGNMENT : bytes;
    for (uint32_t i = ROW_ALIGNMENT; width == 0 && i > 4; i -= 4) {
        masks->offset[masks->count++] = offset + i - 4;
    }
    return offset;
}

typedef struct scanning {
    decoder *decoder;
    uint32_t *slot;      /* of each register */
    free_rows rows[4];   /* by class */
    uint32_t live, most; /* 32-bit registers */
} scanning;

static uint32_t weight(uint8_t width)
{
    return width > 4 ? 2 : width > 0;
}

static void give_back(scanning *s, uint32_t reg)
{
    uint8_t width = s->decoder->width[reg];
    free_rows *r = &s->rows[class_of(width)];
    r->offset[r->count++] = s->slot[reg];
    s->live -= weight(width);
}

static void give_row(scanning *s, uint32_t reg)
{
    uint8_t width = s->decoder->width[reg];
    free_rows *r = &s->rows[class_of(width)];
    bool reuse = r->count && width;
    s->slot[reg] = reuse ? r->offset[--r->count] : fresh_row(s->decoder->to, width, &s->rows[0]);
    s->live += weight(width);
    if (s->live > s->most) s->most = s->live;
}

/* Lives in the order of their starts; rows of lives that have ended are given out again. */
static uint32_t *scan(decoder *d, life *lives)
{
    uint32_t n = 0, e = 0;
    for (uint32_t r = 0; r < d->registers; r++) {
        if (lives[r].start != UINT32_MAX) lives[n++] = lives[r];
    }
    scanning s = {.decoder = d, .slot = arena_take(d->arena, d->registers * sizeof *s.slot)};
    for (int i = 0; i < 4; i++) s.rows[i].offset = arena_take(d->arena, (n + 2 * LANES) * 4);
    life *ends = arena_take(d->arena, n * sizeof *ends);
    memcpy(ends, lives, n * sizeof *ends);
    qsort(lives, n, sizeof *lives, by_start);
    qsort(ends, n, sizeof *ends, by_end);
    for (uint32_t i = 0; i < n; i++) {
        while (e < n && ends[e].end < lives[i].start) give_back(&s, ends[e++].reg);
        give_row(&s, lives[i].reg);
    }
    d->to->facts.registers = s.most < 12 ? 16 : s.most > 251 ? 255 : s.most + 4;
    return s.slot;
}

static void rewrite(decoder *d, const uint32_t *slot)
{
    for (uint32_t i = 0; i < d->count; i++) {
        use u;
        for (uint32_t k = 0; next_use(&d->drafts[i], &k, &u);)
            *u.where = OPERAND(BANK_REGISTERS, slot[*u.where]);
    }
}

/* A load reports uninitialised memory only in components that something reads. */
static void mark_used(decoder *d)
{
    bool *read = arena_take(d->arena, d->registers + 1);
    for (uint32_t i = 0; i < d->count; i++) {
        use u;
        for (uint32_t k = 0; next_use(&d->drafts[i], &k, &u);) {
            if (u.reads) read[*u.where] = true;
        }
    }
    for (uint32_t i = 0; i < d->count; i++) {
        draft *o = &d->drafts[i];
        if (!o->op.is_load) continue;
        for (int f = FIELD_D; f <= FIELD_V2; f++) {
            bool used = o->writes >> f & 1 && read[(&o->op.d)[f]];
            o->op.used |= (uint8_t)(used << f);
        }
    }
}

void assign_registers(decoder *d)
{
    blocks b = {.words = d->registers / 64 + 1};
    uint32_t *block_of = find_blocks(d, &b);
    find_successors(d, &b, block_of);
    size_t bytes = (size_t)b.count * b.words * sizeof(uint64_t);
    b.in = arena_take(d->arena, bytes);
    b.gen = arena_take(d->arena, bytes);
    b.kill = arena_take(d->arena, bytes);
    for (uint32_t n = 0; n < b.count; n++) summarise(d, &b, n);
    iterate(d, &b, block_of);
    life *lives = arena_take(d->arena, d->registers * sizeof *lives);
    for (uint32_t r = 0; r < d->registers; r++) lives[r] = (life){r, UINT32_MAX, 0};
    measure(d, &b, block_of, lives);
    mark_used(d);
    rewrite(d, scan(d, lives));
}
