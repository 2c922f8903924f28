/*
 * 5c_resnet18_int8.cu: ResNet-18 whose convolutions multiply whole numbers of 8 bits (413).
 *
 * The idea: what leaves a convolution is a sum of products of whole numbers, exact in an int. All
 * that follows it is one line for each channel:
 *
 *     q = round(sum * factor + shift + shortcut * add), at least 0 with ReLU, at most 127
 *     factor = in * filter / out    shift = bias / out    add = shortcut / out    of their scales
 *
 * Everything on the right is known when the network is made: the filters' scales by their weights,
 * the tensors' by some images, which a network of layers in fp32 (307, 309, 310) looks at first.
 *
 *     image -> patches of bytes -> conv1 -> pooling -> 8 blocks -> mean, linear layer in fp32
 *
 * One kernel is all convolutions: implicit GEMM, NHWC, rows of 128 bytes along k, which ldmatrix
 * and mma take as in 413. A step of k may have channels of two taps, so each thread knows the tap
 * of its own 16 bytes. conv1 has 3 channels, not a multiple of 16: a kernel before it writes its
 * windows as patches, 147 numbers and 13 zeros, and it becomes a convolution of 1 x 1. The linear
 * layer has 4 % of the weights, and nothing behind it that evens out its errors: it stays fp32.
 *
 * The cost removed: three quarters of the bytes of weights and activations, and half of the tensor
 * cores' instructions for bf16. The cost left: some 25 launches; the last layers of a small batch
 * have few tiles, of which each goes along all of k (507 splits it); shortcuts are rounded to bytes
 * in between.
 */
#include "303_linear/linear.h"
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "309_batchnorm/batchnorm.h"
#include "310_pooling/pooling.h"
#include "5c_resnet18_int8/resnet18_int8.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include "tensor_core.h"

#include <cuda_pipeline.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* TODO: the network: its tensors by number, what each convolution reads and adds, and where its
   weights lie (about 30 lines). */

/* TODO: connect: which tensors each convolution reads and adds; lay_out: where the tensors of a
   batch begin, in bytes as in floats (about 50 lines). */

/* TODO: quantized; a kernel that writes the patches of conv1, 16 bytes a thread (about 25
   lines). */

/* TODO: pool_kernel: the largest of 3 x 3 pixels, four channels a thread; mean_kernel: a sum of
   bytes, which is exact, a channel a thread (about 30 lines). */

/* ---- the convolution ------------------------------------------------------------------------- */

/* TODO: the sizes; what the kernel is told (about 20 lines). */

/* TODO: source: what a thread copies of each step: its 16 bytes of some pixels' windows, and of
   some filters; zeros for what lies outside (about 55 lines). */

/* TODO: multiply: a warp's 32 x 32 sums over one step; finish: from sums in shared memory to
   bytes, four channels a thread (about 45 lines). */

/* TODO: conv_kernel: a ring of three stages, copied two ahead; the sums leave by the same
   memory (about 40 lines). */

/* TODO: the launch: tiles of 128 pixels where there are enough of them for all processors, else
   of 64 (about 45 lines). */

/* ---- once, when the network is made ---------------------------------------------------------- */

/* TODO: two kernels: what follows a convolution in fp32, with the largest |x| of what it
   leaves; and weights as bytes, a block per filter (about 45 lines). */

/* TODO: calibrate: the largest |x| of every tensor, by 307 and 310 in fp32, some images at a
   time (about 80 lines). */

/* TODO: pack: memory for weights, and all of them into it; prepare: everything, with memory
   that is given back whatever happens (about 55 lines). */

cudaError_t resnet18_create_int8(resnet18_int8 **net, const float *h_params, const float *h_images,
                                 int count, int size)
{
    cudaError_t error = cudaErrorNotSupported;
    *net = NULL;
    /* TODO: refuse what there is no network for; on an error, free what there is (about 12
       lines). */
    NOT_IMPLEMENTED(net, h_params, h_images, count, size);
    return error;
}

/* TODO: reserve: memory for a batch that stays; stem, and head (about 45 lines). */

cudaError_t resnet18_forward_int8(resnet18_int8 *net, float *logits, int8_t *tensors,
                                  const float *x, int batch, int size, cudaStream_t stream)
{
    /* TODO: stem, blocks, head; a copy of the tensors (about 10 lines). */
    NOT_IMPLEMENTED(net, logits, tensors, x, batch, size, stream);
    return cudaGetLastError();
}

cudaError_t resnet18_scales_int8(const resnet18_int8 *net, float *h_scales)
{
    /* TODO: a copy (1 line). */
    NOT_IMPLEMENTED(net, h_scales);
    return cudaGetLastError();
}

size_t resnet18_device_bytes_int8(const resnet18_int8 *net)
{
    /* TODO: weights and tensors (1 line). */
    NOT_IMPLEMENTED(net);
    return 0;
}

cudaError_t resnet18_free_int8(resnet18_int8 *net)
{
    /* TODO: both allocations, then the struct (about 4 lines). */
    NOT_IMPLEMENTED(net);
    return cudaGetLastError();
}
