/*
 * network.h: the contract of phase 5, whole networks from the layers of phases 2 to 4.
 *
 * h_ is host memory, d_ is device memory; pointers are aligned to their elements and to nothing
 * more. The network of 501 is that of exercise 112 (cpu.h): 784 inputs, 128 hidden units with ReLU,
 * 10 logits; parameters in one array: w1[128 x 784], bias1[128], w2[10 x 128], bias2[10]. That of
 * 504 to 507, and 5c, is ResNet-18 (resnet18_layout.h in common/), that of 508 to 510 a GPT (gpt_layout.h), of
 * 511 an autoencoder.
 */
#ifndef COURSE_NETWORK_H
#define COURSE_NETWORK_H

#include "501_mnist/mnist.h"
#include "502_mnist_fast/mnist_fast.h"
#include "504_resnet18_cpu/resnet18_cpu.h"
#include "505_resnet18/resnet18.h"
#include "506_sweep/sweep.h"
#include "507_resnet18_optimized/resnet18_optimized.h"
#include "508_gpt/gpt.h"
#include "509_char_gpt/char_gpt.h"
#include "510_gpt2/gpt2.h"
#include "511_autoencoder/autoencoder.h"
#include "5c_resnet18_int8/resnet18_int8.h"

#endif
