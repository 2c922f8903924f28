/* toolkit.cu: names that programs expect of the toolkit's headers: guards, the driver's types, what
 * cublas_v2.h brings with it, older forms of calls. */
#include <cublas_v2.h>
#include <cuda.h>

#include "check.h"

#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || !defined(CUBLAS_API_H_)
#error "a guard is missing"
#endif

CASE(halves_by_cublas)
{
    CHECK(__half2float(__float2half(1.5f)) == 1.5f);
    CHECK(__bfloat162float(__float2bfloat16(1.5f)) == 1.5f);
}

CASE(types_of_the_driver)
{
    CUdeviceptr p = 0;
    CUcontext context = nullptr;
    CUstream stream = cudaStreamLegacy;
    CUresult result = CUDA_SUCCESS;
    CHECK(!p && !context && stream && !result && CUDA_VERSION >= 12000);
}

// STDERR driver_call: cuInit is not supported
CASE(driver_call)
{
    CHECK(cuInit(0) == CUDA_ERROR_NOT_SUPPORTED);
}

CASE(instantiated_with_a_log)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

CASE(access_policy)
{
    cudaStreamAttrValue a = {};
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    a.accessPolicyWindow.hitRatio = 1;
    a.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    a.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    OK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &a));
    OK(cudaStreamDestroy(stream));
}
