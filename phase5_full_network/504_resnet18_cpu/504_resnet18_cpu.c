/*
 * 504_resnet18_cpu.c: ResNet-18 on the CPU: its weights from a file, and its forward pass.
 *
 * The idea: the network is a table (resnet18_layout.h), so it takes one function for a convolution,
 * one for a block, and a loop over eight blocks. A batch normalization with fixed statistics
 * multiplies each channel and adds to it; so does the convolution before it. Folded into the
 * convolution, it disappears:
 *
 *     gamma (w * x - mean) / sqrt(var + eps) + beta  =  (scale w) * x + (beta - scale mean)
 *     with scale = gamma / sqrt(var + eps), one for each output channel
 *
 * Do not trust a file. Every number in it is checked against the size of the file before it is
 * used, by subtraction: offset + 4 * floats <= bytes is true for some arrays far outside.
 *
 * The cost it removes: 20 passes over the activations, for the normalizations.
 * The cost it leaves: one image at a time on one core; columns are written and read again; and the
 * last convolutions have 49 pixels for 2,359,296 weights, which are read from memory for each image
 * anew. 505 takes the whole batch through each layer.
 *
 * Given: entries and checksums of the file, the memory of one image, the loops over images, stages
 * and pooling windows. Yours: what a file must pass and where its arrays go (is_whole, find,
 * resnet18_load), folding (fold), and the network for one image (conv, larger_of, largest_of_rows,
 * block, average, forward_image).
 */
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "110_conv2d_cpu/conv2d_cpu.h"
#include "504_resnet18_cpu/resnet18_cpu.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include "resnet18_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file -------------------------------------------------------------------------------- */

/** Entry i of the table, by memcpy, as the file may lie at any address. */
static weights_entry entry_of(const unsigned char *file, uint32_t i)
{
    weights_entry e;
    memcpy(&e, file + sizeof(weights_header) + i * sizeof e, sizeof e);
    return e;
}

/** @return whether the file of `bytes` bytes is at least as long as its header says, and has its
 *  table and every array inside of it. `bytes` is at least the size of the header; nothing else is
 *  sure. */
static int is_whole(const unsigned char *file, size_t bytes, const weights_header *header)
{
    /* TODO: compare header->bytes with bytes, and header->arrays with the number of entries for
       which there is room behind the header. Then for each entry compare its offset with bytes, and
       its floats with the number of them for which there is room from there on. Subtract and
       divide: a sum or product of the file's numbers may overflow (about 7 lines). */
    NOT_IMPLEMENTED(file, bytes, header);
    return 0;
}

/** @return whether all checksums are right, of the table and of the arrays. The file is_whole. */
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

/** *e = the entry, among `arrays`, with the name that is wanted.
 *  @return whether there is one, and its shape is the right one. A name in the file has
 *  WEIGHTS_NAME_MAX characters, and need not end with a 0. */
static int find(weights_entry *e, const weights_array *wanted, const unsigned char *file,
                uint32_t arrays)
{
    /* TODO: go through the entries to the first with the same whole name (strncmp); then
       all WEIGHTS_DIMS dims must be the same, too, and e->floats must be their product (about 8
       lines). */
    NOT_IMPLEMENTED(e, wanted, file, arrays);
    return 0;
}

weights_status resnet18_load(float *params, const void *file, size_t bytes)
{
    /* TODO: the header, by memcpy. WEIGHTS_FOREIGN: the file is shorter than a header, or has
       another magic or version. WEIGHTS_TRUNCATED: it is not whole. Then resnet18_arrays
       (resnet18_weights.h) lists what the network needs: copy each array from the file to where
       its `data` points in params (it is const; cast it). WEIGHTS_MISMATCH: `find` has not found
       one. WEIGHTS_CORRUPT: the file is not right (is_right) (about 17 lines). */
    NOT_IMPLEMENTED(params, file, bytes);
    return 0;
}

/* ---- the network ----------------------------------------------------------------------------- */

struct resnet18_cpu {
    /* As resnet18_layout.h lays them out, but w and beta of each convolution are folded: they are
     * all that it needs. */
    float params[RESNET18_FLOATS];
};

/** Change w and beta of one convolution, so that gamma, mean and var are no longer needed. */
static void fold(float *params, const resnet18_conv *c)
{
    /* TODO: for each of c->out_channels: scale, as in the opening comment; its filter's
       c->in_channels x c->kernel x c->kernel weights, from params + c->w on, times scale; its beta,
       at params + c->beta, less scale * mean (about 6 lines). */
    NOT_IMPLEMENTED(params, c);
}

resnet18_cpu *resnet18_create_cpu(const float *params)
{
    resnet18_cpu *net = malloc(sizeof *net);
    if (net == NULL) return NULL;
    memcpy(net->params, params, sizeof net->params);
    for (int i = 0; i < RESNET18_CONVS; i++) fold(net->params, &resnet18_convs[i]);
    return net;
}

void resnet18_free_cpu(resnet18_cpu *net)
{
    free(net);
}

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

/** Room for the largest columns of any convolution, and the largest planes. free(w->stages) frees
 *  it all. @return 0, or -1 without memory */
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

/** y[out_channels x out x out] = convolution number i of x[in_channels x size x size], with its
 *  batch normalization, which is folded into it. @return out, the pixels a side of y */
static int conv(float *y, const resnet18_cpu *net, const workspace *w, const float *x, int i,
                int size)
{
    /* TODO: conv2d_cpu_im2col (110) of a batch of one, with the filters at net->params + c->w,
       the bias at net->params + c->beta, and w->columns, where c is row i of resnet18_convs; then
       resnet18_out_size (about 5 lines). */
    NOT_IMPLEMENTED(y, net, w, x, i, size);
    return 0;
}

static void relu(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) x[i] = x[i] < 0.0f ? 0.0f : x[i];
}

/** The larger of two numbers; a NaN stays. */
static float larger_of(float x, float y)
{
    float larger = x;
    /* TODO: y, if it is larger or a NaN; as one that comes first stays too (1 line). */
    NOT_IMPLEMENTED(x, y);
    return larger;
}

/** largest[size]: of each column, the largest in the three rows from `top` on of plane[size x
 *  size]. They may be outside: that is smaller than any number. Without tests inside, a loop along
 *  a row becomes vector instructions. */
static void largest_of_rows(float *largest, const float *plane, int size, int top)
{
    /* TODO: -INFINITY, then larger_of that and each row that is inside (about 5 lines). */
    NOT_IMPLEMENTED(largest, plane, size, top);
}

/** y[channels x out x out] of x[channels x size x size]: 3x3, stride 2, padding 1.
 *  @param rows room for size + 2 floats: what is outside on the left, columns, outside */
static void maxpool(float *y, float *rows, const float *x, int channels, int size)
{
    const int out = resnet18_out_size(size, 3, 2, 1);
    for (int c = 0; c < channels; c++, x += (size_t)size * size) {
        for (int i = 0; i < out; i++) {
            largest_of_rows(rows + 1, x, size, 2 * i - 1);
            rows[0] = rows[size + 1] = -INFINITY;
            for (int j = 0; j < out; j++)
                *y++ = larger_of(larger_of(rows[2 * j], rows[2 * j + 1]), rows[2 * j + 2]);
        }
    }
}

/** y = relu(bn(conv2(relu(bn(conv1(x))))) + shortcut(x)): block `number` of resnet18_blocks.
 *  @param size pixels a side of x. Where the block downsamples, y has fewer, and more channels */
static void block(float *y, const resnet18_cpu *net, const workspace *w, const float *x, int number,
                  int size)
{
    /* TODO: conv1 writes w->middle; relu; conv2 writes y. The shortcut is x; where the block
       has a downsample (not -1), the shortcut is that of x, in w->shortcut. Add it to y; relu. y
       has the side that conv returns, and the out_channels of conv1 (about 12 lines). */
    NOT_IMPLEMENTED(y, net, w, x, number, size);
}

/** y[channels] = the mean of each plane of x[channels x pixels]. */
static void average(float *y, const float *x, int channels, int pixels)
{
    /* TODO: a sum for each channel, divided by pixels (about 5 lines). */
    NOT_IMPLEMENTED(y, x, channels, pixels);
}

/** logits[RESNET18_CLASSES] of one image x[3 x size x size]. All stages stay in w->stages, one
 *  behind the other; the features are the last. */
static void forward_image(float *logits, const resnet18_cpu *net, const workspace *w,
                          const float *x, int size)
{
    /* TODO: convolution 0 to w->middle, relu, maxpool by w->columns to stage 0. Block after
       block, each from its stage to the next; resnet18_stage_shape knows planes and sides. The
       average. The linear layer, a product with one column: logits [RESNET18_CLASSES x 1] = w
       [RESNET18_CLASSES x RESNET18_FEATURES] * features (106), w at RESNET18_FC_W of net->params,
       plus the bias at RESNET18_FC_BIAS (about 17 lines). */
    NOT_IMPLEMENTED(logits, net, w, x, size);
}

/** What forward_image left of image number b goes to its place in the activations of the whole
 *  batch: stage after stage, and in each stage image after image. */
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

int resnet18_forward_cpu(resnet18_cpu *net, float *logits, float *activations, const float *x,
                         int batch, int size)
{
    workspace w;
    if (workspace_create(&w, size) != 0) return -1;
    for (int b = 0; b < batch; b++) {
        forward_image(logits + (size_t)b * RESNET18_CLASSES, net, &w,
                      x + (size_t)b * 3 * size * size, size);
        if (activations != NULL) keep_stages(activations, w.stages, b, batch, size);
    }
    free(w.stages);
    return 0;
}
