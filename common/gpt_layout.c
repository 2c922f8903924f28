/* gpt_layout.c: the layout of a GPT's parameters, as one table of the twelve arrays of a layer. */
#include "gpt_layout.h"

#include "random.h"
#include <math.h>
#include <stdio.h>

enum {
    LN1_W,
    LN1_B,
    QKV_W,
    QKV_B,
    PROJ_W,
    PROJ_B,
    LN2_W,
    LN2_B,
    FC_W,
    FC_B,
    FCPROJ_W,
    FCPROJ_B,
    PARTS
};

/* Sizes in channels; 0 rows: no matrix, but one row. */
static const struct {
    const char *name;
    size_t rows, cols;
} parts[PARTS] = {
    [LN1_W] = {"ln1_w", 0, 1}, [LN1_B] = {"ln1_b", 0, 1},       [QKV_W] = {"qkv_w", 3, 1},
    [QKV_B] = {"qkv_b", 0, 3}, [PROJ_W] = {"proj_w", 1, 1},     [PROJ_B] = {"proj_b", 0, 1},
    [LN2_W] = {"ln2_w", 0, 1}, [LN2_B] = {"ln2_b", 0, 1},       [FC_W] = {"fc_w", 4, 1},
    [FC_B] = {"fc_b", 0, 4},   [FCPROJ_W] = {"fcproj_w", 1, 4}, [FCPROJ_B] = {"fcproj_b", 0, 1},
};

int gpt_config_is_valid(const gpt_config *c)
{
    return c->vocab > 0 && c->context > 0 && c->layers > 0 && c->heads > 0 && c->channels > 0 &&
           c->channels % c->heads == 0;
}

static size_t floats_of(const gpt_config *c, int part)
{
    const size_t channels = (size_t)c->channels;
    return (parts[part].rows > 0 ? parts[part].rows * channels : 1) * parts[part].cols * channels;
}

/* Where a part of a layer begins. The part behind the last one is the first of the next layer, and
 * behind the last layer what comes after it. */
static size_t offset_of(const gpt_config *c, int layer, int part)
{
    size_t before = 0, whole = 0;
    for (int i = 0; i < PARTS; i++) {
        if (i < part) before += floats_of(c, i);
        whole += floats_of(c, i);
    }
    return gpt_wpe(c) + (size_t)c->context * c->channels + layer * whole + before;
}

size_t gpt_wpe(const gpt_config *c)
{
    return (size_t)c->vocab * c->channels;
}

gpt_layer gpt_layer_at(const gpt_config *c, int layer)
{
    return (gpt_layer){
        .ln1_w = offset_of(c, layer, LN1_W),
        .ln1_b = offset_of(c, layer, LN1_B),
        .qkv_w = offset_of(c, layer, QKV_W),
        .qkv_b = offset_of(c, layer, QKV_B),
        .proj_w = offset_of(c, layer, PROJ_W),
        .proj_b = offset_of(c, layer, PROJ_B),
        .ln2_w = offset_of(c, layer, LN2_W),
        .ln2_b = offset_of(c, layer, LN2_B),
        .fc_w = offset_of(c, layer, FC_W),
        .fc_b = offset_of(c, layer, FC_B),
        .fcproj_w = offset_of(c, layer, FCPROJ_W),
        .fcproj_b = offset_of(c, layer, FCPROJ_B),
    };
}

size_t gpt_lnf_w(const gpt_config *c)
{
    return offset_of(c, c->layers, 0);
}

size_t gpt_lnf_b(const gpt_config *c)
{
    return gpt_lnf_w(c) + (size_t)c->channels;
}

size_t gpt_params(const gpt_config *c)
{
    return gpt_lnf_b(c) + (size_t)c->channels;
}

int gpt_arrays(const gpt_config *c)
{
    return 2 + c->layers * PARTS + 2;
}

gpt_array gpt_array_at(const gpt_config *c, int number)
{
    const size_t channels = (size_t)c->channels;
    const int layer = (number - 2) / PARTS, part = (number - 2) % PARTS;
    if (number == 0) return (gpt_array){"wte", 0, (size_t)c->vocab, channels, 1};
    if (number == 1) return (gpt_array){"wpe", gpt_wpe(c), (size_t)c->context, channels, 1};
    if (layer == c->layers && part == 0) return (gpt_array){"lnf_w", gpt_lnf_w(c), 1, channels, 0};
    if (layer == c->layers) return (gpt_array){"lnf_b", gpt_lnf_b(c), 1, channels, 0};
    gpt_array a = {"", offset_of(c, layer, part), 1, parts[part].cols * channels, 0};
    if (parts[part].rows > 0) {
        a.rows = parts[part].rows * channels;
        a.matrix = 1;
    }
    snprintf(a.name, sizeof a.name, "%d.%s", layer, parts[part].name);
    return a;
}

_Static_assert(sizeof(gpt_checkpoint) == 40, "as in the file");

size_t gpt_checkpoint_bytes(const gpt_config *c)
{
    return sizeof(gpt_checkpoint) + 3 * gpt_params(c) * sizeof(float);
}

#define DEVIATION 0.02f

void gpt_init(float *params, const gpt_config *c, uint64_t seed)
{
    random_state rng = random_seed(seed);
    const float behind = DEVIATION / sqrtf(2.0f * (float)c->layers);
    for (int i = 0; i < gpt_arrays(c); i++) {
        const gpt_array a = gpt_array_at(c, i);
        const int part =
            i < 2 ? -1 : (i - 2) % PARTS; /* lnf_w and lnf_b count on as LN1_W, LN1_B */
        const float value = part == LN1_W || part == LN2_W ? 1.0f : 0.0f;
        if (a.matrix)
            random_fill_normal(&rng, params + a.begin, a.rows * a.cols,
                               part == PROJ_W || part == FCPROJ_W ? behind : DEVIATION);
        else
            for (size_t k = 0; k < a.cols; k++) params[a.begin + k] = value;
    }
}

double gpt_first_loss(const gpt_config *c)
{
    return log(c->vocab) + c->channels * (double)DEVIATION * (double)DEVIATION / 2;
}
