#!/usr/bin/env python3
"""torch_ops.py [TABLE]: optimized_ops, which `make optimized_ops` built, is right.

Its C interface is called by ctypes, on a GPU or softgpu. With torch and a GPU: the operations beside
torch's, opcheck, gradcheck, torch.compile, streams, strides, empty tensors, memory, OptimizedTransformer
beside nn.TransformerEncoder, registered by C++, and, in a process of its own, by Python (BY=Python);
then programs/torch_ops/pytorch_integration.py, whose table goes to TABLE. The last line counts.
"""
import contextlib
import ctypes
import itertools
import os
import subprocess
import sys
import time
import traceback
import warnings

try:
    import torch  # first: its CUDA runtime is then everybody's
except ImportError:
    torch = None
import numpy

import optimized_ops
from optimized_ops import torch_ops

counts = [0, 0]
by_python = os.environ.get("BY") == "Python"


def check(title, test, *arguments):
    """Count what raises nothing."""
    try:
        test(*arguments)
        counts[0] += 1
    except Exception:
        counts[1] += 1
        print(f"FAILED {title}\n{traceback.format_exc(limit=-4)}", flush=True)


def raises(kind, call, *arguments):
    try:
        call(*arguments)
    except kind:
        return
    raise AssertionError(f"it raised no {kind.__name__}")


# ---- the C interface -------------------------------------------------------------------------------


class Memory:
    def __init__(self, array):
        self.array, self.pointer = numpy.ascontiguousarray(array), ctypes.c_void_p()
        self.move("cudaMalloc", ctypes.byref(self.pointer), ctypes.c_size_t(max(self.array.nbytes, 1)))
        self.copy(self.pointer, ctypes.c_void_p(self.array.ctypes.data), 1)

    def move(self, name, *arguments):
        assert getattr(torch_ops.cuda, name)(*arguments) == 0, name

    def copy(self, to, source, kind):
        self.move("cudaMemcpy", to, source, ctypes.c_size_t(self.array.nbytes), ctypes.c_int(kind))

    def read(self):
        self.copy(ctypes.c_void_p(self.array.ctypes.data), self.pointer, 2)
        return self.array

    def __del__(self):
        torch_ops.cuda.cudaFree(self.pointer)


def c_call(name, shape, *arguments):
    """@return the array of this shape that the call fills; NumPy's arrays are sent, floats are C's"""
    held = [Memory(x) if isinstance(x, numpy.ndarray) else x for x in arguments]
    out = Memory(numpy.full(shape, numpy.nan, numpy.float32))
    as_c = {Memory: lambda x: x.pointer, float: ctypes.c_float, int: ctypes.c_int}
    error = getattr(torch_ops.cuda, name)(out.pointer, *(as_c[type(x)](x) for x in held), None)
    assert error == 0, f"{name} returns {error}"
    return out.read()


def bfloat(x):
    """@return x cut to bf16, and its bits"""
    bits = x.view(numpy.uint32) >> 16
    return (bits << 16).view(numpy.float32), bits.astype(numpy.uint16)


def numpy_gelu(x):
    return 0.5 * x * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3)))


def numpy_softmax(x):
    weights = numpy.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def near(got, want, tolerance=1e-5):
    error = numpy.abs(got - want).max() if got.size else 0
    assert got.shape == want.shape and error <= tolerance * max(1, numpy.abs(want).max(initial=0)), f"off by {error}"


def c_matmul(draw):
    a, b = draw(33, 70), draw(70, 18)
    near(c_call("optimized_matmul", (33, 18), a, b, 33, 18, 70), a @ b)
    near(c_call("optimized_matmul", (3, 2), draw(0), draw(0), 3, 2, 0), numpy.zeros((3, 2)))


def c_attention(draw):
    q, k, v = (draw(2, 3, 17, 8) for _ in range(3))
    want = numpy_softmax(0.5 * q @ k.swapaxes(2, 3)) @ v
    near(c_call("optimized_attention", q.shape, q, k, v, 2, 3, 17, 8, 0, 0.5), want)


def c_layernorm(draw):
    x, gamma, beta = draw(5, 33), draw(33), draw(33)
    want = (x - x.mean(1, keepdims=True)) / numpy.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma + beta
    near(c_call("optimized_layernorm", x.shape, x, gamma, beta, 5, 33, 1e-5), want)
    c_call("optimized_layernorm", (0, 33), draw(0), gamma, beta, 0, 33, 1e-5)


def c_moe(draw):
    x, router = draw(40, 16), draw(4, 16)
    (up, up_bits), (down, down_bits) = bfloat(draw(4, 24, 16)), bfloat(draw(4, 16, 24))
    logits, want = x @ router.T, numpy.zeros_like(x)
    chosen = numpy.argsort(-logits, axis=1)[:, :2]
    gates = numpy_softmax(numpy.take_along_axis(logits, chosen, 1))
    for token, j in itertools.product(range(40), range(2)):
        e = chosen[token, j]
        want[token] += gates[token, j] * (down[e] @ numpy_gelu(up[e] @ x[token]))
    near(c_call("optimized_moe", x.shape, x, router, up_bits, down_bits, 40, 4, 2, 16, 24), want, 2e-2)
    raises(AssertionError, c_call, "optimized_moe", x.shape, x, router, up_bits, down_bits, 40, 4, 5, 16, 24)


def check_c():
    rng = numpy.random.default_rng(1)
    draw = lambda *shape: rng.standard_normal(shape, numpy.float32)
    for test in (c_matmul, c_attention, c_layernorm, c_moe):
        check(test.__name__, test, draw)


# ---- torch -----------------------------------------------------------------------------------------


def dense_moe(x, router, up, down, top_k):
    """The same by torch, of any float type, and differentiable."""
    best, ids = (x @ router.t()).topk(top_k)
    gates = torch.zeros_like(x @ router.t()).scatter(1, ids, best.softmax(1))
    hidden = torch.nn.functional.gelu(torch.einsum("td,efd->tef", x, up), approximate="tanh")
    return torch.einsum("te,tef,edf->td", gates, hidden, down)


def plain_attention(q, k, v, causal=False, scale=None):
    scores = q @ k.mT * (q.shape[3] ** -0.5 if scale is None else scale)
    future = torch.ones_like(scores).triu(1).bool()
    return (scores.masked_fill(future, -torch.inf) if causal else scores).softmax(3) @ v


def samples(grad=False):
    """Name, operation, arguments, torch's own, tolerance."""
    ops, functional = torch.ops.optimized, torch.nn.functional
    torch.manual_seed(2)

    def of(*shape, dtype=torch.float32):
        return torch.randn(*shape, device="cuda").to(dtype).requires_grad_(grad)

    q, k, v = of(2, 3, 17, 8), of(2, 3, 17, 8), of(2, 3, 17, 8)
    up, down = of(4, 24, 16, dtype=torch.bfloat16), of(4, 16, 24, dtype=torch.bfloat16)
    return [
        ("matmul", ops.matmul, (of(33, 70), of(70, 18)), torch.matmul, 1e-5),
        ("layernorm", ops.layernorm, (of(4, 5, 33), of(33), of(33)),
         lambda x, gamma, beta: functional.layer_norm(x, gamma.shape, gamma, beta), 1e-5),
        ("flash_attention", ops.flash_attention, (q, k, v), plain_attention, 1e-5),
        ("causal", ops.flash_attention, (q, k, v, True, 0.3), plain_attention, 1e-5),
        ("moe", ops.moe, (of(40, 16), of(4, 16), up, down, 3),
         lambda x, r, up, down, k: dense_moe(x, r, up.float(), down.float(), k), 2e-2),
    ]


def tensors_of(arguments):
    return [x for x in arguments if isinstance(x, torch.Tensor)]


def close(got, want, tolerance):
    """By the norm."""
    assert got.shape == want.shape and got.dtype == want.dtype, f"{got.dtype} {got.shape}"
    got, want = got.detach().double(), want.detach().double()
    off = (got - want).norm().item()
    assert off <= tolerance * want.norm().item() + 1e-12, f"off by {off} of {want.norm().item()}"


def same_with_gradients(operation, own, arguments, tolerance):
    got, want = operation(*arguments), own(*arguments)
    close(got, want, tolerance)
    tensors, grad = tensors_of(arguments), torch.randn_like(want)
    for one, other in zip(torch.autograd.grad(got, tensors, grad), torch.autograd.grad(want, tensors, grad)):
        close(one, other, 10 * tolerance)


def laid_out(x, order):
    """A tensor of these elements in another order in memory, no part of a graph."""
    x = x.detach()
    if order == "transposed":
        return x.mT.contiguous().mT if x.dim() > 1 else x.clone()
    if order == "each second":
        wide = x.new_zeros(*x.shape[:-1], 2 * x.shape[-1])
        wide[..., ::2] = x
        return wide[..., ::2]
    flat = x.new_zeros(x.numel() + 1)
    flat[1:] = x.flatten()
    return flat[1:].view(x.shape)


def strides(operation, arguments, order):
    want = operation(*arguments)
    moved = [laid_out(x, order) if isinstance(x, torch.Tensor) else x for x in arguments]
    got = operation(*moved)
    assert got.is_contiguous()
    close(got, want, 1e-6)


def opcheck(operation, arguments):
    torch.library.opcheck(operation, arguments)


def gradcheck(operation, arguments):
    small = [x.detach()[..., :5, :4].clone().requires_grad_() for x in arguments]
    assert torch.autograd.gradcheck(operation, small, eps=1e-2, atol=2e-2, rtol=2e-2)


def gradcheck_layernorm():
    torch.manual_seed(3)
    x, gamma, beta = (torch.randn(*s, device="cuda").requires_grad_() for s in ((3, 6), (6,), (6,)))
    assert torch.autograd.gradcheck(torch.ops.optimized.layernorm, (x, gamma, beta), eps=1e-2, atol=2e-2, rtol=2e-2)


def some_gradients(operation, arguments):
    """Each tensor may want a gradient or not."""
    tensors = tensors_of(arguments)
    for wanted in itertools.product((False, True), repeat=len(tensors)):
        fresh = [x.detach().clone().requires_grad_(w) for x, w in zip(tensors, wanted)]
        result = operation(*fresh, *arguments[len(tensors) :])
        assert result.requires_grad == any(wanted)
        if any(wanted):
            result.sum().backward()
        assert all((x.grad is not None) == w for x, w in zip(fresh, wanted))


def compiled(operation, arguments):
    torch._dynamo.reset()
    fast = torch.compile(lambda *given: 2 * operation(*given) + 1, fullgraph=True)
    loose = any(x.dtype == torch.bfloat16 for x in tensors_of(arguments))  # which it does not always round to
    want, got = 2 * operation(*arguments) + 1, fast(*arguments)
    close(got, want, 1e-5)
    tensors, grad = tensors_of(arguments), torch.randn_like(want)
    for one, other in zip(torch.autograd.grad(got, tensors, grad), torch.autograd.grad(want, tensors, grad)):
        close(one, other, 1e-2 if loose else 1e-4)


def on_current_stream(operation, arguments):
    """Its argument is written on a side stream, late; nobody waits."""
    want, side = operation(*arguments), torch.cuda.Stream()
    first = torch.full_like(arguments[0], 0.5).detach()
    torch.cuda.synchronize()
    with torch.cuda.stream(side), torch.no_grad():
        operation(first, *arguments[1:])  # what is loaded late is loaded
        side.synchronize()
        torch.cuda._sleep(400_000_000)  # clocks: some tenths of a second
        first.copy_(arguments[0])
        began = time.perf_counter()
        got = operation(first, *arguments[1:])
        seconds, late = time.perf_counter() - began, not side.query()
        side.synchronize()
    assert late and seconds < 0.05, f"the call waits for the GPU: {seconds} s"
    close(got, want, 1e-6)


def empty_tensors():
    ops = torch.ops.optimized
    of = lambda *shape, dtype=torch.float32: torch.zeros(*shape, device="cuda", dtype=dtype).requires_grad_()
    up, down = of(4, 24, 16, dtype=torch.bfloat16), of(4, 16, 24, dtype=torch.bfloat16)
    rows = [
        (ops.matmul, (of(0, 5), of(5, 3))), (ops.matmul, (of(5, 3), of(3, 0))), (ops.matmul, (of(4, 0), of(0, 3))),
        (ops.layernorm, (of(0, 8), of(8), of(8))), (ops.layernorm, (of(3, 0), of(0), of(0))),
        (ops.flash_attention, [of(2, 3, 0, 8) for _ in "qkv"]), (ops.flash_attention, [of(0, 3, 5, 8) for _ in "qkv"]),
        (ops.moe, (of(0, 16), of(4, 16), up, down)),
    ]
    for operation, arguments in rows:
        result = operation(*arguments)
        assert not result.count_nonzero()
        for x, grad in zip(arguments, torch.autograd.grad(result.sum(), arguments)):
            assert grad.shape == x.shape and not grad.count_nonzero()


def refusals():
    ops, a = torch.ops.optimized, torch.ones(2, 3, device="cuda")
    raises(ValueError, ops.matmul, a, a)
    raises(TypeError, ops.matmul, a.double(), a.t().double())
    raises(ValueError, ops.matmul, a, torch.ones(3, 2))
    raises(ValueError, ops.flash_attention, a, a, a)
    raises(RuntimeError, ops.flash_attention, *[torch.ones(1, 1, 2, 129, device="cuda")] * 3)
    torch.cuda.synchronize()
    torch.ones(1, device="cuda").add_(1)  # what was refused is no error of others


def keeps_no_memory(operation, arguments):
    def used(times):
        for _ in range(times):
            operation(*arguments).sum().backward()
        for x in tensors_of(arguments):
            x.grad = None
        torch.cuda.synchronize()
        return torch.cuda.memory_allocated()

    first = used(3)
    assert used(30) <= first


def transformer():
    from optimized_ops.transformer import torch_encoder

    encoder = torch_encoder(n_layers=2).cuda()
    make = lambda **how: optimized_ops.OptimizedTransformer(768, 12, 2, **how).cuda().copy_from(encoder)
    x = torch.randn(2, 33, 768, device="cuda", requires_grad=True)
    want, grad = encoder(x), torch.randn(2, 33, 768, device="cuda")
    (want_grad,) = torch.autograd.grad(want, x, grad)
    for network in (make(), make(sdpa=True), torch.compile(make(), fullgraph=True)):
        got = network(x)
        close(got, want, 1e-4)
        close(torch.autograd.grad(got, x, grad)[0], want_grad, 1e-3)


def check_torch():
    ops = torch.ops.optimized
    warnings.filterwarnings("ignore", "Input #. requires gradient and is not a double")
    for _ in range(2):
        optimized_ops.register_ops() if by_python else torch.ops.load_library(optimized_ops.library)
    for name, operation, arguments, own, tolerance in samples(grad=True):
        check(f"{name} beside torch", same_with_gradients, operation, own, arguments, tolerance)
        check(f"{name}: opcheck with gradients", opcheck, operation, arguments)
        check(f"{name}: some gradients", some_gradients, operation, arguments)
        check(f"{name}: compiled", compiled, operation, arguments)
        check(f"{name}: memory", keeps_no_memory, operation, arguments)
        if "moe" not in name and name != "layernorm":  # bf16 has no differences that are small
            check(f"{name}: gradcheck", gradcheck, lambda *x: operation(*x, *arguments[3:]),
                  arguments[:3] if "matmul" != name else (arguments[0], arguments[1].detach()[:4]))
    check("layernorm: gradcheck", gradcheck_layernorm)
    for name, operation, arguments, _, _ in samples():
        check(f"{name}: opcheck", opcheck, operation, arguments)
        check(f"{name}: current stream", on_current_stream, operation, arguments)
        for order in ("transposed", "each second", "from element 1"):
            check(f"{name}, {order}", strides, operation, arguments, order)
    q, x, gamma = torch.randn(1, 2, 5, 8, device="cuda"), torch.randn(4, 6, device="cuda"), torch.ones(6, device="cuda")
    check("layernorm_backward: opcheck", opcheck, ops.layernorm_backward, (x, x, gamma))
    check("flash_attention_backward: opcheck", opcheck, ops.flash_attention_backward, (q, q, q, q, True))
    check("empty tensors", empty_tensors)
    check("refusals", refusals)
    check("OptimizedTransformer", transformer)


def registered_by_python():
    subprocess.run([sys.executable, __file__], env=os.environ | {"BY": "Python"}, check=True)


def print_table(path):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = os.path.join(root, "programs", "torch_ops", "pytorch_integration.py")
    done = subprocess.run([sys.executable, program], stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout, flush=True)
    with open(path, "w") if path else contextlib.nullcontext() as file:
        if file:
            file.write(done.stdout)


def main():
    softgpu = os.path.exists(os.path.join(os.path.dirname(optimized_ops.library), "libsoftgpu.so"))
    check_c()
    if softgpu or torch is None or not torch.cuda.is_available():
        print("torch.ops was not tried: needs python3 with torch, a GPU, and a package made for it")
        if torch is None:
            check("register_ops without torch", raises, ImportError, optimized_ops.register_ops)
    else:
        check_torch()
        if not by_python:
            check("registered by Python", registered_by_python)
            check("programs/torch_ops/pytorch_integration.py", print_table, sys.argv[1] if len(sys.argv) > 1 else None)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit(main())
