#!/usr/bin/env python3
"""Trains a small model by 1F1B in several processes of PyTorch and records every rank with torch.profiler.

    record_1f1b.py named FOLDER      2 ranks; ranges forward_step and backward_step, prof.step()
    record_1f1b.py autograd FOLDER   3 ranks; no range of our own, no step: autograd, transfers and the optimizer

Written are FOLDER/rankN.json.gz as torch.profiler wrote them, and FOLDER/expected.json: what each rank itself saw on its
own stopwatch, as [kind, microbatch, microseconds] in the order of running, by iteration. CPU and gloo only.
"""
import contextlib
import gzip
import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ProfilerActivity, profile, record_function, schedule

MICROBATCHES = 4
ITERATIONS = 5
WIDTH = 256
ROWS = 64


class Stage:
    """One rank's part of the model, and the 1F1B order."""

    def __init__(self, rank, ranks, named):
        self.rank, self.ranks, self.named = rank, ranks, named
        torch.manual_seed(rank)
        layers = [layer for _ in range(3) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh())]
        self.model = torch.nn.Sequential(*layers)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.saved, self.sends, self.seen = [], [], []
        self.count = {"F": 0, "B": 0}

    @contextlib.contextmanager
    def op(self, kind, name):
        with record_function(name) if self.named else contextlib.nullcontext():
            begin = time.perf_counter_ns()
            yield
            end = time.perf_counter_ns()
        self.seen.append([kind, self.count[kind], (end - begin) / 1000])
        self.count[kind] += 1

    def receive(self, source):
        tensor = torch.empty(ROWS, WIDTH)
        dist.recv(tensor, source)
        return tensor

    def forward(self):
        last = self.rank == self.ranks - 1
        x = self.receive(self.rank - 1).requires_grad_() if self.rank else torch.randn(ROWS, WIDTH)
        with self.op("F", "forward_step"):
            y = self.model(x)
            if last:
                y = y.pow(2).mean()
        self.saved.append((x, y))
        if not last:
            self.sends.append(dist.isend(y.detach(), self.rank + 1))

    def backward(self):
        x, y = self.saved.pop(0)
        gradient = self.receive(self.rank + 1) if self.rank < self.ranks - 1 else None
        with self.op("B", "backward_step"):
            y.backward(gradient)
        if self.rank:
            self.sends.append(dist.isend(x.grad, self.rank - 1))

    def iteration(self):
        self.count, self.seen = {"F": 0, "B": 0}, []
        self.optimizer.zero_grad()
        ahead = min(MICROBATCHES, self.ranks - 1 - self.rank)
        for _ in range(ahead):
            self.forward()
        for _ in range(MICROBATCHES - ahead):
            self.forward()
            self.backward()
        for _ in range(ahead):
            self.backward()
        for send in self.sends:
            send.wait()
        self.sends.clear()
        self.optimizer.step()
        return self.seen


def work(rank, ranks, named, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks)
    stage = Stage(rank, ranks, named)
    steps = schedule(wait=0, warmup=1, active=ITERATIONS - 1) if named else None
    seen = []
    # PyTorch without Kineto begins a new trace with every step of a schedule's end: one cycle is recorded.
    with profile(activities=[ProfilerActivity.CPU], schedule=steps) as prof:
        for _ in range(ITERATIONS):
            seen.append(stage.iteration())
            if named and len(seen) < ITERATIONS:
                prof.step()
    trace = f"{folder}/rank{rank}.json"
    prof.export_chrome_trace(trace)
    with open(trace, "rb") as plain, gzip.GzipFile(trace + ".gz", "wb", 9, mtime=0) as packed:
        packed.write(plain.read())
    os.remove(trace)
    pathlib.Path(f"{folder}/seen{rank}.json").write_text(json.dumps(seen[1:] if named else seen))


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    named = kind == "named"
    ranks = 2 if named else 3
    mp.spawn(work, (ranks, named, str(folder)), nprocs=ranks)
    seen = [folder / f"seen{rank}.json" for rank in range(ranks)]
    expected = {"torch": torch.__version__, "device": "CPU", "backend": "gloo",
                "ranks": [json.loads(path.read_text()) for path in seen]}
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")
    for path in [*seen, folder / "rendezvous"]:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
