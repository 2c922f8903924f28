/*
 * array.h: CUDA arrays, as array.c makes them and texture.c shows them to the device.
 */
#ifndef SOFTGPU_RUNTIME_ARRAY_H
#define SOFTGPU_RUNTIME_ARRAY_H

#include "api.h"

struct cudaArray {
    struct handle handle;
    void *base;
    size_t pitch;         /* bytes of a row */
    size_t width, height; /* texels; height 0: of one dimension */
    struct cudaChannelFormatDesc desc;
    unsigned flags;
};

/** NULL: no such array, or no longer. */
const struct cudaArray *array_find(cudaArray_const_t);
size_t array_rows(const struct cudaArray *);
/** Channels of such a texel; 0: there is none. */
uint32_t texel_channels(const struct cudaChannelFormatDesc *);

#endif
