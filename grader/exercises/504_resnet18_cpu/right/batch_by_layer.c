// RIGHT: the whole batch through each layer, normalizations not folded, sums of the linear layer in
// double
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "110_conv2d_cpu/conv2d_cpu.h"
#include "504_resnet18_cpu/resnet18_cpu.h"
#include "resnet18_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weights_entry entry_at(const unsigned char *file, size_t i)
{
    weights_entry e;
    memcpy(&e, file + sizeof(weights_header) + i * sizeof e, sizeof e);
    return e;
}

static int ends_inside(const unsigned char *file, size_t bytes, const weights_header *h)
{
    const size_t room = (bytes - sizeof *h) / sizeof(weights_entry);
    if (h->bytes > bytes || h->arrays > room) return 0;
    for (size_t i = 0; i < h->arrays; i++) {
        const weights_entry e = entry_at(file, i);
        if (e.floats > bytes / 4 || e.offset > bytes - 4 * e.floats) return 0;
    }
    return 1;
}

static int is_named(const weights_entry *e, const char *name)
{
    return strncmp(e->name, name, WEIGHTS_NAME_MAX) == 0;
}

static int has_shape(const weights_entry *e, const uint32_t *dims)
{
    const uint64_t floats = (uint64_t)dims[0] * dims[1] * dims[2] * dims[3];
    return memcmp(e->dims, dims, sizeof e->dims) == 0 && e->floats == floats;
}

static int take(float *params, const unsigned char *file, const weights_header *h)
{
    weights_array wanted[RESNET18_ARRAYS];
    resnet18_name names[RESNET18_ARRAYS];
    resnet18_arrays(wanted, names, params);
    for (int i = 0; i < RESNET18_ARRAYS; i++) {
        size_t k = 0;
        while (k < h->arrays) {
            const weights_entry e = entry_at(file, k);
            if (is_named(&e, wanted[i].name)) break;
            k++;
        }
        if (k == h->arrays) return 0;
        const weights_entry e = entry_at(file, k);
        if (!has_shape(&e, wanted[i].dims)) return 0;
        memcpy(params + (wanted[i].data - params), file + e.offset, 4 * e.floats);
    }
    return 1;
}

static int checksums_agree(const unsigned char *file, const weights_header *h)
{
    const unsigned char *table = file + sizeof *h;
    int good = weights_checksum(table, h->arrays * sizeof(weights_entry)) == h->checksum;
    for (size_t i = 0; i < h->arrays; i++) {
        const weights_entry e = entry_at(file, i);
        good &= weights_checksum(file + e.offset, 4 * e.floats) == e.checksum;
    }
    return good;
}

weights_status resnet18_load(float *params, const void *file, size_t bytes)
{
    weights_header h;
    if (bytes < sizeof h) return WEIGHTS_FOREIGN;
    memcpy(&h, file, sizeof h);
    if (memcmp(h.magic, WEIGHTS_MAGIC, 8) != 0 || h.version != WEIGHTS_VERSION) {
        return WEIGHTS_FOREIGN;
    }
    if (!ends_inside(file, bytes, &h)) return WEIGHTS_TRUNCATED;
    if (!take(params, file, &h)) return WEIGHTS_MISMATCH;
    return checksums_agree(file, &h) ? WEIGHTS_OK : WEIGHTS_CORRUPT;
}

struct resnet18_cpu {
    float params[RESNET18_FLOATS];
};

resnet18_cpu *resnet18_create_cpu(const float *params)
{
    resnet18_cpu *net = malloc(sizeof *net);
    if (net) memcpy(net->params, params, sizeof net->params);
    return net;
}

void resnet18_free_cpu(resnet18_cpu *net)
{
    free(net);
}

/* y [batch x out_channels x out x out], normalized. */
static void conv_bn(float *y, float *columns, const float *p, const float *x, int i, int batch,
                    int size)
{
    const resnet18_conv *c = &resnet18_convs[i];
    const int out = resnet18_out_size(size, c->kernel, c->stride, c->pad), plane = out * out;
    conv2d_cpu_im2col(y, columns, x, p + c->w, NULL, batch, c->in_channels, size, size,
                      c->out_channels, c->kernel, c->kernel, c->stride, c->pad);
    for (int k = 0; k < batch * c->out_channels; k++, y += plane) {
        const int o = k % c->out_channels;
        const float factor = p[c->gamma + o] / sqrtf(p[c->var + o] + RESNET18_BN_EPS);
        for (int j = 0; j < plane; j++) y[j] = (y[j] - p[c->mean + o]) * factor + p[c->beta + o];
    }
}

static void relu(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

static void maxpool(float *y, const float *x, int planes, int size)
{
    const int out = resnet18_out_size(size, 3, 2, 1);
    for (int k = 0; k < planes * out * out; k++) {
        const float *plane = x + (size_t)(k / out / out) * size * size;
        float largest = -INFINITY;
        for (int t = 0; t < 9; t++) {
            const int row = k / out % out * 2 - 1 + t / 3, col = k % out * 2 - 1 + t % 3;
            if (row < 0 || row >= size || col < 0 || col >= size) continue;
            largest = fmaxf(largest, plane[row * size + col]);
        }
        y[k] = largest;
    }
}

typedef struct room {
    float *stem, *middle, *shortcut, *columns;
} room;

static void block(float *y, const float *p, const room *r, const float *x, int number, int batch,
                  int size)
{
    const resnet18_block *b = &resnet18_blocks[number];
    const int channels = resnet18_convs[b->conv1].out_channels;
    const int side = resnet18_out_size(size, 3, resnet18_convs[b->conv1].stride, 1);
    const size_t count = (size_t)batch * channels * side * side;
    conv_bn(r->middle, r->columns, p, x, b->conv1, batch, size);
    relu(r->middle, count);
    conv_bn(y, r->columns, p, r->middle, b->conv2, batch, side);
    if (b->downsample >= 0) {
        conv_bn(r->shortcut, r->columns, p, x, b->downsample, batch, size);
        x = r->shortcut;
    }
    for (size_t i = 0; i < count; i++) y[i] += x[i];
    relu(y, count);
}

static void linear(float *logits, const float *p, const float *features, int batch)
{
    for (int i = 0; i < batch * RESNET18_CLASSES; i++) {
        const float *w = p + RESNET18_FC_W + i % RESNET18_CLASSES * RESNET18_FEATURES;
        const float *x = features + i / RESNET18_CLASSES * RESNET18_FEATURES;
        double sum = p[RESNET18_FC_BIAS + i % RESNET18_CLASSES];
        for (int f = 0; f < RESNET18_FEATURES; f++) sum += w[f] * x[f];
        logits[i] = (float)sum;
    }
}

int resnet18_forward_cpu(resnet18_cpu *net, float *logits, float *activations, const float *x,
                         int batch, int size)
{
    const float *p = net->params;
    const int stem = resnet18_out_size(size, 7, 2, 3);
    const size_t planes = (size_t)64 * stem * stem, columns = (size_t)147 * stem * stem + 4608 * 64;
    float *stages = calloc(batch * (resnet18_activations(size) + 3 * planes) + columns, 4);
    if (!stages) return -1;
    room r = {.stem = stages + batch * resnet18_activations(size)};
    r.middle = r.stem + batch * planes;
    r.shortcut = r.middle + batch * planes;
    r.columns = r.shortcut + batch * planes;

    conv_bn(r.stem, r.columns, p, x, 0, batch, size);
    relu(r.stem, batch * planes);
    maxpool(stages, r.stem, batch * 64, stem);
    float *stage = stages;
    int channels, side;
    for (int i = 0; i < RESNET18_BLOCKS; i++) {
        resnet18_stage_shape(i, size, &channels, &side);
        float *next = stage + (size_t)batch * channels * side * side;
        block(next, p, &r, stage, i, batch, side);
        stage = next;
    }
    resnet18_stage_shape(RESNET18_BLOCKS, size, &channels, &side);
    const int pixels = side * side;
    float *features = stage + (size_t)batch * channels * pixels;
    for (int k = 0; k < batch * channels * pixels; k++) features[k / pixels] += stage[k] / pixels;
    linear(logits, p, features, batch);
    if (activations) memcpy(activations, stages, 4 * batch * resnet18_activations(size));
    free(stages);
    return 0;
}
