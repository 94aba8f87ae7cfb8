"""Tensors between processes: torch.distributed's isend and irecv, none of which waits for another.

All receives of an iteration are posted before it begins, those from one peer in the order in which that peer sends; a
thread for each peer waits for them in this order and notes when each has come. So no send waits for a receive, whatever
the rows do, and a row that cannot go on waits in `take`. Tensors are told apart by tag (gloo) and by that order (NCCL, which
knows no tags; there each direction between two processes has a group, and so a stream, of its own).
"""

import ctypes
import queue
import threading
import time
import zlib

import torch
import torch.distributed as dist


class Lost(Exception):
    """A peer has gone, or the connection to it."""


def bytes_checksum(tensor):
    """CRC-32 of a tensor's bytes; PyTorch may be without NumPy."""
    whole = tensor.detach().cpu().contiguous()
    size = whole.numel() * whole.element_size()
    return zlib.crc32((ctypes.c_char * size).from_address(whole.data_ptr())) if size else 0


class Exchange:
    def __init__(self, rank, world, device):
        self.rank = rank
        self.device = device
        self.cuda = device.type == "cuda"
        self.groups = {}
        if self.cuda:  # all processes make all groups, in one order
            for source in range(world):
                for target in range(world):
                    if source != target:
                        self.groups[source, target] = dist.new_group([source, target])
        self.jobs = {}  # source: what its thread is to wait for
        self.arrived = queue.SimpleQueue()
        self.tensors = {}
        self.sending = []
        self.buffers = {}

    def post(self, receives):
        """`receives`: (key, tag, source, shape, dtype), those of a source in the order in which it sends them."""
        self.tensors.clear()
        for key, tag, source, shape, dtype in receives:
            buffer = self.buffers.get(key)
            if buffer is None:
                buffer = self.buffers[key] = torch.empty(shape, dtype=dtype, device=self.device)
            work = dist.irecv(buffer, source, group=self.groups.get((source, self.rank)), tag=tag)
            self.thread_of(source).put((key, work, buffer))

    def thread_of(self, source):
        if source not in self.jobs:
            self.jobs[source] = queue.SimpleQueue()
            threading.Thread(target=self.wait_for_all, args=(self.jobs[source],), daemon=True).start()
        return self.jobs[source]

    def wait_for_all(self, jobs):
        stream = torch.cuda.Stream(self.device) if self.cuda else None
        while True:
            key, work, buffer = jobs.get()
            try:
                if stream is None:
                    work.wait()
                else:
                    with torch.cuda.stream(stream):
                        work.wait()
                        stream.synchronize()
                self.arrived.put((key, buffer, time.monotonic_ns()))
            except RuntimeError as error:
                self.arrived.put((None, error, 0))
                return

    def take(self, key):
        """The tensor and when it came; waits for it."""
        while key not in self.tensors:
            found, buffer, moment = self.arrived.get()
            if found is None:
                raise Lost(str(buffer)) from buffer
            self.tensors[found] = (buffer, moment)
        return self.tensors.pop(key)

    def send(self, tensor, target, tag):
        """Returns when the transfer begins."""
        tensor = tensor.contiguous()
        moment = time.monotonic_ns()
        try:
            work = dist.isend(tensor, target, group=self.groups.get((self.rank, target)), tag=tag)
        except RuntimeError as error:
            raise Lost(str(error)) from error
        self.sending.append((work, tensor))
        return moment

    def finish(self):
        """Waits until all that was sent has gone."""
        for work, _ in self.sending:
            try:
                work.wait()
            except RuntimeError as error:
                raise Lost(str(error)) from error
        self.sending.clear()
