"""optimized_ops: SUBMISSION's kernels as operations of PyTorch. `make optimized_ops` puts 512 and the
compiled kernels beside this file.

    import torch, optimized_ops

    torch.ops.load_library(optimized_ops.library)  # by C++; or, by 512: optimized_ops.register_ops()
    c = torch.ops.optimized.matmul(a, b)
    encoder = optimized_ops.OptimizedTransformer(d_model=768, n_heads=12).cuda()

library is the path of liboptimized_ops.so, which is there where python3 had torch. optimized_ops.h is for
programs in C, with liboptimized_kernels.so.
"""
import os

library, kernels = (
    os.path.join(os.path.dirname(os.path.abspath(__file__)), f"liboptimized_{name}.so")
    for name in ("ops", "kernels")
)
os.environ["COURSE_LIBRARIES"] = kernels

from .torch_ops import register_ops


def __getattr__(name):
    if name == "OptimizedTransformer":  # the one thing here that needs torch
        from .transformer import OptimizedTransformer

        return OptimizedTransformer
    raise AttributeError(f"module optimized_ops has no attribute {name}")
