/* sample.c: text from a network. */
#include "cuda_check.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cudaError_t print_sample(const gpt_functions *of, gpt *net, const char *prompt, int count,
                         float temperature, unsigned long long seed)
{
    const size_t length = strlen(prompt);
    int *tokens = malloc((length + (size_t)count) * sizeof *tokens);
    if (tokens == NULL) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < length; i++) tokens[i] = (unsigned char)prompt[i];
    const cudaError_t error =
        of->generate(net, tokens + length, count, tokens, (int)length, temperature, seed, 0);
    for (size_t i = 0; error == cudaSuccess && i < length + (size_t)count; i++) putchar(tokens[i]);
    putchar('\n');
    free(tokens);
    CUDA_CHECK(error);
    return cudaSuccess;
}

int sample(const options *o)
{
    gpt *net = read_checkpoint(o->of, o->checkpoint);
    if (net == NULL) return 2;
    const cudaError_t error =
        print_sample(o->of, net, o->prompt, o->count, o->temperature, o->seed);
    o->of->release(net);
    return error == cudaSuccess ? 0 : 1;
}
