/*
 * Frozen: no optimizer but the yardstick of one, the copy bandwidth of the device. The gradient is
 * copied to param, m and v: 24 bytes per parameter, where Adam has to move 28.
 */
#include <cuda_runtime_api.h>
#include <stddef.h>

extern "C" cudaError_t baseline_adam_update(float *param, float *m, float *v, const float *grad,
                                            size_t n, float lr, float beta1, float beta2, float eps,
                                            float weight_decay, int step, cudaStream_t stream)
{
    (void)lr, (void)beta1, (void)beta2, (void)eps, (void)weight_decay, (void)step;
    float *to[] = {param, m, v};
    for (int i = 0; i < 3; i++) {
        cudaError_t error =
            cudaMemcpyAsync(to[i], grad, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
