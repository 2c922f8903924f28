#!/usr/bin/env python3
"""Weights of torchvision's ResNet-18 as a file for exercises 504 to 507 (common/weights.h), and back.

    resnet18_weights.py FILE --pretrained        write torchvision's own, trained on ImageNet
    resnet18_weights.py FILE --state STATE.pt    write those of a saved state dict
    resnet18_weights.py FILE --random SEED       write random ones
    resnet18_weights.py FILE --check ANSWERS     read them into torchvision's model, and hold its
                                                 logits against ANSWERS: a file of the arrays images
                                                 [n x 3 x size x size] and logits [n x 1000]

Needs PyTorch and torchvision: `apt-get install python3-torch python3-torchvision`, or pip. Without
them, `build/resnet18 --generate FILE` writes random weights.
"""
import argparse
import struct
import sys
import zlib

MAGIC, VERSION, ALIGNMENT = b"CWEIGHTS", 1, 64
HEADER = struct.Struct("<8sIIQI36x")  # magic, version, arrays, bytes, checksum of the entries
ENTRY = struct.Struct("<88s4IQQI4x")  # name, dims, offset, floats, checksum
TOLERANCE = 1e-5  # of the root mean square of all logits

try:
    import torch
except ImportError as missing:
    sys.exit(f"resnet18_weights.py: {missing}\n\n{__doc__}")
try:
    import torchvision
except ImportError:  # who only reads a file needs it not
    torchvision = None


def aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def write_arrays(path, arrays):
    """The arrays, by name, as a file of weights."""
    entries, bodies, at = [], [], HEADER.size + len(arrays) * ENTRY.size
    for name, array in arrays.items():
        body = array.detach().to(torch.float32).contiguous().numpy().astype("<f4").tobytes()
        dims = list(array.shape) + [1] * (4 - array.dim())
        entries.append(ENTRY.pack(name.encode(), *dims, at, len(body) // 4, zlib.crc32(body)))
        bodies.append(body.ljust(aligned(len(body)), b"\0"))
        at += len(bodies[-1])
    table = b"".join(entries)
    header = HEADER.pack(MAGIC, VERSION, len(entries), at, zlib.crc32(table))
    with open(path, "wb") as file:
        file.write(header + table + b"".join(bodies))


def read_arrays(path):
    """The arrays of a file of weights, by name."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < HEADER.size:
        sys.exit(f"{path}: no file of weights")
    magic, version, count, size, checksum = HEADER.unpack_from(data)
    table = data[HEADER.size : HEADER.size + count * ENTRY.size]
    if magic != MAGIC or version != VERSION:
        sys.exit(f"{path}: no file of weights")
    if size != len(data) or zlib.crc32(table) != checksum:
        sys.exit(f"{path}: cut short, or damaged")
    arrays = {}
    for name, *dims, offset, floats, checksum in ENTRY.iter_unpack(table):
        name, body = name.rstrip(b"\0").decode(), data[offset : offset + 4 * floats]
        if zlib.crc32(body) != checksum:
            sys.exit(f"{path}: damaged: the checksum of {name} is wrong")
        arrays[name] = torch.frombuffer(bytearray(body), dtype=torch.float32).reshape(dims)
    return arrays


def new_model(pretrained=False):
    return torchvision.models.resnet18(weights="IMAGENET1K_V1" if pretrained else None).eval()


def random_model(seed):
    """As torchvision initializes it, with gamma and beta at random, and with running statistics of
    random images: else all images have the same largest logit."""
    torch.manual_seed(seed)
    model = new_model().train()
    for layer in model.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.weight.data.uniform_(0.5, 1.5)
            layer.bias.data.normal_(0, 0.2)
            layer.momentum = None  # the mean over all batches
    with torch.no_grad():
        for _ in range(2):
            model(torch.nn.functional.interpolate(torch.randn(16, 3, 8, 8), size=96))
        model.fc.weight.normal_(0, 0.3)
    return model.eval()


def model_of_state(state, path):
    """torchvision's model with these arrays; says which are missing or of another shape."""
    model = new_model()
    try:
        model.load_state_dict(state)
    except (RuntimeError, TypeError, AttributeError) as error:
        sys.exit(f"{path}: not the weights of a ResNet-18: {error}")
    return model


def model_of_file(path):
    """The model of a file of weights: the file has no shapes of fewer dims, and no counters."""
    arrays, state = read_arrays(path), new_model().state_dict()
    for name, array in state.items():
        if name.endswith(".num_batches_tracked"):
            continue
        dims = list(array.shape) + [1] * (4 - array.dim())
        if name not in arrays or list(arrays[name].shape) != dims:
            sys.exit(f"{path}: {name} is missing, or has another shape than {list(array.shape)}")
        state[name] = arrays[name].reshape(array.shape)
    return model_of_state(state, path)


def arrays_of_model(model):
    """What a file of weights has of it: all but the counters of batches that were trained on."""
    state = model.state_dict()
    return {name: a for name, a in state.items() if not name.endswith(".num_batches_tracked")}


def check(weights, path):
    """Are the logits in the file those of torchvision's model?"""
    answers = read_arrays(path)
    images, logits = answers["images"], answers["logits"].reshape(-1, 1000)
    with torch.no_grad():
        wanted = model_of_file(weights)(images)
    error = ((logits - wanted).double().square().mean() / wanted.double().square().mean()).sqrt()
    same = (logits.argmax(1) == wanted.argmax(1)).sum().item()
    print(f"torchvision {torchvision.__version__}, {len(images)} images of {images.shape[2]}: ")
    for row in range(min(4, len(images))):
        best = wanted[row].argmax().item()
        print(f"  image {row}: {best} with {wanted[row, best]:.6f}, here {logits[row, best]:.6f}")
    print(f"  relative root mean square error {error:.2g}, same top-1 in {same} of {len(images)}")
    return bool(error <= TOLERANCE) and same == len(images)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--pretrained", action="store_true")
    what.add_argument("--state", metavar="STATE.pt")
    what.add_argument("--random", metavar="SEED", type=int)
    what.add_argument("--check", metavar="ANSWERS")
    o = parser.parse_args()
    if torchvision is None:
        sys.exit(f"resnet18_weights.py: there is no torchvision\n\n{__doc__}")
    torch.set_num_threads(1)
    if o.check:
        sys.exit(0 if check(o.file, o.check) else "resnet18_weights.py: other logits")
    if o.state:
        # Only tensors: a pickle may run anything.
        model = model_of_state(torch.load(o.state, map_location="cpu", weights_only=True), o.state)
    else:
        model = new_model(pretrained=True) if o.pretrained else random_model(o.random)
    write_arrays(o.file, arrays_of_model(model))
    print(f"{o.file}: {sum(p.numel() for p in model.parameters())} parameters")


if __name__ == "__main__":
    try:
        main()
    except OSError as problem:
        sys.exit(f"resnet18_weights.py: {problem}")
