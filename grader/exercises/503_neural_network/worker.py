# 503_neural_network/worker.py: what the cases do in Python, as in that of 216, which stands above.
import contextlib
import io


class Watch:
    """Stands where the student's `cuda` stood, and looks at the arguments of one function's calls."""

    def __init__(self, student, name, look):
        self.student, self.real, self.name, self.look = student, student.cuda, name, look

    def __enter__(self):
        self.student.cuda = self
        return self

    def __exit__(self, *_):
        self.student.cuda = self.real

    def __getattr__(self, name):
        real = getattr(self.real, name)
        if name != self.name:
            return real

        def called(*arguments):
            self.look(self.real, arguments)
            return real(*arguments)

        return called


def quietly(call, *arguments, **named):
    """@return what it returns, and what it prints on stdout"""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        result = call(*arguments, **named)
    return result, text.getvalue()


def flat(network):
    return numpy.concatenate([numpy.asarray(part).ravel() for part in network.parameters()])


def own_labels(network, x):
    """@return the labels that its parameters give these rows, computed by NumPy"""
    w1, bias1, w2, bias2 = network.parameters()
    return (numpy.maximum(x @ w1.T + bias1, 0) @ w2.T + bias2).argmax(axis=1)


def train(student, before, after, losses, accuracies, x, y, inputs, hidden, classes, validation,
          batch, lr, order):
    x = in_order(x, len(y), inputs, order)
    labels = y.astype(numpy.uint8) if order else y
    network = student.NeuralNetworkGPU(inputs, hidden, classes, lr=lr, seed=5)
    before[:] = flat(network)
    quietly(network.fit, x, labels, epochs=len(losses), batch_size=batch, validation=validation)
    after[:] = flat(network)
    losses[:] = [epoch["loss"] for epoch in network.history]
    accuracies[:-2] = [epoch["accuracy"] for epoch in network.history]
    accuracies[-2] = network.evaluate(x, labels)
    accuracies[-1] = network.evaluate(x, own_labels(network, x))


def clusters(seed, rows, inputs, classes):
    rng = numpy.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    x = 2 * rng.standard_normal((classes, inputs))[y] + rng.standard_normal((rows, inputs))
    return x.astype(numpy.float32), y


def learns(student, told):
    x, y = clusters(1, 200, 16, 4)
    network, text = quietly(student.NeuralNetworkGPU(16, 24, 4, lr=1e-2).fit, x, y, epochs=4)
    ends, words = [f"epoch {i}/4: loss " for i in range(1, 5)], ""
    if not isinstance(network, student.NeuralNetworkGPU):
        words = "fit does not return the network"
    elif not all(end in text for end in ends) or text.count(", validation accuracy ") != 4:
        words = "fit prints no line for each epoch: " + text[-60:].strip()
    elif text.count("\r") < 12:
        words = "fit prints no bar while an epoch runs"
    elif network.evaluate(x, y) < 0.9:
        words = f"after 4 epochs {100 * network.evaluate(x, y):.0f} % of what is easy are right"
    elif "validation" in quietly(network.fit, x, y, epochs=1, validation=0)[1] or network.history[4]["accuracy"] is not None:
        words = "without rows for validation fit says how many of these are right"
    tell(told, words)


def shuffles(student, told):
    x, y = clusters(2, 60, 3, 60)
    y[:] = numpy.arange(60)  # each row has its own label: which is which shows on the device
    seen = []

    def look(cuda, arguments):
        labels = numpy.empty(arguments[4], numpy.int32)
        cuda.cudaMemcpy(ctypes.c_void_p(labels.ctypes.data), arguments[3], ctypes.c_size_t(labels.nbytes), 2)
        seen.extend(labels)

    with Watch(student, "softmax_cross_entropy", look):
        network = student.NeuralNetworkGPU(3, 4, 60)
        quietly(network.fit, x, y, epochs=2, batch_size=16, validation=0.2)
    first, second, all48 = seen[:48], seen[48:], list(range(48))
    words = ""
    if sorted(first) != all48 or sorted(second) != all48:
        words = f"an epoch is to train on each of the first 48 of 60 rows once, and trained on {len(seen) / 2:g}"
    elif first == all48 or first == second:
        words = "the rows come in the same order again: each epoch wants a new one"
    tell(told, words)


def network_refusals(student, told):
    make = student.NeuralNetworkGPU
    network, freed = make(4, 3, 2), make(4, 3, 2)
    freed.free()
    freed.free()
    x, y = numpy.ones((5, 4), numpy.float32), numpy.array([0, 1, 1, 0, 1])
    quietly(network.fit, x, y, epochs=1, batch_size=1)
    before = flat(network)
    rows = [
        ("X of float64", TypeError, lambda: network.fit(x.astype(float), y)),
        ("X as a list", TypeError, lambda: network.fit(x.tolist(), y)),
        ("labels of float32", TypeError, lambda: network.fit(x, y.astype(numpy.float32))),
        ("X of 3 columns for 4 inputs", ValueError, lambda: network.fit(x[:, :3], y)),
        ("X of one dimension", ValueError, lambda: network.evaluate(x[0], y[:1])),
        ("4 labels for 5 rows", ValueError, lambda: network.fit(x, y[:4])),
        ("a label 2 of 2 classes", ValueError, lambda: network.fit(x, y + 1)),
        ("a label -1", ValueError, lambda: network.evaluate(x, y - 1)),
        ("a label 2^32", ValueError, lambda: network.evaluate(x, y + 2**32)),
        ("no rows to train on", ValueError, lambda: network.fit(x[:0], y[:0])),
        ("no rows to evaluate", ValueError, lambda: network.evaluate(x[:0], y[:0])),
        ("all rows for validation", ValueError, lambda: network.fit(x, y, validation=1.0)),
        ("batches of 0 rows", ValueError, lambda: network.fit(x, y, batch_size=0)),
        ("batches of -1 rows", ValueError, lambda: network.fit(x, y, batch_size=-1)),
        ("batches of 0 rows in no epoch", ValueError, lambda: network.fit(x, y, epochs=0, batch_size=0)),
        ("a layer of 0 units", ValueError, lambda: make(4, 0, 2)),
        ("a layer of -1 units", ValueError, lambda: make(-1, 3, 2)),
        ("a layer of 2^31 units", ValueError, lambda: make(2**31, 1, 1)),
        ("fit of a freed network", ValueError, lambda: freed.fit(x, y)),
        ("evaluate of a freed network", ValueError, lambda: freed.evaluate(x, y)),
        ("parameters of a freed network", ValueError, lambda: freed.parameters()),
    ]
    words = next(filter(None, (quietly(refused, *row)[0] for row in rows)), "")
    if not words and (len(network.history) != 1 or not numpy.array_equal(before, flat(network))):
        words = "what is refused changed the parameters or the history"
    tell(told, words)


def two_networks(student, told):
    """One alone, and then the same one with another beside it."""
    x, y = clusters(3, 50, 6, 3)
    alone = quietly(student.NeuralNetworkGPU(6, 5, 3, seed=7).fit, x, y, epochs=2)[0]
    one, other = student.NeuralNetworkGPU(6, 5, 3, seed=7), student.NeuralNetworkGPU(6, 9, 3, seed=8)
    for _ in range(2):
        quietly(one.fit, x, y, epochs=1)
        quietly(other.fit, -x, y, epochs=1)
    usual = quietly(student.NeuralNetworkGPU(6, 5, 3, lr=1e-3, seed=7).fit, x, y, epochs=2)[0]
    other_seed = student.NeuralNetworkGPU(6, 5, 3, seed=8)
    words = ""
    if not numpy.allclose(flat(alone), flat(usual), atol=1e-5):
        words = "without lr a network learns something else than with lr=1e-3"
    elif numpy.array_equal(flat(other_seed), flat(student.NeuralNetworkGPU(6, 5, 3, seed=7))):
        words = "another seed gives the same weights"
    elif not numpy.allclose(flat(alone), flat(one), atol=1e-5):
        words = "a network learned something else while another one lived"
    del other
    gc.collect()
    if not words and one.evaluate(x, y) != alone.evaluate(x, y):
        words = "with the end of one network another one changed"
    tell(told, words)


def network_broken_off(student, at, error):
    """@return what is wrong when call number `at` fails, or None when there are fewer"""
    x, y = clusters(4, 20, 3, 2)
    how = "was refused memory" if error else "was interrupted"
    kind = RuntimeError if error else KeyboardInterrupt
    words, network = "", None
    gc.collect()  # what earlier calls left is not freed in this one
    with Cuda(student, at, error) as cuda:
        try:
            network = student.NeuralNetworkGPU(3, 4, 2)
            quietly(network.fit, x, y, epochs=1, batch_size=18)
            if cuda.calls < at:
                return None if cuda.calls else "no call of `cuda` was seen: call cuda.linear_forward"
            if "cudaFree" not in cuda.refused:
                words = f"went on when call {at} {how}"
        except kind:
            pass
        if network and not words and not 0 <= network.evaluate(x[:9], y[:9]) <= 1:
            words = f"is of no use when call {at} {how}"
        del network
        gc.collect()
    if words or cuda.held <= 0:
        return words
    return f"keeps {cuda.held} allocations of the device when call {at} of `cuda` {how}"


def network_breaking_off(student, told, error):
    words, at = "", 0
    while words == "":
        at += 1
        words = network_broken_off(student, at, error)
    tell(told, words or "")
