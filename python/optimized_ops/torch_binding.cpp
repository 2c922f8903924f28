/*
 * torch_binding.cpp: torch.ops.load_library("liboptimized_ops.so") registers the operations of 512
 * by C++, so that no call goes through Python. What they check, return and raise is 512's.
 *
 * Each has three functions: one computes, one has the shape alone ("Meta", for torch.compile), and
 * one keeps what its gradient needs, where a gradient is wanted. Gradients are operations again, so
 * that torch.compile sees through them.
 */
#include "layers.h"
#include "optimized_ops.h"
#include "torch_tensors.hpp"

typedef std::tuple<Tensor, Tensor, Tensor> three;

/* ---- what computes --------------------------------------------------------------------------- */

namespace ops
{

static Tensor matmul(const Tensor &first, const Tensor &second)
{
    const c10::DeviceGuard guard(first.device());
    const Tensor a = dense("a", first, 2, first), b = dense("b", second, 2, first);
    TORCH_CHECK_VALUE(a.size(1) == b.size(0), a.sizes(), " times ", b.sizes(),
                      ": the inner sizes differ");
    const Tensor c = at::empty({a.size(0), b.size(1)}, a.options());
    check(optimized_matmul(floats(c), floats(a), floats(b), extent(a, 0), extent(b, 1),
                           extent(a, 1), stream_of(a)));
    return c;
}

/* Of x [... x cols], seen as a matrix. */
static int rows_of(const Tensor &x, const Tensor &vector)
{
    const int64_t cols = x.size(-1), rows = x.numel() / std::max<int64_t>(cols, 1);
    TORCH_CHECK_VALUE(vector.size(0) == cols, "rows of ", cols, " elements, and a vector of ",
                      vector.size(0));
    TORCH_CHECK_VALUE(rows <= INT_MAX, rows, " rows: there can be ", INT_MAX);
    return (int)rows;
}

static Tensor layernorm(const Tensor &given, const Tensor &scale, const Tensor &shift, double eps)
{
    const c10::DeviceGuard guard(given.device());
    const Tensor x = dense("x", given, 0, given), gamma = dense("gamma", scale, 1, given),
                 beta = dense("beta", shift, 1, given);
    const int rows = rows_of(x, gamma);
    rows_of(x, beta);
    const Tensor y = like(x), moments = at::empty({2, rows}, x.options());
    check(layernorm_forward(floats(y), floats(moments), floats(moments) + rows, floats(x),
                            floats(gamma), floats(beta), rows, extent(x, -1), (float)eps,
                            stream_of(x)));
    return y;
}

/* The statistics once more, with grad_x as a place for y. */
static three layernorm_backward(const Tensor &grad, const Tensor &given, const Tensor &scale,
                                double eps)
{
    const c10::DeviceGuard guard(given.device());
    const Tensor x = dense("x", given, 0, given), gamma = dense("gamma", scale, 1, given),
                 grad_y = dense("grad_y", grad, 0, given);
    TORCH_CHECK_VALUE(grad_y.sizes() == x.sizes(), "x is ", x.sizes(), ", and grad_y is ",
                      grad_y.sizes());
    const int rows = rows_of(x, gamma), cols = extent(x, -1);
    const Tensor grad_x = like(x), grad_gamma = like(gamma), grad_beta = like(gamma),
                 moments = at::empty({2, rows}, x.options());
    float *mean = floats(moments), *rstd = mean + rows;
    check(layernorm_forward(floats(grad_x), mean, rstd, floats(x), floats(gamma), floats(gamma),
                            rows, cols, (float)eps, stream_of(x)));
    check(::layernorm_backward(floats(grad_x), floats(grad_gamma), floats(grad_beta),
                               floats(grad_y), floats(x), floats(gamma), mean, rstd, rows, cols,
                               stream_of(x)));
    return {grad_x, grad_gamma, grad_beta};
}

static Tensor heads_of(const char *name, const Tensor &x, const Tensor &q)
{
    const Tensor y = dense(name, x, 4, q);
    TORCH_CHECK_VALUE(y.sizes() == q.sizes(), name, " is ", y.sizes(), ", and q is ", q.sizes());
    return y;
}

static float scale_of(optional<double> scale, const Tensor &q)
{
    return (float)scale.value_or(1 / std::sqrt((double)std::max<int64_t>(q.size(3), 1)));
}

static Tensor flash_attention(const Tensor &queries, const Tensor &keys, const Tensor &values,
                              bool causal, optional<double> scale)
{
    const c10::DeviceGuard guard(queries.device());
    const Tensor q = heads_of("q", queries, queries), k = heads_of("k", keys, queries),
                 v = heads_of("v", values, queries), out = like(q);
    check(optimized_attention(floats(out), floats(q), floats(k), floats(v), extent(q, 0),
                              extent(q, 1), extent(q, 2), extent(q, 3), causal, scale_of(scale, q),
                              stream_of(q)));
    return out;
}

static three flash_attention_backward(const Tensor &grad, const Tensor &queries, const Tensor &keys,
                                      const Tensor &values, bool causal, optional<double> scale)
{
    const c10::DeviceGuard guard(queries.device());
    const Tensor q = heads_of("q", queries, queries), k = heads_of("k", keys, queries),
                 v = heads_of("v", values, queries), grad_out = heads_of("grad_out", grad, queries);
    const three grads = {like(q), like(q), like(q)};
    check(attention_naive_backward(floats(std::get<0>(grads)), floats(std::get<1>(grads)),
                                   floats(std::get<2>(grads)), floats(grad_out), floats(q),
                                   floats(k), floats(v), extent(q, 0), extent(q, 1), extent(q, 2),
                                   extent(q, 3), causal, scale_of(scale, q), stream_of(q)));
    return grads;
}

static Tensor moe(const Tensor &tokens, const Tensor &routes, const Tensor &wider,
                  const Tensor &narrower, int64_t top_k)
{
    const c10::DeviceGuard guard(tokens.device());
    const Tensor x = dense("x", tokens, 2, tokens), router = dense("router", routes, 2, tokens),
                 up = dense("up", wider, 3, tokens, at::kBFloat16),
                 down = dense("down", narrower, 3, tokens, at::kBFloat16), out = like(x);
    const int64_t experts = up.size(0), inner = up.size(1), width = x.size(1);
    TORCH_CHECK_VALUE(router.sizes() == at::IntArrayRef({experts, width}) && up.size(2) == width &&
                          down.sizes() == at::IntArrayRef({experts, width, inner}),
                      "x, router, up and down do not fit together: ", x.sizes(), router.sizes(),
                      up.sizes(), down.sizes());
    TORCH_CHECK_VALUE(top_k >= 1 && top_k <= experts && x.size(0) * top_k <= INT_MAX, top_k,
                      " experts for each of ", x.size(0), " tokens, where there are ", experts);
    TORCH_CHECK_VALUE(width % 8 == 0 && inner % 8 == 0, "a width of ", width, " and ", inner,
                      " inside: both are to be multiples of 8");
    check(optimized_moe(floats(out), floats(x), floats(router),
                        (const __nv_bfloat16 *)up.data_ptr(),
                        (const __nv_bfloat16 *)down.data_ptr(), extent(x, 0), (int)experts,
                        (int)top_k, (int)width, (int)inner, stream_of(x)));
    return out;
}

} // namespace ops

/* ---- shapes ---------------------------------------------------------------------------------- */

static Tensor matmul_shape(const Tensor &a, const Tensor &b)
{
    return at::empty_symint({a.sym_size(0), b.sym_size(1)}, a.options());
}

static Tensor layernorm_shape(const Tensor &x, const Tensor &, const Tensor &, double)
{
    return like(x);
}

static three layernorm_backward_shape(const Tensor &, const Tensor &x, const Tensor &gamma, double)
{
    return {like(x), like(gamma), like(gamma)};
}

static Tensor flash_attention_shape(const Tensor &q, const Tensor &, const Tensor &, bool,
                                    optional<double>)
{
    return like(q);
}

static three flash_attention_backward_shape(const Tensor &, const Tensor &q, const Tensor &k,
                                            const Tensor &v, bool, optional<double>)
{
    return {like(q), like(k), like(v)};
}

static Tensor moe_shape(const Tensor &x, const Tensor &, const Tensor &, const Tensor &, int64_t)
{
    return like(x);
}

/* ---- gradients ------------------------------------------------------------------------------- */

struct matmul_node : torch::autograd::Function<matmul_node> {
    static Tensor forward(AutogradContext *ctx, const Tensor &a, const Tensor &b)
    {
        ctx->save_for_backward({a, b});
        return BELOW(matmul, a, b);
    }

    static variable_list backward(AutogradContext *ctx, const variable_list &grads)
    {
        const variable_list saved = ctx->get_saved_variables();
        const Tensor &grad = grads[0], &a = saved[0], &b = saved[1];
        return {ctx->needs_input_grad(0) ? OPERATION(matmul).call(grad, b.t()) : Tensor(),
                ctx->needs_input_grad(1) ? OPERATION(matmul).call(a.t(), grad) : Tensor()};
    }
};

struct layernorm_node : torch::autograd::Function<layernorm_node> {
    static Tensor forward(AutogradContext *ctx, const Tensor &x, const Tensor &gamma,
                          const Tensor &beta, double eps)
    {
        ctx->save_for_backward({x, gamma});
        ctx->saved_data["eps"] = eps;
        return BELOW(layernorm, x, gamma, beta, eps);
    }

    static variable_list backward(AutogradContext *ctx, const variable_list &grads)
    {
        const variable_list saved = ctx->get_saved_variables();
        const auto [x, gamma, beta] =
            OPERATION(layernorm_backward)
                .call(grads[0], saved[0], saved[1], ctx->saved_data["eps"].toDouble());
        return {x, gamma, beta, Tensor()};
    }
};

struct flash_attention_node : torch::autograd::Function<flash_attention_node> {
    static Tensor forward(AutogradContext *ctx, const Tensor &q, const Tensor &k, const Tensor &v,
                          bool causal, optional<double> scale)
    {
        ctx->save_for_backward({q, k, v});
        ctx->saved_data["causal"] = causal;
        ctx->saved_data["scale"] = scale;
        return BELOW(flash_attention, q, k, v, causal, scale);
    }

    static variable_list backward(AutogradContext *ctx, const variable_list &grads)
    {
        const variable_list saved = ctx->get_saved_variables();
        const auto [q, k, v] =
            OPERATION(flash_attention_backward)
                .call(grads[0], saved[0], saved[1], saved[2], ctx->saved_data["causal"].toBool(),
                      ctx->saved_data["scale"].toOptional<double>());
        return {q, k, v, Tensor(), Tensor()};
    }
};

/* By torch's own operations: the chosen experts, and then a dense network. */
static variable_list moe_gradients(const Tensor &grad, const variable_list &saved, int64_t top_k)
{
    const Tensor &x = saved[0], &router = saved[1], &up = saved[2], &down = saved[3];
    const Tensor logits = at::matmul(x, router.t()), nothing = at::zeros_like(logits);
    const auto [best, ids] = logits.topk(top_k);
    const Tensor gates = best.softmax(1), rounded = x.to(up.scalar_type()).to(at::kFloat),
                 wide_up = up.to(at::kFloat), wide_down = down.to(at::kFloat),
                 before = at::einsum("td,efd->tef", {rounded, wide_up}),
                 hidden = at::gelu(before, "tanh"),
                 grad_y = nothing.scatter(1, ids, gates).unsqueeze(2) * grad.unsqueeze(1),
                 grad_hidden = at::einsum("ted,edf->tef", {grad_y, wide_down}),
                 grad_before = at::gelu_backward(grad_hidden, before, "tanh"),
                 y = at::einsum("tef,edf->ted", {hidden, wide_down}),
                 grad_gates = at::einsum("ted,td->te", {y, grad}).gather(1, ids),
                 mean = (gates * grad_gates).sum(1, true),
                 grad_logits = nothing.scatter(1, ids, gates * (grad_gates - mean));
    return {at::einsum("tef,efd->td", {grad_before, wide_up}) + at::matmul(grad_logits, router),
            at::matmul(grad_logits.t(), x),
            at::einsum("tef,td->efd", {grad_before, rounded}).to(up.scalar_type()),
            at::einsum("ted,tef->edf", {grad_y, hidden}).to(down.scalar_type()), Tensor()};
}

struct moe_node : torch::autograd::Function<moe_node> {
    static Tensor forward(AutogradContext *ctx, const Tensor &x, const Tensor &router,
                          const Tensor &up, const Tensor &down, int64_t top_k)
    {
        ctx->save_for_backward({x, router, up, down});
        ctx->saved_data["top_k"] = top_k;
        return BELOW(moe, x, router, up, down, top_k);
    }

    static variable_list backward(AutogradContext *ctx, const variable_list &grads)
    {
        return moe_gradients(grads[0], ctx->get_saved_variables(),
                             ctx->saved_data["top_k"].toInt());
    }
};

static Tensor matmul_on_tape(const Tensor &a, const Tensor &b)
{
    return any_wants(a, b) ? matmul_node::apply(a, b) : BELOW(matmul, a, b);
}

static Tensor layernorm_on_tape(const Tensor &x, const Tensor &gamma, const Tensor &beta,
                                double eps)
{
    return any_wants(x, gamma, beta) ? layernorm_node::apply(x, gamma, beta, eps)
                                     : BELOW(layernorm, x, gamma, beta, eps);
}

static Tensor flash_attention_on_tape(const Tensor &q, const Tensor &k, const Tensor &v,
                                      bool causal, optional<double> scale)
{
    return any_wants(q, k, v) ? flash_attention_node::apply(q, k, v, causal, scale)
                              : BELOW(flash_attention, q, k, v, causal, scale);
}

static Tensor moe_on_tape(const Tensor &x, const Tensor &router, const Tensor &up,
                          const Tensor &down, int64_t top_k)
{
    return any_wants(x, router, up, down) ? moe_node::apply(x, router, up, down, top_k)
                                          : BELOW(moe, x, router, up, down, top_k);
}

/* ---- their names ----------------------------------------------------------------------------- */

TORCH_LIBRARY(optimized, library)
{
    library.def("matmul(Tensor a, Tensor b) -> Tensor");
    library.def("layernorm(Tensor x, Tensor gamma, Tensor beta, float eps=1e-5) -> Tensor");
    library.def("layernorm_backward(Tensor grad_y, Tensor x, Tensor gamma, float eps=1e-5)"
                " -> (Tensor, Tensor, Tensor)");
    library.def("flash_attention(Tensor q, Tensor k, Tensor v, bool causal=False,"
                " float? scale=None) -> Tensor");
    library.def("flash_attention_backward(Tensor grad_out, Tensor q, Tensor k, Tensor v,"
                " bool causal=False, float? scale=None) -> (Tensor, Tensor, Tensor)");
    library.def("moe(Tensor x, Tensor router, Tensor up, Tensor down, int top_k=2) -> Tensor");
}

TORCH_LIBRARY_IMPL(optimized, CUDA, library)
{
    library.impl("matmul", TORCH_FN(ops::matmul));
    library.impl("layernorm", TORCH_FN(ops::layernorm));
    library.impl("layernorm_backward", TORCH_FN(ops::layernorm_backward));
    library.impl("flash_attention", TORCH_FN(ops::flash_attention));
    library.impl("flash_attention_backward", TORCH_FN(ops::flash_attention_backward));
    library.impl("moe", TORCH_FN(ops::moe));
}

TORCH_LIBRARY_IMPL(optimized, Meta, library)
{
    library.impl("matmul", TORCH_FN(matmul_shape));
    library.impl("layernorm", TORCH_FN(layernorm_shape));
    library.impl("layernorm_backward", TORCH_FN(layernorm_backward_shape));
    library.impl("flash_attention", TORCH_FN(flash_attention_shape));
    library.impl("flash_attention_backward", TORCH_FN(flash_attention_backward_shape));
    library.impl("moe", TORCH_FN(moe_shape));
}

TORCH_LIBRARY_IMPL(optimized, Autograd, library)
{
    library.impl("matmul", TORCH_FN(matmul_on_tape));
    library.impl("layernorm", TORCH_FN(layernorm_on_tape));
    library.impl("flash_attention", TORCH_FN(flash_attention_on_tape));
    library.impl("moe", TORCH_FN(moe_on_tape));
}
