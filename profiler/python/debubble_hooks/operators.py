"""PyTorch's operator ranges, `aten::mm, seq = 12, sizes = [[8, 512], [512, 64]]`, by which a backward finds its forward."""

import torch

from debubble_hooks import patches
from debubble_hooks.ranges import cuda_in_use


class Operators:
    """emit_nvtx on the thread that runs the forward; autograd hands it to its own threads."""

    def __init__(self, wanted):
        self._wanted = wanted
        self._running = None
        self._tell = print

    def start(self):
        if not self._wanted or self._running is not None or not cuda_in_use():
            return
        try:
            emitter = torch.autograd.profiler.emit_nvtx(enabled=True, record_shapes=True)
            emitter.__enter__()
            self._running = emitter
        except Exception as error:  # another profiler runs on this thread
            self._wanted = False
            self._tell(f"no operator ranges, so no backward can be attributed: {error}")

    def stop(self):
        running, self._running = self._running, None
        if running is None:
            return
        try:
            running.__exit__(None, None, None)
        except Exception as error:
            self._tell(f"operator ranges did not end well: {error}")

    def watch_other_profilers(self, tell):
        """torch.profiler in the script needs the same place, and gets it."""
        self._tell = tell
        patches.wrap_profiler_starts(self._yield_to_script)

    def _yield_to_script(self):
        if self._running is None:
            return
        self._wanted = False
        self.stop()
        self._tell("the script runs torch.profiler itself, which prevents ours: take it out of the "
                   "script, or import its trace with `debubble import --from kineto`")
