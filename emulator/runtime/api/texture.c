/*
 * texture.c: texture objects: the program's description, and the device's.
 */
#include "array.h"

#include "runtime/claims/claims.h"

#include <stdlib.h>
#include <string.h>

struct texture {
    struct handle handle;
    cudaTextureObject_t object;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc desc;
    int ordinal;
};

static struct handle *textures;

/* CUDA 12 has no more of it, and so has a program that was compiled with it. */
enum {
    RESOURCE_BYTES = offsetof(struct cudaResourceDesc, res.pitch2D) +
                     sizeof(((struct cudaResourceDesc *)NULL)->res.pitch2D)
};

/* ---- where texels lie ------------------------------------------------------------------------ */

static cudaError_t describe_texel(device_texture *t, const struct cudaChannelFormatDesc *d)
{
    t->channels = texel_channels(d);
    t->channel_bytes = (uint32_t)d->x / 8;
    t->kind = d->f == cudaChannelFormatKindFloat    ? TEXEL_FLOAT
              : d->f == cudaChannelFormatKindSigned ? TEXEL_SIGNED
                                                    : TEXEL_UNSIGNED;
    return t->channels ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

static cudaError_t describe_array(device_texture *t, const struct cudaArray *a)
{
    if (!a) return cudaErrorInvalidValue;
    t->address = address_of(a->base);
    t->pitch = a->pitch;
    t->width = (uint32_t)a->width;
    t->height = (uint32_t)array_rows(a);
    return describe_texel(t, &a->desc);
}

static cudaError_t describe_linear(device_texture *t, const struct cudaResourceDesc *r)
{
    cudaError_t error = describe_texel(t, &r->res.linear.desc);

    if (error) return error;
    t->address = address_of(r->res.linear.devPtr);
    t->width = (uint32_t)(r->res.linear.sizeInBytes / (t->channels * t->channel_bytes));
    t->height = 1;
    t->is_linear = true;
    return t->address % TEXTURE_ALIGNMENT ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t describe_plane(device_texture *t, const struct cudaResourceDesc *r)
{
    t->address = address_of(r->res.pitch2D.devPtr);
    t->pitch = r->res.pitch2D.pitchInBytes;
    t->width = (uint32_t)r->res.pitch2D.width;
    t->height = (uint32_t)r->res.pitch2D.height;
    bool aligned = t->address % TEXTURE_ALIGNMENT == 0 && t->pitch % TEXTURE_PITCH_ALIGNMENT == 0;
    return aligned ? describe_texel(t, &r->res.pitch2D.desc) : cudaErrorInvalidValue;
}

static cudaError_t describe_resource(device_texture *t, const struct cudaResourceDesc *r)
{
    switch (r->resType) {
    case cudaResourceTypeArray: return describe_array(t, array_find(r->res.array.array));
    case cudaResourceTypeLinear: return describe_linear(t, r);
    case cudaResourceTypePitch2D: return describe_plane(t, r);
    case cudaResourceTypeMipmappedArray: return cudaErrorNotSupported;
    }
    return cudaErrorInvalidValue;
}

/* ---- how they are read ----------------------------------------------------------------------- */

/** To wrap and to mirror is for normalised coordinates; others are clamped. */
static uint32_t edge_of(const struct cudaTextureDesc *d, int dimension)
{
    enum cudaTextureAddressMode mode = d->addressMode[dimension];
    bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;

    return repeats && !d->normalizedCoords ? EDGE_CLAMP : (uint32_t)mode;
}

static cudaError_t describe_reading(device_texture *t, const struct cudaTextureDesc *d)
{
    bool floats = t->kind == TEXEL_FLOAT || d->readMode == cudaReadModeNormalizedFloat;

    if (d->sRGB) return cudaErrorNotSupported;
    if (d->readMode == cudaReadModeNormalizedFloat && t->kind != TEXEL_FLOAT &&
        t->channel_bytes == 4)
        return cudaErrorInvalidNormSetting;
    if (d->filterMode == cudaFilterModeLinear && !floats) return cudaErrorInvalidFilterSetting;
    t->edge[0] = t->is_linear ? EDGE_CLAMP : edge_of(d, 0);
    t->edge[1] = t->height == 1 ? EDGE_CLAMP : edge_of(d, 1);
    t->interpolates = d->filterMode == cudaFilterModeLinear && !t->is_linear;
    t->is_normalized = d->normalizedCoords != 0;
    t->gives_floats = d->readMode == cudaReadModeNormalizedFloat;
    memcpy(t->border, d->borderColor, sizeof t->border);
    return cudaSuccess;
}

/* ---- the API --------------------------------------------------------------------------------- */

static struct texture *find(cudaTextureObject_t object)
{
    struct handle *h = textures;
    while (h && ((struct texture *)h)->object != object) h = h->next;
    return (struct texture *)h;
}

static cudaError_t create(struct texture *t)
{
    device_texture texture = {0};
    uint64_t object;
    cudaError_t error = describe_resource(&texture, &t->resource);

    if (!error) error = describe_reading(&texture, &t->desc);
    if (!error && device_texture_add(runtime.device, &texture, &object))
        error = cudaErrorInvalidValue;
    if (error) return error;
    t->object = object;
    t->ordinal = runtime.ordinal;
    handle_add(&textures, &t->handle);
    return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *desc,
                                    const struct cudaResourceViewDesc *view)
{
    if (!object || !resource || !desc) return error_keep(cudaErrorInvalidValue);
    if (view) return error_keep(cudaErrorNotSupported);
    struct texture *t = calloc(1, sizeof *t);
    if (!t) return error_keep(cudaErrorMemoryAllocation);
    memcpy(&t->resource, resource, RESOURCE_BYTES);
    t->desc = *desc;
    cudaError_t error = runtime_enter();
    if (!error) error = create(t);
    if (!error) *object = t->object;
    if (error) free(t);
    return runtime_leave(error);
}

static cudaError_t destroy(struct texture *t)
{
    device *device = runtime.context[t->ordinal].device;

    handle_remove(&textures, t);
    if (device) device_texture_remove(device, t->object);
    free(t);
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    cudaError_t error = runtime_enter();
    struct texture *t = error || !object ? NULL : find(object);

    if (!error && object) error = t ? destroy(t) : cudaErrorInvalidValue;
    return runtime_leave(error);
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaTextureObject_t object)
{
    cudaError_t error = runtime_enter();
    const struct texture *t = error ? NULL : find(object);

    if (!error && (!t || !resource)) error = cudaErrorInvalidValue;
    if (!error) memcpy(resource, &t->resource, RESOURCE_BYTES);
    return runtime_leave(error);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *desc,
                                            cudaTextureObject_t object)
{
    cudaError_t error = runtime_enter();
    const struct texture *t = error ? NULL : find(object);

    if (!error && (!t || !desc)) error = cudaErrorInvalidValue;
    if (!error) *desc = t->desc;
    return runtime_leave(error);
}
