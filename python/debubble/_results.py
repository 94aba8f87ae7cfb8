"""Results as plain dataclasses. Times are whole nanoseconds, sizes whole bytes; arrays cannot be written to."""

from __future__ import annotations

import json as _json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    import pandas  # type: ignore


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas() takes pandas, which is not installed (pip install 'debubble[pandas]'; apt-get "
                          "install python3-pandas); the arrays and .data hold the same") from None
    return pandas


def _arrays(make: Callable[[], Any]) -> Any:
    """What the library makes of NumPy's arrays, the only thing here that needs it."""
    try:
        return make()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "numpy":
            raise
        raise ImportError("this is a NumPy array, and numpy is not installed (pip install 'debubble[numpy]'; apt-get "
                          "install python3-numpy); all else works without") from None


def _html(title: str, svg: str) -> str:
    """A figure with its title, for a notebook."""
    from html import escape

    start = svg.find("<svg")  # without the XML declaration
    return f"<div><p>{escape(title)}</p>{svg[start:] if start >= 0 else ''}</div>"


@dataclass(frozen=True)
class Device:
    """One device of a run."""

    device: int
    busy_ns: int
    idle_ns: int
    bubble_ratio: float  # idle / step
    idle_by_cause_ns: dict[str, int]  # add up to idle_ns
    peak_memory_bytes: int
    peak_memory_at_ns: int
    peak_by_category_bytes: dict[str, int]  # at the peak
    peak_activation_bytes: int


@dataclass(frozen=True)
class Finding:
    """What there is to say beside the numbers."""

    severity: str  # "note", "warning" or "error"
    code: str
    text: str


@dataclass(frozen=True, repr=False)
class Simulation:
    """One schedule, simulated. `print(run.command)` shows the command that prints `run.json`."""

    schedule: str
    devices: int
    stages: int
    chunks: int
    microbatches: int
    makespan_ns: int  # of one step
    ideal_ns: int  # all compute, spread evenly over the devices
    bubble_ratio: float  # idle / (devices x step)
    bubble_over_ideal: float  # idle / ideal compute
    span_bubble_ratio: float
    idle_by_cause_ns: dict[str, int]  # of all devices
    peak_memory_bytes: int  # of the device that takes most
    fits: bool | None  # in the devices' memory; None: not judged
    samples_per_second: float | None
    tokens_per_second: float | None
    mfu: float | None  # model FLOPs utilisation, 0 to 1
    p2p_bytes: int  # sent between devices in a step
    per_device: tuple[Device, ...]
    findings: tuple[Finding, ...]
    _run: Any = field(compare=False)

    @classmethod
    def _of(cls, run: Any) -> Simulation:
        numbers = run.numbers()
        numbers["per_device"] = tuple(Device(*row) for row in numbers["per_device"])
        numbers["findings"] = tuple(Finding(*row) for row in numbers["findings"])
        return cls(**numbers, _run=run)

    @property
    def command(self) -> str:
        """The command that asks the same."""
        return self._run.command

    @cached_property
    def json(self) -> str:
        """What the command prints with `--format json`, byte for byte."""
        return self._run.json()

    @cached_property
    def data(self) -> dict[str, Any]:
        """`json` as Python's values: everything that there is (docs/report.schema.json)."""
        return _json.loads(self.json)

    @cached_property
    def spans(self) -> numpy.ndarray:
        """When each op ran: device, kind, stage, microbatch, paired, ready_ns, begin_ns, end_ns.

        By device, then in running order. `kind` is F, B, I (input gradient), W (weight gradient), R (recomputation),
        S or T (a split output layer). Both ops of an overlapped pair have the pair's times, and `paired` is True.
        """
        return _arrays(self._run.spans)

    @cached_property
    def transfers(self) -> numpy.ndarray:
        """What was sent: kind, stage, microbatch, from_device, to_device, begin_ns, end_ns, latency_ns, contention_ns,
        bytes."""
        return _arrays(self._run.transfers)

    @cached_property
    def memory(self) -> tuple[numpy.ndarray, ...]:
        """Each device's memory as steps: at_ns, total_bytes, and the categories (weights_bytes, activations_bytes, ...).

        A row's sizes hold from its time to the next row's.
        """
        return tuple(_arrays(self._run.memory))

    def svg(self, show: str = "pipeline", width: str = "180mm", mono: bool = False) -> str:
        """A figure: `show` is pipeline, causes, idle or memory, or several joined by commas."""
        return self._run.svg(show, width, mono)

    def save_run(self, path: str | os.PathLike[str]) -> None:
        """Writes the run as `--save-run` does, for `debubble.diff`."""
        text = self._run.run_file()
        with open(path, "wb") as file:
            file.write(text)

    def to_pandas(self) -> pandas.DataFrame:
        """`spans` as a DataFrame, a row for every op, with duration_ns."""
        frame = _pandas().DataFrame.from_records(self.spans)
        frame["duration_ns"] = frame["end_ns"] - frame["begin_ns"]
        return frame

    def __str__(self) -> str:
        return self._run.title()

    def __repr__(self) -> str:
        return f"<debubble.Simulation: {self._run.title()}>".replace("\n", "; ")

    def _repr_html_(self) -> str:
        # A chart of more ops than it has room for says nothing, and a long run's spans are not made only to be counted.
        few = 2 * self.stages * self.microbatches <= 20_000
        drawn = few and self.spans.size <= 20_000
        return _html(str(self), self.svg("pipeline") if drawn else "")


@dataclass(frozen=True, repr=False)
class Study:
    """What a study found: its JSON, as the command prints it."""

    _study: Any = field(compare=False)

    @classmethod
    def _with(cls, study: Any, data: dict[str, Any], *found: Any) -> Any:
        """The study, and `data`, which was read to make it."""
        made = cls(study, *found)
        vars(made)["data"] = data
        return made

    @property
    def command(self) -> str:
        """The command that asks the same."""
        return self._study.command

    @property
    def json(self) -> str:
        """What the command prints with `--format json`, byte for byte."""
        return self._study.json

    @cached_property
    def data(self) -> dict[str, Any]:
        """`json` as Python's values."""
        return _json.loads(self.json)


@dataclass(frozen=True)
class ComparedRun:
    """One schedule of a comparison; numbers are None where it cannot run the job."""

    schedule: str
    params: dict[str, str]
    makespan_ns: int | None
    bubble_ratio: float | None
    peak_memory_bytes: int | None
    weight_copies: int | None
    throughput_samples_per_s: float | None
    findings: tuple[Finding, ...]
    data: dict[str, Any] = field(repr=False)  # all of it (docs/report.schema.json)

    @property
    def asynchronous(self) -> bool:
        """Whether it trains with gradients of older weights: no step of it is one of the same training."""
        return bool(self.data.get("needs", {}).get("asynchronous"))

    @classmethod
    def _of(cls, run: dict[str, Any]) -> ComparedRun:
        peaks = [device["peak_memory_bytes"] for device in run.get("devices", [])]
        found = tuple(Finding(one["severity"], one["code"], one["message"]) for one in run["findings"])
        return cls(run["schedule"]["name"], run["schedule"]["params"], run.get("makespan_ns"), run.get("bubble_ratio"),
                   max(peaks, default=None), run.get("weight_copies"), run.get("throughput_samples_per_s"), found, run)


@dataclass(frozen=True, repr=False)
class Comparison(Study):
    """Several schedules, in the order of the command."""

    runs: tuple[ComparedRun, ...]

    @classmethod
    def _of(cls, study: Any) -> Comparison:
        data = _json.loads(study.json)
        return cls._with(study, data, tuple(ComparedRun._of(run) for run in data["runs"]))

    @property
    def best(self) -> ComparedRun | None:
        """The shortest step of those without an error; the first of equal ones.

        An asynchronous schedule, which trains with gradients of older weights, only where there are no others.
        """
        able = [(run.asynchronous, run.makespan_ns, place) for place, run in enumerate(self.runs)
                if run.makespan_ns is not None and not any(found.severity == "error" for found in run.findings)]
        return self.runs[min(able)[2]] if able else None

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each run."""
        columns = ("schedule", "makespan_ns", "bubble_ratio", "peak_memory_bytes", "weight_copies",
                   "throughput_samples_per_s")
        return _pandas().DataFrame([{name: getattr(run, name) for name in columns} for run in self.runs])

    def svg(self) -> str:
        """Bars of step time and peak memory; "" for runs that do not do the same work."""
        return self._study.svg

    def __repr__(self) -> str:
        best = self.best
        first = f"; best {best.schedule}, {(best.makespan_ns or 0) / 1e6:g} ms" if best else ""
        return f"<debubble.Comparison: {len(self.runs)} runs{first}>"

    def _repr_html_(self) -> str:
        return _html(repr(self)[1:-1], self.svg())


@dataclass(frozen=True)
class PlannedRun:
    """One run of a plan."""

    text: str  # "tp 2, pp 4, dp 8, ZeRO-1; 32 microbatches of 1 sample; zb-h1"
    choice: dict[str, Any]
    makespan_ns: int
    bubble_ratio: float
    peak_memory_bytes: int
    spare_memory_bytes: int | None
    throughput_samples_per_s: float | None
    mfu: float | None
    command: str  # simulates it

    @classmethod
    def _of(cls, run: dict[str, Any]) -> PlannedRun:
        return cls(run["choice"]["text"], run["choice"], run["makespan_ns"], run["bubble_ratio"],
                   run["peak_memory_bytes"], run["spare_memory_bytes"], run["throughput_samples_per_s"], run["mfu"],
                   run["command"])


@dataclass(frozen=True, repr=False)
class Plan(Study):
    """The best ways to run a job; `data` has the alternatives, the frameworks' flags and what was searched."""

    runs: tuple[PlannedRun, ...]  # the best first; empty where nothing fits, and for the answers of other planners

    @classmethod
    def _of(cls, study: Any) -> Plan:
        data = _json.loads(study.json)
        return cls._with(study, data, tuple(PlannedRun._of(run) for run in data.get("runs", []) if "choice" in run))

    @property
    def best(self) -> PlannedRun | None:
        """The first of `runs`."""
        return self.runs[0] if self.runs else None

    @property
    def certainty(self) -> str:
        """How much better any other plan could be, in words."""
        return self.data.get("certainty", "")

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each run."""
        columns = ("text", "makespan_ns", "bubble_ratio", "peak_memory_bytes", "spare_memory_bytes",
                   "throughput_samples_per_s", "mfu", "command")
        return _pandas().DataFrame([{name: getattr(run, name) for name in columns} for run in self.runs])

    def __repr__(self) -> str:
        best = self.best
        what = f"{best.text}; {best.makespan_ns / 1e6:g} ms per step" if best else "nothing that fits"
        return f"<debubble.Plan: {what}>"


@dataclass(frozen=True)
class Figure:
    """One number of a diff. `gap` is measured less predicted."""

    predicted: Any
    measured: Any
    gap: Any


def _figure(row: dict[str, Any] | None) -> Figure | None:
    return None if row is None else Figure(row["predicted"], row["measured"], row["gap"])


@dataclass(frozen=True, repr=False)
class Diff(Study):
    """A measured run beside its prediction; `data` has devices, links and what explains the gap."""

    makespan_ns: Figure | None  # of a training log: of its iterations; None where it has none
    bubble_ratio: Figure | None  # None for a training log

    @classmethod
    def _of(cls, study: Any) -> Diff:
        data = _json.loads(study.json)
        return cls._with(study, data, _figure(data.get("makespan_ns")), _figure(data.get("bubble_ratio")))

    def to_pandas(self) -> pandas.DataFrame:
        """What explains the gap of the step time, a row for each part; empty for a training log."""
        return _pandas().DataFrame(self.data.get("gap_parts", []))

    def __repr__(self) -> str:
        step = self.makespan_ns
        what = f"step {step.predicted / 1e6:g} ms predicted, {step.measured / 1e6:g} ms measured" if step else "no step"
        return f"<debubble.Diff: {what}>"


@dataclass(frozen=True, repr=False)
class Schedule:
    """The order of a schedule's ops, without times."""

    name: str
    devices: int
    stages: int
    chunks: int
    microbatches: int
    rows: tuple[tuple[str, ...], ...]  # by device: "0F3" is stage 0, forward, microbatch 3; a pair is "0F3+0B1"
    notes: tuple[str, ...]
    _native: Any = field(compare=False)

    @classmethod
    def _of(cls, native: Any) -> Schedule:
        rows = tuple(tuple(row) for row in native.rows())
        return cls(native.name, native.devices, native.stages, native.chunks, native.microbatches, rows,
                   tuple(native.notes), native)

    @property
    def command(self) -> str:
        """The command that prints `json`."""
        return self._native.command

    @cached_property
    def json(self) -> str:
        """The schedule as a file (docs/schedule.schema.json), byte for byte what `command` prints."""
        return self._native.json()

    @cached_property
    def ops(self) -> numpy.ndarray:
        """All ops in their order: device, position, kind, stage, microbatch, paired."""
        return _arrays(self._native.ops)

    def to_pandas(self) -> pandas.DataFrame:
        """`ops` as a DataFrame."""
        return _pandas().DataFrame.from_records(self.ops)

    def __repr__(self) -> str:
        return (f"<debubble.Schedule: {self.name} on {self.devices} devices, {self.stages} stages, "
                f"{self.microbatches} microbatches>")


@dataclass(frozen=True)
class Layer:
    """One layer of a profile. Times are medians for one microbatch; None where they were not measured apart."""

    name: str
    kind: str
    forward_ns: int
    backward_ns: int | None
    input_grad_ns: int | None
    weight_grad_ns: int | None
    activation_bytes: int  # kept for the backward
    output_bytes: int  # handed to the next layer
    parameter_bytes: int


@dataclass(frozen=True)
class Profile:
    """What was measured or published of a model's layers. Goes where a path goes: simulate(profile=this)."""

    path: str
    model: str
    dtype: str
    microbatch_size: int  # samples; 0: unknown
    sequence_length: int  # tokens of a sample; 0: none
    device: str
    citation: str
    layers: tuple[Layer, ...] = field(repr=False)
    json: str = field(repr=False)  # as debubble writes it (docs/profile.schema.json)

    @classmethod
    def _of(cls, row: dict[str, Any]) -> Profile:
        row["layers"] = tuple(Layer(**layer) for layer in row["layers"])
        row["json"] = row["json"].decode()
        return cls(**row)

    @cached_property
    def data(self) -> dict[str, Any]:
        """`json` as Python's values."""
        return _json.loads(self.json)

    def __fspath__(self) -> str:
        return self.path

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each layer."""
        return _pandas().DataFrame([vars(layer) for layer in self.layers])
