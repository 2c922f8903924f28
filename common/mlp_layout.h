/*
 * mlp_layout.h: the network of exercises 112, 501 and 502: 784 inputs, 128 hidden units with ReLU,
 * 10 logits. Its parameters are one array, in this order: w1[128 x 784], bias1[128], w2[10 x 128],
 * bias2[10].
 */
#ifndef COURSE_MLP_LAYOUT_H
#define COURSE_MLP_LAYOUT_H

#define MLP_INPUTS  784
#define MLP_HIDDEN  128
#define MLP_CLASSES 10
#define MLP_PARAMS  (MLP_HIDDEN * MLP_INPUTS + MLP_HIDDEN + MLP_CLASSES * MLP_HIDDEN + MLP_CLASSES)

#endif
