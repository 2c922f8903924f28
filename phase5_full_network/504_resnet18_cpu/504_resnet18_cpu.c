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

/* TODO: entry_of: entry i of the table, by memcpy, as the file may lie at any address (about 6
   lines). */

/* TODO: is_whole: the file is as long as it says, and the table and every array lie inside of
   it; nothing is added or multiplied that could overflow (about 11 lines). */

/* TODO: is_right: all checksums, of the table and of the arrays (about 11 lines). */

/* TODO: find: the entry of the array that is wanted, if its shape is the right one (about 15
   lines). */

weights_status resnet18_load(float *params, const void *file, size_t bytes)
{
    /* TODO: foreign, truncated; copy every array of resnet18_arrays (resnet18_weights.h) to
       where it belongs, or mismatch; corrupt (about 18 lines). */
    NOT_IMPLEMENTED(params, file, bytes);
    return 0;
}

/* ---- the network ----------------------------------------------------------------------------- */

struct resnet18_cpu {
    /* As resnet18_layout.h lays them out, but w and beta of each convolution are folded: they are
     * all that it needs. */
    float params[RESNET18_FLOATS];
};

/* TODO: fold: w and beta of one convolution, so that gamma, mean and var are no longer needed
   (about 9 lines). */

resnet18_cpu *resnet18_create_cpu(const float *params)
{
    /* TODO: copy, and fold every convolution (about 5 lines). */
    NOT_IMPLEMENTED(params);
    return 0;
}

void resnet18_free_cpu(resnet18_cpu *net)
{
    free(net);
}

/* TODO: what one image needs: the largest columns of any convolution, the largest of the other
   planes, and a way to get and free it all (about 26 lines). */

/* TODO: conv: y = convolution number i of x, batch normalization included, by
   conv2d_cpu_im2col; returns pixels a side of y (about 8 lines). */

/* TODO: relu, in place (about 3 lines). */

/* TODO: maxpool: 3x3, stride 2, padding 1; what lies outside of the plane is smaller than any
   number (about 19 lines). */

/* TODO: block: y = relu(bn(conv2(relu(bn(conv1(x))))) + shortcut(x)) (about 13 lines). */

/* TODO: average: the mean of each plane (about 7 lines). */

/* TODO: forward_image: stem, blocks, average, and the linear layer, which is a product with one
   column (about 21 lines). */

/* TODO: keep_stages: what forward_image left of image number b, to its place in the activations
   of the whole batch (about 11 lines). */

int resnet18_forward_cpu(resnet18_cpu *net, float *logits, float *activations, const float *x,
                         int batch, int size)
{
    /* TODO: a workspace; image by image, its logits and, if wanted, its stages (about 9 lines).
     */
    NOT_IMPLEMENTED(net, logits, activations, x, batch, size);
    return 0;
}
