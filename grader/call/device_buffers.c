/*
 * device_buffers.c: buffers on softgpu's device, which the grader allocates, fills and reads itself
 * (device_process.c). The worker gets their addresses.
 */
#include "buffers.h"

static bool have(const ongoing *c, const wire_argument *w)
{
    return w->kind == WIRE_BUFFER && w->space == WIRE_DEVICE && worker_device(c->worker);
}

static bool place_all(ongoing *c)
{
    device_process *d = worker_device(c->worker);
    if (!d) return true;
    device_process_release(d, c->request->relocate);
    for (uint32_t i = 0; i < c->wire.count; i++) {
        const argument *a = &c->request->arguments[i];
        wire_argument *w = &c->wire.arguments[i];
        if (!have(c, w)) continue;
        if (!device_process_upload(d, w, a->role == ROLE_OUT ? NULL : a->data))
            return call_fails(c, FAILURE_CALL, "softgpu has no memory for `%s` of %s", w->name,
                              c->request->function);
    }
    device_process_listen(d, c->request->counted);
    return true;
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
    return device_process_holds(d, w, a->data) ||
           call_fails(c, FAILURE_CHANGED_INPUT, "changed its input `%s`, which is const", w->name);
}

const buffers device_buffers = {have, place_all, take_back};
