/*
 * torch_encoder.cpp: a layer of an encoder (optimized_encoder.h) as one operation of PyTorch, and
 * one node of autograd: between its kernels runs nothing of torch.
 *
 *     encoder_layer           y, without or with a gradient
 *     encoder_layer_kept      y, and in one tensor what the backward pass needs
 *     encoder_layer_backward  the gradients of x and of all parameters
 *
 * x and the matrices are fp32 or bf16, the vectors fp32.
 */
#include "optimized_encoder.h"
#include "torch_tensors.hpp"

typedef std::tuple<Tensor, Tensor> two;
typedef std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> six;

static Tensor bytes_of(const Tensor &x, c10::SymInt size)
{
    return at::empty_symint({size}, x.options().dtype(at::kByte));
}

/* As optimized_encoder_kept, and at most 3 KB more. */
static Tensor kept_of(const Tensor &x)
{
    const c10::SymInt tokens = x.sym_size(0) * x.sym_size(1), width = x.sym_size(2);
    return bytes_of(x, tokens * (width * (15 * x.element_size()) + width / 16 + 16) + 12 * 256);
}

/* What the kernels take; it holds the tensors meanwhile. */
struct layer {
    Tensor x, vectors, qkv, out, up, down;
    encoder_shape shape;

    layer(const Tensor &x0, const Tensor &v, const Tensor &q, const Tensor &o, const Tensor &u,
          const Tensor &d)
        : x(given("x", x0, 3, x0)), vectors(aligned(dense("vectors", v, 1, x0))),
          qkv(given("qkv", q, 2, x0)), out(given("out", o, 2, x0)), up(given("up", u, 2, x0)),
          down(given("down", d, 2, x0))
    {
        const int64_t width = x.size(2), heads = width / 64;
        TORCH_CHECK_VALUE(width % 64 == 0 && x.numel() > 0, "x is ", x.sizes(),
                          ": it is to have heads of 64 channels");
        TORCH_CHECK_VALUE(x.numel() <= INT_MAX / 4, "x is too large: ", x.sizes());
        TORCH_CHECK_VALUE(vectors.size(0) == 13 * width, "vectors has ", vectors.size(0),
                          " elements, not 13 times ", width);
        fits("qkv", qkv, width, 3 * width), fits("out", out, width, width);
        fits("up", up, width, 4 * width), fits("down", down, 4 * width, width);
        shape = {extent(x, 0), extent(x, 1), (int)heads, x.scalar_type() == at::kBFloat16};
    }

    static Tensor given(const char *name, const Tensor &x, int64_t dims, const Tensor &first)
    {
        TORCH_CHECK_TYPE(first.scalar_type() == at::kFloat || first.scalar_type() == at::kBFloat16,
                         "x is to be float32 or bfloat16, not ", first.scalar_type());
        return aligned(dense(name, x, dims, first, first.scalar_type()));
    }

    static Tensor aligned(const Tensor &x)
    {
        return (uintptr_t)x.data_ptr() % 16 != 0 ? x.clone() : x;
    }

    static void fits(const char *name, const Tensor &w, int64_t inputs, int64_t outputs)
    {
        TORCH_CHECK_VALUE(w.size(0) == inputs && w.size(1) == outputs, name, " is ", w.sizes(),
                          ", not ", inputs, " x ", outputs);
    }

    encoder_parameters parameters() const
    {
        return {floats(vectors), qkv.data_ptr(), out.data_ptr(), up.data_ptr(), down.data_ptr()};
    }

    Tensor room() const
    {
        return bytes_of(x, (int64_t)optimized_encoder_room(shape));
    }
};

namespace ops
{

static two encoder_layer_kept(const Tensor &x, const Tensor &vectors, const Tensor &qkv,
                              const Tensor &out, const Tensor &up, const Tensor &down)
{
    const c10::DeviceGuard guard(x.device());
    const layer l(x, vectors, qkv, out, up, down);
    const Tensor y = like(l.x), kept = kept_of(l.x), room = l.room();
    const encoder_parameters p = l.parameters();
    TORCH_CHECK((size_t)kept.numel() >= optimized_encoder_kept(l.shape));
    check(optimized_encoder_forward(y.data_ptr(), kept.data_ptr(), room.data_ptr(), l.x.data_ptr(),
                                    &p, l.shape, stream_of(x)));
    return {y, kept};
}

static Tensor encoder_layer(const Tensor &x, const Tensor &vectors, const Tensor &qkv,
                            const Tensor &out, const Tensor &up, const Tensor &down)
{
    return std::get<0>(encoder_layer_kept(x, vectors, qkv, out, up, down));
}

static six encoder_layer_backward(const Tensor &grad, const Tensor &kept, const Tensor &x,
                                  const Tensor &vectors, const Tensor &qkv, const Tensor &out,
                                  const Tensor &up, const Tensor &down)
{
    const c10::DeviceGuard guard(x.device());
    const layer l(x, vectors, qkv, out, up, down);
    const Tensor grad_y = layer::given("grad", grad, 3, l.x), room = l.room();
    TORCH_CHECK_VALUE(grad_y.sizes() == l.x.sizes(), "x is ", l.x.sizes(), ", and grad is ",
                      grad_y.sizes());
    TORCH_CHECK_VALUE(kept.is_contiguous() && kept.scalar_type() == at::kByte &&
                          (size_t)kept.numel() >= optimized_encoder_kept(l.shape),
                      "kept is not what encoder_layer_kept left");
    const six grads = {like(l.x),   like(l.vectors), like(l.qkv),
                       like(l.out), like(l.up),      like(l.down)};
    const auto &[grad_x, grad_vectors, grad_qkv, grad_out, grad_up, grad_down] = grads;
    const encoder_parameters p = l.parameters(),
                             g = {floats(grad_vectors), grad_qkv.data_ptr(), grad_out.data_ptr(),
                                  grad_up.data_ptr(), grad_down.data_ptr()};
    check(optimized_encoder_backward(grad_x.data_ptr(), &g, room.data_ptr(), grad_y.data_ptr(),
                                     l.x.data_ptr(), kept.data_ptr(), &p, l.shape, stream_of(x)));
    return grads;
}

} // namespace ops

static Tensor encoder_layer_shape(const Tensor &x, const Tensor &, const Tensor &, const Tensor &,
                                  const Tensor &, const Tensor &)
{
    return like(x);
}

static two encoder_layer_kept_shape(const Tensor &x, const Tensor &, const Tensor &, const Tensor &,
                                    const Tensor &, const Tensor &)
{
    return {like(x), kept_of(x)};
}

static six encoder_layer_backward_shape(const Tensor &, const Tensor &, const Tensor &x,
                                        const Tensor &vectors, const Tensor &qkv, const Tensor &out,
                                        const Tensor &up, const Tensor &down)
{
    return {like(x), like(vectors), like(qkv), like(out), like(up), like(down)};
}

struct encoder_layer_node : torch::autograd::Function<encoder_layer_node> {
    static Tensor forward(AutogradContext *ctx, const Tensor &x, const Tensor &vectors,
                          const Tensor &qkv, const Tensor &out, const Tensor &up,
                          const Tensor &down)
    {
        const auto [y, kept] = BELOW(encoder_layer_kept, x, vectors, qkv, out, up, down);
        ctx->save_for_backward({kept, x, vectors, qkv, out, up, down});
        return y;
    }

    static variable_list backward(AutogradContext *ctx, const variable_list &grads)
    {
        const variable_list s = ctx->get_saved_variables();
        const auto [x, vectors, qkv, out, up, down] =
            OPERATION(encoder_layer_backward)
                .call(grads[0], s[0], s[1], s[2], s[3], s[4], s[5], s[6]);
        return {x, vectors, qkv, out, up, down};
    }
};

static Tensor encoder_layer_on_tape(const Tensor &x, const Tensor &vectors, const Tensor &qkv,
                                    const Tensor &out, const Tensor &up, const Tensor &down)
{
    return any_wants(x, vectors, qkv, out, up, down)
               ? encoder_layer_node::apply(x, vectors, qkv, out, up, down)
               : BELOW(encoder_layer, x, vectors, qkv, out, up, down);
}

#define LAYER "Tensor x, Tensor vectors, Tensor qkv, Tensor out, Tensor up, Tensor down) -> "

TORCH_LIBRARY_FRAGMENT(optimized, library)
{
    library.def("encoder_layer(" LAYER "Tensor");
    library.def("encoder_layer_kept(" LAYER "(Tensor, Tensor)");
    library.def("encoder_layer_backward(Tensor grad, Tensor kept, " LAYER
                "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(optimized, CUDA, library)
{
    library.impl("encoder_layer", TORCH_FN(ops::encoder_layer));
    library.impl("encoder_layer_kept", TORCH_FN(ops::encoder_layer_kept));
    library.impl("encoder_layer_backward", TORCH_FN(ops::encoder_layer_backward));
}

TORCH_LIBRARY_IMPL(optimized, Meta, library)
{
    library.impl("encoder_layer", TORCH_FN(encoder_layer_shape));
    library.impl("encoder_layer_kept", TORCH_FN(encoder_layer_kept_shape));
    library.impl("encoder_layer_backward", TORCH_FN(encoder_layer_backward_shape));
}

TORCH_LIBRARY_IMPL(optimized, Autograd, library)
{
    library.impl("encoder_layer", TORCH_FN(encoder_layer_on_tape));
}
