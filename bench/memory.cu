/*
 * memory.cu: how much memory of the device four things take, counted, and how a router spreads its
 * tokens.
 *
 *   bench_memory     TSV on stdout
 *
 *   product     4096 x 4096 x 4096 by 214; by 413, whose sums are int32, with an fp32 result, and
 *               with one that is quantized again, so that int8 goes in and out
 *   attention   one sequence of 8,192 tokens, 8 heads of 64, by 313 and 409
 *   experts     8,192 tokens, 8 experts of 1024 to 4096, each token by all of them and by two (412)
 *   router      64 experts, top 2, 16,384 tokens of random numbers: which are in use (411)
 *   network     ResNet-18 by 505 and by 5c, and one batch of 64 images of 224 x 224
 *
 * kept_bytes are the input and output arrays; of a network, its parameters. peak_bytes adds
 * temporary memory: arrays of the caller, activations, and memory that a call takes from the pool,
 * as the pool counts it. softgpu's pool does not count, and there the sizes are a 32nd; of a
 * network, the batch is one image of 32 x 32.
 */
#include "basics.h"
#include "cuda_check.h"
#include "layers.h"
#include "network.h"
#include "optimization.h"
#include "random.h"
#include "table.h"

#include <cuda_bf16.h>
#include <stdint.h>
#include <vector>

static bool on_softgpu;
static size_t kept, passing; /* bytes of this row's arrays */
static std::vector<void *> taken;

/* ---- arrays that are counted ----------------------------------------------------------------- */

template <typename T> static T *take(size_t count, size_t *counted)
{
    T *array = NULL;
    if (cudaMalloc((void **)&array, count * sizeof *array) != cudaSuccess) {
        fprintf(stderr, "bench_memory: no room for %zu bytes\n", count * sizeof *array);
        exit(1);
    }
    cudaMemset(array, 0, count * sizeof *array);
    taken.push_back(array);
    *counted += count * sizeof *array;
    return array;
}

template <typename T> static T *keep(size_t count)
{
    return take<T>(count, &kept);
}

/* For a moment. */
template <typename T> static T *pass(size_t count)
{
    return take<T>(count, &passing);
}

static cudaError_t begin_row(void)
{
    cudaMemPool_t pool;
    uint64_t zero = 0;
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    kept = passing = 0;
    return cudaSuccess;
}

/* What was taken from the pool since begin_row is a part of the peak. */
static cudaError_t end_row(const char *what, const char *variant)
{
    cudaMemPool_t pool;
    uint64_t most;
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    printf("%s\t%s\t%zu\t%zu\t\t\n", what, variant, kept, kept + passing + (size_t)most);
    fflush(stdout);
    for (void *array : taken) CUDA_CHECK(cudaFree(array));
    taken.clear();
    return cudaSuccess;
}

/* ---- product --------------------------------------------------------------------------------- */

static cudaError_t product_fp32(int n)
{
    const size_t size = (size_t)n * n;
    CUDA_CHECK(begin_row());
    float *a = keep<float>(size), *b = keep<float>(size), *c = keep<float>(size);
    CUDA_CHECK(matmul_registers(c, a, b, n, n, n, 0));
    return end_row("product", "214, fp32");
}

/* @param quantize the result too, which then is what is kept of it */
static cudaError_t product_int8(int n, bool quantize)
{
    const size_t size = (size_t)n * n;
    CUDA_CHECK(begin_row());
    int8_t *a = keep<int8_t>(size), *b = keep<int8_t>(size);
    float *scale = keep<float>(3 * n), *y = quantize ? pass<float>(size) : keep<float>(size);
    int *zero = keep<int>(3 * n), *sums = keep<int>(3 * n);
    int32_t *c = pass<int32_t>(size);
    CUDA_CHECK(gemm_s8s8s32(c, a, b, n, n, n, 0));
    CUDA_CHECK(dequantize_epilogue(y, c, scale, zero, sums, scale + n, zero + n, sums + n, NULL, n,
                                   n, n, 0));
    if (quantize)
        CUDA_CHECK(quantize_s8(keep<int8_t>(size), scale + 2 * n, zero + 2 * n, sums + 2 * n, y, n,
                               n, 1, 1, 0));
    return end_row("product", quantize ? "413, int8 in, int8 out" : "413, int8 in, fp32 out");
}

/* ---- attention ------------------------------------------------------------------------------- */

static cudaError_t attention(int tokens, bool flash)
{
    const int heads = 8, dim = 64;
    const size_t size = (size_t)heads * tokens * dim;
    CUDA_CHECK(begin_row());
    float *q = keep<float>(size), *k = keep<float>(size), *v = keep<float>(size);
    float *out = keep<float>(size);
    CUDA_CHECK(flash ? attention_flash(out, NULL, q, k, v, 1, heads, tokens, dim, 1, 0.125f, 0)
                     : attention_naive(out, q, k, v, 1, heads, tokens, dim, 1, 0.125f, 0));
    return end_row("attention", flash ? "409" : "313");
}

/* ---- experts --------------------------------------------------------------------------------- */

typedef struct routed {
    int *ids, *permutation, *offsets;
    float *gates, *probs;
    moe_metrics *metrics;
} routed;

/* The tokens of random numbers, by a gate of random numbers, go to their experts. */
static cudaError_t route(routed *r, int tokens, int experts, int top_k, int width)
{
    std::vector<float> h_input((size_t)(tokens + experts) * width);
    random_state rng = random_seed(411);
    random_fill_normal(&rng, h_input.data(), h_input.size(), 1.0f);
    float *input = pass<float>(h_input.size());
    *r = {pass<int>(tokens * top_k),   pass<int>(tokens * top_k),     pass<int>(experts + 1),
          pass<float>(tokens * top_k), pass<float>(tokens * experts), pass<moe_metrics>(1)};
    moe_metrics metrics = {pass<float>(experts), 0.0f, 0};
    CUDA_CHECK(cudaMemcpy(r->metrics, &metrics, sizeof metrics, cudaMemcpyHostToDevice));
    CUDA_CHECK(
        cudaMemcpy(input, h_input.data(), h_input.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(moe_router(r->ids, r->gates, r->probs, input, input + (size_t)tokens * width, tokens,
                          experts, top_k, width, 0));
    return moe_permute(r->permutation, r->offsets, r->metrics,
                       pass<moe_segment>(MOE_SEGMENTS * (size_t)experts), r->ids, r->probs, tokens,
                       experts, top_k, 0, 0);
}

static cudaError_t experts(int tokens, int top_k, int width, int ffn)
{
    enum { EXPERTS = 8 };
    const __nv_bfloat16 *h_weights[2 * EXPERTS];
    routed r;
    CUDA_CHECK(begin_row());
    for (int i = 0; i < 2 * EXPERTS; i++) h_weights[i] = keep<__nv_bfloat16>((size_t)width * ffn);
    const __nv_bfloat16 **weights = keep<const __nv_bfloat16 *>(2 * EXPERTS);
    CUDA_CHECK(cudaMemcpy(weights, h_weights, sizeof h_weights, cudaMemcpyHostToDevice));
    __nv_bfloat16 *input = keep<__nv_bfloat16>((size_t)tokens * width);
    float *output = keep<float>((size_t)tokens * width);
    CUDA_CHECK(route(&r, tokens, EXPERTS, top_k, width));
    CUDA_CHECK(moe_experts_compute(output, pass<__nv_bfloat16>((size_t)tokens * top_k * ffn), input,
                                   weights, r.permutation, r.offsets, r.gates, tokens, EXPERTS,
                                   top_k, width, ffn, 0));
    return end_row("experts", top_k == EXPERTS ? "412, all 8" : "412, top 2");
}

/* An expert that no entry chose is not in use. */
static cudaError_t in_use(int tokens, int experts, int width)
{
    std::vector<float> utilization(experts);
    moe_metrics metrics;
    routed r;
    int used = 0;
    CUDA_CHECK(begin_row());
    CUDA_CHECK(route(&r, tokens, experts, 2, width));
    CUDA_CHECK(cudaMemcpy(&metrics, r.metrics, sizeof metrics, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(utilization.data(), metrics.expert_utilization, experts * sizeof(float),
                          cudaMemcpyDeviceToHost));
    for (float share : utilization) used += share > 0;
    printf("router\t411, top 2 of %d\t\t\t%.1f\t%.4f\n", experts, 100.0 * used / experts,
           metrics.load_balance_loss);
    for (void *array : taken) CUDA_CHECK(cudaFree(array));
    taken.clear();
    return cudaSuccess;
}

/* ---- network --------------------------------------------------------------------------------- */

static cudaError_t network_fp32(const float *h_params, const float *x, float *logits, int batch,
                                int size)
{
    resnet18 *net;
    CUDA_CHECK(resnet18_create(&net, h_params));
    kept = resnet18_device_bytes(net);
    CUDA_CHECK(resnet18_forward(net, logits, NULL, x, batch, size, 0));
    passing = resnet18_device_bytes(net) - kept;
    CUDA_CHECK(end_row("network", "505, fp32"));
    return resnet18_free(net);
}

static cudaError_t network_int8(const float *h_params, const float *h_image, const float *x,
                                float *logits, int batch, int size)
{
    resnet18_int8 *net;
    CUDA_CHECK(resnet18_create_int8(&net, h_params, h_image, 1, size));
    kept = resnet18_device_bytes_int8(net);
    CUDA_CHECK(resnet18_forward_int8(net, logits, NULL, x, batch, size, 0));
    passing = resnet18_device_bytes_int8(net) - kept;
    CUDA_CHECK(end_row("network", "5c, int8"));
    return resnet18_free_int8(net);
}

/* Images and weights are random numbers: their values take no memory. */
static cudaError_t networks(int batch, int size)
{
    const size_t pixels = (size_t)3 * size * size;
    std::vector<float> h_params(RESNET18_FLOATS), h_image(pixels);
    random_state rng = random_seed(505);
    float *x, *logits;
    random_fill_uniform(&rng, h_params.data(), h_params.size(), 0.01f, 0.1f);
    random_fill_uniform(&rng, h_image.data(), h_image.size(), -1.0f, 1.0f);
    CUDA_CHECK(begin_row());
    CUDA_CHECK(cudaMalloc((void **)&x, batch * pixels * sizeof *x));
    CUDA_CHECK(cudaMemset(x, 0, batch * pixels * sizeof *x));
    CUDA_CHECK(cudaMalloc((void **)&logits, (size_t)batch * RESNET18_CLASSES * sizeof *logits));
    CUDA_CHECK(network_fp32(h_params.data(), x, logits, batch, size));
    CUDA_CHECK(begin_row());
    CUDA_CHECK(network_int8(h_params.data(), h_image.data(), x, logits, batch, size));
    CUDA_CHECK(cudaFree(x));
    return cudaFree(logits);
}

static cudaError_t rows(void)
{
    const int part = on_softgpu ? 32 : 1;
    for (int way = 0; way < 3; way++)
        CUDA_CHECK(way == 0 ? product_fp32(4096 / part) : product_int8(4096 / part, way == 2));
    CUDA_CHECK(attention(8192 / part, false));
    CUDA_CHECK(attention(8192 / part, true));
    CUDA_CHECK(experts(8192 / part, 8, 1024 / part, 4096 / part));
    CUDA_CHECK(experts(8192 / part, 2, 1024 / part, 4096 / part));
    CUDA_CHECK(in_use(16384 / part, 64, 1024 / part));
    return networks(on_softgpu ? 1 : 64, on_softgpu ? 32 : 224);
}

int main(void)
{
    struct cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 2;
    on_softgpu = strcmp(p.name, "softgpu") == 0;
    printf("# device %s, commit %s%s\n", p.name, variable("COURSE_COMMIT"),
           on_softgpu ? "; sizes a 32nd" : "");
    printf("what\tvariant\tkept_bytes\tpeak_bytes\t%% in use\tload balance loss\n");
    return rows() == cudaSuccess ? 0 : 1;
}
