# RIGHT: each array is an object with a shape; layers are objects; bias and ReLU in one kernel of 404
import os
import weakref
from ctypes import CDLL, byref, c_char_p, c_float, c_size_t, c_void_p

import numpy

cuda = CDLL(os.environ["COURSE_LIBRARY"])
cuda.cudaGetErrorString.restype = c_char_p


def done(status):
    if status != 0:
        raise RuntimeError(f"CUDA says: {cuda.cudaGetErrorString(status).decode()}")


def release(box):
    address, box.value = box.value, None
    if address is not None:
        cuda.cudaFree(c_void_p(address))


class Tensor:
    def __init__(self, *shape, kind=numpy.float32):
        self.shape, self.kind, self.box = shape, kind, c_void_p()
        self.count = int(numpy.prod(shape))
        weakref.finalize(self, release, self.box)
        done(cuda.cudaMalloc(byref(self.box), c_size_t(self.count * 4)))

    def take(self, values):
        dense = numpy.ascontiguousarray(values, self.kind)
        done(cuda.cudaMemcpy(self.box, c_void_p(dense.ctypes.data), c_size_t(dense.nbytes), 1))
        return self

    def give(self):
        values = numpy.empty(self.shape, self.kind)
        done(cuda.cudaMemcpy(c_void_p(values.ctypes.data), self.box, c_size_t(values.nbytes), 2))
        return values

    def clear(self):
        done(cuda.cudaMemset(self.box, 0, c_size_t(self.count * 4)))
        return self


class Parameter:
    """A tensor that learns."""

    def __init__(self, values):
        self.value = Tensor(*values.shape).take(values)
        self.grad, self.m, self.v = (Tensor(*values.shape).clear() for _ in range(3))

    def learn(self, lr, step):
        rates = (c_float(r) for r in (lr, 0.9, 0.999, 1e-8, 0))
        boxes = (t.box for t in (self.value, self.m, self.v, self.grad))
        done(cuda.adam_update(*boxes, c_size_t(self.value.count), *rates, step, None))


class Linear:
    def __init__(self, rng, inputs, outputs):
        self.sizes = inputs, outputs
        self.w = Parameter(rng.normal(0, (2 / inputs) ** 0.5, (outputs, inputs)))
        self.bias = Parameter(numpy.zeros(outputs))

    def forward(self, x, relu):
        """@return y, and what a ReLU was applied to"""
        self.x, rows = x, x.shape[0]
        y, pre = Tensor(rows, self.sizes[1]), Tensor(rows, self.sizes[1])
        common = x.box, self.w.value.box, self.bias.value.box, rows, *self.sizes, None
        if relu:
            done(cuda.linear_forward_fused(y.box, pre.box, *common))
        else:
            done(cuda.linear_forward(y.box, *common))
        return y, pre

    def backward(self, grad_y, wanted):
        rows = grad_y.shape[0]
        grad_x = Tensor(rows, self.sizes[0]) if wanted else None
        done(cuda.linear_backward(grad_x and grad_x.box, self.w.grad.box, self.bias.grad.box,
                                  grad_y.box, self.x.box, self.w.value.box, rows, *self.sizes, None))
        return grad_x


class NeuralNetworkGPU:
    def __init__(self, inputs, hidden, classes, lr=1e-3, seed=0):
        for size in inputs, hidden, classes:
            if size not in range(1, 2**31):
                raise ValueError(f"{size} units make no layer")
        self.rng = numpy.random.default_rng([seed])
        self.layers = [Linear(self.rng, inputs, hidden), Linear(self.rng, hidden, classes)]
        self.inputs, self.classes, self.lr, self.step, self.history = inputs, classes, lr, 0, []

    def free(self):
        self.layers = []

    def living(self):
        if not self.layers:
            raise ValueError("the network has been freed")
        return self.layers

    def learning(self):
        return [p for layer in self.living() for p in (layer.w, layer.bias)]

    def parameters(self):
        return [p.value.give() for p in self.learning()]

    def refuse(self, X, y):
        self.living()
        if type(X) is not numpy.ndarray or X.dtype != "f4":
            raise TypeError("X: an array of float32, please")
        if type(y) is not numpy.ndarray or y.dtype.kind not in "ui":
            raise TypeError("y: an array of integers, please")
        if X.ndim != 2 or X.shape[1] != self.inputs or y.shape != X.shape[:1] or not len(y):
            raise ValueError(f"X {X.shape} and y {y.shape}: no rows that fit")
        strange = [label for label in y.tolist() if not 0 <= label < self.classes]
        if strange:
            raise ValueError(f"the label {strange[0]} is none of {self.classes} classes")

    def logits(self, X):
        first, second = self.layers
        x = Tensor(*X.shape).take(X)
        hidden, self.pre = first.forward(x, True)
        return second.forward(hidden, False)[0]

    def learn(self, X, y):
        rows, (first, second) = len(y), self.layers
        logits = self.logits(X)
        losses, grad = Tensor(rows), Tensor(rows, self.classes)
        labels = Tensor(rows, kind=numpy.int32).take(y)
        done(cuda.softmax_cross_entropy(losses.box, grad.box, logits.box, labels.box, rows,
                                        self.classes, -1, None))
        grad = second.backward(grad, True)
        done(cuda.relu_backward(grad.box, grad.box, self.pre.box, c_size_t(grad.count), None))
        first.backward(grad, False)
        self.step += 1
        for parameter in self.learning():
            parameter.learn(self.lr, self.step)
        return losses.give()

    def fit(self, X, y, epochs=10, batch_size=64, validation=0.1):
        self.refuse(X, y)
        kept = int(validation * len(X))
        if kept >= len(X) or batch_size < 1:
            raise ValueError("after the split there are no batches")
        rows = numpy.arange(len(X) - kept)
        for epoch in range(epochs):
            self.rng.shuffle(rows)
            seen = []
            for batch in numpy.split(rows, range(batch_size, len(rows), batch_size)):
                seen.extend(self.learn(X[batch], y[batch]))
                print(f"\r{'=' * (30 * len(seen) // len(rows))}>", end="")
            loss = float(numpy.mean(seen, dtype=float))
            accuracy = self.evaluate(X[-kept:], y[-kept:]) if kept else None
            score = f", validation accuracy {accuracy:.2%}" if kept else ""
            print(f"\repoch {epoch + 1}/{epochs}: loss {loss:.4f}{score}")
            self.history.append({"loss": loss, "accuracy": accuracy})
        return self

    def evaluate(self, X, y):
        self.refuse(X, y)
        hits = 0
        for part in range(0, len(y), 4096):
            best = numpy.argmax(self.logits(X[part : part + 4096]).give(), axis=1)
            hits += numpy.count_nonzero(best == y[part : part + 4096])
        return hits / len(y)
