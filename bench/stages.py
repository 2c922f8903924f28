"""stages.py: the stages of stages.c that are in Python, in its memory.

   stages.py STAGE WHAT FILE IMAGES BATCH RATE N PART     FILE: a descriptor of the task's memory

STAGE: python, numpy, cuda_nn, eager or graph; WHAT: training or product. PART: how many steps of an
epoch, or rows of the product, are to be computed. Prints milliseconds: the median of up to 5 runs
and about 2 seconds, after one to warm up; a run that takes that long is not repeated. Parameters
after the last step, or the product, are left in the memory. Exits 3 where something that the stage
needs is not here.
"""
import contextlib
import io
import math
import mmap
import statistics
import sys
import time

stage, what = sys.argv[1:3]
file, images, batch = (int(word) for word in sys.argv[3:6])
rate = float(sys.argv[6])
n, part = int(sys.argv[7]), int(sys.argv[8])
PARAMS, INPUTS, HIDDEN, CLASSES = 101770, 784, 128, 10
BEGINS = [0, HIDDEN * INPUTS, HIDDEN * INPUTS + HIDDEN, PARAMS - CLASSES, PARAMS]
SHAPES = [(HIDDEN, INPUTS), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
STEPS = part if what == "training" else 0
ROWS = [range(i * batch, min((i + 1) * batch, images)) for i in range(STEPS)]


def arrays_of(memory):
    """start, params, x, labels, c, a and b, one behind the other; of anything that can be cut"""
    sizes = [PARAMS, PARAMS, images * INPUTS, images, n * n, n * n, n * n]
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [memory[end - size : end] for size, end in zip(sizes, ends)]


# --- loops --------------------------------------------------------------------------------------


def dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def add_scaled(y, factor, x):
    for i in range(len(x)):
        y[i] += factor * x[i]


class Loops:
    """Lists and loops, image by image, as 112 does it in C."""

    def __init__(self, memory):
        self.start, self.params, x, self.labels, self.c, a, b = arrays_of(memory.cast("f"))
        self.labels = self.labels.cast("B").cast("i")
        self.rows = [list(x[i * INPUTS : (i + 1) * INPUTS]) for rows in ROWS for i in rows]
        self.a, self.b = ([list(m[i * n : (i + 1) * n]) for i in range(n)] for m in (a, b))

    def reset(self):
        self.p, self.m, self.v = list(self.start), [0.0] * PARAMS, [0.0] * PARAMS

    def image(self, grads, x, label, scale):
        w1, bias1, w2, bias2 = self.parts
        hidden = [max(0.0, dot(w1[i], x) + bias1[i]) for i in range(HIDDEN)]
        logits = [dot(w2[c], hidden) + bias2[c] for c in range(CLASSES)]
        exps = [math.exp(logit - max(logits)) for logit in logits]
        grad_hidden = [0.0] * HIDDEN
        for c in range(CLASSES):
            grad = scale * (exps[c] / sum(exps) - (c == label))
            add_scaled(grad_hidden, grad, w2[c])
            add_scaled(grads[2][c], grad, hidden)
            grads[3][c] += grad
        for i in range(HIDDEN):
            if hidden[i] > 0.0:
                add_scaled(grads[0][i], grad_hidden[i], x)
                grads[1][i] += grad_hidden[i]

    def adam(self, grad, step):
        p, m, v = self.p, self.m, self.v
        correct1, correct2 = 1 - BETA1**step, 1 - BETA2**step
        for i in range(PARAMS):
            m[i] = BETA1 * m[i] + (1 - BETA1) * grad[i]
            v[i] = BETA2 * v[i] + (1 - BETA2) * grad[i] * grad[i]
            p[i] -= rate * (m[i] / correct1) / (math.sqrt(v[i] / correct2) + EPSILON)

    def cut(self, flat):
        """w1 and w2 as rows"""
        w1, bias1, w2, bias2 = (flat[i:j] for i, j in zip(BEGINS, BEGINS[1:]))
        w1 = [w1[i * INPUTS : (i + 1) * INPUTS] for i in range(HIDDEN)]
        return w1, bias1, [w2[i * HIDDEN : (i + 1) * HIDDEN] for i in range(CLASSES)], bias2

    def train(self):
        for step, rows in enumerate(ROWS, 1):
            grads, self.parts = self.cut([0.0] * PARAMS), self.cut(self.p)
            for i in rows:
                self.image(grads, self.rows[i], self.labels[i], 1 / len(rows))
            w1, bias1, w2, bias2 = grads
            self.adam(sum(w1, []) + bias1 + sum(w2, []) + bias2, step)

    def keep(self):
        for i in range(PARAMS):
            self.params[i] = self.p[i]

    def multiply(self):
        for i in range(part):
            for j in range(n):
                total = 0.0
                for k in range(n):
                    total += self.a[i][k] * self.b[k][j]
                self.c[i * n + j] = total


# --- NumPy, and what takes its arrays -----------------------------------------------------------


class NumPy:
    """Whole batches, as 501 does it."""

    def __init__(self, memory):
        arrays = arrays_of(numpy.frombuffer(memory, numpy.float32))
        self.start, self.params, self.x, self.labels = arrays[:4]
        self.c, self.a, self.b = (array.reshape(n, n) for array in arrays[4:])
        self.x, self.labels = self.x.reshape(images, INPUTS), self.labels.view(numpy.int32)

    def reset(self):
        self.p, self.grad = self.start.copy(), numpy.zeros_like(self.start)
        self.m, self.v = numpy.zeros_like(self.p), numpy.zeros_like(self.p)

    def cut(self, flat):
        return [flat[i:j].reshape(s) for i, j, s in zip(BEGINS, BEGINS[1:], SHAPES)]

    def gradients(self, x, labels):
        w1, bias1, w2, bias2 = self.cut(self.p)
        grad_w1, grad_bias1, grad_w2, grad_bias2 = self.cut(self.grad)
        hidden = numpy.maximum(x @ w1.T + bias1, 0)
        logits = hidden @ w2.T + bias2
        grad = numpy.exp(logits - logits.max(axis=1, keepdims=True))
        grad /= grad.sum(axis=1, keepdims=True)
        grad[numpy.arange(len(x)), labels] -= 1
        grad /= len(x)
        grad_w2[:], grad_bias2[:] = grad.T @ hidden, grad.sum(axis=0)
        grad_hidden = (grad @ w2) * (hidden > 0)
        grad_w1[:], grad_bias1[:] = grad_hidden.T @ x, grad_hidden.sum(axis=0)

    def train(self):
        for step, rows in enumerate(ROWS, 1):
            rows = slice(rows.start, rows.stop)
            self.gradients(self.x[rows], self.labels[rows])
            self.m += numpy.float32(1 - BETA1) * (self.grad - self.m)
            self.v += numpy.float32(1 - BETA2) * (self.grad * self.grad - self.v)
            root = numpy.sqrt(self.v / numpy.float32(1 - BETA2**step)) + numpy.float32(EPSILON)
            self.p -= numpy.float32(rate / (1 - BETA1**step)) * self.m / root

    def keep(self):
        self.params[:] = self.p

    def multiply(self):
        numpy.matmul(self.a, self.b, out=self.c)


class InOrder:
    """Instead of 503's random numbers: every stage takes the images in their order."""

    permutation = staticmethod(lambda count: numpy.arange(count))


class CudaNN(NumPy):
    """fit of 503; its bar is written, to nowhere."""

    def reset(self):
        self.network = cuda_nn.NeuralNetworkGPU(INPUTS, HIDDEN, CLASSES, lr=rate)
        self.network.memory[0].write(self.start)
        self.network.rng = InOrder
        self.network.reserve(batch)

    def train(self):
        with contextlib.redirect_stdout(io.StringIO()):
            end = ROWS[-1].stop
            self.network.fit(self.x[:end], self.labels[:end], epochs=1, batch_size=batch, validation=0)

    def keep(self):
        self.params[:] = numpy.concatenate([part.ravel() for part in self.network.parameters()])


# --- PyTorch ------------------------------------------------------------------------------------


class Torch(NumPy):
    """Images and matrices on the device; as a graph, all of an epoch is one."""

    def __init__(self, memory):
        super().__init__(memory)
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.cuda.set_stream(torch.cuda.Stream())  # which can be captured
        self.d_x, self.d_labels = torch.tensor(self.x).cuda(), torch.tensor(self.labels).long().cuda()
        self.d_a, self.d_b = torch.tensor(self.a).cuda(), torch.tensor(self.b).cuda()
        self.d_c = torch.empty_like(self.d_a)
        layers = [torch.nn.Linear(INPUTS, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, CLASSES)]
        self.network = torch.nn.Sequential(*layers).cuda()
        # Not fused, a graph corrects the bias of Adam in float32: up to 3e-4 of the loss of an epoch.
        graphed = {"capturable": True, "fused": True} if stage == "graph" else {}
        self.adam = torch.optim.Adam(self.network.parameters(), lr=rate, **graphed)
        self.run = self.work
        if stage == "graph":
            self.steps(ROWS[:3]) if what == "training" else self.work()
            self.reset()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.work()
            self.run = graph.replay

    def steps(self, some):
        for rows in some:
            rows = slice(rows.start, rows.stop)
            self.adam.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(self.network(self.d_x[rows]), self.d_labels[rows]).backward()
            self.adam.step()

    def work(self):
        if what == "training":
            self.steps(ROWS)
        else:
            torch.mm(self.d_a, self.d_b, out=self.d_c)

    def reset(self):
        """In place: a graph knows addresses."""
        with torch.no_grad():
            for values, start in zip(self.network.parameters(), self.cut(self.start)):
                values.copy_(torch.tensor(start))
        for state in self.adam.state.values():
            for value in state.values():
                value.zero_()
        torch.cuda.synchronize()

    def train(self):
        self.run()
        torch.cuda.synchronize()

    multiply = train

    def keep(self):
        parts = [values.detach().cpu().numpy().ravel() for values in self.network.parameters()]
        self.params[:] = numpy.concatenate(parts)
        self.c[:] = self.d_c.cpu().numpy()


def once(task):
    task.reset()
    run = task.train if what == "training" else task.multiply
    began = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - began)


try:
    if stage != "python":
        import numpy
    if stage == "cuda_nn":
        import cuda_nn
    if stage in ("eager", "graph"):
        import torch

        if not torch.cuda.is_available():
            sys.exit(3)
except ImportError:
    sys.exit(3)
kind = {"python": Loops, "numpy": NumPy, "cuda_nn": CudaNN}.get(stage, Torch)
task = kind(memoryview(mmap.mmap(file, 0)))
times = []
while len(times) <= 5 and sum(times) < 2000:
    times.append(once(task))
task.keep()
print(statistics.median(times[1:] or times))
