/*
 * gpt2_products.cu: the products of 510 by Hopper's units, for which the grader needs a GPU: each
 * kind on one cluster, against the same by mma.sync. k is longer than the ring, so that tiles, the
 * ring and both groups' turns come round several times; no size is a multiple of a tile. The
 * numbers are eighths, and all sums exact. Sums go to memory in fp32, and then in bf16 with each of
 * the things that are done to them. Operands and results by heads are compared with those in rows.
 * The last line counts.
 */
#include "../solutions/phase5_full_network/510_gpt2/510_hopper.cuh"
#include "random.h"

#include <stdio.h>
#include <string.h>

#define M    300
#define N    200
#define K    1480
#define SIZE (K * 304) /* elements of the largest operand: a row is a multiple of 8 */

static unsigned char by_hopper[2 * M * N * 4], by_mma[2 * M * N * 4];

static bf16 *random_operand(uint64_t seed)
{
    static bf16 host[SIZE];
    bf16 *device = NULL;
    random_state r = random_seed(seed);
    for (int i = 0; i < SIZE; i++)
        host[i] = __float2bfloat16((float)((int)random_below(&r, 17) - 8) / 8.0f);
    cudaMalloc((void **)&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    return device;
}

/* c, and behind it its gelu, in bytes: by a cluster, or by mma.sync. */
static bool run(unsigned char *host, product p, int hopper, bool sums)
{
    product_room room = {4, hopper, true, NULL, sums ? (size_t)8 * M * N : 0};
    unsigned char *device = NULL;
    cudaMalloc((void **)&room.parts, 8 * M * N * sizeof(float));
    cudaMalloc((void **)&device, sizeof by_mma);
    cudaMemset(device, 0, sizeof by_mma);
    if (sums)
        p.sums = (float *)device;
    else
        p.out = (bf16 *)device;
    if (p.gelu) p.gelu = (bf16 *)(device + sizeof by_mma / 2);
    const cudaError_t error = multiply(&p, &room, NULL);
    cudaMemcpy(host, device, sizeof by_mma, cudaMemcpyDeviceToHost);
    cudaFree(device);
    cudaFree(room.parts);
    return error == cudaSuccess && cudaGetLastError() == cudaSuccess;
}

static int passed, tried;

static void check(const char *name, product p, bool sums)
{
    bool right = run(by_hopper, p, H_CLUSTER, sums) && run(by_mma, p, 0, sums), some = false;
    for (size_t i = 0; i < sizeof by_mma; i++) {
        if (right && by_hopper[i] != by_mma[i]) printf("byte %zu differs\n", i), right = false;
        some = some || by_mma[i] != 0;
    }
    right = right && some;
    tried++, passed += right;
    printf("%s %s\n", right ? "ok" : "FAILED", name);
}

/* ---- by heads -------------------------------------------------------------------------------- */

#define PARTS 3
#define WIDTH 128       /* of a part: heads times dim */
#define LONG  (2 * 128) /* two sequences */
#define MANY  (LONG * PARTS * WIDTH)

/* rows [LONG x cols], to the same by heads. */
static void by_heads(bf16 *heads, const bf16 *rows, const head_layout *by, int cols)
{
    for (int i = 0; i < LONG * cols; i++) {
        const int row = i / cols, col = i % cols;
        heads[(head_row(*by, row) + head_col(*by, col)) * by->dim + col % by->dim] = rows[i];
    }
}

static bf16 host_rows[MANY], host_heads[MANY];

/* [LONG x cols] eighths, in rows and by heads, on the device. */
static void random_both(bf16 **rows, bf16 **heads, uint64_t seed, const head_layout *by, int cols)
{
    random_state r = random_seed(seed);
    for (int i = 0; i < LONG * cols; i++)
        host_rows[i] = __float2bfloat16((float)((int)random_below(&r, 17) - 8) / 8.0f);
    by_heads(host_heads, host_rows, by, cols);
    cudaMalloc((void **)rows, sizeof host_rows);
    cudaMalloc((void **)heads, sizeof host_heads);
    cudaMemcpy(*rows, host_rows, sizeof host_rows, cudaMemcpyHostToDevice);
    cudaMemcpy(*heads, host_heads, sizeof host_heads, cudaMemcpyHostToDevice);
}

static void check_heads(int dim)
{
    const head_layout by = {2, LONG / 2, WIDTH / dim, dim};
    bf16 *rows, *heads, *one, *one_heads;
    random_both(&rows, &heads, 4, &by, PARTS * WIDTH);
    random_both(&one, &one_heads, 5, &by, WIDTH);
    product p = {}; /* as the gradient of what qkv reads: a is by heads; then c too */
    p.kind = NN, p.m = LONG, p.n = WIDTH, p.k = PARTS * WIDTH, p.out_pitch = WIDTH;
    p.a = rows, p.a_pitch = p.k, p.b = one, p.b_pitch = WIDTH, p.by = by;
    product_room room = {4, H_CLUSTER, true, NULL, 0};
    bf16 *out[2];
    for (int i = 0; i < 2; i++) {
        cudaMalloc((void **)&out[i], LONG * WIDTH * sizeof(bf16));
        p.out = out[i], p.a = i ? heads : rows, p.a_heads = p.out_heads = i;
        multiply(&p, &room, NULL);
        cudaMemcpy(i ? host_heads : host_rows, out[i], LONG * WIDTH * sizeof(bf16),
                   cudaMemcpyDeviceToHost);
        cudaFree(out[i]);
    }
    static bf16 moved[LONG * WIDTH];
    by_heads(moved, host_rows, &by, WIDTH);
    const bool same = memcmp(moved, host_heads, sizeof moved) == 0;
    tried++, passed += same;
    printf("%s a and c by heads of %d\n", same ? "ok" : "FAILED", dim);

    static float sums[2]
                     [PARTS * WIDTH * WIDTH]; /* as the gradient of qkv's weights, then of proj's */
    float *device;
    cudaMalloc((void **)&device, sizeof sums[0]);
    for (int i = 0; i < 2; i++) {
        product w = {};
        w.kind = TN, w.m = PARTS * WIDTH, w.n = WIDTH, w.k = LONG, w.out_pitch = WIDTH;
        w.a = i ? heads : rows, w.a_pitch = w.m, w.b = i ? one_heads : one, w.b_pitch = WIDTH;
        w.sums = device, w.by = by, w.a_heads = w.b_heads = i;
        multiply(&w, &room, NULL);
        cudaMemcpy(sums[i], device, sizeof sums[0], cudaMemcpyDeviceToHost);
    }
    const bool equal = cudaGetLastError() == cudaSuccess && sums[0][0] != 0.0f &&
                       memcmp(sums[0], sums[1], sizeof sums[0]) == 0;
    tried++, passed += equal;
    printf("%s a and b by heads of %d, turned\n", equal ? "ok" : "FAILED", dim);
}

int main(void)
{
    const bf16 *a = random_operand(1), *b = random_operand(2), *other = random_operand(3);
    float *bias = NULL, h_bias[N];
    for (int i = 0; i < N; i++) h_bias[i] = (float)(i % 7) / 4.0f;
    cudaMalloc((void **)&bias, sizeof h_bias);
    cudaMemcpy(bias, h_bias, sizeof h_bias, cudaMemcpyHostToDevice);
    for (int kind = NT; kind <= TN; kind++) {
        static const char *const name[] = {"NT", "NN", "TN"};
        product p = {};
        p.kind = (product_kind)kind, p.m = M, p.n = N, p.k = K, p.out_pitch = N;
        p.a = a, p.a_pitch = kind == TN ? 304 : K;
        p.b = b, p.b_pitch = kind == NT ? K : N;
        check(name[kind], p, true);
        check(name[kind], p, false);
        p.k = 200; /* and fewer steps than the ring has */
        if (kind != TN) p.a_pitch = p.k;
        if (kind == NT) p.b_pitch = p.k;
        p.slope_of = other;
        check("slope", p, false);
        p.slope_of = NULL, p.bias = bias, p.residual = other;
        check("bias and residual", p, false);
        p.residual = NULL, p.gelu = (bf16 *)bias; /* wanted; run has the place */
        check("bias and gelu", p, false);
    }
    check_heads(64);
    check_heads(128);
    printf("%d passed, %d failed\n", passed, tried - passed);
    return passed == tried ? 0 : 1;
}
