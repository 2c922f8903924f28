/*
 * torch_tensors.hpp: what torch_binding.cpp and torch_encoder.cpp share: a kernel's arguments from
 * tensors, and calls of operations by their names.
 */
#ifndef TORCH_TENSORS_HPP
#define TORCH_TENSORS_HPP

#include <cuda_runtime_api.h>

#include <ATen/TensorOperators.h>
#define USE_CUDA /* of PyTorch's headers: its streams */
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/library.h>

using at::Tensor;
using std::optional;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

static inline cudaStream_t stream_of(const Tensor &x)
{
    void *stream = nullptr;
    TORCH_CHECK(aoti_torch_get_current_cuda_stream(x.get_device(), &stream) == AOTI_TORCH_SUCCESS);
    return (cudaStream_t)stream;
}

static inline void check(cudaError_t error)
{
    TORCH_CHECK(error == cudaSuccess, cudaGetErrorString(error));
}

/* x in C order. dims: 0 are any, but at least one. */
static inline Tensor dense(const char *name, const Tensor &x, int64_t dims, const Tensor &first,
                           at::ScalarType kind = at::kFloat)
{
    TORCH_CHECK_TYPE(x.scalar_type() == kind, name, " is to be ", kind, ", not ", x.scalar_type());
    TORCH_CHECK_VALUE(x.is_cuda() && x.device() == first.device(), name, " is on ", x.device(),
                      ", and all tensors are to be on one GPU");
    TORCH_CHECK_VALUE(x.dim() == dims || (dims == 0 && x.dim() > 0), name, " has ", x.dim(),
                      " dimensions");
    for (const int64_t size : x.sizes())
        TORCH_CHECK_VALUE(size <= INT_MAX, name, ": sizes go up to ", INT_MAX, ", not ", size);
    const Tensor y = x.contiguous();
    return kind == at::kBFloat16 && (uintptr_t)y.data_ptr() % 16 != 0 ? y.clone() : y;
}

static inline float *floats(const Tensor &x)
{
    return (float *)x.data_ptr();
}

static inline int extent(const Tensor &x, int64_t dim)
{
    return (int)x.size(dim);
}

static inline Tensor like(const Tensor &x)
{
    return at::empty_symint(x.sym_sizes(), x.options());
}

/* The operation that a function registers, whatever computes it; it is found once. */
#define OPERATION(name)                                                                            \
    ([]() -> const auto & {                                                                        \
        static const auto found = c10::Dispatcher::singleton()                                     \
                                      .findSchemaOrThrow("optimized::" #name, "")                  \
                                      .typed<decltype(ops::name)>();                               \
        return found;                                                                              \
    }())

/* Such an operation without its gradient. */
#define BELOW(name, ...)                                                                           \
    ([&] {                                                                                         \
        const at::AutoDispatchBelowADInplaceOrView guard;                                          \
        return OPERATION(name).call(__VA_ARGS__);                                                  \
    }())

template <typename... tensors> static inline bool any_wants(const tensors &...x)
{
    return at::GradMode::is_enabled() && (x.requires_grad() || ...);
}

#endif
