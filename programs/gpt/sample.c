/* sample.c: text from a network. */
#include "cuda_check.h"
#include "program.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At temperature 0 it is the first of the largest logits. */
static int choose(const float *logits, int vocab, float temperature, random_state *rng)
{
    int best = 0;
    double sum = 0.0, so_far = 0.0;
    for (int v = 1; v < vocab; v++) best = logits[v] > logits[best] ? v : best;
    if (temperature == 0.0f) return best;
    const double high = logits[best], u = random_uniform(rng, 0.0f, 1.0f);
    for (int v = 0; v < vocab; v++) sum += exp((logits[v] - high) / temperature);
    for (int v = 0; v < vocab; v++) {
        so_far += exp((logits[v] - high) / temperature);
        if (so_far > u * sum) return v;
    }
    return vocab - 1;
}

/* As gpt_generate, but each token costs a pass over those before it.
 * @param text [prompt + count], which begins with the prompt */
static cudaError_t write_by_passes(next_logits *next, gpt *net, int *text, int prompt, int count,
                                   float temperature, unsigned long long seed)
{
    const int context = net->config.context;
    random_state rng = random_seed(seed);
    float logits[BYTES];
    int first = 0;
    for (int i = 1; i < prompt + count; i++) { /* text[first .. i - 1] is what it sees */
        if (i - first > context) first = i - 1 - context / 2; /* as 509 does */
        if (i < prompt) continue;
        CUDA_CHECK(next(net, logits, text + first, i - first));
        text[i] = choose(logits, BYTES, temperature, &rng);
    }
    return cudaSuccess;
}

cudaError_t print_sample(const gpt_functions *of, gpt *net, const char *prompt, int count,
                         float temperature, unsigned long long seed)
{
    const size_t length = strlen(prompt);
    int *tokens = malloc((length + (size_t)count) * sizeof *tokens);
    if (tokens == NULL) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < length; i++) tokens[i] = (unsigned char)prompt[i];
    const cudaError_t error =
        of->generate
            ? of->generate(net, tokens + length, count, tokens, (int)length, temperature, seed, 0)
            : write_by_passes(of->next, net, tokens, (int)length, count, temperature, seed);
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
