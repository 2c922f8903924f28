/* on_softgpu.c: a GPU's exercises are judged on softgpu too, by a checker. */
#include "grade.h"

#include <stdio.h>

typedef struct checking {
    run *run;
    const device_facts *device;
    check *begun[EXERCISES_MAX]; /* from `taken` on */
    int taken;
    FILE *to;
} checking;

static json_t *check_item(void *context, int i)
{
    const checking *c = context;
    judge_item(c->run, &c->run->items[i], c->device);
    return c->run->items[i].entry;
}

static void take_next(checking *c)
{
    item *it = &c->run->items[c->taken];
    check *begun = c->begun[c->taken++];
    if (!it->buildable) return;
    check_give_turn(begun);
    it->entry = check_take(begun);
    if (!it->entry) /* its process ended: the others go on */
        it->entry = json_pack("{s:o}", "id", id_json(it->exercise->id));
    json_dumpf(it->entry, c->to, JSON_COMPACT);
    fflush(c->to);
}

/* In their order, several at once, each in a process of its own. */
static void check_items(run *r, const device_facts *device, int turns, FILE *to)
{
    checking c = {.run = r, .device = device, .to = to};
    const int width = checker_width();
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (!it->buildable) continue;
        while (c.taken < i && (i - c.taken >= width || must_wait(r, it))) take_next(&c);
        checker_await_turn(turns);
        build_on_prerequisites(r, it); /* here, where those that stand on it look */
        c.begun[i] = check_start(check_item, &c, i);
    }
    while (c.taken < r->count) take_next(&c);
}

/* In the checker, which builds and judges what the other process does. */
static void check_all(void *context, int turns, FILE *to)
{
    const run *others = context;
    options o = *others->options;
    o.backend = BACKEND_CPU;
    o.beside_gpu = true;
    run *r = run_begin(&o);
    run_build(r);
    const device_facts device = device_facts_read(&o);
    for (int i = 0; i < r->count; i++) r->items[i].buildable &= others->items[i].buildable;
    check_items(r, &device, turns, to);
    run_end(r);
}

/* Under a tool that checks programs one look is enough. */
void start_checks(run *r)
{
    const options *o = r->options;
    if (o->backend != BACKEND_CUDA || o->without_checks || o->slow > 0) return;
    if (!place_needs(o, ON_SOFTGPU)) r->checker = checker_start(check_all, r);
}
