/*
 * layers.h: the contract of phase 3, the layers of a network, forward and backward.
 *
 * Conventions: device pointers, aligned to their elements and to nothing more; row-major; weights
 * [out_features, in_features]; the destination first, a stream last; outputs are overwritten; the
 * gradient of x is grad_x. fp32 throughout. Launchers return the error of their launches and do not
 * wait. Sizes of 0 are legal: an empty sum is 0. Only memory limits sizes. NaN and infinities
 * propagate through the arithmetic, unless a contract says otherwise. The caller avoids arguments
 * that make no sense (a stride of 0, a window larger than the padded image).
 */
#ifndef COURSE_LAYERS_H
#define COURSE_LAYERS_H

#include "301_activations/activations.h"
#include "302_bias/bias.h"
#include "303_linear/linear.h"
#include "304_softmax/softmax.h"
#include "305_cross_entropy/cross_entropy.h"
#include "306_conv2d/conv2d.h"
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "308_conv2d_backward/conv2d_backward.h"
#include "309_batchnorm/batchnorm.h"
#include "310_pooling/pooling.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "313_attention/attention.h"
#include "314_adam/adam.h"
#include "3a_deterministic_backward/deterministic_backward.h"
#include "3c_llama_block/llama_block.h"

#endif
