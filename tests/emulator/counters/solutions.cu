/*
 * solutions.cu: launches of the course's own solutions, counted by softgpu and measured on a GPU as
 * those of kernels.cu are. solutions.files has the files with their kernels.
 *
 * 213 is not here: a product of cuBLAS, whose kernels on a GPU are not softgpu's. Nor are 416 and
 * 417, which use what one architecture alone has: they are in hopper.cu.
 */
#include "launch.cuh"

#include "basics.h"
#include "layers.h"
#include "optimization.h"

enum { SIDE = 128, DEPTH = 64, ODD = 77 }; /* c is [SIDE x SIDE], or [ODD x ODD]; DEPTH is k */

static void *part(buffer b, int i)
{
    return b.f + i * N;
}

static const float *floats(int i)
{
    return (const float *)part(in, i);
}

static float *results(int i)
{
    return (float *)part(out, i);
}

template <typename T> static const T *halves(int i)
{
    return (const T *)part(in, i);
}

static void must_run(cudaError_t error)
{
    must(error, "a solution");
}

#define PRODUCT(label, function)                                                                   \
    LAUNCH(label)                                                                                  \
    {                                                                                              \
        must_run(function(results(0), floats(0), floats(4), SIDE, SIDE, DEPTH, 0));                \
    }                                                                                              \
    LAUNCH(label ", odd sizes")                                                                    \
    {                                                                                              \
        must_run(function(results(0), floats(0), floats(4), ODD, ODD, ODD, 0));                    \
    }
#define HALF_PRODUCT(label, function, type)                                                        \
    LAUNCH(label)                                                                                  \
    {                                                                                              \
        must_run(function(results(0), halves<type>(0), halves<type>(4), SIDE, SIDE, DEPTH, 0));    \
    }                                                                                              \
    LAUNCH(label ", odd sizes")                                                                    \
    {                                                                                              \
        must_run(function(results(0), halves<type>(0), halves<type>(4), ODD, ODD, ODD, 0));        \
    }

PRODUCT("212 matmul_nt", matmul_nt)
PRODUCT("212 matmul_tn", matmul_tn)

LAUNCH("212 matmul_batched")
{
    must_run(matmul_batched(results(0), floats(0), floats(4), 32, 48, 40, 5, 32 * 48, 32 * 40,
                            40 * 48, 0));
}

PRODUCT("214 matmul_registers", matmul_registers)
PRODUCT("401 matmul_vectorized", matmul_vectorized)

LAUNCH("401 matmul_vectorized, misaligned")
{
    must_run(matmul_vectorized(results(0) + 1, floats(0) + 1, floats(4) + 1, SIDE, SIDE, DEPTH, 0));
}

HALF_PRODUCT("402 matmul_tensorcore", matmul_tensorcore, __nv_bfloat16)
HALF_PRODUCT("402 matmul_tensorcore_half", matmul_tensorcore_half, __half)
PRODUCT("2a matmul_warptile", matmul_warptile)
HALF_PRODUCT("4a matmul_mma", matmul_mma, __nv_bfloat16)
PRODUCT("4g matmul_3xtf32", matmul_3xtf32)

LAUNCHES("303 linear_forward", 2)
{
    must_run(linear_forward(results(0), floats(0), floats(4), floats(8), SIDE, DEPTH, ODD, 0));
}

LAUNCHES("303 linear_backward", 3)
{
    must_run(linear_backward(results(0), results(2), results(4), floats(0), floats(4), floats(8),
                             SIDE, DEPTH, ODD, 0));
}

LAUNCH("404 linear_forward_fused")
{
    must_run(linear_forward_fused(results(0), results(2), floats(0), floats(4), floats(8), SIDE,
                                  DEPTH, ODD, 0));
}

LAUNCH("404 conv_bn_relu")
{
    must_run(conv_bn_relu(results(0), floats(0), floats(1), floats(2), floats(3), floats(4),
                          floats(5), NULL, 2, 4, 15, 17, 8, 3, 3, 1, 1, 1e-5f, 0));
}

LAUNCH("404 residual_layernorm_forward")
{
    must_run(residual_layernorm_forward(results(0), results(2), results(4), results(5), floats(0),
                                        floats(1), floats(2), floats(3), 12, 700, 1e-5f, 0));
}

/* Rows that a group of lanes, a warp, a block keep in registers, and one that they do not. */
#define ROWS(rows, cols)                                                                           \
    LAUNCH("405 softmax_rows, " #rows "x" #cols)                                                   \
    {                                                                                              \
        must_run(softmax_rows(results(0), floats(0), rows, cols, 0));                              \
    }                                                                                              \
    LAUNCH("405 layernorm_rows, " #rows "x" #cols)                                                 \
    {                                                                                              \
        must_run(                                                                                  \
            layernorm_rows(results(0), floats(0), floats(4), floats(5), rows, cols, 1e-5f, 0));    \
    }                                                                                              \
    LAUNCH("405 rmsnorm_rows, " #rows "x" #cols)                                                   \
    {                                                                                              \
        must_run(rmsnorm_rows(results(0), floats(0), floats(4), rows, cols, 1e-5f, 0));            \
    }
ROWS(70, 24)
ROWS(30, 512)
ROWS(5, 3000)
ROWS(2, 12345)

int main(int argc, char **argv)
{
    return run_launches(argc, argv);
}
