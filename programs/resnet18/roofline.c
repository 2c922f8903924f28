/* roofline.c: what bounds a forward pass: the device's arithmetic and its memory, and how much of
 * each an image needs at least. */
#include "program.h"

#include "cuda_check.h"

#define COPY_BYTES  ((size_t)256 << 20)
#define COPIES_MADE 6

/* Bytes a second that a copy on the device reads and writes, the best of a few. */
static cudaError_t copy_rate(double *rate, size_t bytes)
{
    char *d_memory;
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaMalloc((void **)&d_memory, 2 * bytes));
    CUDA_CHECK(cudaMemset(d_memory, 0, 2 * bytes));
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    *rate = 0.0;
    for (int i = 0; i < COPIES_MADE; i++) {
        float ms;
        CUDA_CHECK(cudaEventRecord(start, 0));
        CUDA_CHECK(cudaMemcpyAsync(d_memory, d_memory + bytes, bytes, cudaMemcpyDeviceToDevice, 0));
        CUDA_CHECK(cudaEventRecord(stop, 0));
        CUDA_CHECK(cudaEventSynchronize(stop));
        CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (ms > 0 && 2e3 * (double)bytes / ms > *rate) *rate = 2e3 * (double)bytes / ms;
    }
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return cudaFree(d_memory);
}

static double flop_rate(const struct cudaDeviceProp *p)
{
    int khz = 0;
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    const int cores = p->major == 7 || (p->major == 8 && p->minor == 0) ? 64 : 128; /* an SM has */
    return 2e3 * khz * cores * p->multiProcessorCount;
}

double flop_of_image(int size)
{
    double sum = 0.0;
    for (int i = 0; i <= RESNET18_CONVS; i++) sum += 2.0 * resnet18_multiply_adds(i, size);
    return sum;
}

/* Where every convolution reads its input and writes its output once, and nothing else moves. */
double bytes_of_image(int size)
{
    double floats = 0.0;
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *c = &resnet18_convs[i];
        const double in = resnet18_in_size(i, size);
        const double out = resnet18_out_size((int)in, c->kernel, c->stride, c->pad);
        floats += in * in * c->in_channels + out * out * c->out_channels;
    }
    return floats * sizeof(float);
}

cudaError_t roofline_of(roofline *r)
{
    struct cudaDeviceProp p;
    size_t free_bytes, all;
    CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all));
    r->flop_per_second = flop_rate(&p);
    return copy_rate(&r->bytes_per_second,
                     free_bytes / 4 < COPY_BYTES ? free_bytes / 4 : COPY_BYTES);
}
