"""Runs one device's row once: waits for inputs, does the ops, sends what they made, notes when."""

import gc
import os
import signal
import time

import torch
import torch.distributed as dist

from debubble_torch import status as at
from debubble_torch.exchange import bytes_checksum
from debubble_torch.plan import Tensor
from debubble_torch.stage import WrongOrder


def input_of(op, stages):
    """The tensor that an op takes from another stage, or None."""
    if op.kind == "F":
        return Tensor(False, op.stage - 1, op.piece) if op.stage > 0 else None
    return Tensor(True, op.stage, op.piece) if op.kind in "BI" and op.stage + 1 < stages else None


def output_of(op, stages):
    if op.kind == "F":
        return Tensor(False, op.stage, op.piece) if op.stage + 1 < stages else None
    return Tensor(True, op.stage - 1, op.piece) if op.kind in "BI" and op.stage > 0 else None


def flipped(tensor):
    """With the highest bit of its first number's exponent changed: of 1 something beyond any model."""
    wrong = tensor.detach().clone().contiguous()
    raw = wrong.view(torch.uint8).flatten()
    raw[wrong.element_size() - 1] ^= 0x40
    return wrong


class Executor:
    def __init__(self, plan, rank, stages, exchange, inputs, boundaries, status):
        self.plan, self.rank = plan, rank
        self.stages = stages          # (replica, stage): Stage
        self.exchange = exchange
        self.inputs = inputs          # piece: the first stage's input
        self.boundaries = boundaries  # stage: (shape, dtype) of its output
        self.status = status
        self.local = {}
        self.cuda = exchange.cuda
        self.receives = self.expected()
        self.recomputed = plan.recomputed

    def tag(self, tensor):
        return (int(tensor.gradient) * self.plan.stages + tensor.stage) * self.plan.pieces + tensor.piece

    def expected(self):
        """What the others send here, each in the order of its row."""
        result = []
        for source in range(self.plan.devices):
            for cell in self.plan.cells[source]:
                for hop in cell.sends:
                    if hop.peer == self.rank:
                        shape, dtype = self.boundaries[hop.tensor.stage]
                        result.append((hop.tensor, self.tag(hop.tensor), source, shape, dtype))
        return result

    def run(self, checks):
        """(ops, sent, got): (position, begin, end); (tensor, peer, time, checksum); (tensor, peer, time, bytes, checksum).

        With `checks` the bytes of all that travels are summed up; else the checksums are 0.
        """
        self.ops, self.sent, self.got = [], [], []
        self.local.clear()
        for stage in self.stages.values():
            stage.reset()
        self.exchange.post(self.receives)
        gc.collect()
        gc.disable()
        try:
            self.status.set(at.MEETS, 0)
            dist.barrier()
            for cell in self.plan.cells[self.rank]:
                self.run_cell(cell, checks)
            self.status.set(at.MEETS, -1)
            self.exchange.finish()
        finally:
            gc.enable()
        return self.ops, self.sent, self.got

    def run_cell(self, cell, checks):
        for hop in cell.receives:
            self.status.waits_for(cell.position, hop)
            self.receive(hop, checks)
        self.status.set(at.AT_WORK, cell.position)
        begin = time.monotonic_ns()
        outputs = [self.do(op) for op in cell.ops]
        if self.cuda:
            torch.cuda.synchronize()
        end = time.monotonic_ns()
        slow = self.plan.slow.get(self.rank, 1.0)
        if slow > 1.0:
            while time.monotonic_ns() < begin + slow * (end - begin):
                pass
            end = time.monotonic_ns()
        self.ops.append((cell.position, begin, end))
        for op, output in zip(cell.ops, outputs):
            self.hand_on(op, output, cell, checks)

    def receive(self, hop, checks):
        buffer, moment = self.exchange.take(hop.tensor)
        size = buffer.numel() * buffer.element_size()
        self.got.append((hop.tensor, hop.peer, moment, size, bytes_checksum(buffer) if checks else 0))
        self.local[hop.tensor] = buffer

    def do(self, op):
        if ("kill", op) in self.plan.faults:
            os.kill(os.getpid(), signal.SIGKILL)
        stage = self.stages[self.plan.replica_of[op.piece], op.stage]
        if op.kind == "W":
            return stage.weight_gradient(op.piece)
        if op.kind == "R":
            return stage.recompute(op.piece)
        needed = input_of(op, self.plan.stages)
        if needed is not None and needed not in self.local:
            raise WrongOrder(f"{op} runs before stage {op.stage + (-1 if op.kind == 'F' else 1)} has made its input")
        if op.kind == "F":
            forward = stage.forward_for_recompute if (op.stage, op.piece) in self.recomputed else stage.forward
            return forward(op.piece, self.inputs[op.piece] if needed is None else self.local.pop(needed))
        arrived = None if needed is None else self.local.pop(needed)
        return stage.backward(op.piece, arrived) if op.kind == "B" else stage.input_gradient(op.piece, arrived)

    def hand_on(self, op, output, cell, checks):
        made = output_of(op, self.plan.stages)
        if made is None:
            return
        hop = next((hop for hop in cell.sends if hop.tensor == made), None)
        if hop is None:
            self.local[made] = output
            return
        checksum = bytes_checksum(output) if checks else 0
        if ("drop", op) in self.plan.faults:
            return
        if ("corrupt", op) in self.plan.faults:
            output = flipped(output)
        self.sent.append((made, hop.peer, self.exchange.send(output, hop.peer, self.tag(made)), checksum))
