/*
 * conv_cases.h: what the convolutions of the course are held against, on the CPU and on the GPU.
 *
 * The shape of a convolution is nine numbers, in the order of the contracts: batch, in_channels,
 * in_h, in_w, out_channels, kernel_h, kernel_w, stride, pad.
 */
#ifndef GRADER_CONV_CASES_H
#define GRADER_CONV_CASES_H

#include "correctness/case.h"

typedef struct conv_shape {
    long batch, in_channels, in_h, in_w, out_channels, kernel_h, kernel_w, stride, pad;
    long out_h, out_w;             /* what follows */
    size_t x_size, w_size, y_size; /* elements */
} conv_shape;

conv_shape conv_shape_of(const long *shape);

/** The nine numbers of a call. */
#define CONV_SHAPE(c)                                                                              \
    i32((int)(c)->batch), i32((int)(c)->in_channels), i32((int)(c)->in_h), i32((int)(c)->in_w),    \
        i32((int)(c)->out_channels), i32((int)(c)->kernel_h), i32((int)(c)->kernel_w),             \
        i32((int)(c)->stride), i32((int)(c)->pad)

/** y and scale, the sums of the absolute terms: [batch x out_channels x out_h x out_w]. The outputs
 *  of large convolutions are computed on all cores. @param bias or NULL */
void reference_conv2d(double *y, double *scale, const float *x, const float *w, const float *bias,
                      const conv_shape *);
/** y against reference_conv2d, every element and the norm. */
void expect_conv2d(const float *y, const float *x, const float *w, const float *bias,
                   const conv_shape *);

/** Makes the call: `y` first, then the arguments that the contract has before x, x, w and bias (or
 *  NULL), the nine numbers. */
typedef void conv_caller(argument y, argument x, argument w, argument bias, const conv_shape *);

/** The call of 306 and 307, which have one contract. */
void conv_forward(const char *function, argument y, argument x, argument w, argument bias,
                  const conv_shape *);
/** ... timed or counted. A baseline is called on the same kind of inputs, and believed. */
void conv_forward_timed(const char *function, const long *shape);

/** Random images and filters. */
void conv_random(conv_caller *, const long *shape, bool with_bias);
/** Images and filters of ones: an output is the number of pixels under its window. */
void conv_ones(conv_caller *, const long *shape);
/** Images with a single one in the middle: what comes out is the filter, turned by 180 degrees. */
void conv_impulse(conv_caller *, const long *shape);
/** A NaN and an infinity in x reach the outputs whose window holds them, those in a filter and in
 *  the bias their planes, and no other. The second filter is zeros, which make NaN of both. An
 *  infinity is in the corner, which an index that is clamped reads in place of the padding; that in
 *  the filter is in the middle, where no pixel of the padding meets it. */
void conv_nan(conv_caller *, const long *shape);

/** Four convolutions of the numbers of CONV_ANY: the first is as drawn, and each stride from 1 to 4
 *  and each height of kernel from 2 to 5 comes once. */
void conv_any(const long *drawn, void (*run)(const long *shape));

/** The runners of the rows below, for one function. */
#define CONV_RUNNERS(call)                                                                         \
    static void run_random(const long *shape)                                                      \
    {                                                                                              \
        conv_random(call, shape, true);                                                            \
    }                                                                                              \
    static void run_without_bias(const long *shape)                                                \
    {                                                                                              \
        conv_random(call, shape, false);                                                           \
    }                                                                                              \
    static void run_ones(const long *shape)                                                        \
    {                                                                                              \
        conv_ones(call, shape);                                                                    \
    }                                                                                              \
    static void run_impulse(const long *shape)                                                     \
    {                                                                                              \
        conv_impulse(call, shape);                                                                 \
    }                                                                                              \
    static void run_nan(const long *shape)                                                         \
    {                                                                                              \
        conv_nan(call, shape);                                                                     \
    }                                                                                              \
    static void run_any(const long *shape)                                                         \
    {                                                                                              \
        conv_any(shape, run_random);                                                               \
    }

/** The rows of a case table. Every name says batch, channels and size of the image, filters and
 *  kernel. */
#define CONV_RANDOM_ROWS                                                                           \
    {.name = "2x3x5x7 by 4 of 1x1", .run = run_random, .shape = {2, 3, 5, 7, 4, 1, 1, 1, 0}},      \
        {.name = "1x4x9x8 by 5 of 1x1, stride 2",                                                  \
         .run = run_random,                                                                        \
         .shape = {1, 4, 9, 8, 5, 1, 1, 2, 0}},                                                    \
        {.name = "2x3x8x11 by 4 of 3x3, pad 1",                                                    \
         .run = run_random,                                                                        \
         .shape = {2, 3, 8, 11, 4, 3, 3, 1, 1}},                                                   \
        {.name = "1x5x9x12 by 3 of 3x3, stride 2, pad 1",                                          \
         .run = run_random,                                                                        \
         .shape = {1, 5, 9, 12, 3, 3, 3, 2, 1}},                                                   \
        {.name = "1x3x23x30 by 4 of 7x7, stride 2, pad 3",                                         \
         .run = run_random,                                                                        \
         .shape = {1, 3, 23, 30, 4, 7, 7, 2, 3}},                                                  \
        {.name = "1x2x9x13 by 3 of 3x5, pad 2",                                                    \
         .run = run_random,                                                                        \
         .shape = {1, 2, 9, 13, 3, 3, 5, 1, 2}},                                                   \
        {.name = "1x2x17x9 by 2 of 5x2, stride 3, pad 1",                                          \
         .run = run_random,                                                                        \
         .shape = {1, 2, 17, 9, 2, 5, 2, 3, 1}},                                                   \
        {.name = "3x17x10x9 by 33 of 3x3, pad 1",                                                  \
         .run = run_random,                                                                        \
         .shape = {3, 17, 10, 9, 33, 3, 3, 1, 1}},                                                 \
        {.name = "2x4x8x8 by 4 of 1x1, pad 1",                                                     \
         .run = run_random,                                                                        \
         .shape = {2, 4, 8, 8, 4, 1, 1, 1, 1}},                                                    \
        {.name = "1x1x4x4 by 1 of 3x3", .run = run_random, .shape = {1, 1, 4, 4, 1, 3, 3, 1, 0}},  \
        {.name = "1x2x5x6 by 3 of 5x6", .run = run_random, .shape = {1, 2, 5, 6, 3, 5, 6, 1, 0}},  \
        {.name = "1x2x1x1 by 2 of 3x3, pad 1",                                                     \
         .run = run_random,                                                                        \
         .shape = {1, 2, 1, 1, 2, 3, 3, 1, 1}},                                                    \
    {                                                                                              \
        .name = "empty batch", .run = run_random, .shape = { 0, 3, 5, 7, 4, 3, 3, 1, 1 }           \
    }

/** Sizes that nobody knows before; of any of them, a kernel fits. The three arguments are the most
 *  that is drawn of images, channels and filters. */
#define CONV_ANY(images, channels, filters)                                                        \
    {                                                                                              \
        .name = "any", .run = run_any, .shape = {1, 1, 5, 12, 1, 2, 1, 1, 0}, .most = {            \
            images,                                                                                \
            channels,                                                                              \
            14,                                                                                    \
            35,                                                                                    \
            filters,                                                                               \
            5,                                                                                     \
            6,                                                                                     \
            4,                                                                                     \
            3                                                                                      \
        }                                                                                          \
    }

/* clang-format off */
/** Each size once beyond what a block, a grid's y or an array on the stack can hold. 69,633 is one
 *  more than 68 blocks of 1,024: the last block has one output, however large blocks are. */
#define CONV_LONG_ROWS \
    LONG_ROW("70001x1x1x1 by 1 of 1x1", run_random, 70001, 1, 1, 1, 1, 1, 1, 1, 0), \
    LONG_ROW("1x5003x1x1 by 2 of 1x1", run_random, 1, 5003, 1, 1, 2, 1, 1, 1, 0), \
    LONG_ROW("1x1x70001x1 by 1 of 1x1", run_random, 1, 1, 70001, 1, 1, 1, 1, 1, 0), \
    LONG_ROW("1x1x1x69633 by 1 of 1x1", run_random, 1, 1, 1, 69633, 1, 1, 1, 1, 0), \
    LONG_ROW("1x1x1x1 by 70001 of 1x1", run_random, 1, 1, 1, 1, 70001, 1, 1, 1, 0), \
    LONG_ROW("1x1x1100x2 by 1 of 1099x1", run_random, 1, 1, 1100, 2, 1, 1099, 1, 1, 0), \
    LONG_ROW("1x1x2x1100 by 1 of 1x1099", run_random, 1, 1, 2, 1100, 1, 1, 1099, 1, 0)
/* clang-format on */

/** With those that only a convolution alone can have. */
#define CONV_ROWS                                                                                  \
    CONV_RANDOM_ROWS,                                                                              \
        {.name = "without bias", .run = run_without_bias, .shape = {2, 3, 7, 6, 5, 3, 3, 1, 1}},   \
        {.name = "no channels", .run = run_random, .shape = {2, 0, 7, 6, 5, 3, 3, 1, 1}},          \
        {.name = "no filters", .run = run_random, .shape = {2, 3, 7, 6, 0, 3, 3, 1, 1}},           \
        {.name = "ones, 3x3, pad 1", .run = run_ones, .shape = {1, 2, 6, 7, 2, 3, 3, 1, 1}},       \
        {.name = "ones, 7x7, stride 2, pad 3",                                                     \
         .run = run_ones,                                                                          \
         .shape = {1, 1, 12, 15, 1, 7, 7, 2, 3}},                                                  \
        {.name = "impulse, 3x3", .run = run_impulse, .shape = {1, 1, 5, 5, 2, 3, 3, 1, 1}},        \
        {.name = "impulse, 3x5", .run = run_impulse, .shape = {1, 2, 7, 9, 3, 3, 5, 1, 2}},        \
    {                                                                                              \
        .name = "nan", .run = run_nan, .shape = { 2, 2, 9, 11, 3, 3, 3, 2, 1 }                     \
    }

/** Layers of ResNet-18, for a GPU. */
#define CONV_GPU_ROWS                                                                              \
    {.name = "1x3x224x224 by 64 of 7x7, stride 2, pad 3",                                          \
     .run = run_random,                                                                            \
     .shape = {1, 3, 224, 224, 64, 7, 7, 2, 3},                                                    \
     .where = ON_GPU},                                                                             \
        {.name = "2x64x56x56 by 64 of 3x3, pad 1",                                                 \
         .run = run_random,                                                                        \
         .shape = {2, 64, 56, 56, 64, 3, 3, 1, 1},                                                 \
         .where = ON_GPU},                                                                         \
        {.name = "1x64x56x56 by 128 of 3x3, stride 2, pad 1",                                      \
         .run = run_random,                                                                        \
         .shape = {1, 64, 56, 56, 128, 3, 3, 2, 1},                                                \
         .where = ON_GPU},                                                                         \
        {.name = "1x256x14x14 by 512 of 1x1, stride 2",                                            \
         .run = run_random,                                                                        \
         .shape = {1, 256, 14, 14, 512, 1, 1, 2, 0},                                               \
         .where = ON_GPU},                                                                         \
        {.name = "1x512x7x7 by 512 of 3x3, pad 1",                                                 \
         .run = run_random,                                                                        \
         .shape = {1, 512, 7, 7, 512, 3, 3, 1, 1},                                                 \
         .where = ON_GPU},                                                                         \
    {                                                                                              \
        .name = "70000x1x3x3 by 2 of 3x3, pad 1", .run = run_random,                               \
        .shape = {70000, 1, 3, 3, 2, 3, 3, 1, 1}, .where = ON_GPU, .once = true                    \
    }

#endif
