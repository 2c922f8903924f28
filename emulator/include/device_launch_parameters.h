/*
 * device_launch_parameters.h: threadIdx, blockIdx, blockDim, gridDim and warpSize. Their components
 * are read from the device's special registers; the objects themselves do not exist.
 */
#ifndef SOFTGPU_DEVICE_LAUNCH_PARAMETERS_H
#define SOFTGPU_DEVICE_LAUNCH_PARAMETERS_H

#include "host_defines.h"
#include "vector_types.h"

#ifdef __CUDA__

#define COMPONENT(axis, special)                                                                   \
    __declspec(property(get = get_##axis)) unsigned axis;                                          \
    __attribute__((device, always_inline, nodebug)) unsigned get_##axis() const                    \
    {                                                                                              \
        return __nvvm_read_ptx_sreg_##special##_##axis();                                          \
    }
#define BUILTIN(name, special)                                                                     \
    struct softgpu_##name {                                                                        \
        COMPONENT(x, special)                                                                      \
        COMPONENT(y, special)                                                                      \
        COMPONENT(z, special)                                                                      \
        template <class T> __attribute__((device, always_inline, nodebug)) operator T() const      \
        {                                                                                          \
            return T{get_x(), get_y(), get_z()};                                                   \
        }                                                                                          \
    };                                                                                             \
    extern const __device__ __attribute__((weak)) softgpu_##name name;

BUILTIN(threadIdx, tid)
BUILTIN(blockIdx, ctaid)
BUILTIN(blockDim, ntid)
BUILTIN(gridDim, nctaid)
#undef BUILTIN
#undef COMPONENT

enum softgpu_warp { warpSize = 32 };

#endif
#endif
