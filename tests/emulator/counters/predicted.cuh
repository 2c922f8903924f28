/*
 * predicted.cuh: the five kernels of exercise 403, whose loads students predict: softgpu's counts
 * judge them, so those are held against a GPU's here.
 */
#pragma once

#include "launch.cuh"

#include "403_memory_analysis/matmul_launches.h"

/* There is no student here. */
cudaError_t matmul_own_launch(matmul_launch *, int, int, int, int)
{
    return cudaErrorNotSupported;
}

/* With tails in m, n and k. */
static void predict(int kernel)
{
    enum { P_ROWS = 37, P_COLS = 136, P_DEPTH = 72, P_TILE = 16 };
    must(matmul_run(kernel, out.f, in.f, in.f + P_ROWS * P_DEPTH, P_ROWS, P_COLS, P_DEPTH, P_TILE,
                    0),
         "a kernel of 403");
}

static bool added_predicted[] = {add_launch("403 rows", predict, MATMUL_ROWS),
                                 add_launch("403 columns", predict, MATMUL_COLUMNS),
                                 add_launch("403 tiled", predict, MATMUL_TILED),
                                 add_launch("403 registers", predict, MATMUL_REGISTERS),
                                 add_launch("403 vectorized", predict, MATMUL_VECTORIZED)};
