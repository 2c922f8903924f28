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
    # TODO: argtypes of the eight functions, and of cudaMemcpyAsync (about 13 lines).
    raise NotImplementedError


def check(error):
    """RuntimeError, in the words of cudaGetErrorString, unless a call returned cudaSuccess."""
    if error != 0:
        raise RuntimeError(cuda.cudaGetErrorString(error).decode())


def dense(name, x, dims, device, kind=FLOAT):
    """@return x if its elements lie in C order, else a copy where they do; of bf16, at a multiple of 16
    bytes. TypeError: elements of another kind. ValueError: not on this device, not of so many
    dimensions (None: of any, but at least one), a size that is no int of C."""
    # TODO: about 12 lines
    raise NotImplementedError


def matmul(a, b, stream=None):
    """a [m x k] times b [k x n]. ValueError: the inner sizes differ."""
    # TODO: about 7 lines
    raise NotImplementedError


def rows_and_cols(x, *vectors):
    """The sizes of x [... x cols], seen as a matrix. ValueError: a vector that is not [cols], too many
    rows for an int of C."""
    # TODO: about 7 lines
    raise NotImplementedError


def layernorm(x, gamma, beta, eps=1e-5, stream=None):
    """(x - mean) / sqrt(variance + eps) * gamma + beta over the last dimension. x has any others."""
    # TODO: about 9 lines
    raise NotImplementedError


def layernorm_backward(grad_y, x, gamma, eps=1e-5, stream=None):
    """@return the gradients of x, gamma and beta. ValueError: grad_y is not of the shape of x."""
    # TODO: the statistics once more, with grad_x as a place for y, then 311 (about 17 lines).
    raise NotImplementedError


def heads_of(**tensors):
    """@return the tensors, dense, and scale in front of them. ValueError: they are not of one shape
    [batch x heads x seq x dim]."""
    # TODO: about 5 lines
    raise NotImplementedError


def flash_attention(q, k, v, causal=False, scale=None, stream=None):
    """softmax(scale * q k^T) v in each head of [batch x heads x seq x dim]. causal: a query sees the
    keys up to its own. scale: None is 1 / sqrt(dim)."""
    # TODO: 409, without its lse (about 7 lines).
    raise NotImplementedError


def flash_attention_backward(grad_out, q, k, v, causal=False, scale=None, stream=None):
    """@return the gradients of q, k and v"""
    # TODO: 313 (about 8 lines).
    raise NotImplementedError


def addresses_of_experts(up, down, utilization, stream):
    """@return memory of the device: where up of each expert lies, where down, then a moe_metrics"""
    # TODO: an array of ctypes, and a copy of it that does not wait (about 9 lines).
    raise NotImplementedError


def moe(x, router, up, down, top_k=2, stream=None):
    """A mixture of experts: the sum over the top_k experts of each token, by 411's router, of gate *
    gelu(x up^T) down^T, of 412. x [tokens x width] and router [experts x width] are fp32, up [experts
    x inner x width] and down [experts x width x inner] bf16. ValueError: sizes that do not fit, top_k
    not in 1 .. experts, a width or an inner size that is no multiple of 8."""
    # TODO: shapes; scratch, whose kind is of no account; 411, 411, 412 (about 26 lines).
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
        # TODO: define, impl for "CUDA", register_fake, register_autograd (about 24 lines).
        raise NotImplementedError

    # TODO: six times define; gradients call torch.ops.optimized (about 38 lines).
    raise NotImplementedError
    registered.append(library)


declare_arguments()
