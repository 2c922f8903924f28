"""train_mnist.py [EPOCHS [ROWS]]: train cuda_nn's network (exercise 503) on MNIST and score it once on
the test images. ROWS: of so many training images only, as softgpu needs minutes for what a GPU does
in a second.

The files are those of `make data`, in $COURSE_DATA/mnist or data/mnist.
"""
import gzip
import os
import sys
import time

import numpy
from cuda_nn import NeuralNetworkGPU


def read(name, header):
    """@return the bytes behind the header of an IDX file, plain or gzipped"""
    for folder in (os.path.join(os.environ.get("COURSE_DATA", "data"), "mnist"), "data/mnist"):
        for open_file, path in ((gzip.open, name + ".gz"), (open, name)):
            path = os.path.join(folder, path)
            if os.path.exists(path):
                with open_file(path, "rb") as file:
                    return numpy.frombuffer(file.read(), numpy.uint8, offset=header)
    sys.exit(f"train_mnist.py: there is no {name} in data/mnist: make data")


def images_and_labels(part):
    images = read(part + "-images-idx3-ubyte", 16).reshape(-1, 784)
    return images.astype(numpy.float32) / 255, read(part + "-labels-idx1-ubyte", 8)


def main():
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 60000
    X, y = images_and_labels("train")
    network = NeuralNetworkGPU(784, 128, 10)
    began = time.perf_counter()
    network.fit(X[:rows], y[:rows], epochs=epochs)
    seconds = time.perf_counter() - began
    accuracy = network.evaluate(*images_and_labels("t10k"))
    print(f"test accuracy {100 * accuracy:.2f} %, after {seconds:.1f} s of training")


main()
