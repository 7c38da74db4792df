"""What a type checker sees of the public names: read by mypy and basedpyright, never run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

import plugrad as pg
from plugrad import data, nn, optim
from plugrad.testing import backend_suite, case, real

if TYPE_CHECKING:
    from collections.abc import Callable

# tensors and functions
x = pg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
assert_type(x, pg.Tensor)
assert_type(pg.zeros((2, 3), dtype="float32", device="numpy"), pg.Tensor)
assert_type(pg.sin(x), pg.Tensor)
assert_type(x.relu().sum(axis=0, keepdims=True), pg.Tensor)
assert_type(x + 1, pg.Tensor)
assert_type(1 / x, pg.Tensor)
assert_type(x @ x.mT, pg.Tensor)
assert_type(x[0, ::-1], pg.Tensor)
assert_type(x.shape, tuple[int, ...])
assert_type(x.dtype, pg.DType)
assert_type(x.device, pg.Device)
assert_type(x.detach().astype(pg.float64).to("cpu"), pg.Tensor)
assert_type(len(x), int)
assert_type(float(x.sum()), float)
x += 1
assert_type(x, pg.Tensor)

# gradients
x.sum().backward()
assert_type(x.grad, pg.Tensor | None)
assert_type(pg.grad(x.sum(), [x]), tuple[pg.Tensor, ...])
with pg.no_grad(), pg.device("numpy"), pg.kernels("off"):
    y = x * 2


@pg.no_grad()
def doubled(t: pg.Tensor) -> pg.Tensor:
    return t * 2


assert_type(doubled(x), pg.Tensor)

# errors and random numbers
kind: type[pg.errors.PlugradError] = pg.errors.ShapeError
generator = pg.Generator(0)
assert_type(pg.randn(2, 3, generator=generator), pg.Tensor)


# an op, a backend, a case row, as an author writes them
class Twice(pg.Op):
    """z = 2 x

    ∂L/∂x = 2 g
    """

    def forward(self, xp: Any, x: Any) -> Any:
        return 2 * x

    def dx(self, g: pg.Tensor) -> pg.Tensor:
        return 2 * g


class Mine(pg.Backend):
    name = "mine"
    api = (1, 0)


row = case(Twice, doubled, real(2, 3), closed=lambda v: 2 * v)
TestMine = backend_suite("numpy")

# the extensions
net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
assert_type(net, nn.Sequential)
optimizer = optim.AdamW(net.parameters(), lr=1e-3)
loss = nn.functional.cross_entropy(net(pg.ones((5, 4))), pg.zeros((5,), dtype="int64"))
assert_type(loss, pg.Tensor)
optimizer.zero_grad()
optimizer.step()
loader = data.DataLoader(data.TensorDataset(pg.zeros((5, 2))), batch_size=2, shuffle=True)
f: Callable[[pg.Tensor], pg.Tensor] = pg.exp
