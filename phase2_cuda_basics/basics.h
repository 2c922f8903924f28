/*
 * basics.h: the contract of phase 2, first kernels. One file per exercise.
 *
 * Every function here is a launcher: it runs on the host, takes device pointers (into memory from
 * cudaMalloc, aligned to their elements and to nothing more) and a stream, starts your own kernels
 * on that stream, and returns without waiting. It returns the error of the launch,
 * cudaGetLastError(). Sizes of 0 are legal: without outputs nothing is launched, and an empty sum
 * is 0. Only memory limits sizes. NaN and infinities propagate through the arithmetic, unless a
 * contract says otherwise.
 * (202 and 205 are about the steps before and after kernels: they allocate, copy and wait.)
 * Matrices are row-major, c[m x n] = a[m x k] * b[k x n]; outputs are overwritten.
 */
#ifndef COURSE_BASICS_H
#define COURSE_BASICS_H

#include "201_hello/hello.h"
#include "202_devices/devices.h"
#include "203_vector_add/vector_add.h"
#include "204_elementwise/elementwise.h"
#include "205_copies/copies.h"
#include "206_matmul_naive/matmul_naive.h"
#include "207_shared_memory/shared_memory.h"
#include "208_reduce/reduce.h"
#include "209_transpose/transpose.h"
#include "210_scan/scan.h"
#include "211_matmul_tiled/matmul_tiled.h"
#include "212_matmul_transposed/matmul_transposed.h"
#include "213_matmul_cublas/matmul_cublas.h"
#include "214_matmul_registers/matmul_registers.h"
#include "215_find_the_bugs/find_the_bugs.h"
#include "217_histogram/histogram.h"
#include "218_stencil/stencil.h"
#include "2a_matmul_warptile/matmul_warptile.h"
#include "2b_scan_single_pass/scan_single_pass.h"
#include "2c_radix_sort/radix_sort.h"

#endif
