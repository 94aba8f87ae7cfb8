"""One process of the run, from its start to its records."""

import copy
import datetime
import os
import platform
import time

import torch
import torch.distributed as dist

from debubble_torch import measure, proof
from debubble_torch import status as at
from debubble_torch.exchange import Exchange
from debubble_torch.executor import Executor
from debubble_torch.models import Model
from debubble_torch.records import Records
from debubble_torch.stage import Stage


class Lacking(Exception):
    """This machine has not what the run needs."""


PATIENCE = datetime.timedelta(hours=12)  # debubble watches, and knows better


class Rank:
    def __init__(self, plan, rank, folder, status):
        self.plan, self.rank, self.status = plan, rank, status
        self.records = Records(folder, rank)
        self.device = torch.device("cuda", rank) if plan.device == "cuda" else torch.device("cpu")
        torch.set_num_threads(1)
        self.require_parts()
        if plan.device == "cuda":
            torch.cuda.set_device(self.device)
        dist.init_process_group("nccl" if plan.device == "cuda" else "gloo", timeout=PATIENCE, rank=rank,
                                world_size=plan.devices, init_method="file://" + os.path.join(folder, "rendezvous"))
        self.exchange = Exchange(rank, plan.devices, self.device)
        self.groups = proof.make_groups(plan)

    def require_parts(self):
        backend = "NCCL" if self.plan.device == "cuda" else "gloo"
        if not dist.is_available() or not getattr(dist, f"is_{backend.lower()}_available")():
            raise Lacking(f"this PyTorch ({torch.__version__}) is without torch.distributed's {backend}")
        if self.plan.device == "cuda" and torch.cuda.device_count() < self.plan.devices:
            raise Lacking(f"{self.plan.devices} devices take as many GPUs, and PyTorch finds {torch.cuda.device_count()}")

    def run(self):
        self.describe()
        self.build()
        self.measure_apart()
        executor = Executor(self.plan, self.rank, self.stages, self.exchange, self.inputs, self.boundaries, self.status)
        for number in range(self.plan.iterations):
            self.status.iteration = number + 1
            run = executor.run(checks=number == 0)
            begin = time.monotonic_ns()
            proof.sum_between_replicas(self.plan, self.rank, self.stages, self.groups)
            if self.exchange.cuda:  # until here it is only launched
                torch.cuda.synchronize()
            sum_ns = time.monotonic_ns() - begin
            if number == 0:
                self.keep_proven()
            self.records.add_iteration(number, run, self.is_as_proven(), sum_ns)
            if number == 0 and not self.prove():
                break
        self.records.write()
        self.status.set(at.FINISHED, -1)
        dist.barrier()

    def describe(self):
        if self.rank == 0:
            self.records.add("fact", "torch", torch.__version__)
            self.records.add("fact", "python", platform.python_version())
            self.records.add("fact", "backend", dist.get_backend())
            if self.device.type == "cuda":
                self.records.add("fact", "device", torch.cuda.get_device_name(self.device))
                self.records.add("fact", "cuda", torch.version.cuda)

    # Every process makes the whole model, from one seed, and keeps copies of its own stages; process 0 keeps the whole.
    def build(self):
        plan = self.plan
        model = Model(plan)
        model.device = self.device
        self.inputs = {piece: model.inputs(piece).to(self.device) for piece in range(plan.pieces)}
        last = plan.stages - 1
        self.stages = {(replica, stage): Stage(stage, copy.deepcopy(model.stages[stage]).to(self.device),
                                               model.loss if stage == last else None)
                       for replica, stage in plan.keys_of(self.rank)}
        self.model = None
        found = [None]
        if self.rank == 0:
            model.stages = [stage.to(self.device) for stage in model.stages]
            self.model = model
            found = [self.outputs_of(model)]
        dist.broadcast_object_list(found, 0)
        self.boundaries = found[0]

    def outputs_of(self, model):
        """By stage (shape, dtype) of what it returns."""
        result = []
        value = self.inputs[0]
        for number, stage in enumerate(model.stages):
            with torch.no_grad():
                value = stage(value)
            if not isinstance(value, torch.Tensor) or not value.is_floating_point():
                raise TypeError(f"stage {number} must return one tensor of floating-point numbers")
            result.append((tuple(value.shape), value.dtype))
        return result

    # One process after the other: what a stage takes while nothing else runs.
    def measure_apart(self):
        for turn in range(self.plan.devices):
            self.status.set(at.STARTING)
            if turn == self.rank:
                for (replica, number), stage in self.stages.items():
                    found = measure.stage_figures(stage, self.boundaries, self.inputs[0], self.plan.timings, self.device)
                    keys = ("F", "B", "I", "W", "activation", "held", "input", "output", "weights")
                    self.records.add("cost", replica, number, *(found[key] for key in keys), int(stage.differentiates_whole))
            dist.barrier()
        sizes = [torch.Size(shape).numel() * torch.empty(0, dtype=dtype).element_size()
                 for shape, dtype in self.boundaries[:-1]]
        first_tag = 2 * self.plan.stages * self.plan.pieces
        found = measure.link(self.rank, self.plan.devices, self.exchange, max(sizes, default=0), first_tag, self.some_work)
        if self.rank == 0:
            self.records.add("link", *found)

    def some_work(self):
        """A forward of one of this process's stages."""
        for (_, number), stage in self.stages.items():
            shape_from = self.inputs[0] if number == 0 else measure.random_like(self.boundaries[number - 1], self.device)
            stage.forward(0, shape_from)
            stage.reset()
            return

    def keep_proven(self):
        self.proven = {key: [None if g is None else g.clone() for g in stage.sums] for key, stage in self.stages.items()}

    def is_as_proven(self):
        return all((a is None and b is None) or (a is not None and b is not None and torch.equal(a, b))
                   for key, stage in self.stages.items() for a, b in zip(stage.sums, self.proven[key]))

    def prove(self):
        """Whether the gradients are right; process 0 compares and tells the others."""
        self.status.set(at.STARTING)
        losses = [None] * self.plan.devices
        own = {piece: loss.cpu() for stage in self.stages.values() for piece, loss in stage.losses.items()}
        dist.all_gather_object(losses, own)
        collected = proof.collect(self.plan, self.rank, self.stages, self.model)
        verdict = [True]
        if self.rank == 0:
            verdict = [self.compare(collected, {k: v for each in losses for k, v in each.items()})]
            self.model = None
        dist.broadcast_object_list(verdict, 0)
        return verdict[0]

    def compare(self, collected, losses):
        wanted, totals = proof.reference(self.plan, self.model, self.inputs)
        facts, wrong = proof.compare(self.model, totals, collected)
        same = sum(bool(torch.equal(wanted[piece].cpu(), losses[piece])) for piece in wanted if piece in losses)
        keys = ("parameters", "numbers", "same_bits", "max_absolute", "max_relative", "tolerance")
        self.records.add("proof", *(facts[key] for key in keys), same, len(wanted))
        for stage, name, absolute, relative in wrong[:20]:
            self.records.add("wrong", stage, f"{absolute:.3g}", f"{relative:.3g}", name)
        return not wrong
