/* device.c: the GPU or the CPU that networks are on. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The GPU with most multiprocessors, of equals the first; without one the CPU. */
static int best_device(int count)
{
    int best = DEVICE_CPU, most = 0, has;
    for (int number = 0; number < count; number++) {
        if (cudaDeviceGetAttribute(&has, cudaDevAttrMultiProcessorCount, number)) continue;
        if (has > most) best = number, most = has;
    }
    return best;
}

/* @return false where the word is none of those of --device */
static bool choose(int *number, const char *word, int count)
{
    char *end = "";
    *number = best_device(count);
    if (!word) return true;
    if (strcmp(word, "cpu") == 0)
        *number = DEVICE_CPU;
    else if (strcmp(word, "gpu") == 0)
        *number = *number == DEVICE_CPU ? 0 : *number; /* there is no 0, then, and that is said */
    else
        *number = (int)strtol(word, &end, 10);
    return *word >= '0' && *end == '\0' && strlen(word) < 10; /* which an int holds */
}

bool open_device(device *d, const char *word)
{
    struct cudaDeviceProp properties;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
    *d = (device){.name = "one core of the CPU"};
    if (!choose(&d->number, word, count)) {
        fputs("gpt: --device: cpu, gpu, or the number of a GPU?\n", stderr);
        return false;
    }
    if (d->number == DEVICE_CPU) return true;
    if (d->number >= count) {
        fprintf(stderr, "gpt: --device: no device %d: there are %d\n", d->number, count);
        return false;
    }
    cudaError_t error = cudaSetDevice(d->number);
    if (!error) error = cudaGetDeviceProperties(&properties, d->number);
    if (error) {
        fprintf(stderr, "gpt: --device: CUDA: %s\n", cudaGetErrorString(error));
        return false;
    }
    d->emulated = strcmp(properties.name, "softgpu") == 0;
    snprintf(d->name, sizeof d->name, "%.63s", properties.name);
    return true;
}

size_t bytes_on_gpu(void)
{
    size_t available = 0, all = 0;
    cudaMemGetInfo(&available, &all);
    return all - available;
}
