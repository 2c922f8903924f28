/*
 * registers.c: setmaxnreg: the warps of a warp group give registers back, or take more.
 *
 * Interface
 *   run_registers
 *
 * A block has as many registers as it was launched with. A warp that takes more than are free waits
 * until others have given theirs back. ptxas ignores setmaxnreg where it does not know how many
 * registers there are: without a number of blocks in __launch_bounds__, or __maxnreg__.
 */
#include <stdio.h>

#include "device/residency.h"
#include "tensor.h"

static const op *misuse(warp *w, const op *o, const char *text)
{
    report(w, o, FINDING_MISUSE, (uint32_t)__builtin_ctz(active(w, o)), 0, "%s", text);
    launch_stop(w->block->launch, DEVICE_TRAP);
    return NULL;
}

static const op *refuse_number(warp *w, const op *o, uint32_t wanted)
{
    char text[200];
    snprintf(text, sizeof text,
             "setmaxnreg with %u registers: ptxas refuses it; write a multiple of %d from %d to %d",
             wanted, REGISTER_STEP, LEAST_REGISTERS, MOST_REGISTERS);
    return misuse(w, o, text);
}

static const op *refuse_direction(warp *w, const op *o, uint32_t wanted, uint32_t has)
{
    char text[200];
    snprintf(text, sizeof text,
             "setmaxnreg.%s to %u registers in a warp that has %u: write setmaxnreg.%s",
             o->variant ? "inc" : "dec", wanted, has, o->variant ? "dec" : "inc");
    return misuse(w, o, text);
}

/* All warps together, if this one had what it wants. */
static uint32_t sum_with(const warp *w, uint32_t wanted)
{
    const block *b = w->block;
    uint32_t sum = 0;
    for (uint32_t k = 0; k < b->warp_count; k++)
        sum += (k == w->index ? wanted : b->tensor->registers[k]) * LANES;
    return sum;
}

static void report_none(warp *w, const op *o, uint32_t wanted, uint32_t each)
{
    const block *b = w->block;
    const uint32_t groups = b->warp_count / GROUP_WARPS;
    report(w, o, FINDING_DEADLOCK, (uint32_t)__builtin_ctz(active(w, o)), 0,
           "waits for ever at setmaxnreg.inc: with %u registers for each thread of this warp the "
           "block would have %u, and it was launched with %u, %u for each of %u threads; let the "
           "numbers of its %u warp groups add up to at most %u, by a smaller one here or a "
           "setmaxnreg.dec in another",
           wanted, sum_with(w, wanted), each * b->warp_count * LANES, each, b->warp_count * LANES,
           groups, groups * each);
    launch_stop(b->launch, DEVICE_DEADLOCK);
}

static void begin(const block *b, uint32_t each)
{
    tensor *t = b->tensor;
    if (t->registers[0]) return;
    for (uint32_t k = 0; k < b->warp_count; k++) t->registers[k] = each;
}

const op *run_registers(warp *w, const op *o)
{
    const uint32_t wanted = (uint32_t)o->offset;
    const device_function_facts *f = &w->block->launch->function->facts;
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    tensor *t = tensor_of(w->block);
    uint32_t *waits = &t->yields[w->index];
    if (!*waits) check_group(w, o, STEP_REGISTERS);
    if (wanted < LEAST_REGISTERS || wanted > MOST_REGISTERS || wanted % REGISTER_STEP)
        return refuse_number(w, o, wanted);
    if (!f->entry_registers) return o + 1;
    begin(w->block, f->entry_registers);
    uint32_t *has = &t->registers[w->index];
    if (o->variant ? wanted < *has : wanted > *has) return refuse_direction(w, o, wanted, *has);
    if (sum_with(w, wanted) > f->entry_registers * w->block->warp_count * LANES) {
        w->block->polls = 0;
        if (++*waits < MOST_YIELDS) return give_way(w, o);
        report_none(w, o, wanted, f->entry_registers);
    }
    *waits = 0;
    *has = wanted;
    return o + 1;
}
