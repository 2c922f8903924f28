/*
 * addresses.c: arrays of pointers. The grader names buffers and streams by the numbers of their
 * arguments, because only the worker knows where they are; on softgpu's device it puts the
 * addresses there itself.
 */
#include "worker.h"

#include <string.h>

static uint64_t address_of(const wire_call *call, const worker_buffer buffers[], uint64_t number)
{
    const wire_argument *a = &call->arguments[number];
    if (a->kind == WIRE_STREAM) return (uint64_t)(uintptr_t)device_stream(a->device);
    return (uint64_t)(uintptr_t)(buffers[number].base + a->before);
}

static bool is_at(const wire_call *call, const worker_buffer buffers[], uint64_t number,
                  uint64_t address)
{
    const uint32_t kind = call->arguments[number].kind;
    return (kind == WIRE_BUFFER || kind == WIRE_STREAM) &&
           address_of(call, buffers, number) == address;
}

static bool is_placed(const wire_argument *a)
{
    return a->address != 0;
}

void addresses_enter(const wire_argument *a, unsigned char *image, const wire_call *call,
                     const worker_buffer buffers[])
{
    for (uint64_t at = a->before; !is_placed(a) && at < a->before + a->bytes; at += 8) {
        uint64_t number;
        memcpy(&number, image + at, 8);
        if (number >= call->count) continue;
        memcpy(image + at, &(uint64_t){address_of(call, buffers, number)}, 8);
    }
}

void addresses_leave(const wire_argument *a, unsigned char *image, const wire_call *call,
                     const worker_buffer buffers[])
{
    for (uint64_t at = a->before; !is_placed(a) && at < a->before + a->bytes; at += 8) {
        uint64_t address, number = 0;
        memcpy(&address, image + at, 8);
        while (number < call->count && !is_at(call, buffers, number, address)) number++;
        if (number < call->count) memcpy(image + at, &number, 8);
    }
}
