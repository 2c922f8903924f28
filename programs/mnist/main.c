/*
 * mnist_main.c: `make mnist`, a program that trains your network of exercise 501 and uses it.
 *
 *   mnist [EPOCHS [SEED]]
 *
 * Of the training images the last tenth is kept for validation: look at that accuracy as often as
 * you like. The test images are asked once, at the end. On softgpu, which computes what a GPU does
 * in a second in some minutes, both sets are a tenth of what they are elsewhere.
 */
#include "cuda_check.h"
#include "mnist.h"
#include "network.h"
#include "not_implemented.h"
#include "random.h"
#include "timer.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH         64
#define LEARNING_RATE 1e-3f

/* Weights small and random, so that hidden units differ; biases 0. */
static void initial_params(float params[MLP_PARAMS], uint64_t seed)
{
    random_state rng = random_seed(seed);
    float *w1 = params, *bias1 = w1 + MLP_HIDDEN * MLP_INPUTS;
    float *w2 = bias1 + MLP_HIDDEN, *bias2 = w2 + MLP_CLASSES * MLP_HIDDEN;
    random_fill_normal(&rng, w1, MLP_HIDDEN * MLP_INPUTS, sqrtf(2.0f / MLP_INPUTS));
    random_fill_normal(&rng, w2, MLP_CLASSES * MLP_HIDDEN, sqrtf(1.0f / MLP_HIDDEN));
    for (int i = 0; i < MLP_HIDDEN; i++) bias1[i] = 0.0f;
    for (int i = 0; i < MLP_CLASSES; i++) bias2[i] = 0.0f;
}

static int count_right(const float *logits, const int *labels, int count)
{
    int right = 0;
    for (int row = 0; row < count; row++) {
        int best = 0;
        for (int i = 1; i < MLP_CLASSES; i++)
            if (logits[row * MLP_CLASSES + i] > logits[row * MLP_CLASSES + best]) best = i;
        right += best == labels[row];
    }
    return right;
}

static cudaError_t test_accuracy(mlp *net, float *accuracy, const mnist_set *test)
{
    size_t image_bytes = (size_t)test->count * MLP_INPUTS * sizeof(float);
    size_t logit_bytes = (size_t)test->count * MLP_CLASSES * sizeof(float);
    float *d_images, *d_logits, *h_logits = malloc(logit_bytes);
    if (h_logits == NULL) return cudaErrorMemoryAllocation;
    CUDA_CHECK(cudaMalloc((void **)&d_images, image_bytes));
    CUDA_CHECK(cudaMalloc((void **)&d_logits, logit_bytes));
    CUDA_CHECK(cudaMemcpy(d_images, test->images, image_bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(mlp_predict(net, d_logits, d_images, test->count, 0));
    CUDA_CHECK(cudaMemcpy(h_logits, d_logits, logit_bytes, cudaMemcpyDeviceToHost));
    *accuracy = (float)count_right(h_logits, test->labels, test->count) / (float)test->count;
    CUDA_CHECK(cudaFree(d_images));
    CUDA_CHECK(cudaFree(d_logits));
    free(h_logits);
    return cudaSuccess;
}

/* One run from random parameters to the accuracy on the test images. */
static cudaError_t run(const mnist *data, int epochs, uint64_t seed)
{
    static float params[MLP_PARAMS];
    float *losses = calloc((size_t)epochs, sizeof *losses), accuracy = 0.0f;
    float *accuracies = calloc((size_t)epochs, sizeof *accuracies);
    if (losses == NULL || accuracies == NULL) return cudaErrorMemoryAllocation;
    mlp *net;
    initial_params(params, seed);
    CUDA_CHECK(mlp_create(&net, params));
    if (net == NULL) return cudaErrorNotSupported; /* still a stub */
    double started = seconds_now();
    CUDA_CHECK(train_mnist(net, losses, accuracies, data->train.images, data->train.labels,
                           data->train.count, data->train.count / 10, epochs, BATCH, LEARNING_RATE,
                           seed, 0));
    double seconds = seconds_now() - started;
    CUDA_CHECK(test_accuracy(net, &accuracy, &data->test));
    CUDA_CHECK(mlp_free(net));
    free(losses);
    free(accuracies);

    printf("accuracy on %d test images of %s: %.2f %%, after %.1f s of training\n",
           data->test.count, data->source, 100 * accuracy, seconds);
    return cudaSuccess;
}

static int on_softgpu(void)
{
    struct cudaDeviceProp device;
    return cudaGetDeviceProperties(&device, 0) == cudaSuccess &&
           strcmp(device.name, "softgpu") == 0;
}

int main(int argc, char **argv)
{
    int epochs = argc > 1 ? atoi(argv[1]) : 5;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (epochs < 1) {
        fprintf(stderr, "usage: %s [EPOCHS [SEED]]\n", argv[0]);
        return 2;
    }
    mnist data;
    char error[512];
    if (mnist_load(&data, error, sizeof error) != 0) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    if (on_softgpu()) {
        data.train.count /= 10;
        data.test.count /= 10;
    }
    printf("training on %d images of %s\n", data.train.count, data.source);

    cudaError_t status = run(&data, epochs, seed);
    mnist_free(&data);
    const char *stub = not_implemented_take();
    if (stub != NULL) fprintf(stderr, "%s is not written yet\n", stub);
    return status == cudaSuccess && stub == NULL ? 0 : 1;
}
