/*
 * device_buffers.c: buffers on softgpu's device, which the grader allocates, fills and reads itself
 * (device_process.c). The worker gets their addresses.
 */
#include "buffers.h"

#include <stdlib.h>
#include <string.h>

static bool have(const ongoing *c, const wire_argument *w)
{
    return w->kind == WIRE_BUFFER && w->space == WIRE_DEVICE && worker_device(c->worker);
}

/* Of an array of pointers what is there: numbers become addresses. The caller frees. */
static void *data_there(const ongoing *c, int i)
{
    const wire_argument *w = &c->wire.arguments[i];
    uint64_t *data = malloc(w->bytes + 1);
    if (!data) abort();
    memcpy(data, c->request->arguments[i].data, w->bytes);
    for (size_t k = 0; k < w->bytes / sizeof *data; k++)
        data[k] = c->wire.arguments[data[k]].address;
    return data;
}

static bool place_one(ongoing *c, int i)
{
    const argument *a = &c->request->arguments[i];
    wire_argument *w = &c->wire.arguments[i];
    void *own = w->addresses ? data_there(c, i) : NULL;
    const bool well = device_process_upload(worker_device(c->worker), w,
                                            a->role == ROLE_OUT ? NULL
                                            : own               ? own
                                                                : a->data);
    free(own);
    return well || call_fails(c, FAILURE_CALL, "softgpu has no memory for `%s` of %s", w->name,
                              c->request->function);
}

/* What points comes after what it points to. */
static bool place_all(ongoing *c)
{
    device_process *d = worker_device(c->worker);
    if (!d) return true;
    device_process_release(d, c->request->relocate);
    for (uint32_t points = 0; points < 2; points++) {
        for (uint32_t i = 0; i < c->wire.count; i++) {
            const wire_argument *w = &c->wire.arguments[i];
            if (have(c, w) && w->addresses == points && !place_one(c, (int)i)) return false;
        }
    }
    device_process_listen(d, c->request->counted, c->request->shuffle);
    return true;
}

static bool is_unchanged(const ongoing *c, int i)
{
    const wire_argument *w = &c->wire.arguments[i];
    void *own = w->addresses ? data_there(c, i) : NULL;
    const bool same = device_process_holds(worker_device(c->worker), w,
                                           own ? own : c->request->arguments[i].data);
    free(own);
    return same;
}

static bool take_back(ongoing *c, int i)
{
    device_process *d = worker_device(c->worker);
    const argument *a = &c->request->arguments[i];
    const wire_argument *w = &c->wire.arguments[i];
    if (!device_process_is_whole(d, w))
        return call_fails(c, FAILURE_WROTE_OUTSIDE, "wrote outside of `%s`: before its start",
                          w->name);
    if (w->bytes == 0) return true;
    if (is_output(a))
        return device_process_download(d, w, a->data) ||
               call_fails(c, FAILURE_CALL, "softgpu ended before `%s` was read", w->name);
    return is_unchanged(c, i) ||
           call_fails(c, FAILURE_CHANGED_INPUT, "changed its input `%s`, which is const", w->name);
}

const buffers device_buffers = {have, place_all, take_back};
