#!/usr/bin/env python3
"""What the operations of 512 cost in PyTorch, as a table.

    make optimized_ops && PYTHONPATH=build python3 programs/torch_ops/pytorch_integration.py [MODE ...]

An encoder of d_model 768 with 12 heads, forward and forward with backward, in fp32 without TF32 and in bf16:
nn.TransformerEncoder and OptimizedTransformer, called in the same ways: as they are ("eager"), as a CUDA
graph by torch.cuda.make_graphed_callables ("graph"), by torch.compile with its graphs ("compile", which
takes minutes). `times` compares with nn.TransformerEncoder in the same mode. Then, of all modes, each
operation on tensors so small that its time is the way to the GPU, beside torch's own: registered by C++,
and, in a process of its own, by the Python of 512 (BY=Python). inference_mode does not ask for gradients,
no_grad asks whether there are any.
"""
import copy
import os
import statistics
import subprocess
import sys
import time
import warnings

ROUNDS, SIZES = 7, ((8, 128), (8, 512), (2, 2048))
MODES = ("eager", "graph", "compile")


def milliseconds(torch, run, calls):
    """@return the median time of a call: of the host until it returns, and until the device is done"""
    times = []
    for i in range(-2, ROUNDS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(calls):
            run()
        queued = time.perf_counter()
        torch.cuda.synchronize()
        times += [(queued - began, time.perf_counter() - began)] if i >= 0 else []
    queued, done = (statistics.median(column) for column in zip(*times))
    return 1e3 * queued / calls, 1e3 * done / calls


def encoders(torch, optimized_ops, dtype, n_layers=6):
    from optimized_ops.transformer import torch_encoder

    encoder = torch_encoder(n_layers=n_layers).cuda()
    whole = optimized_ops.OptimizedTransformer(768, 12, n_layers, dtype=dtype).cuda().copy_from(encoder)
    return {"nn.TransformerEncoder": encoder.to(dtype), "OptimizedTransformer": whole}


def called(torch, network, mode, x):
    """@return what to call in place of the network"""
    if mode == "graph":
        return torch.cuda.make_graphed_callables(copy.deepcopy(network), (x,))
    if mode == "compile":
        torch._dynamo.reset()
        return torch.compile(network, mode="reduce-overhead", dynamic=False)
    return network


def print_encoders(torch, optimized_ops, precision, dtype, modes):
    networks = encoders(torch, optimized_ops, dtype)
    for batch, seq in SIZES:
        x = torch.randn(batch, seq, 768, device="cuda", dtype=dtype)
        grad = torch.randn_like(x)

        def forward(call):
            with torch.no_grad():
                call(x)

        def both(call):
            call(x).backward(grad)
            for parameter in call.parameters():
                parameter.grad = None

        for mode in modes:
            calls = {name: called(torch, network, mode, x) for name, network in networks.items()}
            for passes, work in (("forward", forward), ("both", both)):
                first = None
                for name, call in calls.items():
                    ms = milliseconds(torch, lambda: work(call), 2)[1]
                    first = first or ms
                    print(name, precision, batch, seq, passes, mode, f"{ms:.3f}", f"{first / ms:.2f}", sep="\t",
                          flush=True)


def small_calls(torch):
    """Name, our operation, torch's own or None; all on tensors of a few elements."""
    ops, functional = torch.ops.optimized, torch.nn.functional
    a, gamma = torch.randn(16, 16, device="cuda"), torch.ones(16, device="cuda")
    q = torch.randn(1, 2, 16, 16, device="cuda")
    up = torch.randn(4, 16, 16, device="cuda").bfloat16()
    return [
        ("matmul", lambda: ops.matmul(a, a), lambda: torch.mm(a, a)),
        ("layernorm", lambda: ops.layernorm(a, gamma, gamma), lambda: functional.layer_norm(a, (16,), gamma, gamma)),
        ("flash_attention", lambda: ops.flash_attention(q, q, q),
         lambda: functional.scaled_dot_product_attention(q, q, q)),
        ("moe", lambda: ops.moe(a, a[:4], up, up), None),
    ]


def print_overhead(torch, by):
    """Microseconds until a call returns, the GPU having room for it."""
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            for name, *calls in small_calls(torch):
                texts = [f"{1e3 * milliseconds(torch, call, 100)[0]:.2f}" if call else "-" for call in calls]
                print(name, by, mode.__name__, *texts, sep="\t", flush=True)


def main():
    try:
        import torch
    except ImportError:
        sys.exit("pytorch_integration.py: needs python3 with torch")
    if not torch.cuda.is_available():
        sys.exit("pytorch_integration.py: PyTorch sees no GPU")
    try:
        import optimized_ops
    except ImportError:
        sys.exit("pytorch_integration.py: there is no optimized_ops: make optimized_ops, and PYTHONPATH=build")
    if os.environ.get("BY") == "Python":
        optimized_ops.register_ops()
        print_overhead(torch, "Python")
        return
    modes = sys.argv[1:] or MODES
    if set(modes) - set(MODES):
        sys.exit(f"pytorch_integration.py: the modes are {', '.join(MODES)}")
    torch.ops.load_library(optimized_ops.library)
    warnings.filterwarnings("ignore", module="torch._inductor")
    print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print("network", "precision", "batch", "seq", "pass", "mode", "ms", "times", sep="\t")
    print_encoders(torch, optimized_ops, "fp32", torch.float32, modes)
    print_encoders(torch, optimized_ops, "bf16", torch.bfloat16, modes)
    print("\noperation", "by", "mode", "us", "us of torch's own", sep="\t")
    print_overhead(torch, "C++")
    subprocess.run([sys.executable, __file__], env=os.environ | {"BY": "Python"}, check=True)


if __name__ == "__main__":
    main()
