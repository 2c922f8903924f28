# RIGHT: one function converts all arguments; sizes are checked by a pattern; torch.library.custom_op
import ctypes
import itertools
import os
from ctypes import c_float, c_int, c_size_t, c_void_p

EIGHT = 8
libraries = [ctypes.CDLL(path) for path in os.environ["COURSE_LIBRARIES"].split(":")]
for each in libraries:
    each.cudaGetErrorString.restype = ctypes.c_char_p


class Everything:
    def __getattr__(self, name):
        return next(getattr(library, name) for library in libraries if hasattr(library, name))


cuda = Everything()
held = {}


def to_c(value):
    if isinstance(value, float):
        return c_float(value)
    if isinstance(value, int):
        return c_int(value)
    return c_void_p(value.data_ptr()) if hasattr(value, "data_ptr") else value


def ask(name, *values):
    """Call C: tensors are their addresses, ints and floats those of C; all else is as it is."""
    code = getattr(cuda, name)(*map(to_c, values))
    if code:
        raise RuntimeError(f"{name}: {cuda.cudaGetErrorString(code).decode()}")


def fit(pattern, *tensors, half=()):
    """The tensors in C order, where their sizes have the pattern: "m k, k n" are two matrices, in
    which equal letters are equal sizes. @return them, and the sizes by their letters"""
    sizes, ready = {}, []
    for i, (words, x) in enumerate(zip(pattern.split(","), tensors)):
        letters = words.split()
        wanted = "bfloat16" if i in half else "float32"
        if not str(x.dtype).endswith("." + wanted):
            raise TypeError(f"tensor {i} has elements of {x.dtype} and not {wanted}")
        if x.device != tensors[0].device or not x.is_cuda:
            raise ValueError(f"tensor {i} is on {x.device}: elsewhere than the GPU or the others")
        if len(letters) != len(x.shape) or not letters:
            raise ValueError(f"tensor {i} should have the dimensions {words}")
        for letter, size in zip(letters, x.shape):
            if sizes.setdefault(letter, size) != size or size >= 2**31:
                raise ValueError(f"{letter} is {sizes[letter]} or {size}: one or too large")
        dense = x if x.is_contiguous() else x.contiguous()
        ready.append(dense.clone() if i in half and dense.data_ptr() % 16 else dense)
    return ready, sizes


def on(stream):
    return c_void_p(stream)


def matmul(a, b, stream=None):
    (a, b), size = fit("m k, k n", a, b)
    c = a.new_empty((size["m"], size["n"]))
    ask("matmul_vectorized", c, a, b, size["m"], size["n"], size["k"], on(stream))
    return c


def normalize(x, gamma, beta, eps, stream):
    letters = " ".join(f"d{i}" for i in range(len(x.shape) - 1))
    tall = f"{letters} c" if x.shape else ""
    (x, gamma, beta), size = fit(f"{tall}, c, c", x, gamma, beta)
    cols = size["c"]
    rows = x.numel() // cols if cols else 0
    if rows >= 2**31:
        raise ValueError("more rows than an int of C can count")
    y, moments = x.new_empty(x.shape), [x.new_empty((rows,)), x.new_empty((rows,))]
    ask("layernorm_forward", y, *moments, x, gamma, beta, rows, cols, float(eps), on(stream))
    return x, gamma, y, moments, rows, cols


def layernorm(x, gamma, beta, eps=1e-5, stream=None):
    return normalize(x, gamma, beta, eps, stream)[2]


def layernorm_backward(grad_y, x, gamma, eps=1e-5, stream=None):
    if grad_y.shape != x.shape:
        raise ValueError("a gradient has the shape of what it belongs to")
    x, gamma, grad_x, moments, rows, cols = normalize(x, gamma, gamma, eps, stream)
    letters = " ".join(f"d{i}" for i in range(len(x.shape)))
    (grad_y, _), _ = fit(f"{letters}, {letters}", grad_y, x)
    grads = [grad_x, gamma.new_empty(gamma.shape), gamma.new_empty(gamma.shape)]
    ask("layernorm_backward", *grads, grad_y, x, gamma, *moments, rows, cols, on(stream))
    return tuple(grads)


def scale_for(scale, dim):
    return float(scale) if scale is not None else max(dim, 1) ** -0.5


def flash_attention(q, k, v, causal=False, scale=None, stream=None):
    (q, k, v), size = fit("b h s d, b h s d, b h s d", q, k, v)
    out = q.new_empty(q.shape)
    ask("attention_flash", out, None, q, k, v, *size.values(), int(causal), scale_for(scale, size["d"]), on(stream))
    return out


def flash_attention_backward(grad_out, q, k, v, causal=False, scale=None, stream=None):
    tensors, size = fit(",".join(4 * ["b h s d"]), grad_out, q, k, v)
    grads = tuple(q.new_empty(q.shape) for _ in "qkv")
    ask("attention_naive_backward", *grads, *tensors, *size.values(), int(causal),
        scale_for(scale, size["d"]), on(stream))
    return grads


def moe(x, router, up, down, top_k=2, stream=None):
    (x, router, up, down), size = fit("t w, e w, e f w, e w f", x, router, up, down, half=(2, 3))
    t, w, e, f = (size[letter] for letter in "twef")
    if not 0 < top_k <= e or t * top_k >= 2**31:
        raise ValueError(f"each of {t} tokens to {top_k} experts of {e}: there are not so many")
    if w % EIGHT or f % EIGHT:
        raise ValueError(f"{w} and {f} are to be multiples of {EIGHT}")
    n = t * top_k
    sizes = {"ids": n, "gates": n, "permutation": n, "probs": t * e, "offsets": e + 1, "scratch": 256 * e,
             "share": e, "metrics": 4, "table": 4 * e}
    room = {name: x.new_empty((count,)) for name, count in sizes.items()}
    rounded, out = x.to(up.dtype), x.new_empty((t, w))
    hidden = rounded.new_empty((n, f))
    for target, values in (
        ("table", [each.data_ptr() + 2 * i * w * f for each, i in itertools.product((up, down), range(e))]),
        ("metrics", [room["share"].data_ptr(), 0]),
    ):
        words = (c_size_t * len(values))(*values)
        ask("cudaMemcpyAsync", room[target], words, c_size_t(8 * len(values)), 1, on(stream))
    ids, gates, permutation, probs, offsets, scratch, _, metrics, table = room.values()
    ask("moe_router", ids, gates, probs, x, router, t, e, top_k, w, on(stream))
    ask("moe_permute", permutation, offsets, metrics, scratch, ids, probs, t, e, top_k, 0, on(stream))
    ask("moe_experts_compute", out, hidden, rounded, table, permutation, offsets, gates, t, e, top_k, w, f,
        on(stream))
    return out


def register_ops():
    import torch

    def operation(function, arguments, shapes, backward=None):
        def launched(*given):
            with torch.cuda.device(given[0].device):
                return function(*given, stream=torch.cuda.current_stream().cuda_stream)

        def keep(ctx, inputs, output):
            ctx.save_for_backward(*[x for x in inputs if torch.is_tensor(x)])
            ctx.rest = [x for x in inputs if not torch.is_tensor(x)]

        name = function.__name__
        made = torch.library.custom_op(
            f"optimized::{name}", launched, mutates_args=(), device_types="cuda", schema=arguments)
        made.register_fake(shapes)
        if backward:
            made.register_autograd(backward, setup_context=keep)
        held[name] = made

    def empty(*tensors):
        return tuple(torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in tensors)

    def by_all_experts(ctx, grad):
        top_k = ctx.rest[0]

        def mixture(x, router, up, down):
            logits = x @ router.t()
            least = logits.topk(top_k).values[:, -1:]
            gates = logits.masked_fill(logits < least, float("-inf")).softmax(1).unsqueeze(2)
            hidden = torch.nn.functional.gelu(x @ up.float().transpose(1, 2), approximate="tanh")
            return (gates * (hidden @ down.float().transpose(1, 2)).transpose(0, 1)).sum(1)

        return (*torch.func.vjp(mixture, *ctx.saved_tensors)[1](grad), None)

    if held:
        return
    operation(matmul, "(Tensor a, Tensor b) -> Tensor", lambda a, b: a.new_empty((a.shape[0], b.shape[1])),
              lambda ctx, grad: (held["matmul"](grad, ctx.saved_tensors[1].t()),
                                 held["matmul"](ctx.saved_tensors[0].t(), grad)))
    operation(layernorm_backward, "(Tensor g, Tensor x, Tensor gamma, float eps=1e-5) -> (Tensor, Tensor, Tensor)",
              lambda g, x, gamma, eps=0: empty(x, gamma, gamma))
    operation(layernorm, "(Tensor x, Tensor gamma, Tensor beta, float eps=1e-5) -> Tensor",
              lambda x, gamma, beta, eps=0: empty(x)[0],
              lambda ctx, g: (*held["layernorm_backward"](g, *ctx.saved_tensors[:2], *ctx.rest), None))
    operation(flash_attention_backward, "(Tensor g, Tensor q, Tensor k, Tensor v, bool causal=False, "
              "float? scale=None) -> (Tensor, Tensor, Tensor)", lambda g, q, k, v, *rest: empty(q, k, v))
    operation(flash_attention, "(Tensor q, Tensor k, Tensor v, bool causal=False, float? scale=None) -> Tensor",
              lambda q, *rest: empty(q)[0],
              lambda ctx, g: (*held["flash_attention_backward"](g, *ctx.saved_tensors, *ctx.rest), None, None))
    operation(moe, "(Tensor x, Tensor router, Tensor up, Tensor down, int top_k=2) -> Tensor",
              lambda x, *rest: empty(x)[0], by_all_experts)
