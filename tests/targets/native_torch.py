# SPDX-License-Identifier: Apache-2.0
"""torch: convolutions, the autograd engine's own threads, hooks into Python, generated kernels."""
import native_workload

try:
    import torch
except ImportError as error:
    native_workload.skip("native_torch", error)

torch.manual_seed(5)
torch.set_num_threads(2)
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, 6, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
    torch.nn.Linear(6 * 13 * 13, 10))
optimiser = torch.optim.SGD(network.parameters(), lr=0.01)
images = torch.rand(16, 1, 28, 28)
labels = torch.randint(0, 10, (16,))


class Square(torch.autograd.Function):
    """Its gradient is computed in Python, on the engine's thread."""

    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(context, gradient):
        x, = context.saved_tensors
        return 2 * x * gradient


def training(number):
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(network(images), labels)
    loss.backward()
    optimiser.step()
    return bool(torch.isfinite(loss))


def python_gradients(number):
    x = torch.arange(200.0, requires_grad=True)
    Square.apply(x).sum().backward()
    return bool(torch.equal(x.grad, 2 * x.detach()))


def linear_algebra(number):
    a = torch.eye(150) + 0.01 * torch.rand(150, 150)
    return bool(torch.allclose(a @ torch.linalg.inv(a), torch.eye(150), atol=1e-3))


def tensors(number):
    x = torch.rand(20000)
    ordered, _ = torch.sort(x)
    total = torch.exp(x).cumsum(0)[-1] + torch.fft.fft(x[:2048]).abs().sum()
    return bool(ordered[0] <= ordered[-1]) and bool(torch.isfinite(total))


def recurrence(number):
    with torch.no_grad():
        output, _ = torch.nn.LSTM(8, 16)(torch.rand(20, 4, 8))
    return output.shape == (20, 4, 16)


if __name__ == "__main__":
    native_workload.run(
        "native_torch", [training, python_gradients, linear_algebra, tensors, recurrence], __doc__)
