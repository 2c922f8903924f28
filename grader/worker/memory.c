/*
 * memory.c: host buffers. The data ends where an unmapped page begins (against_guard), or starts on
 * a 64-byte line with canaries on both sides and the unmapped page behind them.
 */
#include "worker.h"

#include <string.h>
#include <sys/mman.h>

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

bool host_buffer_create(worker_buffer *buffer, const wire_argument *argument,
                        const unsigned char *image)
{
    const size_t image_bytes = argument->before + argument->bytes + argument->after;
    const size_t body = round_up(image_bytes, WIRE_PAGE) + WIRE_PAGE;
    unsigned char *mapping =
        mmap(NULL, body + WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) return false;
    mprotect(mapping + body, WIRE_PAGE, PROT_NONE);

    buffer->mapping = mapping;
    buffer->mapping_bytes = body + WIRE_PAGE;
    buffer->image_bytes = image_bytes;
    buffer->base = argument->against_guard ? mapping + body - image_bytes : mapping;
    memcpy(buffer->base, image, image_bytes);
    return true;
}

void host_buffer_free(worker_buffer *buffer)
{
    if (buffer->mapping) munmap(buffer->mapping, buffer->mapping_bytes);
}
