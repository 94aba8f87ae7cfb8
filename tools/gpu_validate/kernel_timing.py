"""How tools/gpu-validate kernels times calls of PyTorch on a GPU, and the file its rows go to. Needs PyTorch with CUDA."""

import csv
import math
import statistics
import time

import torch

L2_BYTES = 120 << 20  # more than the second-level cache of any GPU so far
COLUMNS = ["what", "variant", "a", "b", "c", "d", "us", "remark"]


class Rows:
    """Rows of a CSV file, each written as soon as it is known. After `deadline` (time.monotonic) no more are measured."""

    def __init__(self, path, deadline):
        self.file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115: open until the last row
        self.out = csv.writer(self.file, lineterminator="\n")
        self.out.writerow(COLUMNS)
        self.deadline = deadline
        self.measured, self.impossible, self.left_out = 0, 0, 0

    def add(self, what, variant, shape, us, remark=""):
        shape = [*shape, "", "", "", ""][:4]
        self.out.writerow([what, variant, *shape, "" if us is None else f"{us:.3f}", remark])
        self.file.flush()

    def has_time(self, seconds):
        if time.monotonic() + seconds <= self.deadline:
            return True
        self.left_out += 1
        return False

    def measure(self, what, variant, shape, function):
        """One row: `function` returns its microseconds."""
        self.measure_several(what, (variant,), shape, lambda: ((function(), ""),))

    def measure_several(self, what, variants, shape, function, seconds=0.0):
        """A row for each variant: `function`, which takes so long at least, returns microseconds and a remark for each.

        What this PyTorch cannot do, or the memory does not hold, is a row with the reason and no time.
        """
        if not self.has_time(seconds):
            return
        try:
            found = function()
            self.measured += len(variants)
        except (RuntimeError, AttributeError, ImportError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {str(error)[:160]}".replace("\n", " ")
            found = [(None, reason)] * len(variants)
            self.impossible += len(variants)
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        for variant, (us, remark) in zip(variants, found):
            self.add(what, variant, shape, us, remark)


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def by_events(call, times):
    """Microseconds of one `call(number)` by events around `times` of them."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for number in range(times):
        call(number)
    end.record()
    end.synchronize()
    return 1000 * start.elapsed_time(end) / times


def by_graph(call):
    """Microseconds of one call in a CUDA graph of 4 ms and more: the median of five replays."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        by_events(call, 3)
        times = max(4, min(200, math.ceil(4000 / by_events(call, 3))))
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for number in range(times):
            call(number)
    graph.replay()
    return statistics.median(by_events(lambda _: graph.replay(), 1) for _ in range(5)) / times


def rotating(make, function):
    """`function` on sets of tensors by turns, as many as pass over the L2 cache before the first comes back."""
    sets = [make()]
    size = sum(tensor.nbytes for tensor in sets[0])
    sets += [make() for _ in range(min(15, math.ceil(L2_BYTES / size) - 1))]
    return lambda number: function(*sets[number % len(sets)])
