/*
 * resnet18_layout.h: ResNet-18 as a table. The network has 20 convolutions, each with a batch
 * normalization behind it, and one linear layer; everything learned lies in one array.
 *
 *     image -> conv1 7x7 /2, bn, relu -> maxpool 3x3 /2 -> 8 blocks -> mean of each plane -> linear
 *     block:  y = relu(bn(conv2(relu(bn(conv1(x))))) + shortcut(x))
 *
 * conv1 and conv2 of a block are 3x3 with padding 1. The shortcut is x itself, or, in the three
 * blocks that halve the image and double the channels (stride 2 in conv1), bn(conv 1x1 /2 (x)).
 * Convolutions have no bias. Images are square: `size` pixels a side, 224 where the weights were
 * trained, and any size from 32 on works, because the mean takes whatever is left of a plane.
 *
 * Names, order and meaning of the arrays are those of torchvision's resnet18.
 */
#ifndef COURSE_RESNET18_LAYOUT_H
#define COURSE_RESNET18_LAYOUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESNET18_CONVS    20
#define RESNET18_BLOCKS   8
#define RESNET18_CLASSES  1000
#define RESNET18_FEATURES 512 /* what the linear layer reads */
#define RESNET18_BN_EPS   1e-5f

/** Learned numbers, and with them the running means and variances of the batch normalizations. */
#define RESNET18_PARAMS 11689512
#define RESNET18_FLOATS (RESNET18_PARAMS + 2 * 4800)

/** One convolution and its batch normalization. The offsets say where each array begins among the
 *  RESNET18_FLOATS floats: w [out_channels x in_channels x kernel x kernel], others [out_channels].
 */
typedef struct resnet18_conv {
    const char *name; /**< "layer2.0.downsample.0": its array is NAME.weight */
    const char *bn;   /**< "layer2.0.downsample.1": NAME.weight (gamma), .bias (beta),
                           .running_mean, .running_var */
    int in_channels, out_channels, kernel, stride, pad;
    size_t w, gamma, beta, mean, var;
} resnet18_conv;

/** One residual block: which convolutions of the table it is made of. */
typedef struct resnet18_block {
    int conv1, conv2;
    int downsample; /**< -1: the shortcut is x itself */
} resnet18_block;

/** The stem, conv1, is the first; after it they stand block by block. */
extern const resnet18_conv resnet18_convs[RESNET18_CONVS];
extern const resnet18_block resnet18_blocks[RESNET18_BLOCKS];

/** Of the linear layer: w [RESNET18_CLASSES x RESNET18_FEATURES], bias [RESNET18_CLASSES]. */
#define RESNET18_FC_W    (RESNET18_FLOATS - RESNET18_CLASSES * (RESNET18_FEATURES + 1))
#define RESNET18_FC_BIAS (RESNET18_FLOATS - RESNET18_CLASSES)

/** The outputs that can be looked at: that of the max pooling, of each block, and the features. */
#define RESNET18_STAGES 10

/** @return pixels a side after a convolution or pooling: (size + 2 pad - kernel) / stride + 1 */
int resnet18_out_size(int size, int kernel, int stride, int pad);

/** The shape of what stage 0 .. RESNET18_STAGES-1 gives for one image of size x size: channels
 *  planes of side x side. The last has RESNET18_FEATURES planes of 1 x 1. */
void resnet18_stage_shape(int stage, int size, int *channels, int *side);

/** @return floats of all stages of one image. In an array of activations, stage after stage stands,
 *  each [batch x channels x side x side]. */
size_t resnet18_activations(int size);

/** @return pixels a side of what convolution i reads, for an image of size x size */
int resnet18_in_size(int i, int size);

/** Multiply-adds of one image: of convolution i, or of the linear layer where i is RESNET18_CONVS.
 */
double resnet18_multiply_adds(int i, int size);

#ifdef __cplusplus
}
#endif

#endif
