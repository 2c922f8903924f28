/*
 * resnet18_layout.h: ResNet-18 as a table. The network has 20 convolutions, each followed by a
 * batch normalization, and one linear layer. All that it has learned is in one array.
 *
 *     image -> conv1 7x7 /2, bn, relu -> maxpool 3x3 /2 -> 8 blocks -> mean of each plane -> linear
 *     block:  y = relu(bn(conv2(relu(bn(conv1(x))))) + shortcut(x))
 *
 * conv1 and conv2 of a block are 3x3 with padding 1. The shortcut is x itself, or, in the three
 * blocks that halve the image and double the channels (stride 2 in conv1), bn(conv 1x1 /2 (x)).
 * Convolutions have no bias. Images are square, with `size` pixels per side. The weights were
 * trained at 224; any size from 32 on works, because the mean takes planes of any size.
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
#define RESNET18_FEATURES 512 /* inputs of the linear layer */
#define RESNET18_BN_EPS   1e-5f

/** Parameters; and all floats, with the running means and variances of batch normalization. */
#define RESNET18_PARAMS 11689512
#define RESNET18_FLOATS (RESNET18_PARAMS + 2 * 4800)

/** One convolution and its batch normalization. The offsets say where each array begins in the
 *  RESNET18_FLOATS floats: w [out_channels x in_channels x kernel x kernel], others [out_channels].
 */
typedef struct resnet18_conv {
    const char *name; /**< "layer2.0.downsample.0": its array is NAME.weight */
    const char *bn;   /**< "layer2.0.downsample.1": NAME.weight (gamma), .bias (beta),
                           .running_mean, .running_var */
    int in_channels, out_channels, kernel, stride, pad;
    size_t w, gamma, beta, mean, var;
} resnet18_conv;

/** One residual block: the numbers of its convolutions in the table. */
typedef struct resnet18_block {
    int conv1, conv2;
    int downsample; /**< -1: the shortcut is x itself */
} resnet18_block;

/** The stem, conv1, comes first, then the convolutions block by block. */
extern const resnet18_conv resnet18_convs[RESNET18_CONVS];
extern const resnet18_block resnet18_blocks[RESNET18_BLOCKS];

/** The linear layer: w [RESNET18_CLASSES x RESNET18_FEATURES], bias [RESNET18_CLASSES]. */
#define RESNET18_FC_W    (RESNET18_FLOATS - RESNET18_CLASSES * (RESNET18_FEATURES + 1))
#define RESNET18_FC_BIAS (RESNET18_FLOATS - RESNET18_CLASSES)

/** The outputs that can be inspected: that of the max pooling, of each block, and the features. */
#define RESNET18_STAGES 10

/** @return pixels per side after a convolution or pooling: (size + 2 pad - kernel) / stride + 1 */
int resnet18_out_size(int size, int kernel, int stride, int pad);

/** The shape of the output of stage 0 .. RESNET18_STAGES-1 for one image of size x size: `channels`
 *  planes of side x side. The last stage has RESNET18_FEATURES planes of 1 x 1. */
void resnet18_stage_shape(int stage, int size, int *channels, int *side);

/** @return floats of all stages of one image. An array of activations has the stages in order, each
 *  [batch x channels x side x side]. */
size_t resnet18_activations(int size);

/** @return pixels per side of the input of convolution i, for an image of size x size */
int resnet18_in_size(int i, int size);

/** Multiply-adds per image in convolution i, or in the linear layer if i is RESNET18_CONVS. */
double resnet18_multiply_adds(int i, int size);

#ifdef __cplusplus
}
#endif

#endif
