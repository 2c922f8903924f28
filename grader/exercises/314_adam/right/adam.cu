// RIGHT: grid-stride, four parameters at a time where all arrays are aligned, formulas rearranged
#include "layers.h"
#include <math.h>

typedef struct adam {
    float beta1, beta2, eps, decay, rate, unbias; /* decay = 1 - lr * weight_decay */
} adam;

__device__ static void update(float *p, float *m, float *v, float g, adam a)
{
    *m = fmaf(a.beta1, *m, (1.0f - a.beta1) * g);
    *v = fmaf(a.beta2, *v, (1.0f - a.beta2) * (g * g));
    *p = a.decay * *p - a.rate * *m / (sqrtf(*v) * a.unbias + a.eps);
}

__global__ static void vector_kernel(float4 *param, float4 *m, float4 *v, const float4 *grad,
                                     size_t n, adam a)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float4 pp = param[i], mm = m[i], vv = v[i], g = grad[i];
        update(&pp.x, &mm.x, &vv.x, g.x, a);
        update(&pp.y, &mm.y, &vv.y, g.y, a);
        update(&pp.z, &mm.z, &vv.z, g.z, a);
        update(&pp.w, &mm.w, &vv.w, g.w, a);
        param[i] = pp, m[i] = mm, v[i] = vv;
    }
}

__global__ static void scalar_kernel(float *param, float *m, float *v, const float *grad,
                                     size_t first, size_t n, adam a)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = first + (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        update(param + i, m + i, v + i, grad[i], a);
}

static int aligned(const void *p)
{
    return (size_t)p % sizeof(float4) == 0;
}

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    double correction1 = 1.0 - pow((double)beta1, step),
           correction2 = 1.0 - pow((double)beta2, step);
    adam a = {beta1,
              beta2,
              eps,
              1.0f - lr * weight_decay,
              (float)(lr / correction1),
              (float)(1.0 / sqrt(correction2))};
    size_t fours = aligned(param) && aligned(m) && aligned(v) && aligned(grad) ? n / 4 : 0;
    if (fours > 0)
        vector_kernel<<<1024, 256, 0, stream>>>((float4 *)param, (float4 *)m, (float4 *)v,
                                                (const float4 *)grad, fours, a);
    if (4 * fours < n) scalar_kernel<<<1024, 256, 0, stream>>>(param, m, v, grad, 4 * fours, n, a);
    return cudaGetLastError();
}
