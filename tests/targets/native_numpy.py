# SPDX-License-Identifier: Apache-2.0
"""numpy all over: inner loops, sorting with callbacks, FFT, linear algebra, object arrays."""
import functools

import native_workload

try:
    import numpy as np
except ImportError as error:
    native_workload.skip("native_numpy", error)

random = np.random.RandomState(1)
matrix = random.rand(120, 120)
vector = random.rand(20000)


def inner_loops(number):
    values = np.sin(vector) * 2.0 + np.sqrt(vector) / (vector + 1.0)
    return bool(np.isfinite(values).all())


def sorting(number):
    ordered = np.sort(vector)
    objects = sorted(vector[:60].tolist(), key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))
    return ordered[0] <= ordered[-1] and objects[0] <= objects[-1]


def linear_algebra(number):
    small = matrix[:40, :40]
    u, s, v = np.linalg.svd(small)
    return np.allclose(u * s @ v, small) and np.allclose(matrix @ np.linalg.inv(matrix), np.eye(120))


def transforms(number):
    return np.allclose(np.fft.ifft(np.fft.fft(vector[:4096])).real, vector[:4096])


def callbacks(number):
    doubled = np.vectorize(lambda x: 2.0 * x)(vector[:200])
    reduced = np.frompyfunc(lambda a, b: a + b, 2, 1).reduce(vector[:200].astype(object))
    applied = np.apply_along_axis(lambda row: row.sum(), 1, matrix[:20])
    return np.allclose(doubled, 2 * vector[:200]) and np.isclose(reduced, vector[:200].sum()) and \
        np.allclose(applied, matrix[:20].sum(axis=1))


def objects(number):
    words = np.array(["%d" % i for i in range(300)], dtype=object)
    return (words + "x")[7] == "7x" and len(str(matrix[:6, :6])) > 100


def sampling(number):
    values = random.standard_normal(5000)
    return abs(values.mean()) < 1 and np.einsum("ij,jk->ik", matrix[:30], matrix[:, :30]).shape == (30, 30)


if __name__ == "__main__":
    native_workload.run(
        "native_numpy",
        [inner_loops, sorting, linear_algebra, transforms, callbacks, objects, sampling], __doc__)
