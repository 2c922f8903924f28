/*
 * 214_matmul_registers.cu: c = a * b, where each thread keeps 8 x 8 elements of c in registers.
 *
 * The idea: in 211 a multiply-add reads two values from shared memory. A thread that owns TM x TN
 * elements of c reads TM values of a and TN of b for each step along k, keeps them in registers,
 * and uses each value of a TN times, and of b TM times: 16 reads for 64 multiply-adds instead of
 * 128.
 *
 * A block of 256 threads computes 128 x 128 elements. Thread (x, y) owns the rows y, y + 16, ...
 * and the columns x, x + 16, ...: neighbouring threads read neighbouring words of b's tile, which
 * lie in different banks, and store neighbouring elements of c. The tile of a is transposed, so
 * that one step along k is one row of it. Its rows are 4 words longer: threads that load one row of
 * a store a column here, each into another bank.
 *
 * The cost removed: shared memory's bandwidth, of which 211 needs eight times as much.
 * The cost left: 16 loads compete with 64 multiply-adds for issue slots, where wider loads would be
 * 4 (401); and the block waits for each tile before it computes with it (2a).
 */
#include "214_matmul_registers/matmul_registers.h"
#include "not_implemented.h"

/* SOLUTION: the sizes, and matmul_registers_kernel: two tiles in shared memory, TM x TN sums in
   registers, three nested loops that must unroll (about 63 lines). */
#define BM      128 /* BM x BN elements of c per block */
#define BN      128
#define BK      8
#define TM      8 /* TM x TN elements of c per thread */
#define TN      8
#define THREADS (BM / TM * (BN / TN))
#define EACH    (BM * BK / THREADS) /* elements of a tile that a thread loads, */
#define A_STEP  (THREADS / BK)      /* so many rows apart */
#define B_STEP  (THREADS / BN)

__global__ static void __launch_bounds__(THREADS)
    matmul_registers_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float a_tile[BK][BM + 4]; /* [k][row] */
    __shared__ float b_tile[BK][BN];     /* [k][column] */
    const int t = threadIdx.x, x = t % (BN / TN), y = t / (BN / TN);
    const int row = blockIdx.y * BM, col = blockIdx.x * BN;
    const int a_row = t / BK, a_col = t % BK; /* along the rows of a, and of b */
    const int b_row = t / BN, b_col = t % BN;
    a += ((size_t)row + a_row) * k + a_col; /* 64 bits once; in the loop a and b step along */
    b += (size_t)b_row * n + col + b_col;
    const size_t a_step = (size_t)A_STEP * k, b_step = (size_t)B_STEP * n;
    float sum[TM][TN] = {};

    for (int left = k; left > 0; left -= BK) {
        float of_a[EACH], of_b[EACH]; /* all loads are issued before one is waited for */
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const bool in_a = a_row + e * A_STEP < m - row && a_col < left;
            const bool in_b = b_row + e * B_STEP < left && b_col < n - col;
            of_a[e] = in_a ? a[e * a_step] : 0.0f;
            of_b[e] = in_b ? b[e * b_step] : 0.0f;
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            a_tile[a_col][a_row + e * A_STEP] = of_a[e];
            b_tile[b_row + e * B_STEP][b_col] = of_b[e];
        }
        a += BK;
        b += (size_t)BK * n;
        __syncthreads(); /* both tiles are complete before any thread reads them */
        for (int s = 0; s < BK; s++) {
            float a_part[TM], b_part[TN];
#pragma unroll /* registers have no index: if one is left, the array goes to memory */
            for (int i = 0; i < TM; i++) a_part[i] = a_tile[s][y + i * (BM / TM)];
#pragma unroll
            for (int j = 0; j < TN; j++) b_part[j] = b_tile[s][x + j * (BN / TN)];
#pragma unroll
            for (int i = 0; i < TM; i++) {
#pragma unroll
                for (int j = 0; j < TN; j++) sum[i][j] += a_part[i] * b_part[j];
            }
        }
        __syncthreads(); /* all threads have read before the next tiles overwrite them */
    }
#pragma unroll
    for (int i = 0; i < TM; i++) {
#pragma unroll
        for (int j = 0; j < TN; j++) {
            const int r = y + i * (BM / TM), q = x + j * (BN / TN); /* of the tile */
            if (r < m - row && q < n - col) c[((size_t)row + r) * n + col + q] = sum[i][j];
        }
    }
}
/* END SOLUTION */

cudaError_t matmul_registers(float *c, const float *a, const float *b, int m, int n, int k,
                             cudaStream_t stream)
{
    /* SOLUTION: one block of THREADS threads per tile of c, rounding up; launch unless c is empty
       (about 4 lines). */
    if (m == 0 || n == 0) return cudaSuccess; /* an empty grid is a launch error */
    dim3 grid((n - 1) / BN + 1, (m - 1) / BM + 1);
    matmul_registers_kernel<<<grid, THREADS, 0, stream>>>(c, a, b, m, n, k);
    /* END SOLUTION */
    return cudaGetLastError();
}
