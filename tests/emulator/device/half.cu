/* half.cu: 16-bit floats, alone and in pairs. */
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void half_axpy(__half *y, const __half *x, __half a)
{
    int t = threadIdx.x;
    y[t] = __hadd(__hmul(a, x[t]), y[t]);
}

CASE(half_scalar)
{
    std::vector<__half> x(32), y(32);
    for (int i = 0; i < 32; i++) x[i] = __float2half(i * 0.25f), y[i] = __float2half(1.0f);
    __half *d_y = to_device(y);
    half_axpy<<<1, 32>>>(d_y, to_device(x), __float2half(2.0f));
    SYNC();
    std::vector<__half> got = to_host(d_y, 32);
    for (int i = 0; i < 32; i++) CHECK(__half2float(got[i]) == i * 0.5f + 1);
}

__global__ void half_pairs(__half2 *y, const __half2 *x)
{
    int t = threadIdx.x;
    y[t] = __hfma2(x[t], __float2half2_rn(0.5f), y[t]);
    if (__hgt(__low2half(x[t]), __float2half(10.0f))) y[t] = __hneg2(y[t]);
}

CASE(half_pair)
{
    std::vector<__half2> x(32), y(32);
    for (int i = 0; i < 32; i++) x[i] = __floats2half2_rn(i, -i), y[i] = __floats2half2_rn(1, 2);
    __half2 *d_y = to_device(y);
    half_pairs<<<1, 32>>>(d_y, to_device(x));
    SYNC();
    std::vector<__half2> got = to_host(d_y, 32);
    for (int i = 0; i < 32; i++) {
        float sign = i > 10 ? -1 : 1;
        CHECK(__low2float(got[i]) == sign * (i * 0.5f + 1));
        CHECK(__high2float(got[i]) == sign * (-i * 0.5f + 2));
    }
}

__global__ void bfloat(__nv_bfloat16 *y, const float *x)
{
    int t = threadIdx.x;
    __nv_bfloat16 v = __float2bfloat16(x[t]);
    y[t] = v * v + __float2bfloat16(1.0f);
}

CASE(bfloat16)
{
    std::vector<float> x(32);
    for (int i = 0; i < 32; i++) x[i] = i * 0.25f;
    __nv_bfloat16 *d_y = device_array<__nv_bfloat16>(32);
    bfloat<<<1, 32>>>(d_y, to_device(x));
    SYNC();
    std::vector<__nv_bfloat16> got = to_host(d_y, 32);
    for (int i = 0; i < 32; i++) CHECK(near(__bfloat162float(got[i]), x[i] * x[i] + 1, 0.02));
}

__global__ void rounding(__half *out, const float *in)
{
    out[threadIdx.x] = __float2half_rn(in[threadIdx.x]);
}

CASE(half_rounding)
{
    std::vector<float> x = {1.0f / 3, 65504.0f, 65520.0f, 1e-8f, 6e-8f, -0.0f, 2049.0f, 2051.0f};
    __half *out = device_array<__half>(8);
    rounding<<<1, 8>>>(out, to_device(x));
    SYNC();
    std::vector<__half> got = to_host(out, 8);
    for (int i = 0; i < 8; i++) {
        unsigned short want = __half_as_ushort(__float2half_rn(x[i])); /* on the host */
        CHECK(__half_as_ushort(got[i]) == want);
    }
}
