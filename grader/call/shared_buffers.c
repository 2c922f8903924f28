/*
 * shared_buffers.c: buffers as images in shared memory: canaries, data, canaries. The grader keeps
 * its own copy of the data, so it sees every change.
 */
#include "buffers.h"

#include <string.h>

#define CANARY_BYTES 4096
#define CANARY       0xc7

static bool have(const ongoing *c, const wire_argument *w)
{
    return w->kind == WIRE_BUFFER && !device_buffers.have(c, w);
}

/* ---- there ----------------------------------------------------------------------------------- */

static void surround(const call_request *request, wire_argument *w)
{
    w->against_guard = w->space == WIRE_HOST && request->against_guard && w->before == 0;
    w->before += CANARY_BYTES;
    w->after = w->against_guard ? 0 : CANARY_BYTES;
}

static size_t image_bytes(const wire_argument *w)
{
    return w->before + w->bytes + w->after;
}

/* Where it begins: what shall end before an unmapped page ends with one here already. */
static size_t start_of(const wire_argument *w, size_t end, size_t room)
{
    return w->against_guard ? end + room - image_bytes(w) : end;
}

static size_t lay_out(ongoing *c)
{
    size_t end = 0;
    for (uint32_t i = 0; i < c->wire.count; i++) {
        wire_argument *w = &c->wire.arguments[i];
        if (!have(c, w)) continue;
        surround(c->request, w);
        const size_t room = (image_bytes(w) + WIRE_PAGE - 1) / WIRE_PAGE * WIRE_PAGE;
        w->at = start_of(w, end, room);
        end += room;
    }
    return end;
}

static void fill_image(unsigned char *image, const wire_argument *w, const argument *a)
{
    memset(image, CANARY, w->before);
    memset(image + w->before + w->bytes, CANARY, w->after);
    if (a->role == ROLE_OUT)
        parallel_fill(image + w->before, (unsigned)w->value.u, w->bytes);
    else
        parallel_copy(image + w->before, a->data, w->bytes);
}

static bool place_all(ongoing *c)
{
    c->wire.memory_bytes = lay_out(c);
    c->shared = worker_memory(c->worker, c->wire.memory_bytes);
    if (!c->shared && c->wire.memory_bytes > 0)
        return call_fails(c, FAILURE_CALL, "the grader has no memory for %s", c->request->function);
    for (uint32_t i = 0; i < c->wire.count; i++) {
        const wire_argument *w = &c->wire.arguments[i];
        if (have(c, w)) fill_image(c->shared + w->at, w, &c->request->arguments[i]);
    }
    return true;
}

/* ---- and back -------------------------------------------------------------------------------- */

static bool canaries_live(ongoing *c, const unsigned char *image, const wire_argument *w)
{
    const unsigned char *after = image + w->before + w->bytes;
    for (size_t i = 0; i < w->after; i++) {
        if (after[i] == CANARY) continue;
        c->outcome->cause = CAUSE_WROTE_PAST_END;
        return call_fails(c, FAILURE_WROTE_OUTSIDE, "wrote outside of `%s`: %zu bytes past its end",
                          w->name, i);
    }
    for (size_t i = 1; i <= w->before; i++) {
        if (image[w->before - i] == CANARY) continue;
        return call_fails(c, FAILURE_WROTE_OUTSIDE,
                          "wrote outside of `%s`: %zu bytes before its start", w->name, i);
    }
    return true;
}

static bool take_back(ongoing *c, int i)
{
    const argument *a = &c->request->arguments[i];
    const wire_argument *w = &c->wire.arguments[i];
    const unsigned char *image = c->shared + w->at;
    if (!canaries_live(c, image, w)) return false;
    if (w->bytes == 0) return true;
    if (is_output(a)) {
        parallel_copy(a->data, image + w->before, w->bytes);
        return true;
    }
    return parallel_equal(image + w->before, a->data, w->bytes) ||
           call_fails(c, FAILURE_CHANGED_INPUT, "changed its input `%s`, which is const", w->name);
}

const buffers shared_buffers = {have, place_all, take_back};
