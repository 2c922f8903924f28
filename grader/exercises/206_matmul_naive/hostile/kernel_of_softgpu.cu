// HOSTILE: build | gemm_kernel.cu
// Includes the kernel of softgpu's own cuBLAS.
#include "../../../../../emulator/blas/gemm_kernel.cu"
#include "206_matmul_naive/matmul_naive.h"
