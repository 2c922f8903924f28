/*
 * cpu.h: the contract of phase 1, plain C11 on the CPU. One file per exercise.
 *
 * Conventions of the whole course: Arrays are row-major, so c[m x n] = a[m x k] * b[k x n]. The
 * destination comes first. Outputs are overwritten, whatever they held. Weights are [out_features,
 * in_features]. Arrays are aligned to their elements and to nothing more. Only memory limits sizes.
 * NaN and infinities propagate through the arithmetic, unless a contract says otherwise.
 */
#ifndef COURSE_CPU_H
#define COURSE_CPU_H

#include "101_compare/compare.h"
#include "102_stopwatch/stopwatch.h"
#include "103_matmul_cpu/matmul_cpu.h"
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"
#include "105_matmul_cpu_blocked/matmul_cpu_blocked.h"
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "107_matmul_cpu_threads/matmul_cpu_threads.h"
#include "108_gemm_cpu/gemm_cpu.h"
#include "109_softmax_cross_entropy/softmax_cross_entropy.h"
#include "110_conv2d_cpu/conv2d_cpu.h"
#include "111_linear_backward/linear_backward.h"
#include "112_mlp_cpu/mlp_cpu.h"
#include "1a_matmul_cpu_packed/matmul_cpu_packed.h"

#endif
