/* tma.cu: bulk copies: plain, of tensors, by im2col, reducing; compared with what the host picks
 * element by element. */
// FLAGS: -arch=sm_90a
// NEEDS: nvcc, clang 14 does not know bulk copies
#include "check.h"

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { MOST = 64 << 10 };

typedef CUresult encoder(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                         const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                         CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                         CUtensorMapFloatOOBfill);

static encoder *find_encoder()
{
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                        &found));
    CHECK(found == cudaDriverEntryPointSuccess);
    return (encoder *)encode;
}

/* ---- kernels --------------------------------------------------------------------------------- */

__device__ static uint32_t at(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ static void begin(uint64_t *barrier, int bytes)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ static void wait(uint64_t *barrier, int parity)
{
    asm volatile("{\n.reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n}" ::"r"(at(barrier)),
                 "r"(parity)
                 : "memory");
}

/* Coordinates in the order of the dimensions. */
struct corner {
    int at[5];
};

#define LOAD "cp.async.bulk.tensor."
#define INTO ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
template <int RANK>
__device__ static void load(void *to, const CUtensorMap *map, uint64_t *barrier, corner c)
{
    if (RANK == 1)
        asm volatile(LOAD "1d" INTO "{%3}], [%2];" ::"r"(at(to)), "l"(map), "r"(at(barrier)),
                     "r"(c.at[0]) : "memory");
    if (RANK == 2)
        asm volatile(LOAD "2d" INTO "{%3, %4}], [%2];" ::"r"(at(to)), "l"(map), "r"(at(barrier)),
                     "r"(c.at[0]), "r"(c.at[1]) : "memory");
    if (RANK == 3)
        asm volatile(LOAD "3d" INTO "{%3, %4, %5}], [%2];" ::"r"(at(to)), "l"(map),
                     "r"(at(barrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]) : "memory");
    if (RANK == 4)
        asm volatile(LOAD "4d" INTO "{%3, %4, %5, %6}], [%2];" ::"r"(at(to)), "l"(map),
                     "r"(at(barrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3])
                     : "memory");
    if (RANK == 5)
        asm volatile(LOAD "5d" INTO "{%3, %4, %5, %6, %7}], [%2];" ::"r"(at(to)), "l"(map),
                     "r"(at(barrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]),
                     "r"(c.at[4]) : "memory");
}

template <int RANK>
__global__ static void fetch(unsigned char *out, const __grid_constant__ CUtensorMap map,
                             corner where, int bytes)
{
    extern __shared__ __align__(1024) unsigned char tile[];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        begin(&barrier, bytes);
        load<RANK>(tile, &map, &barrier, where);
    }
    __syncthreads();
    wait(&barrier, 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i];
}

#define END_STORE                                                                                  \
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory")

__global__ static void give(const __grid_constant__ CUtensorMap map, const float *in, int x, int y,
                            int count, bool adds)
{
    extern __shared__ __align__(1024) unsigned char tile[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) ((float *)tile)[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    if (adds)
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                     "[%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(at(tile))
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                     "[%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(at(tile))
                     : "memory");
    END_STORE;
}

__global__ static void there_and_back(float *out, const float *in, float *sum, int bytes)
{
    extern __shared__ __align__(1024) unsigned char tile[];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        begin(&barrier, bytes);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(at(tile)), "l"(in), "r"(bytes), "r"(at(&barrier))
                     : "memory");
    }
    __syncthreads();
    wait(&barrier, 0);
    ((float *)tile)[threadIdx.x] *= 2;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                 "r"(at(tile)), "r"(bytes) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                     sum), "r"(at(tile)), "r"(bytes) : "memory");
    END_STORE;
}

#define REDUCE(operation, to)                                                                      \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], 128;" ::"l"( \
                     to), "r"(at(tile)) : "memory")
#define DEFINE_BOUNDS(name, T, type)                                                               \
    __global__ static void name(T *least, T *most, const T *in)                                    \
    {                                                                                              \
        __shared__ __align__(128) T tile[64];                                                      \
        tile[threadIdx.x] = in[threadIdx.x];                                                       \
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                               \
        __syncthreads();                                                                           \
        if (threadIdx.x) return;                                                                   \
        REDUCE("min." type, least);                                                                \
        REDUCE("max." type, most);                                                                 \
        END_STORE;                                                                                 \
    }
DEFINE_BOUNDS(bounds_of_halves, __half, "f16")
DEFINE_BOUNDS(bounds_of_brains, __nv_bfloat16, "bf16")

/* ---- what the host expects ------------------------------------------------------------------- */

struct box {
    int rank;
    cuuint64_t size[5];
    cuuint32_t box[5], every[5];
    int swizzle; /* bytes */
};

static CUtensorMap describe(const box &b, void *memory, CUtensorMapDataType type, int size,
                            bool nan = false)
{
    CUtensorMap map;
    cuuint64_t pitch[5], bytes = size;
    for (int i = 0; i < b.rank; i++) pitch[i] = bytes = (bytes * b.size[i] + 15) / 16 * 16;
    CHECK(find_encoder()(&map, type, b.rank, memory, b.size, pitch, b.box, b.every,
                         CU_TENSOR_MAP_INTERLEAVE_NONE,
                         (CUtensorMapSwizzle)(b.swizzle == 128  ? 3
                                              : b.swizzle == 64 ? 2
                                              : b.swizzle == 32 ? 1
                                                                : 0),
                         CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                             : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return map;
}

static int swizzled(int swizzle, int byte)
{
    const int chunks = swizzle ? swizzle / 16 : 1;
    return byte ^ byte / 128 % chunks * 16;
}

static int steps(const box &b, int i)
{
    return i ? (b.box[i] + b.every[i] - 1) / b.every[i] : b.box[i];
}

/* Each element has a value of its own, none 0. */
template <int RANK> static void fetch_box(const box &b, corner where)
{
    size_t row = 0, all = 1;
    int tile = 1;
    for (int i = 0; i < RANK; i++) {
        all = i ? all * b.size[i] : row = (b.size[0] + 7) / 8 * 8;
        tile *= steps(b, i);
    }
    std::vector<unsigned short> x(all), want(tile), got(tile);
    for (size_t i = 0; i < all; i++) x[i] = (unsigned short)(i + 1);
    for (int t = 0; t < tile; t++) {
        size_t pitch = 1, from = 0;
        bool inside = true;
        for (int i = 0, rest = t; i < RANK; i++) {
            const int n = steps(b, i), every = i ? b.every[i] : 1;
            const long long c = where.at[i] + (long long)(rest % n) * every;
            inside = inside && c >= 0 && c < (long long)b.size[i];
            from += c * pitch;
            pitch *= i ? b.size[i] : row;
            rest /= n;
        }
        want[swizzled(b.swizzle, 2 * t) / 2] = inside ? x[from] : 0;
    }
    unsigned short *d_x;
    unsigned char *out;
    OK(cudaMalloc(&d_x, all * 2));
    OK(cudaMalloc(&out, tile * 2));
    OK(cudaMemcpy(d_x, x.data(), all * 2, cudaMemcpyHostToDevice));
    const CUtensorMap map = describe(b, d_x, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2);
    OK(cudaFuncSetAttribute(fetch<RANK>, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST));
    fetch<RANK><<<1, 64, MOST>>>(out, map, where, tile * 2);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(got.data(), out, tile * 2, cudaMemcpyDeviceToHost));
    CHECK(got == want);
    OK(cudaFree(d_x));
    OK(cudaFree(out));
}

CASE(one_to_five_dimensions)
{
    fetch_box<1>({1, {1000}, {64}, {1}, 0}, {{128}});
    fetch_box<2>({2, {100, 50}, {64, 8}, {1, 1}, 0}, {{16, 3}});
    fetch_box<3>({3, {40, 9, 7}, {16, 4, 3}, {1, 1, 1}, 0}, {{5, 2, 1}});
    fetch_box<4>({4, {24, 5, 4, 3}, {8, 2, 2, 3}, {1, 1, 1, 1}, 0}, {{8, 1, 2, 0}});
    fetch_box<5>({5, {16, 3, 4, 3, 5}, {8, 3, 2, 2, 2}, {1, 1, 1, 1, 1}, 0}, {{8, 0, 1, 1, 3}});
}

CASE(zeros_outside)
{
    fetch_box<1>({1, {1000}, {64}, {1}, 0}, {{-20}});
    fetch_box<1>({1, {1000}, {64}, {1}, 0}, {{990}});
    fetch_box<2>({2, {100, 50}, {64, 8}, {1, 1}, 0}, {{-16, -3}});
    fetch_box<2>({2, {100, 50}, {64, 8}, {1, 1}, 128}, {{70, 47}});
    fetch_box<2>({2, {100, 50}, {64, 8}, {1, 1}, 0}, {{200, 80}});
    fetch_box<3>({3, {40, 9, 7}, {16, 4, 3}, {1, 1, 1}, 0}, {{30, -2, 6}});
}

CASE(every_swizzle)
{
    fetch_box<2>({2, {256, 256}, {64, 64}, {1, 1}, 128}, {{64, 32}});
    fetch_box<2>({2, {256, 256}, {32, 64}, {1, 1}, 64}, {{64, 32}});
    fetch_box<2>({2, {256, 256}, {16, 64}, {1, 1}, 32}, {{64, 32}});
    fetch_box<3>({3, {64, 40, 6}, {64, 5, 3}, {1, 1, 1}, 128}, {{0, 2, 1}});
}

/* But of the first dimension, whose step is ignored. */
CASE(every_so_many_th_element)
{
    fetch_box<2>({2, {256, 64}, {64, 8}, {1, 2}, 0}, {{64, 3}});
    fetch_box<2>({2, {256, 64}, {64, 8}, {4, 1}, 0}, {{7, 3}});
    fetch_box<3>({3, {64, 40, 9}, {8, 12, 3}, {1, 5, 2}, 0}, {{-3, 31, 1}});
}

CASE(nan_outside)
{
    float *x, got[8];
    unsigned char *out;
    OK(cudaMalloc(&x, 64));
    OK(cudaMalloc(&out, sizeof got));
    OK(cudaMemset(x, 0, 64));
    const CUtensorMap map = describe({1, {16}, {8}, {1}, 0}, x, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, true);
    fetch<1><<<1, 32, 1024>>>(out, map, {{12}}, (int)sizeof got);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) CHECK(i < 4 ? got[i] == 0 : std::isnan(got[i]));
}

/* A tile of 8 rows of 32 floats at (x, y) of 100 x 20; what is outside is not written. */
static void give_box(int x, int y, bool adds)
{
    std::vector<float> tile(8 * 32), all(100 * 20, 1), got(100 * 20);
    float *d_tile, *d_all;
    for (int i = 0; i < 8 * 32; i++) tile[swizzled(128, 4 * i) / 4] = i + 2.f;
    OK(cudaMalloc(&d_tile, 4 * tile.size()));
    OK(cudaMalloc(&d_all, 4 * all.size()));
    OK(cudaMemcpy(d_tile, tile.data(), 4 * tile.size(), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(d_all, all.data(), 4 * all.size(), cudaMemcpyHostToDevice));
    const CUtensorMap map =
        describe({2, {100, 20}, {32, 8}, {1, 1}, 128}, d_all, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4);
    give<<<1, 64, 1024>>>(map, d_tile, x, y, 8 * 32, adds);
    OK(cudaMemcpy(got.data(), d_all, 4 * got.size(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8 * 32; i++) {
        const int column = x + i % 32, row = y + i / 32;
        if (column < 0 || column >= 100 || row < 0 || row >= 20) continue;
        all[row * 100 + column] = i + 2.f + adds;
    }
    CHECK(got == all);
}

CASE(a_tile_goes_back)
{
    give_box(32, 4, false);
    give_box(-8, 17, false);
    give_box(80, -2, true);
}

CASE(plain_bytes)
{
    float in[64], out[64], sum[64], *d_in, *d_out, *d_sum;
    for (int i = 0; i < 64; i++) in[i] = i, sum[i] = 1000;
    OK(cudaMalloc(&d_in, sizeof in));
    OK(cudaMalloc(&d_out, sizeof in));
    OK(cudaMalloc(&d_sum, sizeof in));
    OK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(d_sum, sum, sizeof in, cudaMemcpyHostToDevice));
    there_and_back<<<1, 64, 1024>>>(d_out, d_in, d_sum, sizeof in);
    OK(cudaMemcpy(out, d_out, sizeof in, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(sum, d_sum, sizeof in, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) CHECK(out[i] == 2 * i && sum[i] == 1000 + 2 * i);
}

/* From -32 to 31, against zeros. */
template <typename T> static void check_bounds(void (*kernel)(T *, T *, const T *))
{
    T host[3][64], *d;
    for (int i = 0; i < 64; i++) host[0][i] = host[1][i] = T(0.f), host[2][i] = T(i - 32.f);
    OK(cudaMalloc(&d, sizeof host));
    OK(cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice));
    kernel<<<1, 64>>>(d, d + 64, d + 128);
    OK(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        const float x = i - 32.f;
        CHECK(float(host[0][i]) == (x < 0 ? x : 0) && float(host[1][i]) == (x > 0 ? x : 0));
    }
}

CASE(least_and_most_of_short_floats)
{
    check_bounds(bounds_of_halves);
    check_bounds(bounds_of_brains);
}

CASE(maps_that_are_refused)
{
    alignas(64) char room[192];
    CUtensorMap *map = (CUtensorMap *)room;
    encoder *encode = find_encoder();
    void *memory = (void *)0x500000000000;
    struct attempt {
        void *map, *memory;
        cuuint32_t rank;
        cuuint64_t size[2], pitch[1];
        cuuint32_t box[2], every[2];
        int swizzle, fill;
        CUresult want;
    } attempts[] = {
        {map, memory, 2, {64, 64}, {128}, {64, 8}, {1, 1}, 3, 0, CUDA_SUCCESS},
        {room + 16, memory, 2, {64, 64}, {128}, {64, 8}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, (char *)memory + 8, 2, {64, 64}, {128}, {64, 8}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 6, {64, 64}, {128}, {64, 8}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 0, {64, 64}, {128}, {64, 8}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {0, 64}, {128}, {64, 8}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {120}, {64, 8}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {128}, {64, 257}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {128}, {64, 256}, {1, 1}, 3, 0, CUDA_SUCCESS},
        {map, memory, 2, {64, 64}, {128}, {64, 0}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {128}, {60, 8}, {1, 1}, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {128}, {72, 8}, {1, 1}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {128}, {64, 8}, {1, 1}, 2, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {128}, {64, 8}, {1, 9}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {128}, {64, 8}, {1, 0}, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {map, memory, 2, {64, 64}, {128}, {64, 8}, {1, 1}, 3, 1, CUDA_ERROR_INVALID_VALUE},
    };
    int number = 0;
    for (const attempt &a : attempts) {
        const CUresult got =
            encode((CUtensorMap *)a.map, CU_TENSOR_MAP_DATA_TYPE_UINT16, a.rank, a.memory, a.size,
                   a.pitch, a.box, a.every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                   (CUtensorMapSwizzle)a.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   (CUtensorMapFloatOOBfill)a.fill);
        if (got != a.want) printf("attempt %d: %d instead of %d\n", number, got, a.want);
        CHECK(got == a.want);
        number++;
    }
}

/* ---- im2col ---------------------------------------------------------------------------------- */

typedef CUresult columns_encoder(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                 const cuuint64_t *, const cuuint64_t *, const int *, const int *,
                                 cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave,
                                 CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill);

static columns_encoder *find_columns_encoder()
{
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &encode, 12000,
                                        cudaEnableDefault, &found));
    CHECK(found == cudaDriverEntryPointSuccess);
    return (columns_encoder *)encode;
}

struct offsets {
    short at[3];
};

#define COLUMNS ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, "
template <int RANK>
__device__ static void load_column(void *to, const CUtensorMap *map, uint64_t *barrier, corner c,
                                   offsets o)
{
    if (RANK == 3)
        asm volatile(LOAD "3d" COLUMNS "{%3, %4, %5}], [%2], {%6};" ::"r"(at(to)), "l"(map),
                     "r"(at(barrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "h"(o.at[0])
                     : "memory");
    if (RANK == 4)
        asm volatile(LOAD "4d" COLUMNS "{%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(at(to)), "l"(map),
                     "r"(at(barrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]),
                     "h"(o.at[0]), "h"(o.at[1])
                     : "memory");
    if (RANK == 5)
        asm volatile(LOAD "5d" COLUMNS "{%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(at(to)),
                     "l"(map), "r"(at(barrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),
                     "r"(c.at[3]), "r"(c.at[4]), "h"(o.at[0]), "h"(o.at[1]), "h"(o.at[2])
                     : "memory");
}

template <int RANK>
__global__ static void fetch_column(unsigned char *out, const __grid_constant__ CUtensorMap map,
                                    corner where, offsets beside, int bytes)
{
    extern __shared__ __align__(1024) unsigned char tile[];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        begin(&barrier, bytes);
        load_column<RANK>(tile, &map, &barrier, where, beside);
    }
    __syncthreads();
    wait(&barrier, 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i];
}

/* channels, space, images */
struct columns {
    cuuint64_t size[5];
    int lower[3], upper[3];
    cuuint32_t channels, pixels, every[5];
    int swizzle;
};

/* The next pixel in the box, as a loop over images, planes, rows and columns would go. */
template <int RANK> static void next_pixel(const columns &x, int *at)
{
    for (int i = 1; i < RANK - 1; i++) {
        at[i] += x.every[i];
        if (at[i] <= (int)x.size[i] - 1 + x.upper[i - 1]) return;
        at[i] = x.lower[i - 1];
    }
    at[RANK - 1]++;
}

template <int RANK>
static CUtensorMap describe_columns(const columns &x, void *memory, CUtensorMapDataType type)
{
    CUtensorMap map;
    cuuint64_t pitch[5], bytes = 2;
    for (int i = 0; i < RANK; i++) pitch[i] = bytes *= x.size[i];
    CHECK(find_columns_encoder()(&map, type, RANK, memory, x.size, pitch, x.lower, x.upper,
                                 x.channels, x.pixels, x.every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 (CUtensorMapSwizzle)x.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return map;
}

template <int RANK>
static std::vector<unsigned short> expect_column(const columns &x,
                                                 const std::vector<unsigned short> &all,
                                                 corner where, offsets beside)
{
    std::vector<unsigned short> want(x.channels * x.pixels);
    static const int widths[] = {0, 32, 64, 128};
    for (unsigned p = 0; p < x.pixels; p++, next_pixel<RANK>(x, where.at))
        for (unsigned c = 0; c < x.channels; c++) {
            size_t from = where.at[0] + c, pitch = x.size[0];
            bool inside = where.at[0] + c < x.size[0];
            for (int i = 1; i < RANK; i++) {
                const int k = where.at[i] + (i < RANK - 1 ? beside.at[i - 1] : 0);
                inside = inside && k >= 0 && k < (int)x.size[i];
                from += k * pitch;
                pitch *= x.size[i];
            }
            const int at = swizzled(widths[x.swizzle], 2 * (p * x.channels + c));
            want[at / 2] = inside ? all[from] : 0;
        }
    return want;
}

template <int RANK> static void fetch_columns(const columns &x, corner where, offsets beside)
{
    size_t all = 1, tile = x.channels * x.pixels;
    for (int i = 0; i < RANK; i++) all *= x.size[i];
    std::vector<unsigned short> in(all);
    for (size_t i = 0; i < all; i++) in[i] = (unsigned short)(i + 1);
    unsigned short *d_in = to_device(in);
    unsigned char *out = device_array<unsigned char>(2 * tile);
    const CUtensorMap map = describe_columns<RANK>(x, d_in, CU_TENSOR_MAP_DATA_TYPE_UINT16);
    OK(cudaFuncSetAttribute(fetch_column<RANK>, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST));
    fetch_column<RANK><<<1, 64, MOST>>>(out, map, where, beside, 2 * tile);
    SYNC();
    CHECK(to_host((unsigned short *)out, tile) == expect_column<RANK>(x, in, where, beside));
}

/* As for filters of 3 with padding 1: the box is as large as the image, and begins at -1. */
CASE(columns_of_images)
{
    fetch_columns<3>({{16, 40, 3}, {-1}, {-1}, 8, 100, {1, 1, 1}, 0}, {{8, -1, 0}}, {{0}});
    fetch_columns<4>({{64, 14, 9, 2}, {-1, -1}, {-1, -1}, 64, 128, {1, 1, 1, 1}, 3},
                     {{0, -1, -1, 0}}, {{2, 1}});
    fetch_columns<4>({{64, 14, 9, 2}, {-1, -1}, {-1, -1}, 32, 128, {1, 1, 1, 1}, 2},
                     {{32, 6, 3, 0}}, {{0, 2}});
    fetch_columns<5>({{16, 6, 5, 4, 3}, {-1, -1, -1}, {-1, -1, -1}, 16, 256, {1, 1, 1, 1, 1}, 1},
                     {{0, 3, 2, 1, 0}}, {{1, 2, 0}});
}

CASE(columns_with_strides)
{
    fetch_columns<4>({{8, 15, 10, 4}, {-1, -1}, {-1, -1}, 8, 64, {1, 2, 3, 1}, 0},
                     {{0, 3, -1, 1}}, {{1, 0}});
    fetch_columns<3>({{8, 33, 2}, {0}, {-4}, 8, 40, {1, 4, 1}, 0}, {{0, 8, 0}}, {{4}});
}

/* Behind the last channel, and the last image. */
CASE(columns_that_end_outside)
{
    fetch_columns<3>({{24, 10, 2}, {0}, {0}, 16, 64, {1, 1, 1}, 0}, {{8, 4, 1}}, {{0}});
}

__global__ static void give_column(const __grid_constant__ CUtensorMap map,
                                   const unsigned short *in, int x, int count)
{
    extern __shared__ __align__(1024) unsigned char tile[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) ((unsigned short *)tile)[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group "
                 "[%0, {%1, %2, %3}], [%4];" ::"l"(&map),
                 "r"(0), "r"(x), "r"(0), "r"(at(tile))
                 : "memory");
    END_STORE;
}

CASE(a_column_goes_back)
{
    const columns x = {{8, 10, 3}, {0}, {0}, 8, 16, {1, 1, 1}, 0};
    std::vector<unsigned short> in(8 * 16), all(8 * 10 * 3);
    for (int i = 0; i < 8 * 16; i++) in[i] = (unsigned short)(i + 1);
    unsigned short *d_all = to_device(all);
    const CUtensorMap map = describe_columns<3>(x, d_all, CU_TENSOR_MAP_DATA_TYPE_UINT16);
    give_column<<<1, 64, 1024>>>(map, to_device(in), 7, 8 * 16);
    SYNC();
    for (int i = 0; i < 8 * 16; i++) all[8 * 7 + i] = in[i];
    CHECK(to_host(d_all, all.size()) == all);
}

CASE(maps_of_columns_that_are_refused)
{
    alignas(64) CUtensorMap map;
    columns_encoder *encode = find_columns_encoder();
    struct attempt {
        cuuint32_t rank;
        int lower[3], upper[3];
        cuuint32_t channels, pixels;
        int swizzle;
        CUresult want;
    } attempts[] = {
        {4, {-1, -1}, {-1, -1}, 64, 128, 3, CUDA_SUCCESS},
        {2, {-1, -1}, {-1, -1}, 64, 128, 3, CUDA_ERROR_INVALID_VALUE},
        {4, {-128, 127}, {-1, 127}, 64, 1024, 3, CUDA_SUCCESS},
        {4, {-129, 0}, {0, 0}, 64, 128, 3, CUDA_ERROR_INVALID_VALUE},
        {4, {0, 0}, {0, 128}, 64, 128, 3, CUDA_ERROR_INVALID_VALUE},
        {3, {-32768}, {32767}, 64, 128, 3, CUDA_SUCCESS},
        {5, {-16, 15, 0}, {15, 15, 0}, 64, 128, 3, CUDA_SUCCESS},
        {5, {-17, 0, 0}, {0, 0, 0}, 64, 128, 3, CUDA_ERROR_INVALID_VALUE},
        {4, {0, 0}, {-64, 0}, 64, 128, 3, CUDA_ERROR_INVALID_VALUE},
        {4, {0, 0}, {0, 0}, 0, 128, 3, CUDA_ERROR_INVALID_VALUE},
        {4, {0, 0}, {0, 0}, 264, 128, 0, CUDA_ERROR_INVALID_VALUE},
        {4, {0, 0}, {0, 0}, 64, 0, 3, CUDA_ERROR_INVALID_VALUE},
        {4, {0, 0}, {0, 0}, 64, 1025, 3, CUDA_ERROR_INVALID_VALUE},
        {4, {0, 0}, {0, 0}, 72, 128, 3, CUDA_ERROR_INVALID_VALUE},
    };
    const cuuint64_t size[] = {64, 64, 64, 64, 64}, pitch[] = {128, 8192, 524288, 33554432};
    const cuuint32_t every[] = {1, 1, 1, 1, 1};
    for (const attempt &a : attempts)
        CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, a.rank, (void *)0x500000000000, size,
                     pitch, a.lower, a.upper, a.channels, a.pixels, every,
                     CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)a.swizzle,
                     CU_TENSOR_MAP_L2_PROMOTION_NONE,
                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == a.want);
}

/* One kind of map, and a copy of the other. */
__global__ static void confused(const __grid_constant__ CUtensorMap map, corner where)
{
    __shared__ __align__(1024) unsigned char tile[1024];
    __shared__ uint64_t barrier;
    begin(&barrier, sizeof tile);
    load<3>(tile, &map, &barrier, where);
}

// STDERR a_map_of_columns_for_a_tile: this copy moves a tile, but the tensor map describes im2col
CASE(a_map_of_columns_for_a_tile)
{
    const columns x = {{8, 10, 3}, {0}, {0}, 8, 64, {1, 1, 1}, 0};
    const CUtensorMap map = describe_columns<3>(x, device_array<unsigned short>(240),
                                                CU_TENSOR_MAP_DATA_TYPE_UINT16);
    confused<<<1, 1>>>(map, {{0, 0, 0}});
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}
