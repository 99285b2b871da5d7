# SPDX-License-Identifier: Apache-2.0
"""OpenBLAS with its worker threads: hand-written kernels, a third of them without unwind tables."""
import native_workload

if not native_workload.use_openblas(threads=3):
    native_workload.skip("native_openblas", "no OpenBLAS beside the system's BLAS")
try:
    import numpy as np
except ImportError as error:
    native_workload.skip("native_openblas", error)

random = np.random.RandomState(6)
large = random.rand(300, 300)
small = random.rand(24, 24)


def products(number):
    complex_large = large[:120, :120] + 1j
    return np.allclose((large @ large)[0], large[0] @ large) and \
        np.allclose((large.astype("f4") @ large.astype("f4"))[3, 4], large[3] @ large[:, 4],
                    rtol=1e-3) and \
        np.allclose((complex_large @ complex_large)[1, 2], complex_large[1] @ complex_large[:, 2])


def many_small_products(number):
    total = small
    for _ in range(200):
        total = total @ small
        total /= np.abs(total).max()
    return bool(np.isfinite(total).all())


def vectors(number):
    total = 0.0
    for row in large:
        total += row.dot(row) + (large[:50] @ row)[0]
    return total > 0


def factorisations(number):
    solved = np.linalg.solve(large, large[0])
    positive = large @ large.T + 300 * np.eye(300)
    lower = np.linalg.cholesky(positive)
    return np.allclose(large @ solved, large[0]) and np.allclose(lower @ lower.T, positive)


def eigenvalues(number):
    values, vectors_ = np.linalg.eigh(large[:100, :100] + large[:100, :100].T)
    return bool((np.diff(values) >= 0).all()) and np.allclose(vectors_.T @ vectors_, np.eye(100))


if __name__ == "__main__":
    with open("/proc/self/maps") as maps:
        if "openblas" not in maps.read():
            native_workload.skip("native_openblas", "numpy brings a BLAS of its own")
    native_workload.run(
        "native_openblas",
        [products, many_small_products, vectors, factorisations, eigenvalues], __doc__)
