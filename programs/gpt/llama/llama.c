/* llama.c: the layout of a GPT of Llama blocks, and what the program does with such a network. */
#include "llama.h"

#include "../program.h"
#include "random.h"

#include <math.h>
#include <string.h>

#define DEVIATION 0.02f

int llama_group(const gpt_config *c)
{
    return c->heads % 2 == 0 ? 2 : 1;
}

/* Rows of qkv: C + 2K. */
static size_t qkv_rows(const gpt_config *c)
{
    return (size_t)c->channels + 2 * (size_t)(c->channels / llama_group(c));
}

/* Floats of a layer's matrices, but those of gate, up and down. */
static size_t attention_floats(const gpt_config *c)
{
    return (qkv_rows(c) + c->channels) * c->channels;
}

int llama_hidden(const gpt_config *c)
{
    const size_t C = c->channels, L = c->layers;
    const size_t others = c->vocab * C + L * (attention_floats(c) + 2 * C) + C;
    return (int)((gpt_params(c) - others) / (3 * C * L));
}

size_t llama_norms(const gpt_config *c)
{
    const size_t C = c->channels;
    return c->vocab * C + c->layers * (attention_floats(c) + 3 * C * llama_hidden(c));
}

size_t llama_params(const gpt_config *c)
{
    return llama_norms(c) + (2 * (size_t)c->layers + 1) * c->channels;
}

llama_layer llama_layer_at(const gpt_config *c, int layer)
{
    const size_t C = c->channels, wide = C * llama_hidden(c);
    llama_layer at = {.qkv = c->vocab * C + layer * (attention_floats(c) + 3 * wide)};
    at.proj = at.qkv + qkv_rows(c) * C;
    at.gate = at.proj + C * C;
    at.up = at.gate + wide;
    at.down = at.up + wide;
    at.norm1 = llama_norms(c) + 2 * layer * C;
    at.norm2 = at.norm1 + C;
    return at;
}

void llama_init(float *params, const gpt_config *c, uint64_t seed)
{
    const float behind = DEVIATION / sqrtf(2.0f * (float)c->layers);
    const size_t C = c->channels, wide = C * llama_hidden(c), norms = llama_norms(c);
    random_state rng = random_seed(seed);
    memset(params, 0, gpt_params(c) * sizeof *params);
    random_fill_normal(&rng, params, norms, DEVIATION);
    for (int i = 0; i < c->layers; i++) {
        const llama_layer at = llama_layer_at(c, i);
        random_fill_normal(&rng, params + at.proj, C * C, behind);
        random_fill_normal(&rng, params + at.down, wide, behind);
    }
    for (size_t i = norms; i < llama_params(c); i++) params[i] = 1.0f;
}

const gpt_functions *functions_llama(void)
{
    static const gpt_functions functions = {.magic = LLAMA_MAGIC,
                                            .init = llama_init,
                                            .params = llama_params,
                                            .create = gpt_create,
                                            .train = gpt_train,
                                            .validate = gpt_validate,
                                            .next = llama_next,
                                            .save = gpt_save,
                                            .load = gpt_load,
                                            .release = llama_release,
                                            .bytes = bytes_on_gpu};
    return &functions;
}
