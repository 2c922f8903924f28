/*
 * state.c: the state of a block that uses such a unit.
 *
 * Interface
 *   tensor_of, tensor_start, tensor_end, tensor_close
 */
#include <stdio.h>
#include <stdlib.h>

#include "bulk.h"
#include "device/base/arena.h"

/* As many as there are; a module's variables may be more than one block may have. */
static void give_chunks(tensor *t, const block *b)
{
    uint32_t chunks = b->shared_capacity / CHUNK + 1;
    if (t->chunks < chunks) {
        free(t->readers);
        free(t->landed);
        free(t->ended);
        t->readers = take(2 * (size_t)chunks, sizeof *t->readers);
        t->landed = take(chunks, sizeof *t->landed);
        t->ended = take(chunks, sizeof *t->ended);
    } else {
        chunks = t->chunks;
        memset(t->readers, 0, 2 * chunks * sizeof *t->readers);
        memset(t->landed, 0, chunks * sizeof *t->landed);
        memset(t->ended, 0, chunks * sizeof *t->ended);
    }
    t->chunks = chunks;
    t->seen = t->readers + chunks;
}

tensor *tensor_of(block *b)
{
    if (b->tensor) return b->tensor;
    b->tensor = take(1, sizeof *b->tensor);
    b->known = b->tensor->known;
    b->product_at = product_at;
    give_chunks(b->tensor, b);
    return b->tensor;
}

/* Lists keep their memory. */
void tensor_start(block *b)
{
    tensor *t = b->tensor;
    if (!t) return;
    flights_forget(b);
    readings_forget(b);
    departures_forget(t);
    tensor kept = *t;
    memset(t, 0, sizeof *t);
    memcpy(t->readings, kept.readings, sizeof kept.readings);
    t->flights = kept.flights;
    t->flight_capacity = kept.flight_capacity;
    t->departures = kept.departures;
    t->departure_capacity = kept.departure_capacity;
    t->chunks = kept.chunks;
    t->readers = kept.readers;
    t->landed = kept.landed;
    t->ended = kept.ended;
    give_chunks(t, b);
}

/* The warp that has come least far, at what it lacks. */
static void check_steps(block *b, uint32_t k, step_kind kind)
{
    const warp_group *g = &b->tensor->group[kind][k / GROUP_WARPS];
    const uint32_t steps = b->tensor->steps[kind][k];
    if (steps == g->steps || g->steps - steps > STEPS) return;
    char text[200];
    snprintf(text, sizeof text,
             "warp %u has executed %u %s and another of its warp group %u: all four warps must "
             "execute each together",
             k, steps, step_names[kind], g->steps);
    report_at(b, b->launch->function, g->step[steps % STEPS]->line, FINDING_DIVERGENT_BARRIER,
              k * LANES, 0, text);
}

void tensor_end(block *b)
{
    if (b->tensor && b->launch->check_races) {
        departures_end_late(b);
        flights_end_late(b);
    }
    for (uint32_t k = 0; b->tensor && k < b->warp_count; k++)
        for (uint32_t kind = 0; kind < STEP_KINDS; kind++) check_steps(b, k, (step_kind)kind);
}

void tensor_close(block *b)
{
    for (uint32_t k = 0; b->tensor && k < MAX_WARPS; k++) {
        warp_readings *r = &b->tensor->readings[k];
        for (uint32_t i = 0; i < r->capacity; i++) free(r->list[i].chunk);
        free(r->list);
    }
    if (!b->tensor) return;
    departures_forget(b->tensor);
    free(b->tensor->departures);
    free(b->tensor->flights);
    free(b->tensor->readers);
    free(b->tensor->landed);
    free(b->tensor->ended);
    free(b->tensor);
}
