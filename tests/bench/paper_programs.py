#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the default settings cost programs like those PieProf was measured on: scikit-learn, numexpr, and numpy networks.

    tests/bench/paper_programs.py [--rounds N] [--seconds S] [WORD ...]

The papers ran the first half of scikit-learn's benchmarks, numexpr's, and NumpyDL's examples; these are small programs
in their manner, on data made here. Each is profiled and left alone in turn (switched.py). Memory is the high-water
mark: of the target, at the end over that before it was first profiled, and of the daemon. numexpr comes from the Python registry into the cache
where the interpreter has none.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys
import time

import switched
from harness import CACHE, PIEPROFD, default_interpreter

NUMEXPR = "numexpr==2.8.4"


def data(rows, columns):
    import numpy as np

    random = np.random.RandomState(7)
    x = random.rand(rows, columns)
    return random, x, (x.sum(axis=1) + 0.1 * random.rand(rows) > columns / 2).astype(int)


def sklearn_glm():
    from sklearn.linear_model import LinearRegression, Ridge

    _, x, _ = data(300, 40)
    y = x.sum(axis=1)
    return lambda: (Ridge(alpha=1.0).fit(x, y), LinearRegression().fit(x, y))


def sklearn_lasso():
    from sklearn.linear_model import Lasso, LassoLars

    _, x, _ = data(200, 60)
    y = x[:, :5].sum(axis=1)
    return lambda: (Lasso(alpha=0.01).fit(x, y), LassoLars(alpha=0.01).fit(x, y))


def sklearn_isotonic():
    from sklearn.isotonic import isotonic_regression

    random, _, _ = data(1, 1)
    y = random.randint(-50, 50, size=3000) + 50 * random.rand(3000)
    return lambda: isotonic_regression(y)


def sklearn_kernel_pca():
    from sklearn.decomposition import KernelPCA

    _, x, _ = data(120, 10)
    return lambda: KernelPCA(n_components=5, kernel="rbf", eigen_solver="dense").fit_transform(x)


def sklearn_outliers():
    from sklearn.neighbors import LocalOutlierFactor

    _, x, _ = data(300, 5)
    return lambda: LocalOutlierFactor(n_neighbors=20).fit_predict(x)


def sklearn_forest():
    from sklearn.ensemble import IsolationForest

    _, x, _ = data(300, 5)
    return lambda: IsolationForest(n_estimators=5, random_state=1).fit(x)


def sklearn_covertype():
    from sklearn.linear_model import SGDClassifier
    from sklearn.tree import DecisionTreeClassifier

    _, x, y = data(400, 20)
    return lambda: (SGDClassifier(max_iter=5, tol=None).fit(x, y), DecisionTreeClassifier().fit(x, y))


def numexpr_polynomial():
    import numexpr
    import numpy as np

    numexpr.set_num_threads(1)
    x = np.linspace(-1, 1, 200000)
    return lambda: numexpr.evaluate("((0.25 * x + 0.75) * x - 1.5) * x - 2", local_dict={"x": x})


def numexpr_issue36():
    import numexpr
    import numpy as np

    numexpr.set_num_threads(1)
    a = np.arange(1000)
    return lambda: [numexpr.evaluate("2 * a + 3 * b", local_dict={"a": a, "b": a}) for _ in range(50)]


def numexpr_boolean():
    import numexpr
    import numpy as np

    numexpr.set_num_threads(1)
    i = np.arange(100000, dtype=float)
    return lambda: numexpr.evaluate("(i > 10) & (i ** 2 + 3 > 50) | (i < 3)", local_dict={"i": i})


def numexpr_transcendental():
    import numexpr
    import numpy as np

    numexpr.set_num_threads(1)
    x = np.linspace(0, 1, 50000)
    return lambda: numexpr.evaluate("sin(x) ** 2 + cos(x) ** 2 + exp(-x)", local_dict={"x": x})


def numpy_mlp():
    import numpy as np

    random, x, y = data(64, 64)
    first, second = random.rand(64, 32) - 0.5, random.rand(32, 2) - 0.5
    wanted = np.eye(2)[y]

    def work():
        nonlocal first, second
        hidden = np.tanh(x @ first)
        output = hidden @ second
        output = np.exp(output - output.max(axis=1, keepdims=True))
        output /= output.sum(axis=1, keepdims=True)
        error = (output - wanted) / len(x)
        back = error @ second.T * (1 - hidden ** 2)
        second -= 0.1 * hidden.T @ error
        first -= 0.1 * x.T @ back

    return work


def numpy_cnn_sentence():
    import numpy as np

    random, _, _ = data(1, 1)
    words, kernels = random.rand(8, 30, 16), random.rand(12, 3, 16) - 0.5

    def work():
        result = np.zeros((8, 12))
        for n in range(8):
            for k in range(12):
                scores = [np.sum(words[n, i:i + 3] * kernels[k]) for i in range(28)]
                result[n, k] = max(scores)
        return result

    return work


def numpy_rnn():
    import numpy as np

    random, _, _ = data(1, 1)
    inputs, state = random.rand(40, 24), np.zeros(32)
    to_state, over = random.rand(24, 32) - 0.5, random.rand(32, 32) - 0.5

    def work():
        h = state
        for step in inputs:
            h = np.tanh(step @ to_state + h @ over)
        return h

    return work


PROGRAMS = {name: value for name, value in list(globals().items())
            if callable(value) and name.split("_")[0] in ("sklearn", "numexpr", "numpy")}


def numexpr_folder(interpreter):
    """Where the interpreter finds numexpr; None: nowhere."""
    probe = [interpreter.path, "-c", "import numexpr"]
    environment = dict(os.environ, **interpreter.environment)
    if subprocess.run(probe, env=environment, check=False, stderr=subprocess.DEVNULL).returncode == 0:
        return ""
    folder = os.path.join(CACHE, "packages", "numexpr-%d.%d" % interpreter.version[:2])
    if not os.path.exists(folder):
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--root-user-action=ignore", "--no-deps", "--only-binary=:all:",
                        "--python-version", "%d.%d" % interpreter.version[:2], "--target", folder, NUMEXPR], check=False)
    environment["PYTHONPATH"] = ":".join([folder] + [p for p in [environment.get("PYTHONPATH")] if p])
    works = subprocess.run(probe, env=environment, check=False, stderr=subprocess.DEVNULL).returncode == 0
    return folder if works else None


def pieprofd(pid):
    return [PIEPROFD, "--pid", str(pid), "-d", "0", "-q", "-o", "/dev/null", "--format", "json"]


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def measure(command, environment, rounds, seconds):
    """(windows: bare, profiled, bare), and how much the program's memory grew."""
    windows = []
    with switched.Worker(command, environment) as worker:
        worker.wait_for_passes(10)
        before, kib = worker.window(seconds), worker.kib()
        for _ in range(rounds):
            profiled = switched.profiled_window(worker, pieprofd(worker.process.pid), seconds)
            time.sleep(0.2)
            after = worker.window(seconds)
            if not before or not after:
                raise RuntimeError("passes take too long")
            windows.append((before, profiled, after))
            before = after
        return windows, worker.kib() / kib


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="length of one window")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    if arguments.worker:
        switched.work_until_end(PROGRAMS[arguments.worker]())
        return
    interpreter = default_interpreter()
    folder = numexpr_folder(interpreter)
    path = ":".join(part for part in (folder, interpreter.environment.get("PYTHONPATH")) if part)
    environment = dict(interpreter.environment, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore",
                       **({"PYTHONPATH": path} if path else {}))
    print("%s; CPython %s; %d rounds, windows of %g s" % (switched.machine(), interpreter.name, arguments.rounds,
                                                 arguments.seconds))
    print("| program | wall time | CPU time of the target | memory of the target | memory of the daemon |")
    print("|---|---|---|---|---|")
    ratios = {"wall": [], "cpu": [], "kib": []}
    for name in PROGRAMS:
        if arguments.words and not any(word in name for word in arguments.words):
            continue
        if name.startswith("numexpr") and folder is None:
            print("| %s | numexpr cannot be had | | | |" % name)
            continue
        try:
            windows, grown = measure([interpreter.path, os.path.abspath(__file__), "--worker", name], environment,
                                     arguments.rounds, arguments.seconds)
        except RuntimeError as error:
            print("| %s | %s | | | |" % (name, error))
            continue
        row = {attribute: statistics.median(switched.ratios(windows, attribute)) for attribute in ("wall", "cpu")}
        row["kib"] = grown
        for attribute, values in ratios.items():
            values.append(row[attribute])
        print("| %s | %.3f | %.3f | %.3f | %.1f MB |" % (
            name.replace("_", ": ", 1).replace("_", " "), row["wall"], row["cpu"], row["kib"],
            max(profiled.profiler_kib for _, profiled, _ in windows) / 1024), flush=True)
    if ratios["wall"]:
        print("| geometric mean | %.3f | %.3f | %.3f | |" % tuple(map(geometric_mean, ratios.values())))
    print("| PieProf, stores, at its default of 1M | 1.07 | | 1.24 | |")
    print("| PieProf, loads, at its default of 1M | 1.14 | | 1.56 | |")


if __name__ == "__main__":
    main()
