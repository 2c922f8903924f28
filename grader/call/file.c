/* file.c: the file that a call may read. Each worker has one, of the size that the call needs:
 * zeros take no memory. */
#include "buffers.h"

#include <unistd.h>

static bool write_all(int file, const wire_argument *w, const char *data)
{
    for (uint64_t done = 0; done < w->bytes;) {
        const ssize_t n = pwrite(file, data + done, w->bytes - done, (off_t)(w->at + done));
        if (n <= 0) return false;
        done += (uint64_t)n;
    }
    return true;
}

bool place_file(ongoing *c)
{
    const int file = worker_file(c->worker);
    for (uint32_t i = 0; i < c->wire.count; i++) {
        const wire_argument *w = &c->wire.arguments[i];
        if (w->kind != WIRE_FILE) continue;
        if (ftruncate(file, 0) != 0 || ftruncate(file, (off_t)(w->at + w->bytes + w->after)) != 0 ||
            !write_all(file, w, c->request->arguments[i].data))
            return call_fails(c, FAILURE_CALL, "the grader has no room for the file of %s",
                              c->request->function);
    }
    return true;
}
