/* resnet18_layout.c: the network as a table, and the arithmetic of its shapes. */
#include "resnet18_layout.h"

/* `at` is where the arrays of the convolution begin, right behind those of the one before: a test
 * walks over them. */
#define CONV(name, bn, in, out, kernel, stride, pad, at)                                           \
    {                                                                                              \
        name, bn, in, out, kernel, stride, pad, at, at + W(in, out, kernel),                       \
            at + W(in, out, kernel) + out, at + W(in, out, kernel) + 2 * out,                      \
            at + W(in, out, kernel) + 3 * out                                                      \
    }
#define W(in, out, kernel) ((in) * (out) * (kernel) * (kernel))

const resnet18_conv resnet18_convs[RESNET18_CONVS] = {
    CONV("conv1", "bn1", 3, 64, 7, 2, 3, 0),
    CONV("layer1.0.conv1", "layer1.0.bn1", 64, 64, 3, 1, 1, 9664),
    CONV("layer1.0.conv2", "layer1.0.bn2", 64, 64, 3, 1, 1, 46784),
    CONV("layer1.1.conv1", "layer1.1.bn1", 64, 64, 3, 1, 1, 83904),
    CONV("layer1.1.conv2", "layer1.1.bn2", 64, 64, 3, 1, 1, 121024),
    CONV("layer2.0.conv1", "layer2.0.bn1", 64, 128, 3, 2, 1, 158144),
    CONV("layer2.0.conv2", "layer2.0.bn2", 128, 128, 3, 1, 1, 232384),
    CONV("layer2.0.downsample.0", "layer2.0.downsample.1", 64, 128, 1, 2, 0, 380352),
    CONV("layer2.1.conv1", "layer2.1.bn1", 128, 128, 3, 1, 1, 389056),
    CONV("layer2.1.conv2", "layer2.1.bn2", 128, 128, 3, 1, 1, 537024),
    CONV("layer3.0.conv1", "layer3.0.bn1", 128, 256, 3, 2, 1, 684992),
    CONV("layer3.0.conv2", "layer3.0.bn2", 256, 256, 3, 1, 1, 980928),
    CONV("layer3.0.downsample.0", "layer3.0.downsample.1", 128, 256, 1, 2, 0, 1571776),
    CONV("layer3.1.conv1", "layer3.1.bn1", 256, 256, 3, 1, 1, 1605568),
    CONV("layer3.1.conv2", "layer3.1.bn2", 256, 256, 3, 1, 1, 2196416),
    CONV("layer4.0.conv1", "layer4.0.bn1", 256, 512, 3, 2, 1, 2787264),
    CONV("layer4.0.conv2", "layer4.0.bn2", 512, 512, 3, 1, 1, 3968960),
    CONV("layer4.0.downsample.0", "layer4.0.downsample.1", 256, 512, 1, 2, 0, 6330304),
    CONV("layer4.1.conv1", "layer4.1.bn1", 512, 512, 3, 1, 1, 6463424),
    CONV("layer4.1.conv2", "layer4.1.bn2", 512, 512, 3, 1, 1, 8824768),
};

const resnet18_block resnet18_blocks[RESNET18_BLOCKS] = {
    {1, 2, -1},   {3, 4, -1},   {5, 6, 7},    {8, 9, -1},
    {10, 11, 12}, {13, 14, -1}, {15, 16, 17}, {18, 19, -1},
};

int resnet18_out_size(int size, int kernel, int stride, int pad)
{
    return (size + 2 * pad - kernel) / stride + 1;
}

static int conv_out(const resnet18_conv *c, int size)
{
    return resnet18_out_size(size, c->kernel, c->stride, c->pad);
}

/* After the stem and the max pooling. */
static int stem_side(int size)
{
    return resnet18_out_size(conv_out(&resnet18_convs[0], size), 3, 2, 1);
}

void resnet18_stage_shape(int stage, int size, int *channels, int *side)
{
    *channels = resnet18_convs[0].out_channels;
    *side = stem_side(size);
    for (int i = 0; i < stage && i < RESNET18_BLOCKS; i++) {
        const resnet18_conv *first = &resnet18_convs[resnet18_blocks[i].conv1];
        *channels = first->out_channels;
        *side = conv_out(first, *side);
    }
    if (stage > RESNET18_BLOCKS) *side = 1;
}

size_t resnet18_activations(int size)
{
    size_t floats = 0;
    for (int stage = 0; stage < RESNET18_STAGES; stage++) {
        int channels, side;
        resnet18_stage_shape(stage, size, &channels, &side);
        floats += (size_t)channels * side * side;
    }
    return floats;
}

/* Pixels a side of what convolution i reads: the stage before its block, or, for the second of a
 * block, what the first made of that. */
int resnet18_in_size(int i, int size)
{
    if (i == 0) return size;
    int block = 0, channels, side;
    while (block + 1 < RESNET18_BLOCKS && i >= resnet18_blocks[block + 1].conv1) block++;
    resnet18_stage_shape(block, size, &channels, &side);
    const resnet18_block *b = &resnet18_blocks[block];
    return i == b->conv2 ? conv_out(&resnet18_convs[b->conv1], side) : side;
}

double resnet18_multiply_adds(int i, int size)
{
    if (i == RESNET18_CONVS) return (double)RESNET18_CLASSES * RESNET18_FEATURES;
    const resnet18_conv *c = &resnet18_convs[i];
    const double out = conv_out(c, resnet18_in_size(i, size));
    return out * out * W((double)c->in_channels, c->out_channels, c->kernel);
}
