"""Where ranges go: debubble's own recorder when it records this process, else NVTX when CUDA is in use, else nowhere."""

import ctypes
import os

import torch


class _Ranges:
    def counting(self):
        """Sizes are counted now: takes time of the host, which a GPU's times do not have."""


class _Recorder(_Ranges):
    """libdebubble_inject.so. The CUDA driver loads it too, or has: both get the same copy, and the same recording."""

    def __init__(self, library):
        self._push, self._pop, self._fact = library.debubble_push, library.debubble_pop, library.debubble_fact
        self._push.argtypes, self._push.restype = [ctypes.c_char_p], ctypes.c_int
        self._pop.argtypes, self._pop.restype = [], ctypes.c_int
        self._fact.argtypes, self._fact.restype = [ctypes.c_char_p, ctypes.c_char_p], ctypes.c_int

    def push(self, text):
        self._push(text.encode())

    def pop(self):
        self._pop()

    def fact(self, key, value):
        self._fact(key.encode(), str(value).encode())


class _Nvtx(_Ranges):
    def push(self, text):
        torch.cuda.nvtx.range_push(text)

    def pop(self):
        torch.cuda.nvtx.range_pop()

    def fact(self, key, value):
        pass


class _Nowhere(_Ranges):
    def push(self, text):
        pass

    def pop(self):
        pass

    def fact(self, key, value):
        pass


def _recorder():
    path = os.environ.get("DEBUBBLE_INJECT")
    if not path or not os.environ.get("DEBUBBLE_RECORD_DIR"):
        return None  # the library would have nowhere to record to
    try:
        return _Recorder(ctypes.CDLL(path))
    except (OSError, AttributeError):
        return None


def cuda_in_use():
    """Whether the script uses CUDA already. Asking must not start it: forked workers could not use it any more."""
    return torch.cuda.is_initialized()


def open_ranges():
    return _recorder() or (_Nvtx() if cuda_in_use() else _Nowhere())
