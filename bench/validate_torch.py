"""validate_torch.py: an operation of validate.c by PyTorch: prints milliseconds and its error.

   validate_torch.py OPERATION VARIANT SIZE ...     as validate_operations.c has them; more sizes are ignored

As bench_validate does: the median of up to 15 calls, and about 2 seconds, after one to warm up, each
behind a flush of the caches. The error is the largest of some rows against sums in double, as a part
of what was summed. Exits 3 where PyTorch, a GPU or the function is not here.
"""
import contextlib
import math
import statistics
import sys

try:
    import torch
    import torch.nn.functional as F

    if not torch.cuda.is_available():
        sys.exit(3)
except ImportError:
    sys.exit(3)

BF16, F32 = torch.bfloat16, torch.float32


def draw(*shape, size=1.0, dtype=F32):
    """Numbers of bf16."""
    x = torch.randint(-127, 128, shape, device="cuda", dtype=torch.int16)
    return (x.float() / 128 * size).to(dtype)


def some(rows):
    return torch.randint(rows, (16,), device="cuda")


def error(got, want, scale):
    apart = (got.double() - want).abs()
    return torch.where(apart == 0, 0.0, apart / scale).nan_to_num(nan=math.inf).max().item()


def softmax(rows, cols):
    x, r = draw(rows, cols, size=8), some(rows)
    want = torch.softmax(x[r].double(), 1)
    return lambda: torch.softmax(x, 1), lambda y: error(y[r], want, want)


def layernorm(rows, cols):
    x, gamma, beta, r = draw(rows, cols, size=8), draw(cols), draw(cols), some(rows)
    scaled = F.layer_norm(x[r].double(), (cols,), gamma.double(), None, 1e-5)
    want, scale = scaled + beta, scaled.abs() + beta.abs()
    return (
        lambda: F.layer_norm(x, (cols,), gamma, beta, 1e-5),
        lambda y: error(y[r], want, scale),
    )


def attended(q, k, v, mask):
    """out and the sums of sizes, of queries that each have keys of their own"""
    scores = torch.einsum("nd,nud->nu", q.double(), k.double()) / math.sqrt(q.shape[1])
    p = torch.softmax(scores.masked_fill(mask, -math.inf), 1)
    return torch.einsum("nu,nud->nd", p, v.double()), torch.einsum("nu,nud->nd", p, v.double().abs())


def attention(heads, queries, dim):
    q, k, v = (draw(1, heads, queries, dim, dtype=BF16) for _ in range(3))
    h, t = some(heads), some(queries)
    future = torch.arange(queries, device="cuda")[None] > t[:, None]
    want, scale = attended(q[0, h, t], k[0, h], v[0, h], future)
    return (
        lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda y: error(y[0, h, t], want, scale),
    )


def paged(sequences, q_heads, kv_heads, dim, context):
    """Without pages: each context lies in one piece."""
    q = draw(sequences, q_heads, 1, dim, dtype=BF16)
    k, v = (draw(sequences, kv_heads, context, dim, dtype=BF16) for _ in range(2))
    s, h = some(sequences), some(q_heads)
    of_cache = h // (q_heads // kv_heads)
    nothing = torch.zeros(16, context, dtype=torch.bool, device="cuda")
    want, scale = attended(q[s, h, 0], k[s, of_cache], v[s, of_cache], nothing)
    return (
        lambda: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        lambda y: error(y[s, h, 0], want, scale),
    )


def experts(tokens, count, top_k, dim, ffn):
    grouped = torch._grouped_mm
    x, gates = draw(tokens, dim, dtype=BF16), draw(tokens, top_k)
    up = draw(count, ffn, dim, size=2.0 ** round(math.log2(4 / math.sqrt(dim))), dtype=BF16)
    down = draw(count, dim, ffn, dtype=BF16)
    first = torch.randint(count, (tokens, 1), device="cuda")
    ids = ((first + torch.arange(top_k, device="cuda")) % count).flatten()
    order = torch.argsort(ids, stable=True)
    ends = torch.bincount(ids, minlength=count).cumsum(0).int()
    token, gate = order // top_k, gates.flatten()[order, None]

    def run():
        hidden = F.gelu(grouped(x[token], up.mT, offs=ends), approximate="tanh")
        y = grouped(hidden, down.mT, offs=ends)
        return torch.zeros(tokens, dim, device="cuda").index_add_(0, token, y * gate)

    def check(y):
        worst = 0.0
        for t in some(tokens).tolist():
            want, scale = 0.0, 0.0
            for j in range(top_k):
                e = ids[t * top_k + j]
                hidden = F.gelu(up[e].double() @ x[t].double(), approximate="tanh")
                terms = gates[t, j] * hidden * down[e].double()
                want, scale = want + terms.sum(1), scale + terms.square().sum(1).sqrt()
            worst = max(worst, error(y[t], want, scale))
        return worst

    return run, check


def int8(m, n, k):
    a, b = (draw(rows, k, size=128, dtype=torch.int8) for rows in (m, n))
    r = some(m)
    want, scale = a[r].double() @ b.double().T, a[r].double().abs() @ b.double().abs().T
    return lambda: torch._int_mm(a, b.T), lambda y: error(y[r], want, scale)


def linear(batch, inputs, outputs):
    x, w, bias, r = draw(batch, inputs), draw(outputs, inputs), draw(outputs), some(batch)
    want = F.relu(F.linear(x[r].double(), w.double(), bias.double()))
    scale = F.linear(x[r].double().abs(), w.double().abs(), bias.double().abs())
    return lambda: F.relu(F.linear(x, w, bias)), lambda y: error(y[r], want, scale)


def convolution(images, channels, side, filters):
    """By cuDNN, without TF32."""
    torch.backends.cudnn.allow_tf32 = False
    x, w, f = draw(images, channels, side, side), draw(filters, channels, 3, 3), some(filters)
    want = F.conv2d(x.double(), w[f].double(), padding=1)
    scale = F.conv2d(x.double().abs(), w[f].double().abs(), padding=1)
    return lambda: F.conv2d(x, w, padding=1), lambda y: error(y[:, f], want, scale)


def milliseconds(run):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    flushed, times = torch.empty(4 * l2, dtype=torch.int8, device="cuda"), []
    while len(times) <= 15 and sum(times) < 2000:
        flushed.zero_()
        start.record()
        y = run()
        torch.cuda.synchronize()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times[1:] or times), y


def backend(variant):
    """Unfused attention is a product, a softmax and a product, with all scores in memory."""
    if variant != "PyTorch unfused":
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel(SDPBackend.MATH)


OPERATIONS = {
    "softmax": (softmax, 2),
    "layernorm": (layernorm, 2),
    "attention": (attention, 3),
    "paged attention": (paged, 5),
    "experts": (experts, 5),
    "int8 product": (int8, 3),
    "linear, ReLU": (linear, 3),
    "convolution": (convolution, 4),
}
torch.manual_seed(1)
operation, sizes = OPERATIONS[sys.argv[1]]
try:
    run, check = operation(*(int(word) for word in sys.argv[3 : 3 + sizes]))
    with backend(sys.argv[2]):
        ms, y = milliseconds(run)
except (AttributeError, ImportError, TypeError):
    sys.exit(3)
print(ms, check(y))
