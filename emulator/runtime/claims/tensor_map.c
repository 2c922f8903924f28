/*
 * tensor_map.c: cuTensorMapEncodeTiled and cuGetErrorString, the functions of the driver that
 * softgpu has, and the way to them. Limits and errors of a tensor map are those that the driver's
 * documentation names.
 */
#include "claims.h"

#include "device/tensor_map.h"

#include <stdbool.h>
#include <string.h>

/* Of cuda.h, which hides the functions of the driver. */
enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_SUPPORTED = 801 };
enum { MAP_ALIGNMENT = 64, ADDRESS_ALIGNMENT = 16, MOST_BOX = 256, MOST_EVERY = 8 };
#define MOST_STRIDE    (UINT64_C(1) << 40)
#define MOST_DIMENSION (UINT64_C(1) << 32)

/* By CUtensorMapDataType; floats may be filled with NaN. */
static const struct {
    uint8_t size;
    bool is_float;
} types[] = {{1, false}, {2, false}, {4, false}, {4, false}, {8, false}, {8, false}, {2, true},
             {4, true},  {8, true},  {2, true},  {4, true},  {4, true},  {4, true}};

static const uint8_t swizzles[] = {0, 32, 64, 128};

static int check_dimension(int i, int rank, const uint64_t *sizes, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *every)
{
    bool stepped = i + 1 < rank;

    if (!sizes[i] || sizes[i] > MOST_DIMENSION) return INVALID_VALUE;
    if (!box[i] || box[i] > MOST_BOX) return INVALID_VALUE;
    if (!every[i] || every[i] > MOST_EVERY) return INVALID_VALUE;
    if (stepped && (strides[i] % ADDRESS_ALIGNMENT || strides[i] >= MOST_STRIDE))
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

int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *every,
                           int interleave, int swizzle, int promotion, int fill);
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *every,
                           int interleave, int swizzle, int promotion, int fill)
{
    device_tensor_map m = {.magic = TENSOR_MAP_MAGIC, .address = (uintptr_t)address};
    int error = check(map, type, rank, address, interleave, swizzle, promotion, fill);

    if (error) return error;
    if (!sizes || !box || !every || (rank > 1 && !strides)) return INVALID_VALUE;
    for (uint32_t i = 0; i < rank; i++) {
        error = check_dimension((int)i, (int)rank, sizes, strides, box, every);
        if (error) return error;
        m.last[i] = (uint32_t)(sizes[i] - 1);
        m.box[i] = (uint16_t)box[i];
        m.every[i] = (uint8_t)every[i];
        if (i + 1 < rank) m.stride[i] = strides[i];
    }
    m.type = (uint8_t)type;
    m.size = types[type].size;
    m.rank = (uint8_t)rank;
    m.swizzle = swizzles[swizzle];
    m.fills_nan = (uint8_t)fill;
    error = check_row(&m);
    if (error) return error;
    memset(map, 0, TENSOR_MAP_BYTES);
    memcpy(map, &m, sizeof m);
    return SUCCESS;
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
