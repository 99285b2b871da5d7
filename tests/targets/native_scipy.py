# SPDX-License-Identifier: Apache-2.0
"""scipy: Fortran and C that call back into Python, sparse solvers, trees, signal processing."""
import native_workload

try:
    import numpy as np
    from scipy import integrate, interpolate, ndimage, optimize, signal, sparse, spatial, special
    from scipy.sparse import linalg as sparse_linalg
except ImportError as error:
    native_workload.skip("native_scipy", error)

random = np.random.RandomState(2)
points = random.rand(1500, 3)
image = random.rand(48, 48)
laplacian = sparse.diags([-1, 2.01, -1], [-1, 0, 1], shape=(800, 800)).tocsc()


def quadrature(number):
    """QUADPACK in Fortran, the integrand in Python."""
    value, _ = integrate.quad(lambda x: np.exp(-x * x), 0, 5)
    return abs(value - np.sqrt(np.pi) / 2) < 1e-6


def differential_equation(number):
    """ODEPACK in Fortran."""
    times = np.linspace(0, 4, 40)
    values = integrate.odeint(lambda y, t: [y[1], -y[0]], [0.0, 1.0], times)
    return np.allclose(values[:, 0], np.sin(times), atol=1e-5)


def minimisation(number):
    """L-BFGS-B and MINPACK in Fortran."""
    result = optimize.minimize(optimize.rosen, [1.3, 0.7, 0.8], method="L-BFGS-B")
    root, _, solved, _ = optimize.fsolve(lambda x: x * x - 2.0, 1.0, full_output=True)
    return result.fun < 1e-3 and solved == 1 and abs(root[0] - np.sqrt(2)) < 1e-6


def sparse_systems(number):
    """SuperLU and ARPACK."""
    right = np.ones(800)
    solution = sparse_linalg.spsolve(laplacian, right)
    largest = sparse_linalg.eigsh(laplacian, k=2, return_eigenvectors=False)
    return np.allclose(laplacian @ solution, right) and largest.max() < 4.1


def neighbours(number):
    tree = spatial.cKDTree(points)
    distances, _ = tree.query(points[:200], k=4)
    hull = spatial.ConvexHull(points[:200])
    return bool((distances[:, 0] == 0).all()) and hull.volume < 1


def filters(number):
    """ndimage calls Python for each pixel."""
    means = ndimage.generic_filter(image, lambda window: window.mean(), size=3)
    smooth = signal.fftconvolve(image, np.ones((3, 3)) / 9, mode="same")
    return np.allclose(means[5:-5, 5:-5], smooth[5:-5, 5:-5])


def functions(number):
    spline = interpolate.CubicSpline(np.arange(20.0), np.arange(20.0) ** 2)
    return abs(spline(3.5) - 12.25) < 1e-6 and abs(special.jv(0, np.arange(500.0))[0] - 1) < 1e-12


if __name__ == "__main__":
    native_workload.run(
        "native_scipy",
        [quadrature, differential_equation, minimisation, sparse_systems, neighbours, filters,
         functions], __doc__)
