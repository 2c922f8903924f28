"""
512_torch_ops.py: your kernels as operations of PyTorch, torch.ops.optimized.matmul and so on.

The idea: a tensor of PyTorch is an address, a shape and strides, like an array of NumPy (216), but its
memory is the device's already. So an operation is a check, a call of C, and a result that PyTorch's
allocator made: nothing is copied. What is on the way to do, `register_ops` tells PyTorch: on which
stream, what shape comes out (for torch.compile, which never has the numbers), what the gradient is.

The operations are written without torch: they use of a tensor only what phase5_full_network/512_torch_ops/README.md
lists, and whatever has that will do. `register_ops` alone imports it.

What it still costs: Python's way to a launch, some microseconds, which a small kernel does not fill.
layernorm_backward computes the statistics again, and the gradient of attention is 313's, with memory
for all scores. The gradient of moe has every expert work on every token.

Given: the arguments of all functions, what checks shapes, and the bindings that repeat others (the two
backward passes). Yours: dense, four operations, the table of experts' addresses, and in register_ops
how an operation is registered, two gradients and the last three operations.
"""
import ctypes
import math
import os

FLOAT, BFLOAT = "torch.float32", "torch.bfloat16"  # str(x.dtype)
INT_MAX = 2**31 - 1
TO_DEVICE = 1  # cudaMemcpyKind
MOE_SEGMENTS = 128  # of optimization.h


class Libraries:
    """The functions of several libraries: yours of 401, 409, 311, 313, 411, 412, and the runtime."""

    def __init__(self, paths):
        self.all = [ctypes.CDLL(path) for path in paths.split(os.pathsep)]

    def __getattr__(self, name):
        for library in self.all:
            if hasattr(library, name):
                setattr(self, name, getattr(library, name))
                return getattr(library, name)
        raise AttributeError(f"no library has a function {name}")


# Call them by these names: cuda.matmul_vectorized.
cuda = Libraries(os.environ["COURSE_LIBRARIES"])
cuda.cudaGetErrorString.restype = ctypes.c_char_p


def declare_arguments():
    """Say for each function that is called what its arguments are: a Python int is an int of C, 32
    bits, wherever nobody says that it is a pointer; a float is nothing at all."""
    p, i, f = ctypes.c_void_p, ctypes.c_int, ctypes.c_float
    cuda.matmul_vectorized.argtypes = [p] * 3 + [i] * 3 + [p]
    cuda.layernorm_forward.argtypes = [p] * 6 + [i] * 2 + [f, p]
    cuda.layernorm_backward.argtypes = [p] * 8 + [i] * 2 + [p]
    cuda.attention_flash.argtypes = [p] * 5 + [i] * 5 + [f, p]
    cuda.attention_naive_backward.argtypes = [p] * 7 + [i] * 5 + [f, p]
    cuda.moe_router.argtypes = [p] * 5 + [i] * 4 + [p]
    cuda.moe_permute.argtypes = [p] * 6 + [i] * 4 + [p]
    cuda.moe_experts_compute.argtypes = [p] * 7 + [i] * 5 + [p]
    cuda.cudaMemcpyAsync.argtypes = [p, p, ctypes.c_size_t, i, p]


def check(error):
    """RuntimeError, in the words of cudaGetErrorString, unless a call returned cudaSuccess."""
    if error != 0:
        raise RuntimeError(cuda.cudaGetErrorString(error).decode())


def dense(name, x, dims, device, kind=FLOAT):
    """@return x if its elements lie in C order, else a copy where they do; of bf16, at a multiple of 16
    bytes. TypeError: elements of another kind. ValueError: not on this device, not of so many
    dimensions (None: of any, but at least one), a size that is no int of C."""
    # TODO: the checks in the order of the errors above; contiguous; clone for the 16 bytes (about 10 lines).
    raise NotImplementedError


def matmul(a, b, stream=None):
    """a [m x k] times b [k x n]. ValueError: the inner sizes differ."""
    # TODO: dense a and b on a's device, the check, a new c, check(the call) with addresses (about 7 lines).
    raise NotImplementedError


def rows_and_cols(x, *vectors):
    """The sizes of x [... x cols], seen as a matrix. ValueError: a vector that is not [cols], too many
    rows for an int of C."""
    cols = x.shape[-1]
    rows = x.numel() // max(cols, 1)
    for vector in vectors:
        if vector.shape[0] != cols:
            raise ValueError(f"rows of {cols} elements want as many of gamma, beta: {vector.shape[0]}")
    if rows > INT_MAX:
        raise ValueError(f"{rows} rows: there can be {INT_MAX}")
    return rows, cols


def layernorm(x, gamma, beta, eps=1e-5, stream=None):
    """(x - mean) / sqrt(variance + eps) * gamma + beta over the last dimension. x has any others."""
    # TODO: dense, rows_and_cols, new y [like x], mean and rstd [rows], and 311 (about 8 lines).
    raise NotImplementedError


def layernorm_backward(grad_y, x, gamma, eps=1e-5, stream=None):
    """@return the gradients of x, gamma and beta. ValueError: grad_y is not of the shape of x."""
    x, gamma = dense("x", x, None, x.device), dense("gamma", gamma, 1, x.device)
    grad_y = dense("grad_y", grad_y, None, x.device)
    if grad_y.shape != x.shape:
        raise ValueError(f"x is {tuple(x.shape)}, and grad_y is {tuple(grad_y.shape)}")
    rows, cols = rows_and_cols(x, gamma)
    grad_x, grad_gamma, grad_beta = (x.new_empty(like.shape) for like in (x, gamma, gamma))
    mean, rstd = x.new_empty((rows,)), x.new_empty((rows,))
    # The statistics once more, with grad_x as a place for y.
    check(cuda.layernorm_forward(
        grad_x.data_ptr(), mean.data_ptr(), rstd.data_ptr(), x.data_ptr(), gamma.data_ptr(),
        gamma.data_ptr(), rows, cols, eps, stream))
    check(cuda.layernorm_backward(
        grad_x.data_ptr(), grad_gamma.data_ptr(), grad_beta.data_ptr(), grad_y.data_ptr(),
        x.data_ptr(), gamma.data_ptr(), mean.data_ptr(), rstd.data_ptr(), rows, cols, stream))
    return grad_x, grad_gamma, grad_beta


def heads_of(**tensors):
    """@return the tensors, dense. ValueError: they are not of one shape [batch x heads x seq x dim]."""
    device = tensors["q"].device
    dense_ones = [dense(name, x, 4, device) for name, x in tensors.items()]
    if any(x.shape != dense_ones[0].shape for x in dense_ones):
        raise ValueError(f"{', '.join(tensors)} are to be of one shape: {[tuple(x.shape) for x in dense_ones]}")
    return dense_ones


def flash_attention(q, k, v, causal=False, scale=None, stream=None):
    """softmax(scale * q k^T) v in each head of [batch x heads x seq x dim]. causal: a query sees the
    keys up to its own. scale: None is 1 / sqrt(dim)."""
    # TODO: heads_of, a new out, the scale of None, and 409 without its lse: None (about 6 lines).
    raise NotImplementedError


def flash_attention_backward(grad_out, q, k, v, causal=False, scale=None, stream=None):
    """@return the gradients of q, k and v"""
    q, k, v, grad_out = heads_of(q=q, k=k, v=v, grad_out=grad_out)
    grads = [q.new_empty(q.shape) for _ in range(3)]
    scale = 1 / math.sqrt(max(q.shape[3], 1)) if scale is None else scale
    check(cuda.attention_naive_backward(
        *(x.data_ptr() for x in (*grads, grad_out, q, k, v)), *q.shape, causal, scale, stream))
    return tuple(grads)


def addresses_of_experts(up, down, utilization, stream):
    """@return memory of the device: where up of each expert lies, where down, then a moe_metrics, which is
    the address of utilization and a 0. All of them have 64 bits. up [experts x inner x width] and down
    [experts x width x inner] have 2 bytes an element."""
    # TODO: an array of ctypes.c_uint64, new memory, cudaMemcpyAsync, which does not wait (about 7 lines).
    raise NotImplementedError


def moe(x, router, up, down, top_k=2, stream=None):
    """A mixture of experts: the sum over the top_k experts of each token, by 411's router, of gate *
    gelu(x up^T) down^T, of 412. x [tokens x width] and router [experts x width] are fp32, up [experts
    x inner x width] and down [experts x width x inner] bf16. ValueError: sizes that do not fit, top_k
    not in 1 .. experts, a width or an inner size that is no multiple of 8."""
    x, router = dense("x", x, 2, x.device), dense("router", router, 2, x.device)
    up, down = dense("up", up, 3, x.device, BFLOAT), dense("down", down, 3, x.device, BFLOAT)
    (tokens, width), (experts, inner, _) = x.shape, up.shape
    if router.shape != (experts, width) or up.shape[2] != width or down.shape != (experts, width, inner):
        shapes = [tuple(each.shape) for each in (x, router, up, down)]
        raise ValueError("x, router, up and down do not fit together: {}, {}, {}, {}".format(*shapes))
    if not 1 <= top_k <= experts or tokens * top_k > INT_MAX:
        raise ValueError(f"{top_k} experts for each of {tokens} tokens, where there are {experts}")
    if width % 8 or inner % 8:
        raise ValueError(f"a width of {width} and {inner} inside: both are to be multiples of 8")
    # The table and the three calls. Their memory, whose kind of element is of no account: ids, gates and
    # permutation [tokens * top_k], probs [tokens x experts], offsets [experts + 1], utilization [experts],
    # scratch [2 * MOE_SEGMENTS * experts], hidden [tokens * top_k x inner], which is bf16 like x for 412.
    # moe_permute's metrics are the last 16 bytes of the table; its capacity is 0: none.
    # TODO: moe_router, moe_permute, moe_experts_compute (about 16 lines).
    raise NotImplementedError


def moe_gradients(torch, grad, x, router, up, down, top_k):
    """The gradients of moe in torch's own operations: the chosen experts, and then a dense network."""
    best, ids = (x @ router.t()).topk(top_k)
    gates = best.softmax(1)
    nothing = x.new_zeros((x.shape[0], router.shape[0]))  # [tokens x experts]
    rounded, wide_up, wide_down = x.to(up.dtype).float(), up.float(), down.float()
    before = torch.einsum("td,efd->tef", rounded, wide_up)
    hidden = torch.nn.functional.gelu(before, approximate="tanh")
    grad_y = nothing.scatter(1, ids, gates)[:, :, None] * grad[:, None, :]
    grad_hidden = torch.einsum("ted,edf->tef", grad_y, wide_down)
    grad_before = torch.ops.aten.gelu_backward(grad_hidden, before, approximate="tanh")
    y = torch.einsum("tef,edf->ted", hidden, wide_down)
    grad_gates = torch.einsum("ted,td->te", y, grad).gather(1, ids)
    grad_best = gates * (grad_gates - (gates * grad_gates).sum(1, keepdim=True))
    grad_logits = nothing.scatter(1, ids, grad_best)
    grad_x = torch.einsum("tef,efd->td", grad_before, wide_up) + grad_logits @ router
    grad_up = torch.einsum("tef,td->efd", grad_before, rounded)
    grad_down = torch.einsum("ted,tef->edf", grad_y, hidden)
    return grad_x, grad_logits.t() @ x, grad_up.to(up.dtype), grad_down.to(down.dtype)


registered = []  # the torch.library.Library: what it defines goes with it


def register_ops():
    """Make torch.ops.optimized.{matmul, layernorm, flash_attention, moe}, with gradients and with
    shapes for torch.compile, of the functions above, on torch's current stream. A second time nothing
    happens. ImportError without torch."""
    import torch

    if registered:
        return
    library = torch.library.Library("optimized", "DEF")

    def define(function, schema, fake, backward=None):
        """torch.ops.optimized.NAME: `function` on the current stream of its tensors' device. `fake` is
        given tensors without elements, and returns such. backward(ctx, grad) of the result; ctx has
        the arguments, as `inputs`: tensors in ctx.saved_tensors, the others in ctx.others."""
        # TODO: define, impl for "CUDA", register_fake, register_autograd (about 13 lines).
        raise NotImplementedError

    ops = torch.ops.optimized

    def matmul_gradients(ctx, grad):
        # TODO: of a and of b, by ops.matmul; None where ctx.needs_input_grad says so (about 3 lines).
        raise NotImplementedError

    def layernorm_gradients(ctx, grad):
        # TODO: those of x, gamma and beta, by ops.layernorm_backward, and None for eps (about 2 lines).
        raise NotImplementedError

    def attention_gradients(ctx, grad):
        return *ops.flash_attention_backward(grad, *ctx.saved_tensors, *ctx.others), None, None

    def gradients_of_moe(ctx, grad):
        return *moe_gradients(torch, grad, *ctx.saved_tensors, *ctx.others), None

    def like(*tensors):
        made = tuple(x.new_empty(x.shape) for x in tensors)
        return made if len(made) > 1 else made[0]

    define(matmul, "(Tensor a, Tensor b) -> Tensor",
           lambda a, b: a.new_empty((a.shape[0], b.shape[1])), matmul_gradients)
    define(layernorm_backward,
           "(Tensor grad_y, Tensor x, Tensor gamma, float eps=1e-5) -> (Tensor, Tensor, Tensor)",
           lambda grad_y, x, gamma, *_: like(x, gamma, gamma))
    define(flash_attention_backward,
           "(Tensor grad_out, Tensor q, Tensor k, Tensor v, bool causal=False, float? scale=None)"
           " -> (Tensor, Tensor, Tensor)",
           lambda grad_out, q, k, v, *_: like(q, k, v))
    # TODO: layernorm, flash_attention and moe, with shapes and gradients (about 7 lines).
    raise NotImplementedError
    registered.append(library)


declare_arguments()
