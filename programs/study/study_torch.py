#!/usr/bin/env python3
"""The autoencoder of exercise 511 in PyTorch, as rows of the table that build/study prints.

    study_torch.py BATCH ...

Eager, compiled (torch.compile, for each batch anew) and as a CUDA graph, fp32 without TF32. The measures are those of
programs/study/main.c: call and stream by the host's clock; device by a graph of many calls, so that
it is of torch_graph alone.
"""
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional

REPEATS, CALLS, LAUNCHED, MOST_ROWS = 15, 1000, 100, 1 << 20
SLICES, SLICE, HIDDEN, LATENT = 5, 64, 160, 32


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        inputs = SLICES * SLICE
        self.gamma = nn.Parameter(torch.ones(SLICES, SLICE))
        self.beta = nn.Parameter(torch.zeros(SLICES, SLICE))
        self.encode1 = nn.Linear(inputs, HIDDEN)
        self.encode2 = nn.Linear(HIDDEN, LATENT)
        self.norm = nn.LayerNorm(LATENT)
        self.decode1 = nn.Linear(LATENT, HIDDEN)
        self.decode2 = nn.Linear(HIDDEN, inputs)

    def forward(self, x):
        slices = functional.layer_norm(x.view(-1, SLICES, SLICE), (SLICE,))
        x = (slices * self.gamma + self.beta).flatten(1)
        hidden = functional.gelu(self.encode1(x), approximate="tanh")
        latent = self.norm(self.encode2(hidden))
        hidden = functional.gelu(self.decode1(latent), approximate="tanh")
        return self.decode2(hidden), latent


def print_row(name, batch, measure, calls, run):
    """Time run(), which makes so many calls, from an idle device to an idle device."""
    seconds = []
    for i in range(-3, REPEATS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        run()
        torch.cuda.synchronize()
        if i >= 0:
            seconds.append(time.perf_counter() - began)
    seconds.sort()
    half = 1.96 * math.sqrt(REPEATS) / 2
    low, high = math.floor(REPEATS / 2 - half) - 1, math.ceil(REPEATS / 2 + half)
    times = [1e3 * seconds[i] / calls for i in (REPEATS // 2, low, high)]
    print(name, batch, measure, calls, *(f"{t:.6f}" for t in times), sep="\t", flush=True)


def captured(model, x, calls):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # libraries choose their kernels before the capture
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            model(x)
    return graph


def launched(model, x, calls):
    def run():
        for _ in range(calls):
            model(x)

    return run


def study(model, batch):
    x = torch.randn(batch, SLICES * SLICE, device="cuda")
    compiled = compiled_or_none(model, x)
    calls = max(1, min(CALLS, MOST_ROWS // batch))
    for name, kind in (("torch_eager", model), ("torch_compile", compiled)):
        if kind is None:
            continue
        print_row(name, batch, "call", 1, launched(kind, x, 1))
        print_row(name, batch, "stream", min(calls, LAUNCHED), launched(kind, x, min(calls, LAUNCHED)))
    print_row("torch_graph", batch, "replay", 1, captured(model, x, 1).replay)
    print_row("torch_graph", batch, "device", calls, captured(model, x, calls).replay)


def compiled_or_none(model, x):
    """For x's shape alone. torch.compile needs a compiler that not every machine has."""
    try:
        torch.compiler.reset()  # else the second batch would be compiled for any
        compiled = torch.compile(model, dynamic=False)
        compiled(x)
        return compiled
    except Exception as error:  # whatever its back ends raise
        print(f"# torch.compile: batch {len(x)} not measured, {str(error).splitlines()[0]}")
        return None


@torch.no_grad()
def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.backends.cuda.matmul.allow_tf32 = False
    print(f"# PyTorch {torch.__version__}")
    model = Autoencoder().to("cuda").eval()
    for batch in map(int, sys.argv[1:]):
        study(model, batch)


if __name__ == "__main__":
    main()
