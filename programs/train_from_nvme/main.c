/*
 * main.c: `make train_from_nvme`, a network that is trained from a file: NVMe, page-locked memory,
 * device, compute.
 *
 *   train_from_nvme FILE MEGABYTES      TSV on stdout
 *
 * FILE is written first, with so many megabytes of digits, and removed at the end. Each way of
 * ways.c then brings it to the device, where every batch is summed, and trained on by the network
 * of 501. The sums are compared with those of the digits that were written.
 *
 * Before each way the system is asked to forget the file; the column `cached` says how much of it
 * was still in memory. Where that is not 0 %, a time says nothing about the drive.
 *
 * softgpu has no times, and trains on the first batch alone.
 */
#include "train.h"

#include "basics.h"
#include "cuda_check.h"
#include "mnist.h"
#include "not_implemented.h"
#include "random.h"
#include "timer.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEARNING_RATE 1e-3f
#define SUM_ERROR     1e-5 /* of the sum of a batch, whose terms are not negative */

static struct cudaDeviceProp device;
static int on_softgpu;

/* ---- the file -------------------------------------------------------------------------------- */

/* Digits in random order, so that no batch is like another. @param h_sums [batches] */
static int write_file(const char *path, const mnist_set *set, int batches, double *h_sums)
{
    static float images[BATCH_BYTES / sizeof(float)];
    int *labels = (int *)(images + BATCH * MLP_INPUTS);
    random_state rng = random_seed(1);
    FILE *file = fopen(path, "wbx"); /* x: nobody's file is written over */
    int done = file != NULL;
    for (int i = 0; i < batches && done; i++) {
        for (int j = 0; j < BATCH; j++) {
            const size_t one = random_below(&rng, (uint64_t)set->count);
            const float *image = set->images + one * MLP_INPUTS;
            memcpy(images + (size_t)j * MLP_INPUTS, image, MLP_INPUTS * sizeof *image);
            labels[j] = set->labels[one];
            for (int p = 0; p < MLP_INPUTS; p++) h_sums[i] += image[p];
        }
        done = fwrite(images, BATCH_BYTES, 1, file) == 1;
    }
    if (file == NULL) return 0;
    done &= fclose(file) == 0;
    if (!done) unlink(path);
    return done;
}

/* @return the share of the file that is in memory nevertheless; NaN: nobody knows */
static double make_cold(const char *path, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page;
    unsigned char *there = malloc(pages);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t count = 0;
    fsync(fd); /* what is not yet written cannot be forgotten */
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    const int known = there && map != MAP_FAILED && mincore(map, bytes, there) == 0;
    for (size_t i = 0; i < pages && known; i++) count += there[i] & 1;
    if (map != MAP_FAILED) munmap(map, bytes);
    close(fd);
    free(there);
    return known ? (double)count / (double)pages : NAN;
}

/* ---- who takes the batches ------------------------------------------------------------------- */

cudaError_t trainer_room(trainer *t, int i, void **d_batch)
{
    *d_batch = t->d_batch[i % 2];
    return cudaStreamWaitEvent(t->copy, t->taken[i % 2], 0);
}

cudaError_t trainer_take(trainer *t, int i)
{
    float *x = t->d_batch[i % 2];
    CUDA_CHECK(cudaEventRecord(t->copied, t->copy));
    CUDA_CHECK(cudaStreamWaitEvent(t->compute, t->copied, 0));
    CUDA_CHECK(reduce_sum(t->d_sums + i, x, BATCH * MLP_INPUTS, t->compute));
    if (i < t->trained)
        CUDA_CHECK(mlp_train_batch(t->net, NULL, x, (const int *)(x + BATCH * MLP_INPUTS), BATCH,
                                   LEARNING_RATE, t->compute));
    return cudaEventRecord(t->taken[i % 2], t->compute);
}

/* All but the network, which each way begins anew. */
static cudaError_t create(trainer *t, int batches)
{
    *t = (trainer){.batches = batches, .trained = on_softgpu ? 1 : batches};
    CUDA_CHECK(cudaMalloc((void **)&t->d_sums, (size_t)batches * sizeof *t->d_sums));
    for (int i = 0; i < 2; i++) {
        CUDA_CHECK(cudaMalloc((void **)&t->d_batch[i], BATCH_BYTES));
        CUDA_CHECK(cudaEventCreateWithFlags(&t->taken[i], cudaEventDisableTiming));
    }
    CUDA_CHECK(cudaEventCreateWithFlags(&t->copied, cudaEventDisableTiming));
    CUDA_CHECK(cudaStreamCreateWithFlags(&t->copy, cudaStreamNonBlocking));
    return cudaStreamCreateWithFlags(&t->compute, cudaStreamNonBlocking);
}

/* ---- one way --------------------------------------------------------------------------------- */

static cudaError_t run(const way *w, trainer *t, const char *path, float *h_sums, double *seconds,
                       const char **note)
{
    static float params[MLP_PARAMS];
    const size_t bytes = (size_t)t->batches * sizeof *h_sums;
    random_state rng = random_seed(2);
    if (w->run == NULL) return cudaErrorNotSupported;
    random_fill_normal(&rng, params, MLP_PARAMS, sqrtf(2.0f / MLP_INPUTS));
    CUDA_CHECK(mlp_create(&t->net, params));
    CUDA_CHECK(cudaMemset(t->d_sums, 0xff, bytes)); /* NaN */
    CUDA_CHECK(cudaDeviceSynchronize());
    const double began = seconds_now();
    const cudaError_t error = w->run(t, path, note);
    if (error != cudaSuccess) return error;
    CUDA_CHECK(cudaDeviceSynchronize());
    *seconds = seconds_now() - began;
    CUDA_CHECK(cudaMemcpy(h_sums, t->d_sums, bytes, cudaMemcpyDeviceToHost));
    return mlp_free(t->net);
}

/* @return whether it is wrong or failed */
static int show(const way *w, trainer *t, const char *path, const double *want, float *h_sums)
{
    const size_t bytes = (size_t)t->batches * BATCH_BYTES;
    const double cached = make_cold(path, bytes);
    const char *note = "built without it", *verdict = "right";
    double seconds = 0.0;
    const cudaError_t error = run(w, t, path, h_sums, &seconds, &note);
    for (int i = 0; i < t->batches && error == cudaSuccess; i++)
        if (!(fabs(h_sums[i] - want[i]) <= SUM_ERROR * want[i])) verdict = "WRONG";
    if (error == cudaErrorNotSupported)
        verdict = "not here";
    else if (error != cudaSuccess)
        verdict = "failed", note = cudaGetErrorString(error);
    const int right = strcmp(verdict, "right") == 0;
    printf("%s\t", w->name);
    if (right && !on_softgpu)
        printf("%.4f\t%.3f\t%.4g", seconds, 1e-9 * (double)bytes / seconds,
               t->batches * (double)BATCH / seconds);
    else
        printf("%s\t\t", right ? "not timed" : "");
    printf("\t%.0f %%\t%s\t%s\n", 100 * cached, verdict, note);
    return !right && error != cudaErrorNotSupported;
}

static int show_all(const char *path, const mnist *data, int batches)
{
    double *want = calloc((size_t)batches, sizeof *want);
    float *h_sums = malloc((size_t)batches * sizeof *h_sums);
    trainer t;
    int failed = 0;
    if (!want || !h_sums || create(&t, batches) != cudaSuccess ||
        !write_file(path, &data->train, batches, want)) {
        fprintf(stderr, "train_from_nvme: no memory, or %s cannot be written\n", path);
        return 1;
    }
    printf("# device %s; %d batches of %d images of %s, %.1f MB\n"
           "way\tseconds\tGB/s\timages/s\tcached\tverdict\tnote\n",
           device.name, batches, BATCH, data->source, 1e-6 * batches * (double)BATCH_BYTES);
    for (int i = 0; i < way_count; i++) failed |= show(&ways[i], &t, path, want, h_sums);
    unlink(path);
    free(want);
    free(h_sums);
    return failed;
}

int main(int argc, char **argv)
{
    const double batches = argc == 3 ? floor(1e6 * atof(argv[2]) / BATCH_BYTES) : 0;
    mnist data;
    char error[512];
    if (!(batches >= 1 && batches <= 1e6)) {
        fprintf(stderr, "usage: %s FILE MEGABYTES, at least 4\n", argv[0]);
        return 2;
    }
    if (mnist_load(&data, error, sizeof error) != 0) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        fprintf(stderr, "%s: no device\n", argv[0]);
        return 2;
    }
    on_softgpu = strcmp(device.name, "softgpu") == 0;
    const int failed = show_all(argv[1], &data, (int)batches);
    mnist_free(&data);
    const char *stub = not_implemented_take();
    if (stub != NULL) fprintf(stderr, "%s is not written yet\n", stub);
    return failed || stub != NULL;
}
