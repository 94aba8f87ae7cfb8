"""The plan of a run, as debubble writes it: one fact a line, words divided by blanks.

    debubble.torch-plan/1
    sizes DEVICES STAGES PIECES ITERATIONS     the first iteration is the proof's
    dtype float64
    device cpu | cuda
    seed 0
    stages MODULE:FACTORY                      absent: the built-in chain
    folder PATH                                from where MODULE is imported
    partition 2,1,1                            layers of each stage
    costs N                                    how often each op is timed alone
    fault slow FACTOR DEVICE | fault drop|corrupt|kill OP
    replica R R R ...                          of each piece
    place REPLICA DEVICE DEVICE ...            of each stage
    cell DEVICE POSITION OPS SENDS RECEIVES

OPS is 0F0, or 0F0,1B0 where two form a cell. SENDS and RECEIVES are "-" or TENSOR:PEER,...; TENSOR is a0.3, the activation
that 0F3 makes, or g0.3, the gradient of that activation, which 1B3 or 1I3 makes.
"""

import dataclasses
import re

FORMAT = "debubble.torch-plan/1"
OP = re.compile(r"(\d+)([FBIWR])(\d+)")
HOP = re.compile(r"([ag])(\d+)\.(\d+):(\d+)")


class PlanError(Exception):
    """The plan is not what this version of debubble writes."""


@dataclasses.dataclass(frozen=True)
class Op:
    stage: int
    kind: str
    piece: int

    def __str__(self):
        return f"{self.stage}{self.kind}{self.piece}"


@dataclasses.dataclass(frozen=True)
class Tensor:
    gradient: bool
    stage: int  # the activation's, also of its gradient
    piece: int

    def __str__(self):
        return f"{'g' if self.gradient else 'a'}{self.stage}.{self.piece}"


@dataclasses.dataclass(frozen=True)
class Hop:
    tensor: Tensor
    peer: int


@dataclasses.dataclass
class Cell:
    position: int
    ops: list
    sends: list
    receives: list


@dataclasses.dataclass
class Plan:
    devices: int = 0
    stages: int = 0
    pieces: int = 0
    iterations: int = 0
    dtype: str = "float64"
    device: str = "cpu"
    seed: int = 0
    factory: str = ""
    folder: str = ""
    partition: list = dataclasses.field(default_factory=list)
    timings: int = 11
    slow: dict = dataclasses.field(default_factory=dict)  # device: factor
    faults: set = dataclasses.field(default_factory=set)  # (kind, op)
    replica_of: list = dataclasses.field(default_factory=list)
    placement: dict = dataclasses.field(default_factory=dict)  # (replica, stage): device
    cells: dict = dataclasses.field(default_factory=dict)  # device: its cells in order

    @property
    def recomputed(self):
        """(stage, piece) of what runs forward once more before its backward."""
        return {(op.stage, op.piece) for cells in self.cells.values() for cell in cells for op in cell.ops if op.kind == "R"}

    @property
    def replicas(self):
        return 1 + max(self.replica_of, default=0)

    def holders(self, stage):
        """(replica, device) of every copy of a stage."""
        return [(replica, self.placement[replica, stage]) for replica in range(self.replicas)]

    def keys_of(self, device):
        """(replica, stage) of what a device holds."""
        return sorted(key for key, holder in self.placement.items() if holder == device)

    def gradient_order(self, replica, stage):
        """The pieces in the order in which the holder adds up their weight gradients."""
        cells = self.cells[self.placement[replica, stage]]
        return [op.piece for cell in cells for op in cell.ops
                if op.kind in "BW" and op.stage == stage and self.replica_of[op.piece] == replica]


def read_op(text):
    match = OP.fullmatch(text)
    if not match:
        raise PlanError(f"{text!r} is not an op")
    return Op(int(match[1]), match[2], int(match[3]))


def read_hops(text):
    hops = []
    for word in [] if text == "-" else text.split(","):
        match = HOP.fullmatch(word)
        if not match:
            raise PlanError(f"{word!r} is not a transfer")
        hops.append(Hop(Tensor(match[1] == "g", int(match[2]), int(match[3])), int(match[4])))
    return hops


def read_fault(plan, words):
    if words[0] == "slow":
        plan.slow[int(words[2])] = float(words[1]) * plan.slow.get(int(words[2]), 1.0)
    else:
        plan.faults.add((words[0], read_op(words[1])))


def read_line(plan, key, rest):
    words = rest.split()
    if key == "sizes":
        plan.devices, plan.stages, plan.pieces, plan.iterations = map(int, words)
        plan.cells = {device: [] for device in range(plan.devices)}
    elif key in ("dtype", "device"):
        setattr(plan, key, rest)
    elif key == "seed":
        plan.seed = int(rest)
    elif key == "stages":
        plan.factory = rest
    elif key == "folder":
        plan.folder = rest
    elif key == "partition":
        plan.partition = [int(word) for word in rest.split(",")]
    elif key == "costs":
        plan.timings = int(rest)
    elif key == "fault":
        read_fault(plan, words)
    elif key == "replica":
        plan.replica_of = [int(word) for word in words]
    elif key == "place":
        plan.placement.update({(int(words[0]), stage): int(word) for stage, word in enumerate(words[1:])})
    elif key == "cell":
        device, position, ops, sends, receives = words
        plan.cells[int(device)].append(
            Cell(int(position), [read_op(op) for op in ops.split(",")], read_hops(sends), read_hops(receives)))
    else:
        raise PlanError(f"unknown key {key!r}")


def read_plan(text):
    lines = text.splitlines()
    if not lines or lines[0] != FORMAT or lines[-1] != "end":
        raise PlanError(f"this is no whole plan of format {FORMAT}: debubble and debubble_torch must be of one version")
    plan = Plan()
    for number, line in enumerate(lines[1:-1], 2):
        key, _, rest = line.partition(" ")
        try:
            read_line(plan, key, rest)
        except (PlanError, ValueError, IndexError, KeyError) as error:
            raise PlanError(f"line {number} of the plan, {line!r}: {error}") from error
    if len(plan.replica_of) != plan.pieces or len(plan.placement) != plan.replicas * plan.stages:
        raise PlanError("the plan does not place every stage and piece")
    return plan
