#!/usr/bin/env python3
"""ResNet-18 in PyTorch, timed like build/resnet18 and on its parameters, as rows of the same CSV.

    resnet18_torch.py --weights FILE [--answers FILE] [--size 224] [--batches 1,4,8,16,32,64]
                      [--repeats 15] [--warmup 5] [--budget 5] [--device auto|cpu|cuda]

FILE of the weights is what `resnet18 --generate FILE` writes; that of the answers (images, and the
logits of exercise 504 for them) what `resnet18 --verify --answers FILE` writes.

On a GPU: eager and as a CUDA graph, in fp32 (TF32 off), TF32, and fp16 with channels last. Times are
medians between two events, images and logits on the device (device_ms), and by the clock of the host
from pinned memory to ordinary memory (ms). On the CPU: one thread.
"""
import argparse
import pathlib
import statistics
import sys
import time

import torch
from torch import nn

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from resnet18_weights import read_arrays  # noqa: E402

COLUMNS = (
    "implementation precision size batch measured_at ms fastest_ms slowest_ms images_per_second "
    "device_ms device_images_per_second cpu_ms cpu_measured_at speedup copies holds_bytes "
    "peak_bytes used_bytes convolution_ms batchnorm_ms relu_add_ms pooling_ms linear_ms copies_ms "
    "other_ms layer_error logit_error same_top1 images independent queued_ms error"
).split()


class Block(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels_in != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + shortcut)


class ResNet18(nn.Module):
    """With the names of torchvision's."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(Block(64, 64, 1), Block(64, 64, 1))
        self.layer2 = nn.Sequential(Block(64, 128, 2), Block(128, 128, 1))
        self.layer3 = nn.Sequential(Block(128, 256, 2), Block(256, 256, 1))
        self.layer4 = nn.Sequential(Block(256, 512, 2), Block(512, 512, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, 1000)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def make_model(arrays):
    try:
        from torchvision.models import resnet18

        model = resnet18()
    except ImportError:
        model = ResNet18()
    own = model.state_dict()
    missing = [n for n in own if n not in arrays and not n.endswith("num_batches_tracked")]
    if missing:
        sys.exit(f"the file of weights has no {missing[0]}")
    model.load_state_dict(
        {n: arrays[n].reshape(t.shape) if n in arrays else t for n, t in own.items()}
    )
    return model.eval()


def print_row(**fields):
    def text(value):
        return f"{value:.5g}" if isinstance(value, float) else str(value)

    print(",".join(text(fields[c]) if c in fields else "" for c in COLUMNS), flush=True)


def compare(forward, answers):
    """How the logits differ from those of exercise 504, as fields of a row."""
    if answers is None:
        return {}
    want = answers["logits"].reshape(-1, 1000)
    got = forward(answers["images"]).float().cpu()
    return {
        "logit_error": float((got - want).norm() / want.norm()),
        "same_top1": int((got.argmax(1) == want.argmax(1)).sum()),
        "images": len(want),
    }


# --- the CPU ------------------------------------------------------------------------------------


def timed_on_cpu(call, options):
    times = []
    for i in range(-options.warmup, options.repeats):
        began = time.perf_counter()
        call()
        if i >= 0:
            times.append(1e3 * (time.perf_counter() - began))
    return times


def sweep_cpu(model, answers, options):
    torch.set_num_threads(1)
    agreed = compare(model, answers)
    timed = None
    for batch in options.batches:
        calls = options.warmup + options.repeats
        if timed and timed[1] / timed[0] * batch * calls > 1e3 * options.budget:
            ms, scaled = timed[1] * batch / timed[0], timed[0]
            spread = {}
        else:
            x = torch.randn(batch, 3, options.size, options.size)
            times = timed_on_cpu(lambda: model(x), options)
            ms, scaled = statistics.median(times), batch
            timed = (batch, ms)
            spread = {"fastest_ms": min(times), "slowest_ms": max(times)}
        print_row(implementation="torch_cpu", precision="fp32", size=options.size, batch=batch,
                  measured_at=scaled, ms=ms, images_per_second=1e3 * batch / ms, **spread,
                  **agreed)  # fmt: skip


# --- a GPU --------------------------------------------------------------------------------------


def timed_on_gpu(call, options):
    """Milliseconds between two events around each call."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    times = []
    for i in range(-options.warmup, options.repeats):
        marks[0].record()
        call()
        marks[1].record()
        marks[1].synchronize()
        if i >= 0:
            times.append(marks[0].elapsed_time(marks[1]))
    return times


def captured(model, x):
    """A call that replays model(x) as one graph, and the logits that it writes."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # libraries choose their kernels before the capture
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
    return graph.replay, y


def sweep_gpu(arrays, answers, options, name, precision):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    kind = torch.float16 if precision == "fp16" else torch.float32
    order = torch.channels_last if precision == "fp16" else torch.contiguous_format
    model = make_model(arrays).to("cuda", kind, memory_format=order)

    def on_gpu(x, **how):
        return x.to("cuda", **how).to(kind, memory_format=order)

    agreed = compare(lambda x: model(on_gpu(x)), answers)
    for batch in options.batches:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        h_x = torch.randn(batch, 3, options.size, options.size).pin_memory()
        x = on_gpu(h_x)
        call, y = (lambda: model(x)), None
        if name == "torch_graph":
            call, y = captured(model, x)
        on_device = timed_on_gpu(call, options)

        def from_host_to_host():
            x.copy_(on_gpu(h_x, non_blocking=True))
            z = call()
            (y if y is not None else z).float().cpu()

        through = timed_on_cpu(from_host_to_host, options)
        ms, device_ms = statistics.median(through), statistics.median(on_device)
        print_row(implementation=name, precision=precision, size=options.size, batch=batch,
                  measured_at=batch, ms=ms, fastest_ms=min(through), slowest_ms=max(through),
                  images_per_second=1e3 * batch / ms, device_ms=device_ms,
                  device_images_per_second=1e3 * batch / device_ms,
                  peak_bytes=torch.cuda.max_memory_allocated(),
                  used_bytes=torch.cuda.memory_reserved(), **agreed)  # fmt: skip


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", required=True)
    parser.add_argument("--answers")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batches", default="1,4,8,16,32,64",
                        type=lambda s: [int(n) for n in s.split(",")])  # fmt: skip
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--budget", type=float, default=5.0)
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    return parser.parse_args()


@torch.no_grad()
def main():
    options = parse()
    arrays = read_arrays(options.weights)
    answers = read_arrays(options.answers) if options.answers else None
    print(f"# PyTorch {torch.__version__}")
    if options.device != "cuda":
        sweep_cpu(make_model(arrays), answers, options)
    if options.device == "cpu" or not torch.cuda.is_available():
        return
    for precision in ("fp32", "tf32", "fp16"):
        for name in ("torch_eager", "torch_graph"):
            sweep_gpu(arrays, answers, options, name, precision)


if __name__ == "__main__":
    main()
