#!/usr/bin/env python3
"""A training step of GPT-2 124M in PyTorch, as rows of bench_gpt2's table.

    gpt2_torch.py [tiny]

Batch 4 in fp32 (TF32 off) and TF32, batch 32 in bf16 by autocast; 1,024 tokens a sequence, random.
Eager, and torch.compile where there is time for it. Attention is scaled_dot_product_attention,
AdamW is fused, gradients are clipped. Times are medians, the device idle before and after; GiB are
the most that PyTorch's allocator held. tiny: a tiny network on the CPU, which has no times.
"""
import contextlib
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

WARMUP, STEPS = 3, 15


class Layer(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.qkv, self.proj = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.fc, self.fcproj = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)

    def forward(self, x):
        batch, seq, channels = x.shape
        rows = self.qkv(self.ln1(x)).view(batch, seq, 3, self.heads, channels // self.heads)
        q, k, v = rows.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, seq, channels))
        return x + self.fcproj(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, vocab, context, layers, heads, channels):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, channels), nn.Embedding(context, channels)
        self.layers = nn.ModuleList(Layer(channels, heads) for _ in range(layers))
        self.lnf = nn.LayerNorm(channels)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        logits = F.linear(self.lnf(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def matrices_decay(net):
    return [
        {"params": [p for p in net.parameters() if p.dim() == 2], "weight_decay": 0.1},
        {"params": [p for p in net.parameters() if p.dim() != 2], "weight_decay": 0.0},
    ]


def measure(name, precision, config, batch, seq, device):
    """Prints a row."""
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("highest" if precision == "fp32" else "high")
    net = GPT(*config).to(device)
    adam = torch.optim.AdamW(
        matrices_decay(net), lr=1e-3, betas=(0.9, 0.95), fused=device == "cuda"
    )
    tokens, targets = torch.randint(config[0], (2, batch, seq), device=device)
    run = torch.compile(net) if name == "PyTorch compile" else net
    cast = contextlib.nullcontext()
    if precision == "bf16":
        cast = torch.autocast(device, torch.bfloat16)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    losses, times, forward, backward = [], [], [], []
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    for _ in range(WARMUP + STEPS if device == "cuda" else 2):
        wait()
        began = time.perf_counter()
        with cast:
            loss = run(tokens, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        adam.step()
        adam.zero_grad(set_to_none=True)
        wait()
        times.append(1e3 * (time.perf_counter() - began))
        losses.append(loss.item())
    for _ in range(STEPS if device == "cuda" else 0):  # the halves, waiting behind each
        began = time.perf_counter()
        with cast:
            loss = run(tokens, targets)
        wait()
        half = time.perf_counter()
        loss.backward()
        wait()
        forward.append(1e3 * (half - began))
        backward.append(1e3 * (time.perf_counter() - half))
        adam.zero_grad(set_to_none=True)
    _, _, layers, _, channels = config
    multiplied = layers * 12 * channels**2 + config[0] * channels
    flop = batch * seq * (6 * multiplied + 6 * seq * channels * layers)
    numbers = "\t\t\t\t\t"
    if device == "cuda":
        ms = statistics.median(times[WARMUP:])
        gib = torch.cuda.max_memory_allocated() / 2**30
        halves = f"{statistics.median(forward):.3f}\t{statistics.median(backward):.3f}"
        numbers = f"{ms:.3f}\t{halves}\t{1e3 * batch * seq / ms:.0f}\t{1e-9 * flop / ms:.1f}\t{gib:.3f}"
    verdict = "right" if losses[-1] < losses[0] else "WRONG"
    print(f"{name}\t{precision}\t{batch}\t{seq}\t{numbers}\t{verdict}", flush=True)


def main():
    if sys.argv[1:] == ["tiny"]:
        measure("PyTorch eager", "fp32", (50, 16, 1, 1, 64), 1, 16, "cpu")
        return
    if not torch.cuda.is_available():
        sys.exit("gpt2_torch.py: PyTorch sees no GPU")
    gpt2 = (50257, 1024, 12, 12, 768)
    for name in ("PyTorch eager", "PyTorch compile"):
        for precision, batch in (("fp32", 4), ("tf32", 4), ("bf16", 4), ("bf16", 32)):
            try:
                measure(name, precision, gpt2, batch, 1024, "cuda")
            except Exception as error:  # a compiler may be missing, or memory
                reason = str(error).split("\n", 1)[0].replace("\t", " ")
                print(f"{name}\t{precision}\t{batch}\t1024\t\t\t\t\t\t\tfailed: {reason}", flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
