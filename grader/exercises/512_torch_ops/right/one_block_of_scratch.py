# RIGHT: signatures in letters; an object an operation; one block of scratch; torch.library.define
import ctypes
import functools
import operator
import os

KINDS = dict(p=ctypes.c_void_p, i=ctypes.c_int32, f=ctypes.c_float, n=ctypes.c_size_t)
SIGNATURES = """
    matmul_vectorized ppp iii p
    layernorm_forward ppp ppp ii f p
    layernorm_backward ppp ppppp ii p
    attention_flash pp ppp iiiii f p
    attention_naive_backward ppp pppp iiiii f p
    moe_router ppp pp iiii p
    moe_permute pppp pp iiii p
    moe_experts_compute pp ppppp iiiii p
    cudaMemcpyAsync pp n i p
"""


class Linked(dict):
    """All functions of all libraries, by name; each is looked up once."""

    loaded = [ctypes.CDLL(path) for path in os.environ["COURSE_LIBRARIES"].split(os.pathsep)]

    def __missing__(self, name):
        found = [library for library in self.loaded if hasattr(library, name)]
        if not found:
            raise AttributeError(name)
        return self.setdefault(name, found[0][name])

    __getattr__ = dict.__getitem__


cuda = Linked()
for line in SIGNATURES.split("\n"):
    if line.strip():
        called, letters = line.split(maxsplit=1)
        cuda[called].argtypes = [KINDS[letter] for letter in letters if letter != " "]
cuda["cudaGetErrorString"].restype = ctypes.c_char_p


def run(name, tensors, *numbers):
    """Launch, with the addresses of the tensors first. Those that are no tensors are addresses."""
    places = [x.data_ptr() if hasattr(x, "data_ptr") else x for x in tensors]
    status = getattr(cuda, name)(*places, *numbers)
    if status != 0:
        raise RuntimeError(bytes(cuda.cudaGetErrorString(status)).decode("ascii"))


def require(good, error, words):
    if not good:
        raise error(f"optimized: {words}")


def ready(tensors, rank=None, kind="float32"):
    """The same tensors, fit for C."""
    fitting = []
    for x in tensors:
        require(str(x.dtype) == f"torch.{kind}", TypeError, f"{kind} is wanted, and {x.dtype} came")
        require(x.is_cuda, ValueError, "all tensors lie on the device")
        require(rank in (None, x.dim()) and x.dim() > 0, ValueError, f"{x.dim()} dimensions, not {rank}")
        require(all(size < 1 << 31 for size in x.shape), ValueError, f"a size of 31 bits, not {x.shape}")
        fitting.append(x.contiguous())
        if kind == "bfloat16" and fitting[-1].data_ptr() & 15:
            fitting[-1] = fitting[-1].clone()
    return fitting


def together(tensors):
    places = {str(x.device) for x in tensors}
    require(len(places) == 1, ValueError, f"they lie in {len(places)} places: {places}")


def matmul(a, b, stream=None):
    together((a, b))
    a, b = ready((a, b), rank=2)
    require(a.shape[1] == b.shape[0], ValueError, f"{a.shape[1]} columns meet {b.shape[0]} rows")
    product = b.new_empty((a.shape[0], b.shape[1]))
    run("matmul_vectorized", (product, a, b), *product.shape, b.shape[0], stream)
    return product


class Rows:
    """x as rows that are normalized, and room for their statistics."""

    def __init__(self, x, *vectors):
        together((x, *vectors))
        (self.x,), self.vectors = ready((x,)), ready(vectors, rank=1)
        self.cols = self.x.shape[-1]
        self.rows = functools.reduce(operator.mul, self.x.shape[:-1], 1) if self.cols else 0
        require(self.rows < 1 << 31, ValueError, f"{self.rows} rows are too many")
        for vector in self.vectors:
            require(tuple(vector.shape) == (self.cols,), ValueError, f"{vector.shape} for {self.cols} columns")
        self.statistics = self.x.new_empty((2 * self.rows,))

    def places(self):
        begin = self.statistics.data_ptr()
        return begin, begin + 4 * self.rows

    def normalize(self, eps, stream):
        y, gamma, beta = self.x.new_empty(self.x.shape), self.vectors[0], self.vectors[-1]
        run("layernorm_forward", (y, *self.places(), self.x, gamma, beta), self.rows, self.cols, eps, stream)
        return y


def layernorm(x, gamma, beta, eps=1e-5, stream=None):
    return Rows(x, gamma, beta).normalize(eps, stream)


def layernorm_backward(grad_y, x, gamma, eps=1e-5, stream=None):
    given = Rows(x, gamma)
    (grad_y,) = ready((grad_y,))
    together((grad_y, x))
    require(grad_y.shape == x.shape, ValueError, f"a gradient {grad_y.shape} of what is {x.shape}")
    gamma, grad_x = given.vectors[0], given.normalize(eps, stream)
    grad_gamma, grad_beta = gamma.new_empty(gamma.shape), gamma.new_empty(gamma.shape)
    run("layernorm_backward", (grad_x, grad_gamma, grad_beta, grad_y, given.x, gamma, *given.places()),
        given.rows, given.cols, stream)
    return grad_x, grad_gamma, grad_beta


def attend(name, results, tensors, causal, scale, stream):
    together(tensors)
    tensors = ready(tensors, rank=4)
    shape = tensors[0].shape
    require(all(x.shape == shape for x in tensors), ValueError, "heads are all of one shape")
    if scale is None:
        scale = shape[3] ** -0.5 if shape[3] else 1.0
    made = tuple(tensors[0].new_empty(shape) for _ in range(results))
    unwanted = (None,) if results == 1 else ()
    run(name, made + unwanted + tuple(tensors), *shape, int(causal), scale, stream)
    return made


def flash_attention(q, k, v, causal=False, scale=None, stream=None):
    return attend("attention_flash", 1, (q, k, v), causal, scale, stream)[0]


def flash_attention_backward(grad_out, q, k, v, causal=False, scale=None, stream=None):
    return attend("attention_naive_backward", 3, (grad_out, q, k, v), causal, scale, stream)


class Scratch:
    """Pieces of one block of the device, each at a multiple of 64 words."""

    def __init__(self, like, **words):
        self.at, total = {}, 0
        for name, count in words.items():
            self.at[name], total = total, total + -(-count // 64) * 64
        self.block = like.new_empty((total,))

    def __getitem__(self, name):
        return self.block.data_ptr() + 4 * self.at[name]


def moe(x, router, up, down, top_k=2, stream=None):
    together((x, router, up, down))
    (x, router), (up, down) = ready((x, router), rank=2), ready((up, down), rank=3, kind="bfloat16")
    tokens, width = x.shape
    experts, inner = up.shape[:2]
    shapes = {"router": (router, (experts, width)), "up": (up, (experts, inner, width)),
              "down": (down, (experts, width, inner))}
    for name, (tensor, shape) in shapes.items():
        require(tuple(tensor.shape) == shape, ValueError, f"{name} is {tensor.shape}, and should be {shape}")
    require(top_k in range(1, experts + 1), ValueError, f"top_k is {top_k} of {experts}")
    require(tokens * top_k < 1 << 31, ValueError, "more choices than an int can count")
    require(not (width | inner) & 7, ValueError, f"{width} and {inner}: eights are wanted")
    chosen = tokens * top_k
    scratch = Scratch(x, ids=chosen, gates=chosen, order=chosen, probs=tokens * experts, offsets=experts + 1,
                      pieces=2 * 128 * experts, share=experts, table=4 * experts + 4)
    step, brain = 2 * width * inner, x.to(up.dtype)
    hidden, result = brain.new_empty((chosen, inner)), x.new_empty(x.shape)
    rows = [weights.data_ptr() + step * e for weights in (up, down) for e in range(experts)]
    table = (ctypes.c_int64 * (len(rows) + 2))(*rows, scratch["share"])
    run("cudaMemcpyAsync", (scratch["table"], ctypes.addressof(table)), ctypes.sizeof(table), 1, stream)
    run("moe_router", (scratch["ids"], scratch["gates"], scratch["probs"], x, router), tokens, experts, top_k,
        width, stream)
    metrics = scratch["table"] + 8 * len(rows)
    run("moe_permute", (scratch["order"], scratch["offsets"], metrics, scratch["pieces"], scratch["ids"],
                        scratch["probs"]), tokens, experts, top_k, 0, stream)
    run("moe_experts_compute", (result, hidden, brain, scratch["table"], scratch["order"], scratch["offsets"],
                                scratch["gates"]), tokens, experts, top_k, width, inner, stream)
    return result


@functools.lru_cache(maxsize=None)
def register_ops():
    import torch

    own = torch.ops.optimized
    heads = "Tensor q, Tensor k, Tensor v, bool causal=False, float? scale=None"
    schemas = {
        matmul: "(Tensor a, Tensor b) -> Tensor",
        layernorm: "(Tensor x, Tensor gamma, Tensor beta, float eps=1e-5) -> Tensor",
        layernorm_backward: "(Tensor grad, Tensor x, Tensor gamma, float eps=1e-5) -> (Tensor, Tensor, Tensor)",
        flash_attention: f"({heads}) -> Tensor",
        flash_attention_backward: f"(Tensor grad, {heads}) -> (Tensor, Tensor, Tensor)",
        moe: "(Tensor x, Tensor router, Tensor up, Tensor down, int top_k=2) -> Tensor",
    }

    def mixture(x, router, up, down, top_k):
        best, ids = torch.topk(x @ router.t(), top_k)
        inside = torch.nn.functional.gelu(torch.einsum("td,efd->tef", x, up.float()), approximate="tanh")
        every = torch.einsum("tef,edf->ted", inside, down.float())
        weights = torch.zeros_like(every[:, :, 0]).scatter(1, ids, best.softmax(1))
        return torch.einsum("te,ted->td", weights, every)

    def of_mixture(grad, x, router, up, down, top_k):
        through = functools.partial(mixture, top_k=top_k)
        return torch.func.vjp(through, x, router, up, down)[1](grad)

    gradients = {  # of the tensors
        matmul: lambda grad, a, b: (own.matmul(grad, b.t()), own.matmul(a.t(), grad)),
        layernorm: lambda grad, x, gamma, beta, eps: own.layernorm_backward(grad, x, gamma, eps),
        flash_attention: lambda grad, *rest: own.flash_attention_backward(grad, *rest),
        moe: of_mixture,
    }
    fakes = {
        matmul: lambda a, b: a.new_empty([a.shape[0], b.shape[1]]),
        layernorm_backward: lambda g, x, gamma, eps=0: tuple(y.new_empty(y.shape) for y in (x, gamma, gamma)),
        flash_attention_backward: lambda g, *heads: tuple(y.new_empty(y.shape) for y in heads[:3]),
    }

    def remember(ctx, inputs, output):
        ctx.count = sum(isinstance(x, torch.Tensor) for x in inputs)
        ctx.save_for_backward(*inputs[: ctx.count])
        ctx.numbers = inputs[ctx.count :]

    def in_place(function):
        def launch(*given):
            with torch.cuda.device_of(given[0]):
                return function(*given, stream=torch.cuda.current_stream(given[0].device).cuda_stream)

        return launch

    def pulled_back(gradient):
        def backward(ctx, grad):
            found = gradient(grad, *ctx.saved_tensors, *ctx.numbers)
            return (*found, *[None] * len(ctx.numbers))

        return backward

    for function, schema in schemas.items():
        name = "optimized::" + function.__name__
        torch.library.define(name, schema)
        torch.library.impl(name, "cuda", in_place(function))
        torch.library.register_fake(name, fakes.get(function, lambda x, *rest: x.new_empty(x.shape)))
        if function in gradients:
            torch.library.register_autograd(name, pulled_back(gradients[function]), setup_context=remember)
