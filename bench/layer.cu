/*
 * layer.cu: one linear layer of a million weights, 1,024 to 1,024, by every product of the course
 * for it, forward and backward.
 *
 *   bench_layer [BATCH ...]     TSV on stdout
 *
 * A time is the median of REPEATS, each of CALLS calls one behind the other; on the CPU of single
 * calls. GB/s are of the fewest bytes that the layer can move: inputs read once, outputs written
 * once. All that is written is compared with the CPU's, relative to its largest element; a wrong
 * one is called WRONG and has no time. 214 and 4g work as in gpt2_layers.cu: where they need a
 * transpose, 209 makes it first, as a part of the time.
 *
 * softgpu has no times: there the batch is small, and only right and wrong are reported.
 */
#include "basics.h"
#include "cpu.h"
#include "cuda_check.h"
#include "layers.h"
#include "optimization.h"
#include "random.h"
#include "table.h"
#include "timer.h"

#include <math.h>
#include <string.h>

namespace by_4g
{
#include "gpt2_layers.cu"
}
namespace by_214
{
#define matmul_3xtf32 matmul_registers
#include "gpt2_layers.cu"
#undef matmul_3xtf32
} // namespace by_214

extern "C" {
cudaError_t baseline_linear_forward(float *y, const float *x, const float *w, const float *bias,
                                    int batch, int in_features, int out_features,
                                    cudaStream_t stream);
cudaError_t baseline_linear_backward(float *grad_x, float *grad_w, float *grad_bias,
                                     const float *grad_y, const float *x, const float *w, int batch,
                                     int in_features, int out_features, cudaStream_t stream);
}

#define SIDE    1024 /* inputs, and outputs */
#define REPEATS 15
#define CALLS   10
#define ALLOWED 1e-5 /* of sums of 2,048 products in another order */

typedef decltype(&baseline_linear_forward) forward_function;
typedef decltype(&baseline_linear_backward) backward_function;

typedef struct variant {
    const char *name;
    forward_function forward;
    backward_function backward; /* NULL: it has none */
    bool host;
} variant;

/* Inputs, and what comes of them: y; grad_x, grad_w and grad_bias. On the host or on the device. */
typedef struct arrays {
    float *x, *w, *bias, *grad_y; /* [batch x SIDE], [SIDE x SIDE], [SIDE], [batch x SIDE] */
    float *out;                   /* [batch x SIDE + SIDE x SIDE + SIDE] of a direction */
} arrays;

static bool on_softgpu;

static size_t inputs(int batch)
{
    return 2 * (size_t)batch * SIDE + SIDE * SIDE + SIDE;
}

static size_t outputs(int batch, bool backward)
{
    return (size_t)batch * SIDE + (backward ? SIDE * SIDE + SIDE : 0);
}

/* ---- on the CPU ------------------------------------------------------------------------------ */

static cudaError_t cpu_forward(float *y, const float *x, const float *w, const float *bias,
                               int batch, int in, int out, cudaStream_t)
{
    for (int i = 0; i < batch; i++) memcpy(y + (size_t)i * out, bias, out * sizeof *y);
    gemm_cpu(0, 1, batch, out, in, 1.0f, x, in, w, in, 1.0f, y, out);
    return cudaSuccess;
}

static cudaError_t cpu_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                                const float *x, const float *w, int batch, int in, int out,
                                cudaStream_t)
{
    linear_backward_cpu(grad_x, grad_w, grad_bias, grad_y, x, w, batch, in, out);
    return cudaSuccess;
}

static const variant variants[] = {
    {"108, 111: one core of a CPU", cpu_forward, cpu_backward, true},
    {"303's baseline: untiled", baseline_linear_forward, baseline_linear_backward, false},
    {"303: tiled", linear_forward, linear_backward, false},
    {"214: registers", by_214::linear_forward, by_214::linear_backward, false},
    {"4g: 3xTF32", by_4g::linear_forward, by_4g::linear_backward, false},
    {"407: persistent", linear_forward_persistent, NULL, false},
};

/* ---- a row ----------------------------------------------------------------------------------- */

static cudaError_t call(const variant *v, const arrays *a, int batch, bool backward)
{
    float *grad_w = a->out + (size_t)batch * SIDE;
    if (!backward) return v->forward(a->out, a->x, a->w, a->bias, batch, SIDE, SIDE, 0);
    return v->backward(a->out, grad_w, grad_w + SIDE * SIDE, a->grad_y, a->x, a->w, batch, SIDE,
                       SIDE, 0);
}

/* @param ms [1] the median, of one call */
static cudaError_t time_calls(double *ms, const variant *v, const arrays *a, int batch,
                              bool backward)
{
    double times[REPEATS];
    const int calls = v->host || on_softgpu ? 1 : CALLS, repeats = on_softgpu ? 1 : REPEATS;
    if (!on_softgpu) CUDA_CHECK(call(v, a, batch, backward));
    for (int i = 0; i < repeats; i++) {
        CUDA_CHECK(cudaDeviceSynchronize());
        const double began = seconds_now();
        for (int k = 0; k < calls; k++) CUDA_CHECK(call(v, a, batch, backward));
        CUDA_CHECK(cudaDeviceSynchronize());
        times[i] = 1e3 * (seconds_now() - began) / calls;
    }
    qsort(times, repeats, sizeof *times, by_value);
    *ms = times[repeats / 2];
    return cudaSuccess;
}

/* NaN where something was not written. */
static double error_of(const float *got, const float *want, size_t count)
{
    double apart = 0.0, largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double error = fabs((double)got[i] - want[i]);
        if (!(error <= apart)) apart = error;
        largest = fmax(largest, fabs((double)want[i]));
    }
    return apart / largest;
}

/* The worst of the arrays of a direction. */
static double worst(const float *got, const float *want, int batch, bool backward)
{
    const size_t of_x = (size_t)batch * SIDE, of_w = SIDE * SIDE;
    const double x = error_of(got, want, of_x);
    if (!backward) return x;
    const double w = error_of(got + of_x, want + of_x, of_w);
    const double bias = error_of(got + of_x + of_w, want + of_x + of_w, SIDE);
    return x >= w && x >= bias ? x : w >= bias ? w : bias;
}

static void print_row(const variant *v, int batch, bool backward, double ms, double error)
{
    const double products = backward ? 2 : 1, weights = SIDE * SIDE + SIDE;
    const double floats =
        products * 2 * batch * SIDE + weights + (backward ? weights - batch * SIDE : 0);
    const bool right = error <= ALLOWED, timed = right && !on_softgpu;
    printf("%s\t%s\t%d", v->name, backward ? "backward" : "forward", batch);
    print_number("%.4f", timed ? ms : 0);
    print_number("%.1f", timed ? 4e-6 * floats / ms : 0);
    print_number("%.0f", timed ? 2e-6 * products * batch * SIDE * SIDE / ms : 0);
    printf("\t%.1e\t%s\n", error,
           right ? on_softgpu ? "right, softgpu has no times" : "right" : "WRONG");
    fflush(stdout);
}

/* @param want [outputs] of the CPU, which the first row writes */
static cudaError_t row(const variant *v, const arrays *host, const arrays *device, float *got,
                       float *want, int batch, bool backward)
{
    const size_t bytes = outputs(batch, backward) * sizeof(float);
    double ms;
    CUDA_CHECK(cudaMemset(device->out, 0xff, bytes)); /* NaN: what is not written shows */
    CUDA_CHECK(time_calls(&ms, v, v->host ? host : device, batch, backward));
    if (v->host)
        memcpy(want, host->out, bytes);
    else
        CUDA_CHECK(cudaMemcpy(got, device->out, bytes, cudaMemcpyDeviceToHost));
    print_row(v, batch, backward, ms, worst(v->host ? want : got, want, batch, backward));
    return cudaSuccess;
}

static arrays parts_of(float *all, int batch)
{
    float *w = all + (size_t)batch * SIDE, *bias = w + SIDE * SIDE, *grad_y = bias + SIDE;
    return {all, w, bias, grad_y, grad_y + (size_t)batch * SIDE};
}

static cudaError_t bench(int batch)
{
    const size_t most = outputs(batch, true), all = inputs(batch) + most;
    float *h_all = (float *)malloc((all + 2 * most) * sizeof *h_all), *d_all;
    random_state rng = random_seed(303);
    if (h_all == NULL) return cudaErrorMemoryAllocation;
    random_fill_uniform(&rng, h_all, inputs(batch), -1.0f, 1.0f);
    CUDA_CHECK(cudaMalloc((void **)&d_all, all * sizeof *d_all));
    CUDA_CHECK(cudaMemcpy(d_all, h_all, inputs(batch) * sizeof *d_all, cudaMemcpyHostToDevice));
    const arrays host = parts_of(h_all, batch), device = parts_of(d_all, batch);
    for (int backward = 0; backward < 2; backward++)
        for (const variant &v : variants)
            if (!backward || v.backward)
                CUDA_CHECK(
                    row(&v, &host, &device, h_all + all, h_all + all + most, batch, backward != 0));
    free(h_all);
    return cudaFree(d_all);
}

int main(int argc, char **argv)
{
    static const int usual[] = {64, 2048}, small[] = {3};
    struct cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 2;
    on_softgpu = strcmp(p.name, "softgpu") == 0;
    const int *batches = on_softgpu ? small : usual;
    const int count = argc > 1 ? argc - 1 : on_softgpu ? 1 : 2;
    printf("# device %s, CPU %s, commit %s\n", p.name, variable("COURSE_CPU"),
           variable("COURSE_COMMIT"));
    printf("# a linear layer of %d x %d weights, fp32\n", SIDE, SIDE);
    printf("what\tdirection\tbatch\tms\tGB/s\tGFLOP/s\terror\tverdict\n");
    for (int i = 0; i < count; i++) {
        const int batch = argc > 1 ? atoi(argv[i + 1]) : batches[i];
        if (batch < 1 || batch > 65536) {
            fprintf(stderr, "usage: %s [BATCH ...]\n", argv[0]);
            return 2;
        }
        if (bench(batch) != cudaSuccess) return 1;
    }
    return 0;
}
