/*
 * main.c: `make mnist`, a program that trains your network of exercise 501 and uses it.
 *
 *   mnist [EPOCHS [SEED [fast]]]
 *
 * Of the training images the last tenth is kept for validation: look at that accuracy as often as
 * you like. The test images are used once, at the end. On softgpu, which computes what a GPU does
 * in a second in some minutes, both sets are a tenth of what they are elsewhere.
 *
 * With `fast` the training is that of 502, on all training images, and reports only at its end. The
 * learning rate falls to 0, and the images are moved about by a pixel.
 */
#include "cuda_check.h"
#include "mnist.h"
#include "network.h"
#include "not_implemented.h"
#include "random.h"
#include "timer.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH         64
#define LEARNING_RATE 1e-3f
#define FAST_BATCH    128
#define FAST_RATE     3e-3f /* at first */
#define MOVES         9     /* of an image: nowhere, or to one of eight sides */
#define SIDE          28    /* of an image, in pixels */

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

/* The same labels in an order that has nothing to do with the images: what is right by chance. */
static float chance(const float *logits, const mnist_set *test, uint64_t seed)
{
    random_state rng = random_seed(seed);
    int *labels = malloc((size_t)test->count * sizeof *labels);
    if (labels == NULL) return NAN;
    memcpy(labels, test->labels, (size_t)test->count * sizeof *labels);
    random_shuffle(&rng, labels, (size_t)test->count);
    const int right = count_right(logits, labels, test->count);
    free(labels);
    return (float)right / (float)test->count;
}

/* @param accuracy [2] with the images' own labels, and with those of others */
static cudaError_t test_accuracy(mlp *net, float *accuracy, const mnist_set *test, uint64_t seed)
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
    accuracy[0] = (float)count_right(h_logits, test->labels, test->count) / (float)test->count;
    accuracy[1] = chance(h_logits, test, seed);
    CUDA_CHECK(cudaFree(d_images));
    CUDA_CHECK(cudaFree(d_logits));
    free(h_logits);
    return cudaSuccess;
}

/* The network of 501, trained by its own loop; *seconds is what that took. */
static cudaError_t train(mlp **net, double *seconds, const mnist_set *set, const float *params,
                         int epochs, uint64_t seed)
{
    float *losses = calloc((size_t)epochs, sizeof *losses);
    float *accuracies = calloc((size_t)epochs, sizeof *accuracies);
    if (losses == NULL || accuracies == NULL) return cudaErrorMemoryAllocation;
    CUDA_CHECK(mlp_create(net, params));
    if (*net == NULL) return cudaErrorNotSupported; /* still a stub */
    double started = seconds_now();
    CUDA_CHECK(train_mnist(*net, losses, accuracies, set->images, set->labels, set->count,
                           set->count / 10, epochs, BATCH, LEARNING_RATE, seed, 0));
    *seconds = seconds_now() - started;
    free(losses);
    free(accuracies);
    return cudaSuccess;
}

/* One image as bytes, moved by dx and dy pixels. */
static void move(unsigned char *to, const float *from, int dx, int dy)
{
    for (int i = 0; i < MNIST_PIXELS; i++) {
        int x = i % SIDE - dx, y = i / SIDE - dy;
        bool inside = x >= 0 && x < SIDE && y >= 0 && y < SIDE;
        to[i] = inside ? (unsigned char)lrintf(255.0f * from[y * SIDE + x]) : 0;
    }
}

/* All images MOVES times, moved by up to a pixel each way, with their labels: so the network sees
 * more than there are. Image i is again at i + set->count, i + 2 set->count, ... */
static cudaError_t create_fast(mlp_fast **net, const mnist_set *set, const float *params)
{
    size_t count = (size_t)set->count;
    unsigned char *images = malloc(MOVES * count * MNIST_PIXELS + 1);
    int *labels = malloc(MOVES * count * sizeof *labels + 1);
    if (images == NULL || labels == NULL) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < MOVES * count; i++) {
        int way = (int)(i / count);
        move(images + i * MNIST_PIXELS, set->images + i % count * MNIST_PIXELS, way % 3 - 1,
             way / 3 - 1);
        labels[i] = set->labels[i % count];
    }
    cudaError_t status = mlp_fast_create(net, params, images, labels, MOVES * set->count);
    free(images);
    free(labels);
    return status;
}

/* Every image once an epoch, each time moved another way. The host shuffles while the device still
 * trains. */
static cudaError_t fast_epochs(mlp_fast *net, int *d_order, int *h_order, int count, int epochs,
                               random_state *rng)
{
    for (int epoch = 0; epoch < epochs; epoch++) {
        float first = (float)(epochs - epoch), last = first - 1.0f, each = FAST_RATE / epochs;
        for (int i = 0; i < count; i++) h_order[i] = i + count * (int)random_below(rng, MOVES);
        random_shuffle(rng, h_order, (size_t)count);
        CUDA_CHECK(
            cudaMemcpy(d_order, h_order, (size_t)count * sizeof(int), cudaMemcpyHostToDevice));
        CUDA_CHECK(mlp_fast_train_epoch(net, NULL, d_order, count, FAST_BATCH, each * first,
                                        each * last, 0));
    }
    return cudaDeviceSynchronize();
}

/* The network of 501 again, with parameters that 502 has trained. The images are on the device
 * before the clock starts; the shuffles and their copies count. */
static cudaError_t train_fast(mlp **net, double *seconds, const mnist_set *set, float *params,
                              int epochs, uint64_t seed)
{
    mlp_fast *fast;
    random_state rng = random_seed(seed);
    size_t bytes = (size_t)set->count * sizeof(int);
    int *d_order, *h_order = malloc(bytes);
    if (h_order == NULL) return cudaErrorMemoryAllocation;
    CUDA_CHECK(cudaMalloc((void **)&d_order, bytes));
    CUDA_CHECK(create_fast(&fast, set, params));
    if (fast == NULL) return cudaErrorNotSupported; /* still a stub */
    double started = seconds_now();
    CUDA_CHECK(fast_epochs(fast, d_order, h_order, set->count, epochs, &rng));
    *seconds = seconds_now() - started;
    CUDA_CHECK(mlp_fast_get_params(fast, params));
    CUDA_CHECK(mlp_fast_free(fast));
    CUDA_CHECK(cudaFree(d_order));
    free(h_order);
    return mlp_create(net, params);
}

/* One run from random parameters to the accuracy on the test images. */
static cudaError_t run(const mnist *data, int epochs, uint64_t seed, int fast)
{
    static float params[MLP_PARAMS];
    mlp *net;
    float accuracy[2] = {0.0f};
    double seconds = 0.0;
    initial_params(params, seed);
    CUDA_CHECK(fast ? train_fast(&net, &seconds, &data->train, params, epochs, seed)
                    : train(&net, &seconds, &data->train, params, epochs, seed));
    CUDA_CHECK(test_accuracy(net, accuracy, &data->test, seed));
    CUDA_CHECK(mlp_free(net));
    printf("accuracy on %d test images of %s: %.2f %%, after %.*f s of training\n",
           data->test.count, data->source, 100 * accuracy[0], fast ? 4 : 1, seconds);
    printf("with the labels of other test images: %.2f %%\n", 100 * accuracy[1]);
    return cudaSuccess;
}

/* The first one's; "no GPU" where there is none. */
static const char *device_name(void)
{
    static struct cudaDeviceProp device;
    return cudaGetDeviceProperties(&device, 0) == cudaSuccess ? device.name : "no GPU";
}

int main(int argc, char **argv)
{
    int epochs = argc > 1 ? atoi(argv[1]) : 5;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int fast = argc > 3 && strcmp(argv[3], "fast") == 0;
    if (epochs < 1 || argc > 4 || (argc > 3 && !fast)) {
        fprintf(stderr, "usage: %s [EPOCHS [SEED [fast]]]\n", argv[0]);
        return 2;
    }
    mnist data;
    char error[512];
    if (mnist_load(&data, error, sizeof error) != 0) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    const char *device = device_name();
    if (strcmp(device, "softgpu") == 0) {
        data.train.count /= 10;
        data.test.count /= 10;
    }
    printf("training on %d images of %s, on %s\n", data.train.count, data.source, device);

    cudaError_t status = run(&data, epochs, seed, fast);
    mnist_free(&data);
    const char *stub = not_implemented_take();
    if (stub != NULL) fprintf(stderr, "%s is not written yet\n", stub);
    return status == cudaSuccess && stub == NULL ? 0 : 1;
}
