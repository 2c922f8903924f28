# 512_torch_ops/worker.py: what the cases do in Python, with what stands above, of 216 and 503. Tensor
# is a stand-in for torch's, so that nothing needs torch but register_ops.
import functools
import sys
import types

FLOAT, BFLOAT, DOUBLE = "torch.float32", "torch.bfloat16", "torch.float64"
ITEMS = {FLOAT: numpy.float32, BFLOAT: numpy.uint16, DOUBLE: numpy.float64}
TRANSPOSED, EACH_SECOND, SAME_ROW, FROM_ELEMENT_1 = 1, 2, 3, 4
OUT_OF_MEMORY = 2


class DeviceBytes:
    """Memory of the device, for as long as something holds it. It begins as NaN."""

    def __init__(self, cuda, size):
        self.cuda, self.size, self.pointer = cuda, size, ctypes.c_void_p()
        if size:
            self.ask("cudaMalloc", ctypes.byref(self.pointer), ctypes.c_size_t(size))
            self.ask("cudaMemset", self.pointer, 255, ctypes.c_size_t(size))
            self.ask("cudaDeviceSynchronize")  # another stream would not wait for it

    def ask(self, name, *arguments):
        if getattr(self.cuda, name)(*arguments):
            raise MemoryError(f"the stand-in for a tensor cannot call {name}")

    def copy(self, array, kind):
        """1: from the array; 2: to it, when all work is done."""
        size, there, here = ctypes.c_size_t(self.size), self.pointer, ctypes.c_void_p(array.ctypes.data)
        if self.size:
            self.ask("cudaDeviceSynchronize")
            self.ask("cudaMemcpy", *((there, here) if kind == 1 else (here, there)), size, kind)
        return array

    def __del__(self):
        if self.size:
            self.cuda.cudaFree(self.pointer)


class Tensor:
    """Of torch's Tensor what a program needs that hands it to C. Strides are in elements."""

    device, is_cuda = "cuda:0", True

    def __init__(self, cuda, shape, dtype=FLOAT, strides=None, offset=0):
        self.cuda, self.shape, self.dtype, self.offset = cuda, tuple(shape), dtype, offset
        self.strides = in_c_order(self.shape) if strides is None else strides
        ends = [(size - 1) * step for size, step in zip(self.shape, self.strides)]
        self.count = offset + 1 + sum(ends) if self.numel() else 0
        self.memory = DeviceBytes(cuda, self.count * ITEMS[dtype]().itemsize)

    @property
    def ndim(self):
        return len(self.shape)

    def dim(self):
        return len(self.shape)

    def numel(self):
        return math.prod(self.shape)

    def stride(self):
        return self.strides

    def is_contiguous(self):
        return not self.numel() or all(
            size == 1 or a == b for size, a, b in zip(self.shape, self.strides, in_c_order(self.shape)))

    def data_ptr(self):
        return self.memory.pointer.value + self.offset * ITEMS[self.dtype]().itemsize if self.numel() else 0

    def view_of(self, storage):
        steps = [step * storage.itemsize for step in self.strides]
        return numpy.lib.stride_tricks.as_strided(storage[self.offset :], self.shape, steps)

    def storage(self):
        return self.memory.copy(numpy.zeros(self.count, ITEMS[self.dtype]), 2)

    def numpy(self):
        return self.view_of(self.storage()).copy() if self.numel() else numpy.zeros(self.shape, ITEMS[self.dtype])

    def write(self, array):
        if self.numel():
            storage = numpy.zeros(self.count, ITEMS[self.dtype])
            self.view_of(storage)[...] = array
            self.memory.copy(storage, 1)
        return self

    def new_empty(self, *size, dtype=None):
        size = size[0] if size and not isinstance(size[0], int) else size
        return Tensor(self.cuda, size, dtype or self.dtype)

    def clone(self):
        return Tensor(self.cuda, self.shape, self.dtype).write(self.numpy())

    def contiguous(self):
        return self if self.is_contiguous() else self.clone()

    def to(self, dtype):
        if dtype == self.dtype:
            return self
        wide = self.numpy()
        if self.dtype == BFLOAT:
            wide = (wide.astype(numpy.uint32) << 16).view(numpy.float32)
        if dtype == BFLOAT:
            bits = wide.astype(numpy.float32).view(numpy.uint32)
            wide = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # to the nearest, or the even one
        return Tensor(self.cuda, self.shape, dtype).write(wide.astype(ITEMS[dtype]))


def in_c_order(shape):
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def tensor(student, array, shape, order=0, dtype=FLOAT):
    """The elements of an array, in this order in memory. bf16: the upper halves of floats."""
    strides, array = in_c_order(shape), array.reshape(shape)
    if order == TRANSPOSED:
        strides = tuple(reversed(in_c_order(tuple(reversed(shape)))))
    elif order == EACH_SECOND:
        strides = tuple(2 * step for step in strides)
    elif order == SAME_ROW:
        strides = (0, *strides[1:])
    if dtype == BFLOAT:
        array = (numpy.ascontiguousarray(array).view(numpy.uint32) >> 16).astype(numpy.uint16)
    cuda = student.cuda.real if isinstance(student.cuda, (Cuda, Watch)) else student.cuda
    return Tensor(cuda, shape, dtype, strides, int(order == FROM_ELEMENT_1)).write(array)


def operate(outs, function, tensors, *numbers):
    """outs: arrays, and the shapes of what they are filled with."""
    before = [x.storage() for x in tensors]
    results = function(*tensors, *numbers)
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != len(outs):
        raise TypeError(f"{function.__name__} returns {len(results)} tensors, and should {len(outs)}")
    for (out, shape), result in zip(outs, results):
        if not isinstance(result, Tensor) or result.dtype != FLOAT or result.shape != tuple(shape):
            kind = f"{getattr(result, 'dtype', type(result))} {getattr(result, 'shape', '')}"
            raise TypeError(f"{function.__name__} returns {kind}, and should {FLOAT} {tuple(shape)}")
        if any(result.memory is x.memory for x in tensors):
            raise ValueError(f"what {function.__name__} returns is in the memory of an argument")
        out[:] = result.numpy().ravel()
    for x, old in zip(tensors, before):
        if x.storage().tobytes() != old.tobytes():
            raise ValueError(f"{function.__name__} writes to a tensor that it is given")


def op_matmul(student, c, a, b, m, n, k, order):
    tensors = [tensor(student, a, (m, k), order), tensor(student, b, (k, n), order)]
    operate([(c, (m, n))], student.matmul, tensors)


def op_layernorm(student, y, grad_x, grad_gamma, grad_beta, x, gamma, beta, grad_y, rows, cols, order, eps):
    shape = (rows // 2, 2, cols) if rows % 2 == 0 else (rows, cols)
    x, grad_y = tensor(student, x, shape, order), tensor(student, grad_y, shape, order)
    vectors = [tensor(student, v, (cols,), order if order == EACH_SECOND else 0) for v in (gamma, beta)]
    given = [] if abs(eps - 1e-5) < 1e-9 else [eps]
    operate([(y, shape)], student.layernorm, [x, *vectors], *given)
    grads = [(grad_x, shape), (grad_gamma, (cols,)), (grad_beta, (cols,))]
    operate(grads, student.layernorm_backward, [grad_y, x, vectors[0]], *(given or [1e-5]))


def op_attention(student, out, grad_q, grad_k, grad_v, q, k, v, grad_out, batch, heads, seq, dim, causal,
                 order, percent):
    shape = (batch, heads, seq, dim)
    tensors = [tensor(student, x, shape, order) for x in (q, k, v)]
    given = [max(percent, 0) / 100] if percent else []  # else 1 / sqrt(dim)
    operate([(out, shape)], student.flash_attention, tensors, bool(causal), *given)
    tensors.insert(0, tensor(student, grad_out, shape, order))
    grads = [(grad, shape) for grad in (grad_q, grad_k, grad_v)]
    operate(grads, student.flash_attention_backward, tensors, bool(causal), *(given or [1 / math.sqrt(dim)]))


def op_moe(student, out, x, router, up, down, tokens, experts, top_k, width, inner, order):
    tensors = [
        tensor(student, x, (tokens, width), order),
        tensor(student, router, (experts, width), order),
        tensor(student, up, (experts, inner, width), order, BFLOAT),
        tensor(student, down, (experts, width, inner), order, BFLOAT),
    ]
    operate([(out, (tokens, width))], student.moe, tensors, top_k)


def small_operations(student):
    """Name and call of each operation, on tensors that are not in C order; the call takes a stream."""
    def of(*shape, order=TRANSPOSED, dtype=FLOAT):
        values = numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)
        return tensor(student, values, shape, order, dtype)

    a, b, x, gamma = of(5, 6), of(6, 7), of(4, 9), of(9)
    heads = [of(1, 2, 3, 8) for _ in range(4)]
    weights = [of(3, 8), of(4, 8), of(4, 16, 8, dtype=BFLOAT), of(4, 8, 16, dtype=BFLOAT)]
    return [
        ("matmul", lambda stream: student.matmul(a, b, stream=stream)),
        ("layernorm", lambda stream: student.layernorm(x, gamma, gamma, stream=stream)),
        ("layernorm_backward", lambda stream: student.layernorm_backward(x, x, gamma, stream=stream)),
        ("flash_attention", lambda stream: student.flash_attention(*heads[:3], stream=stream)),
        ("flash_attention_backward", lambda stream: student.flash_attention_backward(*heads, stream=stream)),
        ("moe", lambda stream: student.moe(*weights, stream=stream)),
    ]


class Seen(Watch):
    """Stands where the student's `cuda` stood, and keeps name and arguments of each call."""

    def __init__(self, student):
        super().__init__(student, "", None)
        self.calls = []

    def __getattr__(self, name):
        real = getattr(self.real, name)

        def called(*arguments):
            self.calls.append((name, arguments))
            return real(*arguments)

        return called if callable(real) else real


def waits(name):
    return "Synchronize" in name or name in ("cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemset", "cudaStreamQuery")


def on_a_stream(student, told):
    stream, words = ctypes.c_void_p(), ""
    student.cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
    for title, call in small_operations(student):
        with Seen(student) as seen:
            call(stream.value)
        launches = [each for each in seen.calls if not each[0].startswith("cudaGet")]
        waiting = [name for name, _ in seen.calls if waits(name)]
        other = [name for name, given in launches
                 if not waits(name) and getattr(given[-1], "value", given[-1]) != stream.value]
        if not launches:
            words = words or "no call of `cuda` was seen: call cuda.matmul_vectorized"
        elif waiting:
            words = words or f"{title} calls {waiting[0]}, which waits for the device"
        elif other:
            words = words or f"{title} calls {other[0]} on another stream than it was given"
    student.cuda.cudaDeviceSynchronize()
    student.cuda.cudaStreamDestroy(stream)
    tell(told, words)


def op_broken_off(title, call, student, at):
    """@return what is wrong when call number `at` is refused memory, or None when there are fewer"""
    with Cuda(student, at, OUT_OF_MEMORY) as cuda:
        try:
            call(None)
        except RuntimeError as error:
            return "" if "out of memory" in str(error) else f"{title} says {error}, where CUDA says: out of memory"
    if cuda.calls < at:
        return None
    return "" if "Free" in cuda.refused else f"{title} raised nothing when {cuda.refused} was refused memory"


def each_call_refused(student, told):
    words = ""
    for title, call in small_operations(student):
        at, here = 1, ""
        while here == "" and not words:
            here, at = op_broken_off(title, call, student, at), at + 1
        words = words or here or ""
    tell(told, words)


def ops_refused(student, told):
    def of(*shape, dtype=FLOAT, device="cuda:0"):
        made = Tensor(student.cuda, shape, dtype)
        made.device, made.is_cuda = device, device != "cpu"
        return made

    a, row, heads = of(2, 8), of(8), of(1, 2, 3, 4)
    router, up, down = of(3, 8), of(3, 16, 8, dtype=BFLOAT), of(3, 8, 16, dtype=BFLOAT)
    rows = [
        ("a product of 2 x 8 and 2 x 8", ValueError, lambda: student.matmul(a, a)),
        ("a product of vectors", ValueError, lambda: student.matmul(row, row)),
        ("a product with a tensor of the host", ValueError, lambda: student.matmul(a, of(8, 2, device="cpu"))),
        ("a product with 2^32 rows", ValueError, lambda: student.matmul(of(2**32, 0), of(0, 2))),
        ("gamma of 7 for rows of 8", ValueError, lambda: student.layernorm(a, of(7), row)),
        ("beta of 7 for rows of 8", ValueError, lambda: student.layernorm(a, row, of(7))),
        ("a number for x", ValueError, lambda: student.layernorm(of(), row, row)),
        ("grad_y of 3 rows for 2", ValueError, lambda: student.layernorm_backward(of(3, 8), a, row)),
        ("q and k of two shapes", ValueError, lambda: student.flash_attention(heads, of(1, 2, 4, 4), heads)),
        ("q of 3 dimensions", ValueError, lambda: student.flash_attention(*[of(2, 3, 4)] * 3)),
        ("heads of 129 dimensions", RuntimeError, lambda: student.flash_attention(*[of(1, 1, 2, 129)] * 3)),
        ("grad_out of another shape", ValueError, lambda: student.flash_attention_backward(
            of(1, 2, 3, 5), heads, heads, heads)),
        ("4 of 3 experts", ValueError, lambda: student.moe(a, router, up, down, 4)),
        ("0 experts a token", ValueError, lambda: student.moe(a, router, up, down, 0)),
        ("down like up", ValueError, lambda: student.moe(a, router, up, up)),
        ("a router of 2 experts for 3", ValueError, lambda: student.moe(a, of(2, 8), up, down)),
        ("a width of 4", ValueError, lambda: student.moe(
            of(2, 4), of(3, 4), of(3, 16, 4, dtype=BFLOAT), of(3, 4, 16, dtype=BFLOAT))),
    ]
    each = {student.matmul: [a, of(8, 2)], student.layernorm: [a, row, row],
            student.layernorm_backward: [a, a, row], student.flash_attention: [heads] * 3,
            student.flash_attention_backward: [heads] * 4, student.moe: [a, router, up, down]}
    for function, given in each.items():
        for i, x in enumerate(given):
            there = of(*x.shape, dtype=x.dtype, device="cuda:1")
            other = of(*x.shape, dtype=DOUBLE if x.dtype == FLOAT else FLOAT)
            of_kind = f"of {other.dtype}"
            for kind, error, wrong in (("on another GPU", ValueError, there), (of_kind, TypeError, other)):
                call = functools.partial(function, *given[:i], wrong, *given[i + 1 :])
                rows.append((f"{function.__name__}, with argument {i} {kind},", error, call))
    words = next(filter(None, (refused(*row) for row in rows)), "")
    student.cuda.cudaGetLastError()
    tell(told, words)


class Definition:
    """What torch.library.custom_op returns."""

    def __init__(self, notes, name):
        self.notes, self.name = notes, name

    def register_fake(self, function):
        return self.notes.take("fake", self.name, function)

    def register_autograd(self, backward, setup_context=None):
        self.notes.take("gradient", self.name, backward)

    def register_kernel(self, device_types, function=None):
        return self.notes.register("kernel")(self.name, device_types, function)

    def __call__(self, *arguments):
        return self.notes.made[self.name]["kernel"](*arguments)


class Notes:
    """A stand-in for torch that notes what register_ops registers: for each operation its kernel, its fake
    and its gradient. The page lists what it has of torch."""

    def __init__(self, student, stream):
        self.made, here = {}, contextlib.nullcontext()
        current = types.SimpleNamespace(cuda_stream=stream)
        self.torch = types.SimpleNamespace(
            Tensor=Tensor, is_tensor=lambda x: isinstance(x, Tensor), float32=FLOAT, bfloat16=BFLOAT,
            empty=lambda *size, dtype=FLOAT, device=None: Tensor(student.cuda, size, dtype),
            cuda=types.SimpleNamespace(device=lambda _: here, device_of=lambda _: here,
                                       current_stream=lambda device=None: current),
            ops=types.SimpleNamespace(optimized=types.SimpleNamespace()),
            library=types.SimpleNamespace(
                Library=lambda *_: types.SimpleNamespace(define=self.define, impl=self.register("kernel")),
                define=self.define, impl=self.register("kernel"), custom_op=self.custom_op,
                register_fake=self.register("fake"), register_autograd=self.register("gradient"),
                register_kernel=self.register("kernel")))

    def take(self, what, name, function):
        name = name.split("::")[-1].split("(")[0]
        self.made.setdefault(name, {})[what] = function
        if what == "kernel":
            setattr(self.torch.ops.optimized, name, function)
        return function

    def register(self, what):
        """A function that is called with a name and, somewhere, a function, or that decorates one."""
        def registering(name, *given, **named):
            function = next(filter(callable, (*given, *named.values())), None)
            return self.take(what, name, function) if function else lambda one: self.take(what, name, one)
        return registering

    def define(self, name, *_, **__):
        """Its schema says nothing here."""

    def custom_op(self, name, function=None, **_):
        def made(one):
            self.take("kernel", name, one)
            return Definition(self, name.split("::")[-1])
        return made(function) if function else made


def without_torch(student):
    """@return what register_ops does not register, or does not compute, of a stand-in"""
    sys.modules["torch"] = None  # an old one is none
    words = refused("register_ops without torch", ImportError, student.register_ops)
    if words:
        return words
    stream = ctypes.c_void_p()
    student.cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
    notes = Notes(student, stream.value)
    sys.modules["torch"] = notes.torch
    try:
        student.register_ops()
        student.register_ops()
        words = of_notes(student, notes.made, stream.value)
    finally:
        sys.modules["torch"] = None
        student.cuda.cudaDeviceSynchronize()
        student.cuda.cudaStreamDestroy(stream)
    return words


def of_notes(student, made, stream):
    for name in ("matmul", "layernorm", "flash_attention", "moe"):
        for what in ("kernel", "fake", "gradient"):
            if what not in made.get(name, {}):
                return f"register_ops gives torch.ops.optimized.{name} no {what}"
    host_a, host_b = numpy.arange(35, dtype=numpy.float32), numpy.ones(21, numpy.float32)
    a, b = tensor(student, host_a, (5, 7)), tensor(student, host_b, (7, 3))
    with Seen(student) as seen:
        c = made["matmul"]["kernel"](a, b)
    student.cuda.cudaDeviceSynchronize()
    given = [arguments[-1] for name, arguments in seen.calls if name == "matmul_vectorized"]
    if [getattr(each, "value", each) for each in given] != [stream]:
        return "the kernel of torch.ops.optimized.matmul is not on torch's current stream"
    if not numpy.array_equal(c.numpy(), host_a.reshape(5, 7) @ host_b.reshape(7, 3)):
        return "the kernel of torch.ops.optimized.matmul does not give a @ b"
    if tuple(made["matmul"]["fake"](a, b).shape) != (5, 3):
        return "the fake of torch.ops.optimized.matmul has another shape"
    return ""


def new_torch():
    """@return torch, where there is one that has what the page names of it: 2.4 or newer; or None"""
    try:
        import torch
    except ImportError:
        return None
    return torch if hasattr(torch.library, "register_fake") else None


def with_torch(student, told, on_gpu):
    """What torch makes of the operations, where it is: shapes, and on a GPU a product and its gradient;
    else what a stand-in is told of them. "-": not all could be tried."""
    torch = new_torch()
    if not torch:
        tell(told, without_torch(student) or "-")
        return
    student.register_ops()
    student.register_ops()
    matmul, words = torch.ops.optimized.matmul, ""
    if matmul(torch.empty(5, 7, device="meta"), torch.empty(7, 3, device="meta")).shape != (5, 3):
        words = "torch.ops.optimized.matmul has another shape for tensors without elements"
    elif not on_gpu or not torch.cuda.is_available():
        words = "-"
    else:
        words = product_of_torch(torch, matmul)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    tell(told, words)


def product_of_torch(torch, matmul):
    host_a, host_b = numpy.arange(35, dtype=numpy.float32).reshape(7, 5), numpy.ones((7, 3), numpy.float32)
    a, b = torch.tensor(host_a).cuda().t().requires_grad_(), torch.tensor(host_b).cuda().requires_grad_()
    c = matmul(a, b)
    grads = torch.autograd.grad(c, (a, b), torch.ones_like(c))
    wanted = (host_a.T @ host_b, numpy.ones((5, 3)) @ host_b.T, host_a @ numpy.ones((5, 3)))
    for words, got, want in zip(("is not a @ b", "has a wrong gradient of a", "has a wrong gradient of b"),
                                (c, *grads), wanted):
        if not numpy.allclose(got.detach().cpu().numpy(), want, rtol=1e-5):
            return "torch.ops.optimized.matmul " + words
    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
    try:
        torch.library.opcheck(matmul, (a, b))
        torch.autograd.gradcheck(matmul, (a, b), eps=1e-2, atol=2e-2, rtol=2e-2)
    except (RuntimeError, AssertionError) as error:
        return f"torch's own checks refuse torch.ops.optimized.matmul: {error}"
    return ""
