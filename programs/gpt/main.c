/*
 * main.c: `make gpt` and `make sample`, a program that trains your GPT on a text and lets it write.
 *
 *   gpt train [--text FILE] [--steps N] ...    gpt sample [--prompt TEXT] ...    gpt --help
 *
 * On softgpu, which computes in minutes what a GPU does in a second, the text is the first tenth of
 * it, and the network a small one unless its size is given.
 */
#include "not_implemented.h"
#include "program.h"

#include <stdio.h>
#include <string.h>

static bool on_softgpu(void)
{
    struct cudaDeviceProp device;
    return cudaGetDeviceProperties(&device, 0) == cudaSuccess &&
           strcmp(device.name, "softgpu") == 0;
}

int main(int argc, char **argv)
{
    options o;
    int status = parse_options(&o, argc, argv, on_softgpu());
    if (status != 0) return status;
    status = o.train ? train(&o) : sample(&o);
    const char *stub = not_implemented_take();
    if (stub != NULL) fprintf(stderr, "%s is not written yet\n", stub);
    return stub != NULL ? 1 : status;
}
