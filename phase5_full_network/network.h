/*
 * network.h: the contract of phase 5, whole networks from the layers of phases 2 to 4.
 *
 * h_ is host memory, d_ is device memory; pointers are aligned to their elements and to nothing
 * more. NaN and infinities propagate as in layers.h. The networks are described in common/: that of
 * 501 and 502 in mlp_layout.h, that of 504 to 507 and 5c in resnet18_layout.h, and that of 508 to
 * 510 in gpt_layout.h.
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
#include "513_data_parallel/data_parallel.h"
#include "514_close_the_gaps/close_the_gaps.h"
#include "5c_resnet18_int8/resnet18_int8.h"

#endif
