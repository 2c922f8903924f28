/*
 * 507_wgmma.cuh: wgmma of halfs and of TF32, of those widths that this network needs; wgmma.h says
 * what the operands are. Rows of both run along k.
 *
 * All of this file is given.
 */
#ifndef WGMMA_CUH
#define WGMMA_CUH

#include "507_tensor_core.cuh"
#include "tma.h"
#include "wgmma.h"

#if ON_HOPPER

#define REGISTERS_10(d)                                                                            \
    "%" #d "0, %" #d "1, %" #d "2, %" #d "3, %" #d "4, %" #d "5, %" #d "6, %" #d "7, %" #d         \
    "8, %" #d "9, "
#define REGISTERS_50 REGISTERS_10() REGISTERS_10(1) REGISTERS_10(2) REGISTERS_10(3) REGISTERS_10(4)
#define REGISTERS_56 REGISTERS_50 "%50, %51, %52, %53, %54, %55"
#define REGISTERS_60 REGISTERS_56 ", %56, %57, %58, %59"
#define REGISTERS_100                                                                              \
    REGISTERS_50 REGISTERS_10(5) REGISTERS_10(6) REGISTERS_10(7) REGISTERS_10(8) REGISTERS_10(9)
#define REGISTERS_108 REGISTERS_100 "%100, %101, %102, %103, %104, %105, %106, %107"

#define SUM(j)        "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
#define SUM_5(j)      SUM(j), SUM(j + 1), SUM(j + 2), SUM(j + 3), SUM(j + 4)
#define SUM_112       SUM_5(0), SUM_5(5), SUM(10), SUM(11), SUM(12), SUM(13)
#define SUM_120       SUM_112, SUM(14)
#define SUM_216       SUM_120, SUM_5(15), SUM_5(20), SUM(25), SUM(26)

/** sum[64 x N] = a b^T, or += if `add`, of 32 bytes of k. */
template <resnet18_precision P, int N> struct wide_product;

#define WIDE_PRODUCT(p, n, types, registers, operands, if_add, turned)                             \
    template <> struct wide_product<p, n> {                                                        \
        __device__ __forceinline__ static void add(float sum[n / 8][4], uint64_t a, uint64_t b,    \
                                                   bool add)                                       \
        {                                                                                          \
            asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " if_add ", 0;\n"                 \
                         "wgmma.mma_async.sync.aligned.m64n" #n types " {" registers               \
                         "}, " operands ", adds, 1, 1" turned ";\n}"                               \
                         : SUM_##n                                                                 \
                         : "l"(a), "l"(b), "r"((int)add));                                         \
        }                                                                                          \
    }
#define WIDE_PRODUCTS(n, registers, operands, if_add)                                              \
    WIDE_PRODUCT(RESNET18_FP16, n, "k16.f32.f16.f16", registers, operands, if_add, ", 0, 0");      \
    WIDE_PRODUCT(RESNET18_TF32, n, "k8.f32.tf32.tf32", registers, operands, if_add, "")

WIDE_PRODUCTS(112, REGISTERS_56, "%56, %57", "%58");
WIDE_PRODUCTS(120, REGISTERS_60, "%60, %61", "%62");
WIDE_PRODUCTS(216, REGISTERS_108, "%108, %109", "%110");

#endif

#endif
