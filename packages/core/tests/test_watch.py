"""Watchers: the NaN tracer, the profiler, the live-tensor counter, pictures."""

import json

import pytest

import plugrad as pg
from plugrad.context import switch
from plugrad.errors import GraphError, NonFiniteError


def leaf(data):
    return pg.tensor(data, requires_grad=True)


def test_the_tracer_names_op_statistics_and_line():
    x = leaf([[-1.0, 4.0, 9.0]])
    with pytest.raises(NonFiniteError) as error, pg.nan_tracer(), switch(path=("encoder", "layers", "3")):
        (x + 0.0).sqrt()  # here
    text = str(error.value)
    assert "Sqrt() made 1 NaN and 0 infinite of 3 numbers in encoder.layers.3" in text
    assert "input 0: float32 (1, 3): min -1, mean 4, max 9, 0 NaN, 0 infinite" in text
    assert "test_watch.py" in text
    assert "(x + 0.0).sqrt()  # here" in text


def test_the_tracer_walks_back_to_the_forward_line():
    x = leaf([0.0, 4.0])
    with pg.nan_tracer():
        y = x.sqrt()  # the culprit
        with pytest.raises(NonFiniteError, match=r"the gradient of Sqrt\(\) for x made 0 NaN and 1 infinite") as error:
            y.sum().backward()
    assert "x.sqrt()  # the culprit" in str(error.value)
    assert "incoming gradient: float32 (2,)" in str(error.value)


def test_the_tracer_can_let_infinities_pass():
    x = pg.tensor([0.0])
    with pg.nan_tracer(infinity=False):
        assert x.log().tolist() == [float("-inf")]
    with pytest.raises(NonFiniteError), pg.nan_tracer():
        x.log()
    x.log()  # nobody watches any more


def test_watchers_nest_and_leave_in_any_order():
    a, b = pg.profiler(), pg.profiler()
    a.__enter__()
    b.__enter__()
    pg.tensor(1.0) + 1.0
    a.__exit__(None, None, None)
    pg.tensor(1.0) * 2.0
    b.__exit__(None, None, None)
    pg.tensor(1.0) * 2.0
    assert [e.name for e in a.events] == ["add"]
    assert [e.name for e in b.events] == ["add", "mul"]


def test_the_profiler_counts_and_writes_a_trace(tmp_path):
    x = leaf([[1.0, 2.0, 3.0]])
    with pg.profiler() as p:
        (x * x).sum().backward()
    calls, took, made = p.totals()["mul"]
    assert calls >= 2
    assert took > 0
    assert made >= 2 * 12
    assert "mul" in p.table()
    p.save(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(events) == len(p.events)
    assert {"name", "ph", "ts", "dur", "pid", "tid"} <= set(events[0])
    assert [f.name for f in tmp_path.iterdir()] == ["trace.json"]


def test_live_tensors():
    x = pg.ones(10)
    with pg.live_tensors() as live:
        y = x + 1.0
        z = y * 2.0
        assert live.count == 2
        assert live.nbytes == 80
        del y
        assert live.count == 1
        assert "mul at" in live.table()
        assert "test_watch.py" in live.table()
        del z
    assert live.count == live.nbytes == 0
    assert live.peak == 80


def test_pictures(tmp_path):
    w = leaf([[1.0, 2.0]])
    y = (w * 2.0).sum()
    dot = pg.graph(y, {"weight": w}).dot
    assert dot.startswith("digraph {")
    assert "weight" in dot
    assert "Mul()" in dot
    assert dot.count("->") == 2
    pg.graph(y).save(str(tmp_path / "g.dot"))
    assert (tmp_path / "g.dot").read_text().startswith("digraph {")
    with pytest.raises(GraphError, match="nothing to draw"):
        pg.graph(w.detach())


def test_a_watcher_of_ones_own():
    class Names(pg.Watcher):
        def __init__(self):
            self.seen = []

        def after(self, op, inputs, outputs, mark):
            self.seen.append((op.name, [x.shape for x in inputs], outputs.shape))

    with Names() as names:
        pg.ones(2, 3) + pg.ones(3)
    assert names.seen == [("add", [(2, 3), (3,)], (2, 3))]


def test_the_nan_tracer_tells_of_inputs_that_held_nan_already():
    x = pg.full((1, 2), pg.nan)
    with pg.nan_tracer(), pytest.raises(NonFiniteError, match=r"(?s)made 2 NaN.*input 0: float32 \(1, 2\).*2 NaN"):
        pg.concat([x])
