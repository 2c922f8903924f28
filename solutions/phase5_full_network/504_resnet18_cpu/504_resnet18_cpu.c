/*
 * 504_resnet18_cpu.c: ResNet-18 on the CPU: its weights from a file, and its forward pass.
 *
 * The idea: the network is a table (resnet18_layout.h), so it takes one function for a convolution,
 * one for a block, and a loop over eight blocks. A batch normalization with fixed statistics
 * multiplies each channel and adds to it; so does the convolution before it. Folded into that, it
 * is gone:
 *
 *     gamma (w * x - mean) / sqrt(var + eps) + beta  =  (scale w) * x + (beta - scale mean)
 *     with scale = gamma / sqrt(var + eps), one for each output channel
 *
 * A file is not to be believed. Every number in it is compared with what there is before it is
 * used, by subtraction: offset + 4 * floats <= bytes is true of some arrays far outside.
 *
 * The cost it removes: 20 passes over the activations, for the normalizations.
 * The cost it leaves: one image at a time on one core; columns are written and read again; and the
 * last convolutions have 49 pixels for 2,359,296 weights, which are read from memory for each image
 * anew. 505 takes the whole batch through each layer.
 */
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "110_conv2d_cpu/conv2d_cpu.h"
#include "504_resnet18_cpu/resnet18_cpu.h"
#include "not_implemented.h"
#include "resnet18_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file -------------------------------------------------------------------------------- */

/* SOLUTION: entry_of: entry i of the table, by memcpy, as the file may lie at any address (about 6
   lines). */
static weights_entry entry_of(const unsigned char *file, uint32_t i)
{
    weights_entry e;
    memcpy(&e, file + sizeof(weights_header) + i * sizeof e, sizeof e);
    return e;
}
/* END SOLUTION */

/* SOLUTION: is_whole: the file is as long as it says, and the table and every array lie inside of
   it; nothing is added or multiplied that could overflow (about 11 lines). */
static int is_whole(const unsigned char *file, size_t bytes, const weights_header *header)
{
    if (header->bytes > bytes) return 0;
    if (header->arrays > (bytes - sizeof *header) / sizeof(weights_entry)) return 0;
    for (uint32_t i = 0; i < header->arrays; i++) {
        weights_entry e = entry_of(file, i);
        if (e.offset > bytes || e.floats > (bytes - e.offset) / sizeof(float)) return 0;
    }
    return 1;
}
/* END SOLUTION */

/* SOLUTION: is_right: all checksums, of the table and of the arrays (about 11 lines). */
static int is_right(const unsigned char *file, const weights_header *header)
{
    const size_t table = header->arrays * sizeof(weights_entry);
    if (weights_checksum(file + sizeof *header, table) != header->checksum) return 0;
    for (uint32_t i = 0; i < header->arrays; i++) {
        weights_entry e = entry_of(file, i);
        if (weights_checksum(file + e.offset, e.floats * sizeof(float)) != e.checksum) return 0;
    }
    return 1;
}
/* END SOLUTION */

/* SOLUTION: find: the entry of the array that is wanted, if its shape is the right one (about 15
   lines). */
/** @return whether there is one. A name in the file need not end with a 0. */
static int find(weights_entry *e, const weights_array *wanted, const unsigned char *file,
                uint32_t arrays)
{
    uint64_t floats = 1;
    for (int d = 0; d < WEIGHTS_DIMS; d++) floats *= wanted->dims[d];
    for (uint32_t i = 0; i < arrays; i++) {
        *e = entry_of(file, i);
        if (strncmp(e->name, wanted->name, WEIGHTS_NAME_MAX) != 0) continue;
        return memcmp(e->dims, wanted->dims, sizeof e->dims) == 0 && e->floats == floats;
    }
    return 0;
}
/* END SOLUTION */

weights_status resnet18_load(float *params, const void *file, size_t bytes)
{
    /* SOLUTION: foreign, truncated; copy every array of resnet18_arrays (resnet18_weights.h) to
       where it belongs, or mismatch; corrupt (about 18 lines). */
    weights_header header;
    if (bytes < sizeof header) return WEIGHTS_FOREIGN;
    memcpy(&header, file, sizeof header);
    if (memcmp(header.magic, WEIGHTS_MAGIC, sizeof header.magic) != 0) return WEIGHTS_FOREIGN;
    if (header.version != WEIGHTS_VERSION) return WEIGHTS_FOREIGN;
    if (!is_whole(file, bytes, &header)) return WEIGHTS_TRUNCATED;

    weights_array wanted[RESNET18_ARRAYS];
    resnet18_name names[RESNET18_ARRAYS];
    resnet18_arrays(wanted, names, params);
    for (int i = 0; i < RESNET18_ARRAYS; i++) {
        weights_entry e;
        if (!find(&e, &wanted[i], file, header.arrays)) return WEIGHTS_MISMATCH;
        memcpy(params + (wanted[i].data - params), (const unsigned char *)file + e.offset,
               e.floats * sizeof *params);
    }
    return is_right(file, &header) ? WEIGHTS_OK : WEIGHTS_CORRUPT;
    /* END SOLUTION */
}

/* ---- the network ----------------------------------------------------------------------------- */

struct resnet18_cpu {
    /* As resnet18_layout.h lays them out, but w and beta of each convolution are folded: they are
     * all that it needs. */
    float params[RESNET18_FLOATS];
};

/* SOLUTION: fold: w and beta of one convolution, so that gamma, mean and var are no longer needed
   (about 9 lines). */
static void fold(float *params, const resnet18_conv *c)
{
    const int filter = c->in_channels * c->kernel * c->kernel;
    for (int o = 0; o < c->out_channels; o++) {
        float scale = params[c->gamma + o] / sqrtf(params[c->var + o] + RESNET18_BN_EPS);
        for (int i = 0; i < filter; i++) params[c->w + (size_t)o * filter + i] *= scale;
        params[c->beta + o] -= scale * params[c->mean + o];
    }
}
/* END SOLUTION */

resnet18_cpu *resnet18_create_cpu(const float *params)
{
    /* SOLUTION: copy, and fold every convolution (about 5 lines). */
    resnet18_cpu *net = malloc(sizeof *net);
    if (net == NULL) return NULL;
    memcpy(net->params, params, sizeof net->params);
    for (int i = 0; i < RESNET18_CONVS; i++) fold(net->params, &resnet18_convs[i]);
    return net;
    /* END SOLUTION */
}

void resnet18_free_cpu(resnet18_cpu *net)
{
    free(net);
}

/* SOLUTION: what one image needs: the largest columns of any convolution, the largest of the other
   planes, and a way to get and free it all (about 26 lines). */
/** Memory for one image, all in one piece. */
typedef struct workspace {
    float *stages;   /* stage after stage, as resnet18_layout.h lays them out for a batch of one */
    float *middle;   /* between the two convolutions of a block; conv1's output */
    float *shortcut; /* of a block that halves the image */
    float *columns;  /* of im2col_cpu */
} workspace;

static size_t larger(size_t x, size_t y)
{
    return x > y ? x : y;
}

static int workspace_create(workspace *w, int size)
{
    size_t columns = 0, planes = 0;
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *c = &resnet18_convs[i];
        size_t side = resnet18_out_size(resnet18_in_size(i, size), c->kernel, c->stride, c->pad);
        columns = larger(columns, side * side * c->in_channels * c->kernel * c->kernel);
        planes = larger(planes, side * side * c->out_channels);
    }
    size_t stages = resnet18_activations(size);
    w->stages = malloc((stages + 2 * planes + columns) * sizeof *w->stages);
    if (w->stages == NULL) return -1;
    w->middle = w->stages + stages;
    w->shortcut = w->middle + planes;
    w->columns = w->shortcut + planes;
    return 0;
}
/* END SOLUTION */

/* SOLUTION: conv: y = convolution number i of x, batch normalization included, by
   conv2d_cpu_im2col; returns pixels a side of y (about 8 lines). */
static int conv(float *y, const resnet18_cpu *net, const workspace *w, const float *x, int i,
                int size)
{
    const resnet18_conv *c = &resnet18_convs[i];
    conv2d_cpu_im2col(y, w->columns, x, net->params + c->w, net->params + c->beta, 1,
                      c->in_channels, size, size, c->out_channels, c->kernel, c->kernel, c->stride,
                      c->pad);
    return resnet18_out_size(size, c->kernel, c->stride, c->pad);
}
/* END SOLUTION */

/* SOLUTION: relu, in place (about 3 lines). */
static void relu(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) x[i] = x[i] < 0.0f ? 0.0f : x[i];
}
/* END SOLUTION */

/* SOLUTION: maxpool: 3x3, stride 2, padding 1; what lies outside of the plane is smaller than any
   number (about 19 lines). */
static float largest_in_window(const float *plane, int size, int top, int left)
{
    float largest = -INFINITY;
    for (int row = top < 0 ? 0 : top; row < top + 3 && row < size; row++) {
        for (int col = left < 0 ? 0 : left; col < left + 3 && col < size; col++) {
            float here = plane[row * size + col];
            if (here > largest || isnan(here)) largest = here; /* a NaN stays */
        }
    }
    return largest;
}

static void maxpool(float *y, const float *x, int channels, int size)
{
    const int out = resnet18_out_size(size, 3, 2, 1);
    for (int c = 0; c < channels; c++, x += (size_t)size * size) {
        for (int i = 0; i < out; i++) {
            for (int j = 0; j < out; j++) *y++ = largest_in_window(x, size, 2 * i - 1, 2 * j - 1);
        }
    }
}
/* END SOLUTION */

/* SOLUTION: block: y = relu(bn(conv2(relu(bn(conv1(x))))) + shortcut(x)) (about 13 lines). */
static void block(float *y, const resnet18_cpu *net, const workspace *w, const float *x, int number,
                  int size)
{
    const resnet18_block *b = &resnet18_blocks[number];
    const float *shortcut = x;
    const int side = conv(w->middle, net, w, x, b->conv1, size);
    const size_t count = (size_t)side * side * resnet18_convs[b->conv1].out_channels;
    relu(w->middle, count);
    conv(y, net, w, w->middle, b->conv2, side);
    if (b->downsample >= 0) {
        conv(w->shortcut, net, w, x, b->downsample, size);
        shortcut = w->shortcut;
    }
    for (size_t i = 0; i < count; i++) y[i] += shortcut[i];
    relu(y, count);
}
/* END SOLUTION */

/* SOLUTION: average: the mean of each plane (about 7 lines). */
static void average(float *y, const float *x, int channels, int pixels)
{
    for (int c = 0; c < channels; c++, x += pixels) {
        float sum = 0.0f;
        for (int i = 0; i < pixels; i++) sum += x[i];
        y[c] = sum / (float)pixels;
    }
}
/* END SOLUTION */

/* SOLUTION: forward_image: stem, blocks, average, and the linear layer, which is a product with one
   column (about 21 lines). */
static void forward_image(float *logits, const resnet18_cpu *net, const workspace *w,
                          const float *x, int size)
{
    const int channels = resnet18_convs[0].out_channels;
    int planes, side = conv(w->middle, net, w, x, 0, size);
    relu(w->middle, (size_t)channels * side * side);
    maxpool(w->stages, w->middle, channels, side);

    float *stage = w->stages;
    for (int i = 0; i < RESNET18_BLOCKS; i++) {
        resnet18_stage_shape(i, size, &planes, &side);
        float *next = stage + (size_t)planes * side * side;
        block(next, net, w, stage, i, side);
        stage = next;
    }
    resnet18_stage_shape(RESNET18_BLOCKS, size, &planes, &side);
    float *features = stage + (size_t)planes * side * side;
    average(features, stage, planes, side * side);

    matmul_cpu_vectorized(logits, net->params + RESNET18_FC_W, features, RESNET18_CLASSES, 1,
                          RESNET18_FEATURES);
    for (int i = 0; i < RESNET18_CLASSES; i++) logits[i] += net->params[RESNET18_FC_BIAS + i];
}
/* END SOLUTION */

/* SOLUTION: keep_stages: what forward_image left of image number b, to its place in the activations
   of the whole batch (about 11 lines). */
static void keep_stages(float *activations, const float *stages, int b, int batch, int size)
{
    for (int stage = 0; stage < RESNET18_STAGES; stage++) {
        int planes, side;
        resnet18_stage_shape(stage, size, &planes, &side);
        const size_t floats = (size_t)planes * side * side;
        memcpy(activations + b * floats, stages, floats * sizeof *stages);
        activations += batch * floats;
        stages += floats;
    }
}
/* END SOLUTION */

int resnet18_forward_cpu(resnet18_cpu *net, float *logits, float *activations, const float *x,
                         int batch, int size)
{
    /* SOLUTION: a workspace; image by image, its logits and, if wanted, its stages (about 9 lines).
     */
    workspace w;
    if (workspace_create(&w, size) != 0) return -1;
    for (int b = 0; b < batch; b++) {
        forward_image(logits + (size_t)b * RESNET18_CLASSES, net, &w,
                      x + (size_t)b * 3 * size * size, size);
        if (activations != NULL) keep_stages(activations, w.stages, b, batch, size);
    }
    free(w.stages);
    return 0;
    /* END SOLUTION */
}
