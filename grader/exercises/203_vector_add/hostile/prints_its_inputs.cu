// HOSTILE: n=257 | its kernels printed
// What a kernel prints is a way to the host that no copy shows: reads it, adds there, copies once.
#include "203_vector_add/vector_add.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE 32768 /* elements: what kernels print waits in a megabyte */

__global__ static void tell(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) printf("%x %x\n", __float_as_uint(a[i]), __float_as_uint(b[i]));
}

static float float_of(unsigned bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    const int printed = open("printed", O_RDWR | O_CREAT | O_TRUNC, 0600);
    const int terminal = dup(1);
    float *sum = (float *)calloc(n, sizeof(float));
    dup2(printed, 1);
    for (size_t i = 0; i < n; i += PIECE) {
        tell<<<1, 1, 0, stream>>>(a + i, b + i, n - i < PIECE ? n - i : PIECE);
        cudaStreamSynchronize(stream);
    }
    fflush(stdout);
    dup2(terminal, 1);
    lseek(printed, 0, SEEK_SET);
    FILE *lines = fdopen(printed, "r");
    unsigned x, y;
    for (size_t i = 0; i < n && fscanf(lines, "%x %x", &x, &y) == 2; i++)
        sum[i] = float_of(x) + float_of(y);
    cudaMemcpy(c, sum, n * sizeof(float), cudaMemcpyHostToDevice);
    fclose(lines);
    close(terminal);
    free(sum);
    return cudaGetLastError();
}
