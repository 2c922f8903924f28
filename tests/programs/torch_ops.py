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


# A layer of an encoder: sizes in widths of its vectors, and shapes of its matrices.
VECTORS, MATRICES = (1, 1, 3, 1, 1, 1, 4, 1), ((1, 3), (1, 1), (1, 4), (4, 1))


def numpy_norm(x, gamma, beta):
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + beta


def numpy_encoder(x, vectors, qkv, out, up, down):
    """In double precision."""
    (batch, seq, width), cuts = x.shape, numpy.cumsum(VECTORS)[:-1] * x.shape[2]
    norm1, shift1, of_qkv, of_out, norm2, shift2, of_up, of_down = numpy.split(vectors, cuts)
    heads = (numpy_norm(x, norm1, shift1) @ qkv + of_qkv).reshape(batch, seq, 3, width // 64, 64)
    q, k, v = heads.transpose(2, 0, 3, 1, 4)
    attention = (numpy_softmax(q @ k.swapaxes(2, 3) / 8) @ v).swapaxes(1, 2).reshape(x.shape)
    middle = x + attention @ out + of_out
    return middle + numpy_gelu(numpy_norm(middle, norm2, shift2) @ up + of_up) @ down + of_down


class Encoder(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("batch", "seq", "heads", "bf16")]


def c_encoder(draw, batch, seq, heads, bf16):
    """Forward; and backward along some directions, by differences of the reference."""
    width, shape, calls = 64 * heads, Encoder(batch, seq, heads, bf16), torch_ops.cuda
    rounded = lambda x: bfloat(x)[0] if bf16 else x
    send = lambda x: Memory(bfloat(x)[1] if bf16 else x)
    receive = lambda m: (m.read().astype(numpy.uint32) << 16).view(numpy.float32) if bf16 else m.read()
    vectors = 0.5 * draw(13 * width)
    x, grad_y = rounded(draw(batch, seq, width)), rounded(draw(batch, seq, width))
    matrices = [rounded(draw(i * width, o * width) / numpy.float32(i * width) ** 0.5) for i, o in MATRICES]
    given, grads = ([Memory(vectors), *map(send, matrices)] for _ in range(2))
    of = lambda memory: (ctypes.c_void_p * 5)(*(m.pointer.value for m in memory))
    for name in ("kept", "room"):
        getattr(calls, f"optimized_encoder_{name}").restype = ctypes.c_size_t
    kept = Memory(numpy.zeros(calls.optimized_encoder_kept(shape), numpy.uint8))
    room = Memory(numpy.full(calls.optimized_encoder_room(shape), 255, numpy.uint8))
    y, from_x, from_grad, grad_x = send(x), send(x), send(grad_y), send(x)
    assert calls.optimized_encoder_forward(
        y.pointer, kept.pointer, room.pointer, from_x.pointer, of(given), shape, None) == 0
    assert calls.optimized_encoder_backward(
        grad_x.pointer, of(grads), room.pointer, from_grad.pointer, from_x.pointer, kept.pointer, of(given), shape,
        None) == 0
    wide = [a.astype(numpy.float64) for a in (x, vectors, *matrices)]
    near(receive(y), numpy_encoder(*wide), 2e-2 if bf16 else 1e-5)
    for i, got in enumerate((receive(grad_x), grads[0].read(), *map(receive, grads[1:]))):
        way = draw(*wide[i].shape).astype(numpy.float64)
        moved = lambda by: numpy_encoder(*wide[:i], wide[i] + by * way, *wide[i + 1 :])
        want = ((moved(1e-5) - moved(-1e-5)) / 2e-5 * grad_y).sum()
        size = numpy.linalg.norm(got.astype(numpy.float64))  # of a random direction's share, about
        assert abs((got * way).sum() - want) <= (3e-2 if bf16 else 1e-4) * size, f"gradient {i}: {(got * way).sum()}, {want}"


def check_c():
    rng = numpy.random.default_rng(1)
    draw = lambda *shape: rng.standard_normal(shape, numpy.float32)
    for test in (c_matmul, c_attention, c_layernorm, c_moe):
        check(test.__name__, test, draw)
    for shape in ((1, 3, 1), (2, 70, 2), (1, 129, 1)):
        for bf16 in (0, 1):
            check(f"encoder {shape} {'bf16' if bf16 else 'fp32'}", c_encoder, draw, *shape, bf16)


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


def beside_torch(how, called, tolerances):
    """Values and gradients of x, of a matrix and of a vector, beside nn.TransformerEncoder in fp32."""
    from optimized_ops.transformer import torch_encoder

    encoder = torch_encoder(n_layers=2).cuda()
    network = optimized_ops.OptimizedTransformer(768, 12, 2, **how).cuda().copy_from(encoder)
    layer, mine, call = encoder.layers[0], network.layers[0], called(network)
    x = torch.randn(2, 33, 768, device="cuda", requires_grad=True)
    given, grad = x.detach().to(mine.up.dtype).requires_grad_(), torch.randn(2, 33, 768, device="cuda")
    want, got = encoder(x), call(given)
    close(got.float(), want, tolerances[0])
    with torch.no_grad():
        close(call(given), got, 1e-6)
    wanted = torch.autograd.grad(want, (x, layer.linear1.weight, layer.norm1.weight), grad)
    grads = torch.autograd.grad(got, (given, mine.up, mine.vectors), grad.to(got.dtype))
    for one, other in zip((grads[0], grads[1].t(), grads[2][:768]), wanted):
        close(one.float(), other, tolerances[1])


def transformers():
    """Name; what makes an OptimizedTransformer and how it is called; tolerances of values and gradients."""
    as_it_is, compiled = lambda network: network, lambda network: torch.compile(network, fullgraph=True)
    rows = [
        (" by operations", {"whole": False}, as_it_is, (1e-4, 1e-3)),
        ("", {}, as_it_is, (1e-4, 1e-3)),
        (" compiled", {}, compiled, (1e-4, 1e-3)),
        (" in bf16", {"dtype": torch.bfloat16}, as_it_is, (1e-2, 3e-2)),
    ]
    return rows[:1] if by_python else rows


def encoder_layer_refused():
    layer, ops = optimized_ops.OptimizedTransformer(128, 2, 1).cuda().layers[0], torch.ops.optimized
    x, given = torch.ones(1, 3, 128, device="cuda"), (layer.vectors, layer.qkv, layer.out, layer.up, layer.down)
    raises(TypeError, ops.encoder_layer, x.bfloat16(), *given)
    raises(TypeError, ops.encoder_layer, x.double(), *given)
    raises(ValueError, ops.encoder_layer, x[:, :, :65], *given)
    raises(ValueError, ops.encoder_layer, x, layer.vectors[1:], *given[1:])
    raises(ValueError, ops.encoder_layer, x, layer.vectors, layer.qkv.t(), *given[2:])
    raises(ValueError, ops.encoder_layer, x[:0], *given)
    raises(ValueError, optimized_ops.OptimizedTransformer, 100, 2)


def encoder_layer_checked():
    layer = optimized_ops.OptimizedTransformer(128, 2, 1).cuda().layers[0]
    given = [x.detach().requires_grad_() for x in (layer.vectors, layer.qkv, layer.out, layer.up, layer.down)]
    x = torch.randn(2, 70, 128, device="cuda", requires_grad=True)
    opcheck(torch.ops.optimized.encoder_layer, (x, *given))
    some_gradients(torch.ops.optimized.encoder_layer, (x, *given))
    keeps_no_memory(torch.ops.optimized.encoder_layer, (x, *given))
    strides(torch.ops.optimized.encoder_layer, (x, *given), "transposed")
    strides(torch.ops.optimized.encoder_layer, (x, *given), "from element 1")
    on_current_stream(torch.ops.optimized.encoder_layer, (x, *given))


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
    for name, *rest in transformers():
        check(f"OptimizedTransformer{name}", beside_torch, *rest)
    if not by_python:
        check("encoder_layer", encoder_layer_checked)
        check("encoder_layer: refusals", encoder_layer_refused)


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
