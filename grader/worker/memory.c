/*
 * memory.c: host buffers. The data ends where an unmapped page begins (against_guard), or starts on
 * a 64-byte line with canaries on both sides and the unmapped page behind them.
 *
 * Where only the CPU works they are the grader's shared memory itself: without copies no time is
 * lost, and any work of a worker outside a call is the student's. Memory that a driver may
 * page-lock is the worker's own.
 */
#include "worker.h"

#include <string.h>
#include <sys/mman.h>

#ifdef WITH_CUDA
static const bool in_place = false;
#else
static const bool in_place = true;
#endif

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* @return pages with an unmapped one behind them: of the shared memory, or new ones; or NULL */
static unsigned char *map_pages(size_t bytes, size_t at)
{
    unsigned char *all =
        mmap(NULL, bytes + WIRE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    void *pages = in_place ? mmap(all, bytes, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED | MAP_POPULATE, WIRE_MEMORY_FD, (off_t)at)
                           : mmap(all, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (pages == all) return all;
    munmap(all, bytes + WIRE_PAGE);
    return NULL;
}

bool host_buffer_create(worker_buffer *buffer, const wire_argument *argument,
                        const unsigned char *shared)
{
    const size_t lead = argument->at % WIRE_PAGE;
    const size_t image_bytes = argument->before + argument->bytes + argument->after;
    const size_t body = round_up(lead + image_bytes, WIRE_PAGE);
    unsigned char *pages = map_pages(body, argument->at - lead);
    if (!pages) return false;
    buffer->mapping = pages;
    buffer->mapping_bytes = body + WIRE_PAGE;
    buffer->image_bytes = image_bytes;
    buffer->base = pages + lead;
    if (!in_place) memcpy(buffer->base, shared + argument->at, image_bytes);
    return true;
}

void host_buffer_read(unsigned char *image, const worker_buffer *buffer)
{
    if (!in_place) memcpy(image, buffer->base, buffer->image_bytes);
}

void host_buffer_free(worker_buffer *buffer)
{
    if (buffer->mapping) munmap(buffer->mapping, buffer->mapping_bytes);
}
