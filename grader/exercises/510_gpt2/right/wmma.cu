// RIGHT: products by wmma from padded tiles, one stage; everything after a product in a kernel that
// adds what it is given; a buffer per name
#include "208_reduce/reduce.h"
#include "314_adam/adam.h"
#include "3a_deterministic_backward/deterministic_backward.h"
#include "4c_flash_attention2/flash_attention2.h"
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include "510_gpt2/gpt2.h"

#include <cmath>
#include <cuda_bf16.h>
#include <mma.h>
#include <vector>

using half_t = __nv_bfloat16;
namespace wmma = nvcuda::wmma;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) return error_;                                                  \
    } while (0)

struct layer_memory {
    half_t *norm1, *heads, *mixed, *middle, *norm2, *wide, *act, *x;
    float *lse, *mean1, *rstd1, *mean2, *rstd2;
};

struct gpt2 {
    gpt_config c;
    int batch, seq, step;
    std::vector<void *> memory;
    size_t bytes;
    float *params, *grad, *m, *v, *losses, *norm, *mean, *rstd, *wide_rows;
    half_t *rounded, *x, *last, *grad_x, *three, *four, *one, *logits;
    std::vector<layer_memory> layers;

    template <typename T> cudaError_t room(T **to, size_t count)
    {
        const size_t size = (count * sizeof(T) + 511) / 512 * 512;
        TRY(cudaMalloc((void **)to, size));
        memory.push_back(*to);
        bytes += size;
        return cudaSuccess;
    }
};

/* An operand: element (outer, k) is at outer * row + k * col; one of them is 1. */
struct side {
    const half_t *data;
    size_t row, col;
    int outer;
};

struct target {
    half_t *out, *act;
    float *sums;
    bool keep;
    const float *bias;
    const half_t *plus, *slope;
    size_t pitch;
};

__device__ static float act_of(float x, bool slope)
{
    const float k = 0.79788456f, u = k * (x + 0.044715f * x * x * x), t = tanhf(u);
    return slope ? 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * k * (1 + 0.134145f * x * x)
                 : 0.5f * x * (1 + t);
}

constexpr int SQUARE = 64, DEPTH = 32, PITCH_K = DEPTH + 8;

__device__ static void fill(half_t (*tile)[PITCH_K], side s, int outer, int k, int k_end)
{
    for (int i = threadIdx.x; i < SQUARE * DEPTH; i += 128) {
        const int o = s.col == 1 ? i / DEPTH : i % SQUARE, d = s.col == 1 ? i % DEPTH : i / SQUARE;
        const bool inside = outer + o < s.outer && k + d < k_end;
        tile[o][d] = inside ? s.data[(outer + o) * s.row + (k + d) * s.col] : half_t(0.0f);
    }
}

__global__ static void product(target to, side a, side b, int k_end)
{
    __shared__ __align__(32) half_t a_tile[SQUARE][PITCH_K], b_tile[SQUARE][PITCH_K];
    __shared__ __align__(32) float patch[SQUARE][SQUARE + 4];
    const int warp = threadIdx.x / 32, across = (b.outer + SQUARE - 1) / SQUARE;
    const int row = blockIdx.x / across * SQUARE, col = blockIdx.x % across * SQUARE;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    for (auto &s : sum) wmma::fill_fragment(s, 0.0f);
    for (int k = 0; k < k_end; k += DEPTH) {
        fill(a_tile, a, row, k, k_end);
        fill(b_tile, b, col, k, k_end);
        __syncthreads();
        for (int d = 0; d < DEPTH; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half_t, wmma::row_major> left;
            wmma::load_matrix_sync(left, &a_tile[warp * 16][d], PITCH_K);
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half_t, wmma::col_major> right;
                wmma::load_matrix_sync(right, &b_tile[j * 16][d], PITCH_K);
                wmma::mma_sync(sum[j], left, right, sum[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(&patch[warp * 16][j * 16], sum[j], SQUARE + 4, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < SQUARE * SQUARE; i += 128) {
        const int r = row + i / SQUARE, q = col + i % SQUARE;
        if (r >= a.outer || q >= b.outer) continue;
        const size_t at = r * to.pitch + q;
        float y = patch[i / SQUARE][i % SQUARE];
        if (to.sums) {
            to.sums[at] = to.keep ? to.sums[at] + y : y;
            continue;
        }
        if (to.bias) y += to.bias[q];
        if (to.plus) y += float(to.plus[at]);
        if (to.slope) y *= act_of(float(to.slope[at]), true);
        to.out[at] = half_t(y);
        if (to.act) to.act[at] = half_t(act_of(y, false));
    }
}

static void multiply(target to, side a, side b, int k, cudaStream_t s)
{
    const int tiles = ((a.outer - 1) / SQUARE + 1) * ((b.outer - 1) / SQUARE + 1);
    product<<<tiles, 128, 0, s>>>(to, a, b, k);
}

static side along(const half_t *x, int outer, int width)
{
    return {x, (size_t)width, 1, outer};
}

static side turned(const half_t *x, int outer, int width)
{
    return {x, 1, (size_t)width, outer};
}

__device__ static float all_of(float x)
{
    __shared__ float parts[4];
    for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(~0u, x, i);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    return parts[0] + parts[1] + parts[2] + parts[3];
}

__global__ static void norm_rows(half_t *y, float *mean, float *rstd, const half_t *x,
                                 const float *w, const float *b, int C)
{
    const size_t at = (size_t)blockIdx.x * C;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < C; i += 128) sum += float(x[at + i]);
    const float m = all_of(sum) / C;
    for (int i = threadIdx.x; i < C; i += 128)
        squares += (float(x[at + i]) - m) * (float(x[at + i]) - m);
    const float r = rsqrtf(all_of(squares) / C + GPT_EPS);
    for (int i = threadIdx.x; i < C; i += 128)
        y[at + i] = half_t((float(x[at + i]) - m) * r * w[i] + b[i]);
    if (threadIdx.x == 0) mean[blockIdx.x] = m, rstd[blockIdx.x] = r;
}

__global__ static void norm_rows_back(half_t *grad_x, const half_t *grad_y, const half_t *x,
                                      const float *w, const float *mean, const float *rstd, int C,
                                      bool first)
{
    const size_t at = (size_t)blockIdx.x * C;
    const float m = mean[blockIdx.x], r = rstd[blockIdx.x];
    float sum = 0, dot = 0;
    for (int i = threadIdx.x; i < C; i += 128) {
        const float g = float(grad_y[at + i]) * w[i];
        sum += g, dot += g * (float(x[at + i]) - m) * r;
    }
    sum = all_of(sum) / C, dot = all_of(dot) / C;
    for (int i = threadIdx.x; i < C; i += 128) {
        const float g = float(grad_y[at + i]) * w[i], hat = (float(x[at + i]) - m) * r;
        grad_x[at + i] = half_t((first ? 0.0f : float(grad_x[at + i])) + r * (g - sum - hat * dot));
    }
}

/* A warp's width of columns a block; w, of xhat, may be left out. */
__global__ static void column_sums(float *w, float *b, const half_t *grad_y, const half_t *x,
                                   const float *mean, const float *rstd, int rows, int C)
{
    __shared__ float sums[2][32][33];
    const int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0, dot = 0;
    for (size_t r = threadIdx.y; r < rows; r += 32) {
        const float g = float(grad_y[r * C + col]);
        sum += g;
        if (w) dot += g * (float(x[r * C + col]) - mean[r]) * rstd[r];
    }
    sums[0][threadIdx.y][threadIdx.x] = sum, sums[1][threadIdx.y][threadIdx.x] = dot;
    __syncthreads();
    if (threadIdx.y > 1 || (threadIdx.y == 1 && !w)) return;
    sum = 0;
    for (int i = 0; i < 32; i++) sum += sums[threadIdx.y][i][threadIdx.x];
    (threadIdx.y == 0 ? b : w)[col] = sum;
}

/* A block a token; rows [tokens x parts x C], heads [parts x batch x heads x seq x dim]. */
__global__ static void regroup(half_t *heads, half_t *rows, bool apart, int parts, int seq, int dim,
                               int C)
{
    const size_t token = blockIdx.x, t = token % seq, b = token / seq, tokens = gridDim.x;
    for (int i = threadIdx.x; i < parts * C; i += blockDim.x) {
        const size_t part = i / C, c = i % C;
        half_t *place =
            heads + (part * tokens + b * seq) * C + c / dim * seq * dim + t * dim + c % dim;
        half_t *row = rows + token * parts * C + i;
        apart ? *place = *row : *row = *place;
    }
}

__global__ static void read_tokens(half_t *x, const int *tokens, const float *wte, const float *wpe,
                                   int seq, int C)
{
    const size_t row = blockIdx.x;
    for (int i = threadIdx.x; i < C; i += blockDim.x)
        x[row * C + i] = half_t(wte[(size_t)tokens[row] * C + i] + wpe[row % seq * C + i]);
}

__global__ static void score(float *losses, half_t *logits, const int *targets, int V, int n)
{
    half_t *row = logits + (size_t)blockIdx.x * V;
    const int target = targets[blockIdx.x];
    float sum = 0, high = -INFINITY;
    for (int i = 0; i < V; i++) high = fmaxf(high, float(row[i]));
    for (int i = threadIdx.x; i < V; i += 128) sum += expf(float(row[i]) - high);
    sum = all_of(sum);
    if (threadIdx.x == 0) losses[blockIdx.x] = (logf(sum) + high - float(row[target])) / n;
    __syncthreads();
    for (int i = threadIdx.x; i < V; i += 128)
        row[i] = half_t((expf(float(row[i]) - high) / sum - (i == target)) / n);
}

__global__ static void narrow(half_t *to, const float *from, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) to[i] = half_t(from[i]);
}

__global__ static void widen(float *to, const half_t *from, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) to[i] = float(from[i]);
}

static cudaError_t allocate(gpt2 *g)
{
    const size_t all = gpt_params(&g->c), C = g->c.channels, n = (size_t)g->batch * g->seq,
                 w = n * C;
    for (float **f : {&g->params, &g->grad, &g->m, &g->v}) TRY(g->room(f, all));
    for (float **f : {&g->losses, &g->mean, &g->rstd}) TRY(g->room(f, n));
    for (half_t **h : {&g->x, &g->last, &g->grad_x, &g->one}) TRY(g->room(h, w));
    TRY(g->room(&g->norm, 1));
    TRY(g->room(&g->rounded, all));
    TRY(g->room(&g->three, 3 * w));
    TRY(g->room(&g->four, 4 * w));
    g->wide_rows = (float *)g->four;
    TRY(g->room(&g->logits, (n / 4 + 1) * g->c.vocab));
    for (layer_memory &l : g->layers) {
        for (half_t **h : {&l.norm1, &l.mixed, &l.middle, &l.norm2, &l.x}) TRY(g->room(h, w));
        for (half_t **h : {&l.wide, &l.act}) TRY(g->room(h, 4 * w));
        for (float **f : {&l.mean1, &l.rstd1, &l.mean2, &l.rstd2}) TRY(g->room(f, n));
        TRY(g->room(&l.heads, 3 * w));
        TRY(g->room(&l.lse, n * g->c.heads));
    }
    for (float *f : {g->grad, g->m, g->v}) TRY(cudaMemset(f, 0, all * sizeof *f));
    return cudaSuccess;
}

static cudaError_t round_weights(gpt2 *g, cudaStream_t s)
{
    const size_t all = gpt_params(&g->c);
    narrow<<<(unsigned)((all + 255) / 256), 256, 0, s>>>(g->rounded, g->params, all);
    return cudaGetLastError();
}

cudaError_t gpt2_create(gpt2 **net, const gpt_config *c, const float *h_params, int batch, int seq)
{
    *net = nullptr;
    if (!gpt_config_is_valid(c) || batch < 1 || seq < 1 || seq > c->context)
        return cudaErrorInvalidValue;
    if (c->channels != 64 * c->heads && c->channels != 128 * c->heads) return cudaErrorInvalidValue;
    gpt2 *g = new gpt2();
    g->c = *c, g->batch = batch, g->seq = seq;
    g->layers.resize(c->layers);
    cudaError_t e = allocate(g);
    if (e == cudaSuccess)
        e = cudaMemcpy(g->params, h_params, gpt_params(c) * sizeof(float), cudaMemcpyHostToDevice);
    if (e == cudaSuccess) e = round_weights(g, 0);
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    if (e == cudaSuccess)
        *net = g;
    else
        gpt2_free(g);
    return e;
}

/* The gradients of a linear layer; to has what becomes of that of its input. */
static void linear_back(gpt2 *g, size_t w, size_t b, target to, const half_t *grad_y,
                        const half_t *x, int in, int out, cudaStream_t s)
{
    const int n = g->batch * g->seq;
    column_sums<<<out / 32, dim3(32, 32), 0, s>>>(nullptr, g->grad + b, grad_y, nullptr, nullptr,
                                                  nullptr, n, out);
    target weights = {};
    weights.sums = g->grad + w, weights.pitch = in;
    multiply(weights, turned(grad_y, out, out), turned(x, in, in), n, s);
    if (to.out) multiply(to, along(grad_y, n, out), turned(g->rounded + w, in, in), out, s);
}

static void norm_back(gpt2 *g, size_t w, size_t b, const half_t *x, const float *mean,
                      const float *rstd, bool first, cudaStream_t s)
{
    const int n = g->batch * g->seq, C = g->c.channels;
    column_sums<<<C / 32, dim3(32, 32), 0, s>>>(g->grad + w, g->grad + b, g->one, x, mean, rstd, n,
                                                C);
    norm_rows_back<<<n, 128, 0, s>>>(g->grad_x, g->one, x, g->params + w, mean, rstd, C, first);
}

static cudaError_t ahead(gpt2 *g, const half_t *x, int i, cudaStream_t s)
{
    const gpt_layer at = gpt_layer_at(&g->c, i);
    const int n = g->batch * g->seq, C = g->c.channels, dim = C / g->c.heads;
    const size_t w = (size_t)n * C;
    layer_memory &l = g->layers[i];
    float *p = g->params;
    const half_t *r = g->rounded;
    norm_rows<<<n, 128, 0, s>>>(l.norm1, l.mean1, l.rstd1, x, p + at.ln1_w, p + at.ln1_b, C);
    multiply({g->three, 0, 0, false, p + at.qkv_b, 0, 0, (size_t)3 * C}, along(l.norm1, n, C),
             along(r + at.qkv_w, 3 * C, C), C, s);
    regroup<<<n, 256, 0, s>>>(l.heads, g->three, true, 3, g->seq, dim, C);
    TRY(attention_flash2(g->one, l.lse, l.heads, l.heads + w, l.heads + 2 * w, g->batch, g->c.heads,
                         g->seq, dim, 1, 1 / std::sqrt((float)dim), s));
    regroup<<<n, 256, 0, s>>>(g->one, l.mixed, false, 1, g->seq, dim, C);
    multiply({l.middle, 0, 0, false, p + at.proj_b, x, 0, (size_t)C}, along(l.mixed, n, C),
             along(r + at.proj_w, C, C), C, s);
    norm_rows<<<n, 128, 0, s>>>(l.norm2, l.mean2, l.rstd2, l.middle, p + at.ln2_w, p + at.ln2_b, C);
    multiply({l.wide, l.act, 0, false, p + at.fc_b, 0, 0, (size_t)4 * C}, along(l.norm2, n, C),
             along(r + at.fc_w, 4 * C, C), C, s);
    multiply({l.x, 0, 0, false, p + at.fcproj_b, l.middle, 0, (size_t)C}, along(l.act, n, 4 * C),
             along(r + at.fcproj_w, C, 4 * C), 4 * C, s);
    return cudaGetLastError();
}

static cudaError_t back(gpt2 *g, const half_t *x, int i, cudaStream_t s)
{
    const gpt_layer at = gpt_layer_at(&g->c, i);
    const int n = g->batch * g->seq, C = g->c.channels, dim = C / g->c.heads;
    const size_t w = (size_t)n * C;
    layer_memory &l = g->layers[i];
    target to = {g->four, 0, 0, false, 0, 0, l.wide, (size_t)4 * C};
    const target one = {g->one, 0, 0, false, 0, 0, 0, (size_t)C};
    linear_back(g, at.fcproj_w, at.fcproj_b, to, g->grad_x, l.act, 4 * C, C, s);
    linear_back(g, at.fc_w, at.fc_b, one, g->four, l.norm2, C, 4 * C, s);
    norm_back(g, at.ln2_w, at.ln2_b, l.middle, l.mean2, l.rstd2, false, s);
    linear_back(g, at.proj_w, at.proj_b, one, g->grad_x, l.mixed, C, C, s);
    half_t *grad_heads = g->four, *grad = g->four + w, *mixed = g->three;
    regroup<<<n, 256, 0, s>>>(grad_heads, g->one, true, 1, g->seq, dim, C);
    regroup<<<n, 256, 0, s>>>(mixed, l.mixed, true, 1, g->seq, dim, C);
    TRY(attention_flash2_backward(grad, grad + w, grad + 2 * w, grad_heads, mixed, l.lse, l.heads,
                                  l.heads + w, l.heads + 2 * w, g->batch, g->c.heads, g->seq, dim,
                                  1, 1 / std::sqrt((float)dim), s));
    regroup<<<n, 256, 0, s>>>(grad, g->three, false, 3, g->seq, dim, C);
    linear_back(g, at.qkv_w, at.qkv_b, one, g->three, l.norm1, C, 3 * C, s);
    norm_back(g, at.ln1_w, at.ln1_b, x, l.mean1, l.rstd1, false, s);
    return cudaGetLastError();
}

static void score_all(gpt2 *g, const int *targets, cudaStream_t s)
{
    const int n = g->batch * g->seq, C = g->c.channels, V = g->c.vocab, most = n / 4 + 1;
    for (int first = 0; first < n; first += most) {
        const int rows = std::min(most, n - first);
        const half_t *last = g->last + (size_t)first * C;
        multiply({g->logits, 0, 0, false, 0, 0, 0, (size_t)V}, along(last, rows, C),
                 along(g->rounded, V, C), C, s);
        score<<<rows, 128, 0, s>>>(g->losses + first, g->logits, targets + first, V, n);
        multiply({g->one + (size_t)first * C, 0, 0, false, 0, 0, 0, (size_t)C},
                 along(g->logits, rows, V), turned(g->rounded, C, C), V, s);
        multiply({0, 0, g->grad, first > 0, 0, 0, 0, (size_t)C}, turned(g->logits, V, V),
                 turned(last, C, C), rows, s);
    }
}

cudaError_t gpt2_train_step(gpt2 *g, float *d_loss, const int *tokens, const int *targets, float lr,
                            float beta1, float beta2, float eps, float decay, float max_norm,
                            cudaStream_t s)
{
    const gpt_config *c = &g->c;
    const int n = g->batch * g->seq, C = c->channels, L = c->layers;
    float *p = g->params;
    const auto before = [g](int i) { return i == 0 ? g->x : g->layers[i - 1].x; };
    read_tokens<<<n, 128, 0, s>>>(g->x, tokens, p, p + gpt_wpe(c), g->seq, C);
    for (int i = 0; i < L; i++) TRY(ahead(g, before(i), i, s));
    norm_rows<<<n, 128, 0, s>>>(g->last, g->mean, g->rstd, before(L), p + gpt_lnf_w(c),
                                p + gpt_lnf_b(c), C);
    score_all(g, targets, s);
    if (d_loss) TRY(reduce_sum(d_loss, g->losses, n, s));
    norm_back(g, gpt_lnf_w(c), gpt_lnf_b(c), before(L), g->mean, g->rstd, true, s);
    for (int i = L - 1; i >= 0; i--) TRY(back(g, before(i), i, s));
    widen<<<(n * C + 255) / 256, 256, 0, s>>>(g->wide_rows, g->grad_x, (size_t)n * C);
    TRY(embedding_backward_deterministic(g->grad, g->grad + gpt_wpe(c), g->wide_rows, tokens,
                                         g->batch, g->seq, C, c->vocab, s));
    if (max_norm > 0) TRY(global_norm_clip(g->norm, g->grad, gpt_params(c), max_norm, s));
    std::vector<adam_group> groups;
    for (int i = 0; i < gpt_arrays(c); i++) {
        const gpt_array a = gpt_array_at(c, i);
        groups.push_back({a.rows * a.cols, a.matrix ? decay : 0.0f});
    }
    TRY(adam_update_groups(p, g->m, g->v, g->grad, groups.data(), (int)groups.size(), lr, beta1,
                           beta2, eps, ++g->step, s));
    return round_weights(g, s);
}

static cudaError_t bring(gpt2 *g, float *to, const float *from)
{
    TRY(cudaDeviceSynchronize());
    return cudaMemcpy(to, from, gpt_params(&g->c) * sizeof(float), cudaMemcpyDeviceToHost);
}

cudaError_t gpt2_get_grads(gpt2 *g, float *h_grads)
{
    return bring(g, h_grads, g->grad);
}

cudaError_t gpt2_get_params(gpt2 *g, float *h_params)
{
    return bring(g, h_params, g->params);
}

size_t gpt2_device_bytes(const gpt2 *g)
{
    return g->bytes;
}

cudaError_t gpt2_free(gpt2 *g)
{
    if (!g) return cudaSuccess;
    for (void *at : g->memory) cudaFree(at);
    delete g;
    return cudaGetLastError();
}
