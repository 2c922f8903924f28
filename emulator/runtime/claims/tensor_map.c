/*
 * tensor_map.c: cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuGetErrorString, the functions
 * of the driver that softgpu has, and the way to them. Limits and errors of a tensor map are those
 * that the driver's documentation names.
 */
#include "claims.h"

#include "device/tensor_map.h"

#include <stdbool.h>
#include <string.h>

/* Of cuda.h, which hides the functions of the driver. */
enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_SUPPORTED = 801 };
enum { MAP_ALIGNMENT = 64, ADDRESS_ALIGNMENT = 16, MOST_BOX = 256, MOST_EVERY = 8 };
enum { MOST_PIXELS = 1024 };
#define MOST_STRIDE    (UINT64_C(1) << 40)
#define MOST_DIMENSION (UINT64_C(1) << 32)

/* By CUtensorMapDataType; floats may be filled with NaN. */
static const struct {
    uint8_t size;
    bool is_float;
} types[] = {{1, false}, {2, false}, {4, false}, {4, false}, {8, false}, {8, false}, {2, true},
             {4, true},  {8, true},  {2, true},  {4, true},  {4, true},  {4, true}};

static const uint8_t swizzles[] = {0, 32, 64, 128};

/* What both kinds of map say. */
typedef struct tensor_shape {
    int type;
    uint32_t rank;
    void *address;
    const uint64_t *sizes, *strides;
    const uint32_t *every;
    int swizzle, fill;
} tensor_shape;

static int check_dimension(uint32_t i, const tensor_shape *x)
{
    bool stepped = i + 1 < x->rank;

    if (!x->sizes[i] || x->sizes[i] > MOST_DIMENSION) return INVALID_VALUE;
    if (!x->every[i] || x->every[i] > MOST_EVERY) return INVALID_VALUE;
    if (stepped && (x->strides[i] % ADDRESS_ALIGNMENT || x->strides[i] >= MOST_STRIDE))
        return INVALID_VALUE;
    return SUCCESS;
}

static int check(const void *map, int type, uint32_t rank, const void *address, int interleave,
                 int swizzle, int promotion, int fill)
{
    if (!map || (uintptr_t)map % MAP_ALIGNMENT || !rank || rank > TENSOR_RANK) return INVALID_VALUE;
    if (type < 0 || (size_t)type >= sizeof types / sizeof *types) return INVALID_VALUE;
    if ((uintptr_t)address % ADDRESS_ALIGNMENT) return INVALID_VALUE;
    if (swizzle < 0 || swizzle > 3 || promotion < 0 || promotion > 3) return INVALID_VALUE;
    if (fill < 0 || fill > 1 || (fill && !types[type].is_float)) return INVALID_VALUE;
    return interleave < 0 || interleave > 2 ? INVALID_VALUE : interleave ? NOT_SUPPORTED : SUCCESS;
}

/* The inner row of a tile: whole pieces of 16 bytes, within the row of the swizzle. */
static int check_row(const device_tensor_map *map)
{
    uint32_t bytes = (uint32_t)map->box[0] * map->size;

    if (bytes % ADDRESS_ALIGNMENT) return INVALID_VALUE;
    return map->swizzle && bytes > map->swizzle ? INVALID_VALUE : SUCCESS;
}

static int begin(device_tensor_map *m, const tensor_shape *x)
{
    *m = (device_tensor_map){.magic = TENSOR_MAP_MAGIC, .address = (uintptr_t)x->address};
    if (!x->sizes || !x->every || (x->rank > 1 && !x->strides)) return INVALID_VALUE;
    for (uint32_t i = 0; i < x->rank; i++) {
        int error = check_dimension(i, x);
        if (error) return error;
        m->last[i] = (uint32_t)(x->sizes[i] - 1);
        m->every[i] = i ? (uint8_t)x->every[i] : 1; /* without interleaving the first is ignored */
        if (i + 1 < x->rank) m->stride[i] = x->strides[i];
    }
    m->type = (uint8_t)x->type;
    m->size = types[x->type].size;
    m->rank = (uint8_t)x->rank;
    m->swizzle = swizzles[x->swizzle];
    m->fills_nan = (uint8_t)x->fill;
    return SUCCESS;
}

static int finish(void *map, const device_tensor_map *m)
{
    int error = check_row(m);
    if (error) return error;
    memset(map, 0, TENSOR_MAP_BYTES);
    memcpy(map, m, sizeof *m);
    return SUCCESS;
}

int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *every,
                           int interleave, int swizzle, int promotion, int fill);
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *every,
                           int interleave, int swizzle, int promotion, int fill)
{
    const tensor_shape x = {type, rank, address, sizes, strides, every, swizzle, fill};
    device_tensor_map m;
    int error = check(map, type, rank, address, interleave, swizzle, promotion, fill);

    if (!error) error = begin(&m, &x);
    if (error || !box) return error ? error : INVALID_VALUE;
    for (uint32_t i = 0; i < rank; i++) {
        if (!box[i] || box[i] > MOST_BOX) return INVALID_VALUE;
        m.box[i] = (uint16_t)box[i];
    }
    return finish(map, &m);
}

/* ---- im2col ---------------------------------------------------------------------------------- */

/* Bits of a corner, by the number of dimensions in space. */
static const int corner_bits[] = {0, 16, 8, 5};

static int set_corners(device_tensor_map *m, const int *lower, const int *upper)
{
    for (int i = 0; i < m->rank - 2; i++) {
        const int most = 1 << (corner_bits[m->rank - 2] - 1);
        if (lower[i] < -most || lower[i] >= most || upper[i] < -most || upper[i] >= most)
            return INVALID_VALUE;
        if ((int64_t)m->last[i + 1] + upper[i] < lower[i]) return INVALID_VALUE;
        m->lower[i] = (int16_t)lower[i];
        m->upper[i] = (int16_t)upper[i];
    }
    return SUCCESS;
}

int cuTensorMapEncodeIm2col(void *map, int type, uint32_t rank, void *address,
                            const uint64_t *sizes, const uint64_t *strides, const int *lower,
                            const int *upper, uint32_t channels, uint32_t pixels,
                            const uint32_t *every, int interleave, int swizzle, int promotion,
                            int fill);
int cuTensorMapEncodeIm2col(void *map, int type, uint32_t rank, void *address,
                            const uint64_t *sizes, const uint64_t *strides, const int *lower,
                            const int *upper, uint32_t channels, uint32_t pixels,
                            const uint32_t *every, int interleave, int swizzle, int promotion,
                            int fill)
{
    const tensor_shape x = {type, rank, address, sizes, strides, every, swizzle, fill};
    device_tensor_map m;
    int error = check(map, type, rank, address, interleave, swizzle, promotion, fill);

    if (!error) error = begin(&m, &x);
    if (error) return error;
    if (rank < 3 || !lower || !upper || !channels || channels > MOST_BOX) return INVALID_VALUE;
    if (!pixels || pixels > MOST_PIXELS) return INVALID_VALUE;
    m.box[0] = (uint16_t)channels;
    m.pixels = (uint16_t)pixels;
    error = set_corners(&m, lower, upper);
    return error ? error : finish(map, &m);
}

/* ---- what an error means --------------------------------------------------------------------- */

/* The runtime's errors have the driver's numbers. */
int cuGetErrorString(int error, const char **words);
int cuGetErrorString(int error, const char **words)
{
    const char *text = cudaGetErrorString((cudaError_t)error);
    const bool known = strcmp(text, cudaGetErrorString((cudaError_t)-1)) != 0;

    if (words) *words = known ? text : NULL;
    return known && words ? SUCCESS : INVALID_VALUE;
}

/* ---- the way to them ------------------------------------------------------------------------- */

static uintptr_t driver_function(const char *name)
{
    if (!strcmp(name, "cuTensorMapEncodeTiled")) return (uintptr_t)cuTensorMapEncodeTiled;
    if (!strcmp(name, "cuTensorMapEncodeIm2col")) return (uintptr_t)cuTensorMapEncodeIm2col;
    return strcmp(name, "cuGetErrorString") ? 0 : (uintptr_t)cuGetErrorString;
}

static cudaError_t find(const char *name, void **function, int *found)
{
    if (!name || !function) return error_keep(cudaErrorInvalidValue);
    *function = (void *)driver_function(name);
    if (found) *found = *function ? 0 : 1; /* cudaDriverEntryPointSymbolNotFound */
    return *function || found ? cudaSuccess : error_keep(cudaErrorSymbolNotFound);
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    int *found);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, int *found);

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    int *found)
{
    (void)flags;
    return find(name, function, found);
}
PER_THREAD_STREAM(cudaGetDriverEntryPoint);

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, int *found)
{
    (void)version, (void)flags;
    return find(name, function, found);
}
PER_THREAD_STREAM(cudaGetDriverEntryPointByVersion);
