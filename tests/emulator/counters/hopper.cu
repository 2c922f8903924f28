/*
 * hopper.cu: launches that use what only compute capability 9.0 has: the TMA, mbarriers, wgmma,
 * clusters. Counted by softgpu, and measured on a GPU, as those of kernels.cu are. First small
 * kernels, one for each unit, then the course's own solutions of 4b, 416 and 417.
 *
 * What another SM would change is not asked: each launch has a block for each of its tiles.
 */
#include "launch.cuh"

#include <cuda_bf16.h>

#include "optimization.h"

#include <cudaTypedefs.h>

enum { COLS = 32, ROWS = 64, TILE = COLS * ROWS, TILE_BYTES = 4 * TILE }; /* of floats */

/* ---- tensor maps ----------------------------------------------------------------------------- */

/** x[rows x cols] in boxes of box_rows x box_cols. */
static CUtensorMap describe(CUtensorMapDataType type, int bytes, void *x, int rows, int cols,
                            int box_rows, int box_cols, CUtensorMapSwizzle swizzle)
{
    PFN_cuTensorMapEncodeTiled_v12000 encode = NULL;
    cudaDriverEntryPointQueryResult found;
    CUtensorMap map;
    must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                          cudaEnableDefault, &found),
         "the encoder of tensor maps");
    const cuuint64_t sizes[2] = {(cuuint64_t)cols, (cuuint64_t)rows};
    const cuuint64_t pitch[1] = {(cuuint64_t)cols * bytes};
    const cuuint32_t box[2] = {(cuuint32_t)box_cols, (cuuint32_t)box_rows}, every[2] = {1, 1};
    const CUresult result = encode(&map, type, 2, x, sizes, pitch, box, every,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    must(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "a tensor map");
    return map;
}

static CUtensorMap tiles_of_floats(void *x, int rows, int cols, CUtensorMapSwizzle swizzle)
{
    return describe(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, x, rows, cols, ROWS, COLS, swizzle);
}

/* ---- instructions ---------------------------------------------------------------------------- */

__device__ static unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static void begin(unsigned long long *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(arrivals)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ static void expect(unsigned long long *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ static void arrive(unsigned long long *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(barrier)) : "memory");
}

__device__ static void wait(unsigned long long *barrier, int parity)
{
    asm volatile("{\n.reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n}" ::"r"(at(barrier)),
                 "r"(parity)
                 : "memory");
}

#define FETCH "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"

__device__ static void fetch(void *to, const CUtensorMap *map, unsigned long long *barrier, int row,
                             int col)
{
    asm volatile(FETCH " [%0], [%1, {%3, %4}], [%2];" ::"r"(at(to)), "l"(map), "r"(at(barrier)),
                 "r"(col), "r"(row)
                 : "memory");
}

__device__ static void fetch_for_both(void *to, const CUtensorMap *map, unsigned long long *barrier,
                                      int row, int col)
{
    asm volatile(FETCH ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(at(to)), "l"(map),
                 "r"(at(barrier)), "r"(col), "r"(row), "h"((unsigned short)3)
                 : "memory");
}

__device__ static void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

#define ALL_STORED                                                                                 \
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory")

/* ---- a tile by the TMA, read column by column ------------------------------------------------ */

enum tile_kind { AS_IT_LIES, SWIZZLED, CUT };

/* A warp takes one chunk of 16 bytes of each row. CUT: the tile ends outside of the matrix. */
template <tile_kind KIND>
__global__ static void read_chunks(const __grid_constant__ CUtensorMap map, float4 *to)
{
    __shared__ __align__(1024) float4 tile[ROWS][COLS / 4];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        begin(&full, 1);
        expect(&full, sizeof tile);
        fetch(tile, &map, &full, ROWS * blockIdx.x, 0);
    }
    __syncthreads();
    wait(&full, 0);
    const int chunk = threadIdx.x / 32;
    float4 sum = {};
    for (int y = threadIdx.x % 32; y < ROWS; y += 32) {
        const float4 x = tile[y][KIND == AS_IT_LIES ? chunk : chunk ^ y % 8];
        sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    }
    to[thread()] = sum;
}

LAUNCH("tiles by the TMA as they lie, read by columns")
{
    const CUtensorMap map = tiles_of_floats(in.f, 4 * ROWS, COLS, CU_TENSOR_MAP_SWIZZLE_NONE);
    read_chunks<AS_IT_LIES><<<4, 256>>>(map, out.f4);
}

LAUNCH("tiles by the TMA, swizzled, read by columns")
{
    const CUtensorMap map = tiles_of_floats(in.f, 4 * ROWS, COLS, CU_TENSOR_MAP_SWIZZLE_128B);
    read_chunks<SWIZZLED><<<4, 256>>>(map, out.f4);
}

LAUNCH("tiles by the TMA, half of each outside")
{
    const CUtensorMap map = tiles_of_floats(in.f, 4 * ROWS, COLS / 2, CU_TENSOR_MAP_SWIZZLE_128B);
    read_chunks<CUT><<<4, 256>>>(map, out.f4);
}

/* ---- copies to global memory ----------------------------------------------------------------- */

/* What a block brings, it takes back elsewhere. */
__global__ static void there_and_back(const float *from, float *to)
{
    __shared__ __align__(128) float part[TILE];
    __shared__ unsigned long long full;
    if (threadIdx.x) return;
    begin(&full, 1);
    expect(&full, sizeof part);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(at(part)),
                 "l"(from + TILE * blockIdx.x), "r"((int)TILE_BYTES), "r"(at(&full))
                 : "memory");
    wait(&full, 0);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     to + TILE * blockIdx.x),
                 "r"(at(part)), "r"((int)TILE_BYTES)
                 : "memory");
    ALL_STORED;
}

LAUNCH("bulk copies without a tensor, there and back")
{
    there_and_back<<<4, 32>>>(in.f, out.f);
}

template <bool ADDS> __global__ static void give(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) float tile[ROWS][COLS];
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) tile[i / COLS][i % COLS] = i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    const int row = ROWS * blockIdx.x;
    if (ADDS)
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                     "[%0, {%1, %2}], [%3];" ::"l"(&map),
                     "r"(0), "r"(row), "r"(at(tile))
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                     "[%0, {%1, %2}], [%3];" ::"l"(&map),
                     "r"(0), "r"(row), "r"(at(tile))
                     : "memory");
    ALL_STORED;
}

LAUNCH("tiles stored by the TMA")
{
    give<false><<<4, 128>>>(tiles_of_floats(out.f, 4 * ROWS, COLS, CU_TENSOR_MAP_SWIZZLE_NONE));
}

LAUNCH("tiles added by the TMA")
{
    give<true><<<4, 128>>>(tiles_of_floats(out.f, 4 * ROWS, COLS, CU_TENSOR_MAP_SWIZZLE_NONE));
}

/* ---- a ring of tiles ------------------------------------------------------------------------- */

/* Thread 128 brings 8 tiles; four warps sum them up and give each back. */
__global__ static void ring(const __grid_constant__ CUtensorMap map, float *to)
{
    __shared__ __align__(1024) float tile[2][TILE];
    __shared__ unsigned long long full[2], empty[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) begin(&full[i], 1), begin(&empty[i], 4);
    __syncthreads();
    if (threadIdx.x == 128)
        for (int i = 0; i < 8; i++) {
            wait(&empty[i % 2], (i / 2 + 1) % 2);
            expect(&full[i % 2], TILE_BYTES);
            fetch(tile[i % 2], &map, &full[i % 2], ROWS * i, 0);
        }
    if (threadIdx.x >= 128) return;
    float sum = 0;
    for (int i = 0; i < 8; i++) {
        wait(&full[i % 2], i / 2 % 2);
        for (int k = threadIdx.x; k < TILE; k += 128) sum += tile[i % 2][k];
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(&empty[i % 2]);
    }
    to[threadIdx.x] = sum;
}

LAUNCH("a ring of two tiles, 8 times")
{
    ring<<<1, 160>>>(tiles_of_floats(in.f, 8 * ROWS, COLS, CU_TENSOR_MAP_SWIZZLE_NONE), out.f);
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Each block brings half of a tile to both. */
__global__ static void __cluster_dims__(2, 1, 1)
    halves(const __grid_constant__ CUtensorMap map, float *to)
{
    __shared__ __align__(1024) float tile[2][TILE];
    __shared__ unsigned long long full;
    const int block = blockIdx.x % 2;
    if (threadIdx.x == 0) {
        begin(&full, 1);
        expect(&full, sizeof tile);
    }
    cluster_sync();
    if (threadIdx.x == 0) fetch_for_both(tile[block], &map, &full, ROWS * blockIdx.x, 0);
    wait(&full, 0);
    to[thread()] = tile[0][threadIdx.x] + tile[1][threadIdx.x];
    cluster_sync();
}

LAUNCH("tiles by multicast, for two blocks")
{
    halves<<<4, 128>>>(tiles_of_floats(in.f, 4 * ROWS, COLS, CU_TENSOR_MAP_SWIZZLE_NONE), out.f);
}

/* Each thread writes to the other block of its cluster, and reads there. */
__global__ static void __cluster_dims__(2, 1, 1) neighbours(float *to)
{
    __shared__ float own[128], given[128];
    const unsigned other = 1 - blockIdx.x % 2, i = threadIdx.x;
    float x;
    own[i] = i;
    cluster_sync();
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %1, %2;\n"
                 "ld.shared::cluster.f32 %0, [there];\n}"
                 : "=f"(x)
                 : "r"(at(&own[i])), "r"(other)
                 : "memory");
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "st.shared::cluster.f32 [there], %2;\n}" ::"r"(at(&given[i])),
                 "r"(other), "f"(x)
                 : "memory");
    cluster_sync();
    to[thread()] = given[i];
}

LAUNCH("shared memory of the other block")
{
    neighbours<<<4, 128>>>(out.f);
}

/* ---- products -------------------------------------------------------------------------------- */

enum { SIDE = 64, HALVES_BYTES = SIDE * SIDE * 2 }; /* a, b: 64 x 64 of bf16, rows along k */

__device__ static unsigned long long descriptor(const void *p, int over, int next, int swizzle)
{
    return (unsigned long long)((at(p) & 0x3ffff) >> 4) | (unsigned long long)(over >> 4) << 16 |
           (unsigned long long)(next >> 4) << 32 | (unsigned long long)swizzle << 62;
}

/* sum[64 x 32] += a[64 x 16] b[32 x 16]^T */
__device__ static void multiply(float s[16], unsigned long long a, unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                 "%16, %17, 1, 1, 1, 0, 0;"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]),
                   "+f"(s[6]), "+f"(s[7]), "+f"(s[8]), "+f"(s[9]), "+f"(s[10]), "+f"(s[11]),
                   "+f"(s[12]), "+f"(s[13]), "+f"(s[14]), "+f"(s[15])
                 : "l"(a), "l"(b));
}

/* Rows of 128 bytes, swizzled; or columns of 16 bytes, one behind the other. */
template <bool SWIZZLE>
__global__ static void product(const __grid_constant__ CUtensorMap map, float *to)
{
    __shared__ __align__(1024) unsigned char a[HALVES_BYTES], b[HALVES_BYTES];
    __shared__ unsigned long long full;
    const int boxes = SWIZZLE ? 1 : 8, box = HALVES_BYTES / boxes;
    if (threadIdx.x == 0) {
        begin(&full, 1);
        expect(&full, sizeof a + sizeof b);
        for (int i = 0; i < boxes; i++) {
            fetch(a + i * box, &map, &full, 0, SIDE / boxes * i);
            fetch(b + i * box, &map, &full, SIDE, SIDE / boxes * i);
        }
    }
    __syncthreads();
    wait(&full, 0);
    float sum[16] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < SIDE / 16; k++) {
        const int step = SWIZZLE ? 32 : 2 * box, over = SWIZZLE ? 16 : box;
        const int next = SWIZZLE ? 1024 : 128;
        multiply(sum, descriptor(a + k * step, over, next, SWIZZLE),
                 descriptor(b + k * step, over, next, SWIZZLE));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 16; i++) to[i * 128 + threadIdx.x] = sum[i];
}

LAUNCH("wgmma, tiles without a swizzle")
{
    product<false><<<1, 128>>>(describe(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, in.any, 2 * SIDE, SIDE,
                                        SIDE, 8, CU_TENSOR_MAP_SWIZZLE_NONE),
                               out.f);
}

LAUNCH("wgmma, swizzled tiles")
{
    product<true><<<1, 128>>>(describe(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, in.any, 2 * SIDE, SIDE,
                                       SIDE, SIDE, CU_TENSOR_MAP_SWIZZLE_128B),
                              out.f);
}

/* ---- the course's own ------------------------------------------------------------------------ */

LAUNCH("4b matmul_wgmma, 256 x 256 x 128")
{
    const __nv_bfloat16 *a = (const __nv_bfloat16 *)in.any;
    must(matmul_wgmma(out.f, a, a + 256 * 128, 256, 256, 128, 0), "4b");
}

LAUNCH("416 transpose_tma, 256 x 192")
{
    must(transpose_tma(out.f, in.f, 256, 192, 0), "416");
}

LAUNCH("417 softmax_cluster, 2 x 65536")
{
    must(softmax_cluster(out.f, in.f, 2, 65536, 0), "417");
}

int main(int argc, char **argv)
{
    return run_launches(argc, argv);
}
