/*
 * resnet18_hopper.cu: exercise 507 by Hopper's units against 507 without them, on softgpu.
 *
 *   resnet18_hopper BATCH SIZE     built by nvcc for sm_90a, with -DHOPPER_LAUNCH=-1e9: then a
 * layer takes Hopper's units wherever it fits, however small
 *
 * The exit status is 1 where logits differ by more than the rounding of their precision.
 */
#include "hopper.h"

static int may_use; /* Hopper's units */
static int units_of_test(void)
{
    return may_use ? hopper_multiprocessors() : 0;
}
#define hopper_multiprocessors units_of_test
#include "507_resnet18_optimized.cu"

#include <math.h>
#include <stdio.h>

static float *h_params, *x, *logits[2];

static float draw(void)
{
    static uint64_t z = UINT64_C(88172645463325252);
    z ^= z << 13, z ^= z >> 7, z ^= z << 17;
    return (float)(z >> 40) / (1 << 23) - 1.0f;
}

static void draw_params(void)
{
    for (int i = 0; i < RESNET18_FLOATS; i++) h_params[i] = 0.04f * draw();
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *c = &resnet18_convs[i];
        const int k = c->in_channels * c->kernel * c->kernel;
        for (int j = 0; j < c->out_channels * k; j++) h_params[c->w + j] = draw() * sqrtf(3.0f / k);
        for (int j = 0; j < c->out_channels; j++) {
            h_params[c->gamma + j] = 1.0f + 0.3f * draw();
            h_params[c->var + j] = 1.0f + 0.5f * draw();
        }
    }
}

/** @return how many layers Hopper's units computed, with the stem; -1: an error */
static int forward(float *y, int batch, int size, resnet18_precision precision)
{
    resnet18_opt *net;
    if (resnet18_create_opt(&net, h_params, batch, size, precision) != cudaSuccess) return -1;
    int count = net->stem.kernel != NULL;
    for (int i = 0; i < LAYERS; i++) count += net->layers[i].hopper.kernel != NULL;
    const bool failed = resnet18_forward_opt(net, y, x, 0) != cudaSuccess ||
                        cudaDeviceSynchronize() != cudaSuccess ||
                        resnet18_free_opt(net) != cudaSuccess;
    return failed ? -1 : count;
}

static bool compare(int batch, int size, resnet18_precision precision, double most)
{
    double difference = 0.0, norm = 0.0;
    int count[2];
    for (may_use = 0; may_use < 2; may_use++)
        count[may_use] = forward(logits[may_use], batch, size, precision);
    for (int i = 0; i < batch * RESNET18_CLASSES; i++) {
        const double d = logits[0][i] - logits[1][i];
        difference += d * d, norm += logits[0][i] * logits[0][i];
    }
    const double off = sqrt(difference / norm);
    const int wanted = precision == RESNET18_FP32 ? 19 : 20;
    printf("precision %d, %d x %d: %d layers by Hopper's units, %.2g apart\n", precision, batch,
           size, count[1], off);
    return count[0] == 0 && count[1] == wanted && off <= most;
}

int main(int argc, char **argv)
{
    const int batch = argc > 2 ? atoi(argv[1]) : 2, size = argc > 2 ? atoi(argv[2]) : 32;
    const size_t pixels = (size_t)batch * 3 * size * size;
    h_params = (float *)malloc(RESNET18_FLOATS * sizeof(float));
    if (h_params == NULL || cudaMallocManaged((void **)&x, pixels * sizeof(float)) != cudaSuccess)
        return 1;
    for (int i = 0; i < 2; i++)
        cudaMallocManaged((void **)&logits[i], batch * RESNET18_CLASSES * sizeof(float));
    draw_params();
    for (size_t i = 0; i < pixels; i++) x[i] = draw();
    bool right = compare(batch, size, RESNET18_FP32, 1e-5);
    right = compare(batch, size, RESNET18_TF32, 3e-3) && right;
    return compare(batch, size, RESNET18_FP16, 3e-3) && right ? 0 : 1;
}
