/*
 * gpt2_products.cu: the products of 510 by Hopper's units, for which the grader needs a GPU: each
 * kind on one cluster, against the same by mma.sync. k is longer than the ring, so that tiles, the
 * ring and both groups' turns come round several times; no size is a multiple of a tile. The
 * numbers are eighths, and all sums exact. The last line counts.
 */
#include "../solutions/phase5_full_network/510_gpt2/510_hopper.cuh"
#include "random.h"

#include <stdio.h>
#include <string.h>

#define M    300
#define N    200
#define K    1480
#define SIZE (K * 304) /* elements of the largest operand: a row is a multiple of 8 */

static float by_hopper[M * N], by_mma[M * N];

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

static bool run(float *host, product p, int hopper)
{
    product_room room = {4, hopper, true, NULL, 8 * M * N};
    cudaMalloc((void **)&room.parts, room.parts_floats * sizeof(float));
    cudaMalloc((void **)&p.sums, sizeof by_mma);
    const cudaError_t error = multiply(&p, &room, NULL);
    cudaMemcpy(host, p.sums, sizeof by_mma, cudaMemcpyDeviceToHost);
    cudaFree(p.sums);
    cudaFree(room.parts);
    return error == cudaSuccess && cudaGetLastError() == cudaSuccess;
}

int main(void)
{
    static const char *const name[] = {"NT", "NN", "TN"};
    const bf16 *a = random_operand(1), *b = random_operand(2);
    int passed = 0;
    for (int kind = NT; kind <= TN; kind++) {
        product p = {};
        p.kind = (product_kind)kind, p.m = M, p.n = N, p.k = K, p.out_pitch = N;
        p.a = a, p.a_pitch = kind == TN ? 304 : K;
        p.b = b, p.b_pitch = kind == NT ? K : N;
        const bool right = run(by_hopper, p, H_CLUSTER) && run(by_mma, p, 0) && by_mma[0] != 0.0f &&
                           memcmp(by_hopper, by_mma, sizeof by_mma) == 0;
        passed += right;
        printf("%s %s\n", right ? "ok" : "FAILED", name[kind]);
    }
    printf("%d passed, %d failed\n", passed, 3 - passed);
    return passed == 3 ? 0 : 1;
}
