/*
 * fill.c: fills: what is legal, and the bytes set. Each is a box of rows, of elements of 1, 2 or 4
 * bytes.
 */
#include "memory.h"

#include "runtime/profile/profile.h"

cudaError_t fill_check(const struct fill_work *f)
{
    const struct cudaMemsetParams *p = &f->plane;
    unsigned size = p->elementSize;
    bool rows = p->height * f->depth > 1;

    if (size != 1 && size != 2 && size != 4) return cudaErrorInvalidValue;
    if (!p->width || !p->height || !f->depth) return cudaSuccess;
    if (rows && p->pitch < p->width * size) return cudaErrorInvalidValue;
    if (!is_device_address(p->dst) && !is_shared_address(p->dst) && !pinned_contains(p->dst))
        return cudaErrorInvalidValue;
    return address_of(p->dst) % size ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t fill_host(unsigned char *to, const struct cudaMemsetParams *p)
{
    size_t bytes = p->width * p->elementSize;

    if (is_shared_address(to) && !shared_holds(to, bytes)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(p->value >> i % p->elementSize * 8);
    return cudaSuccess;
}

static cudaError_t fill_row(unsigned char *to, const struct cudaMemsetParams *p)
{
    device *device = device_at(to);

    if (!is_device_address(to)) return fill_host(to, p);
    if (!device) return cudaErrorInvalidValue;
    return error_from_device(
        device_fill(device, address_of(to), p->value, p->elementSize, p->width));
}

cudaError_t fill_run(const struct fill_work *f)
{
    const struct cudaMemsetParams *p = &f->plane;
    unsigned char *to = p->dst;
    cudaError_t error = cudaSuccess;

    if (!p->width) return cudaSuccess;
    for (size_t layer = 0; layer < f->depth; layer++)
        for (size_t row = 0; row < p->height && !error; row++)
            error = fill_row(to + layer * f->layer_step + row * p->pitch, p);
    if (!error) count_fill(p->width * p->elementSize * p->height * f->depth);
    return error;
}
