/*
 * flow.c: control flow of one function: where do lanes that a branch parts meet again?
 *
 * Interface
 *   flow_turn       a branch around a branch becomes one
 *   flow_finish
 *
 * They meet at the branch's immediate post-dominator: the first block that every way to the exit
 * runs through (Cooper, Harvey and Kennedy's iteration over the reversed graph). Every label and
 * every fall-through was emitted as a leader, an operation that can end a group; those that turn
 * out to be no meeting point are dropped.
 */
#include <stdlib.h>

#include "decode.h"

typedef struct node {
    uint32_t first, last; /* drafts of the block */
    uint32_t *successor;
    uint32_t successors;
    uint32_t *predecessor;
    uint32_t predecessors;
    uint32_t order; /* in a post-order of the reversed graph; 0: does not reach the exit */
    uint32_t meet;  /* immediate post-dominator */
} node;

typedef struct graph {
    decoder *decoder;
    node *node;
    uint32_t nodes; /* the last one is the exit */
    uint32_t *by_order;
    uint32_t reached;
    uint32_t *node_of; /* draft -> node */
} graph;

static bool ends_block(const draft *d)
{
    handler *run = d->op.run;
    return run == run_branch || run == run_jump_table || run == run_exit || run == run_return ||
           run == run_trap;
}

static bool falls_through(const draft *d)
{
    return !ends_block(d) || (d->op.guard && d->op.run != run_return);
}

static void cut_blocks(graph *g)
{
    decoder *d = g->decoder;
    bool fresh = true;
    for (uint32_t i = 0; i < d->count; i++) {
        if (fresh || d->drafts[i].leader) {
            g->node = arena_grow(d->arena, g->node, g->nodes, sizeof *g->node);
            g->node[g->nodes++] = (node){.first = i};
        }
        g->node_of[i] = g->nodes - 1;
        g->node[g->nodes - 1].last = i;
        fresh = ends_block(&d->drafts[i]);
    }
    g->node = arena_grow(d->arena, g->node, g->nodes, sizeof *g->node);
    g->node[g->nodes++] = (node){.first = d->count, .last = d->count};
}

static void connect(graph *g, uint32_t from, uint32_t to)
{
    arena *a = g->decoder->arena;
    node *f = &g->node[from], *t = &g->node[to];
    f->successor = arena_grow(a, f->successor, f->successors, sizeof *f->successor);
    f->successor[f->successors++] = to;
    t->predecessor = arena_grow(a, t->predecessor, t->predecessors, sizeof *t->predecessor);
    t->predecessor[t->predecessors++] = from;
}

static int find_label(const decoder *d, const char *label)
{
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->drafts[i].leader && d->drafts[i].label && !strcmp(d->drafts[i].label, label)) {
            return (int)i;
        }
    }
    return -1;
}

static bool resolve_labels(decoder *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        draft *b = &d->drafts[i];
        if (b->op.run != run_branch || b->target >= 0) continue;
        b->target = find_label(d, b->label);
        if (b->target < 0) return false;
    }
    return true;
}

static bool connect_blocks(graph *g)
{
    decoder *d = g->decoder;
    for (uint32_t n = 0; n + 1 < g->nodes; n++) {
        const draft *end = &d->drafts[g->node[n].last];
        if (end->op.run == run_branch) connect(g, n, g->node_of[end->target]);
        for (uint32_t i = 0; end->list && i < end->list->labels; i++) {
            int target = find_label(d, end->list->label[i]);
            if (target < 0) return false;
            connect(g, n, g->node_of[target]);
        }
        if (falls_through(end)) connect(g, n, n + 1);
        if (ends_block(end) && end->op.run != run_branch && end->op.run != run_jump_table) {
            connect(g, n, g->nodes - 1);
        }
    }
    return true;
}

/* Post-order of the reversed graph, without recursion: kernels have thousands of blocks. */
static void number_nodes(graph *g)
{
    arena *a = g->decoder->arena;
    uint32_t *stack = arena_take(a, g->nodes * sizeof *stack);
    uint32_t *edge = arena_take(a, g->nodes * sizeof *edge);
    bool *seen = arena_take(a, g->nodes);
    g->by_order = arena_take(a, (g->nodes + 1) * sizeof *g->by_order);
    uint32_t depth = 0;
    stack[depth++] = g->nodes - 1;
    seen[g->nodes - 1] = true;
    while (depth) {
        uint32_t n = stack[depth - 1];
        if (edge[n] < g->node[n].predecessors) {
            uint32_t next = g->node[n].predecessor[edge[n]++];
            if (!seen[next]) stack[depth++] = next;
            seen[next] = true;
        } else {
            g->node[n].order = ++g->reached;
            g->by_order[g->reached] = n;
            depth--;
        }
    }
}

static uint32_t common(const graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (g->node[a].order < g->node[b].order) a = g->node[a].meet;
        while (g->node[b].order < g->node[a].order) b = g->node[b].meet;
    }
    return a;
}

static void find_meets(graph *g)
{
    const uint32_t none = UINT32_MAX;
    for (uint32_t n = 0; n < g->nodes; n++) g->node[n].meet = none;
    uint32_t exit = g->nodes - 1;
    g->node[exit].meet = exit;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t order = g->reached - 1; order > 0; order--) {
            node *n = &g->node[g->by_order[order]];
            uint32_t meet = none;
            for (uint32_t i = 0; i < n->successors; i++) {
                uint32_t s = n->successor[i];
                if (g->node[s].meet == none) continue;
                meet = meet == none ? s : common(g, meet, s);
            }
            changed |= n->meet != meet;
            n->meet = meet;
        }
    }
}

/* A block that does nothing but exit. Lanes must not wait for each other there: those that are done
 * count as such, for the others may come to a barrier first. */
static bool only_exits(const graph *g, uint32_t n)
{
    const draft *drafts = g->decoder->drafts;
    uint32_t i = g->node[n].first, last = g->node[n].last;
    while (i < last && drafts[i].leader) i++;
    return i == last && drafts[i].op.run == run_exit && !drafts[i].op.guard;
}

/* Where the branch at the end of block n meets, as a draft; -1: nowhere before the exit. */
static int meeting_draft(const graph *g, uint32_t n)
{
    uint32_t meet = g->node[n].meet;
    if (meet >= g->nodes - 1 || only_exits(g, meet)) return -1;
    return (int)g->node[meet].first;
}

/* ---- branches around branches ---------------------------------------------------------------- */

/* How clang ends a loop: @p bra out; bra start; out: */
static bool skips_branch(const decoder *d, uint32_t i)
{
    if (i + 3 >= d->count) return false;
    const draft *x = &d->drafts[i];
    return x[0].op.run == run_branch && x[0].op.guard && x[2].op.run == run_branch &&
           !x[2].op.guard && x[3].leader && x[3].label && !strcmp(x[0].label, x[3].label);
}

/* @!p bra start; out: */
void flow_turn(decoder *d)
{
    uint32_t n = 0, count = d->count;
    for (uint32_t i = 0; i < count; i++) {
        bool turns = skips_branch(d, i);
        const char *start = turns ? d->drafts[i + 2].label : NULL;
        draft *x = &d->drafts[n++];
        *x = d->drafts[i];
        if (!turns || find_label(d, start) >= (int)n) continue;
        x->op.guard_negated = !x->op.guard_negated;
        x->label = start;
        i += 2; /* also what would have been a place to meet between the two */
    }
    d->count = n;
}

/* ---- laying out the final code --------------------------------------------------------------- */

static void mark_meets(graph *g, bool *kept, int *meet)
{
    decoder *d = g->decoder;
    for (uint32_t i = 0; i < d->count; i++) kept[i] = !d->drafts[i].leader;
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->drafts[i].op.closes) kept[d->drafts[i].target] = true;
    }
    for (uint32_t n = 0; n + 1 < g->nodes; n++) {
        uint32_t last = g->node[n].last;
        handler *run = d->drafts[last].op.run;
        meet[last] = -1;
        if (run != run_branch && run != run_jump_table) continue;
        meet[last] = meeting_draft(g, n);
        if (meet[last] >= 0) kept[meet[last]] = true;
    }
}

static jump_table *build_table(graph *g, const ptx_label_list *list, const uint32_t *position)
{
    jump_table *table = take(1, sizeof *table + list->labels * sizeof *table->target);
    table->count = list->labels;
    for (uint32_t i = 0; i < list->labels; i++) {
        int target = find_label(g->decoder, list->label[i]);
        table->target[i] = &g->decoder->to->code[position[target]];
    }
    return table;
}

static void lay_out(graph *g, const bool *kept, const int *meet)
{
    decoder *d = g->decoder;
    uint32_t *position = arena_take(d->arena, (d->count + 1) * sizeof *position);
    uint32_t ops = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        position[i] = ops;
        ops += kept[i];
    }
    function *f = d->to;
    f->ops = ops;
    f->code = take(ops + 1, sizeof *f->code);
    for (uint32_t i = 0; i < d->count; i++) {
        if (!kept[i]) continue;
        const draft *from = &d->drafts[i];
        op *o = &f->code[position[i]];
        *o = from->op;
        if (from->origin) watch_add(f, o, from->origin);
        if (from->target >= 0) o->target = &f->code[position[from->target]];
        if (from->list) o->extra = build_table(g, from->list, position);
        bool parts = o->run == run_branch || o->run == run_jump_table;
        if (parts && meet[i] >= 0) o->meet = &f->code[position[meet[i]]];
    }
    f->last = &f->code[ops - 1];
}

bool flow_finish(decoder *d)
{
    graph g = {.decoder = d};
    g.node_of = arena_take(d->arena, (d->count + 1) * sizeof *g.node_of);
    if (!resolve_labels(d)) return false;
    cut_blocks(&g);
    if (!connect_blocks(&g)) return false;
    number_nodes(&g);
    find_meets(&g);
    bool *kept = arena_take(d->arena, d->count);
    int *meet = arena_take(d->arena, d->count * sizeof *meet);
    mark_meets(&g, kept, meet);
    lay_out(&g, kept, meet);
    return true;
}
