/*
 * only.c: stands for simd.c where the device is compiled once, on processors other than x86-64.
 */
#include "softgpu.h"

const char *softgpu_simd(void)
{
    return "plain";
}
