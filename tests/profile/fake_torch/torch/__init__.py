"""As much of PyTorch with CUDA as tools/gpu_validate/kernels.py calls, without arithmetic: every call takes 50 us.

The clock runs as fast as the GPU would. FAKE_TORCH lists what it lacks: itself (torch), cuda, fp8 (like releases before
2.1), all (no product works).
"""

import contextlib
import math
import os
import time

from . import nn  # noqa: F401

__version__ = "0.0+fake"
LACKS = os.environ.get("FAKE_TORCH", "").split(",")
if "torch" in LACKS:
    raise ImportError("no PyTorch here")
bfloat16, float32, int32 = "bfloat16", "float32", "int32"
if "fp8" not in LACKS:
    float8_e4m3fn = "float8_e4m3fn"


class Tensor:
    def __init__(self, *shape, dtype=float32):
        self.shape, self.dtype = shape, dtype
        self.nbytes = math.prod(shape) * {"float8_e4m3fn": 1, "bfloat16": 2}.get(dtype, 4)

    def to(self, dtype):
        return Tensor(*self.shape, dtype=dtype)

    def t(self):
        return Tensor(*reversed(self.shape), dtype=self.dtype)

    def transpose(self, *_):
        return self

    def copy_(self, other):
        assert self.shape == other.shape
        return work(self)

    def requires_grad_(self, _=True):
        return self

    def __mul__(self, _):
        return self


def work(result=None):
    cuda.now += 0.05
    return result


real_monotonic = time.monotonic
time.monotonic = lambda: real_monotonic() + cuda.now / 1000
time.sleep = lambda seconds: None


def new(*shape, dtype=float32, device=None, requires_grad=False):
    assert device == "cuda"
    return Tensor(*(shape[0] if shape and isinstance(shape[0], tuple) else shape), dtype=dtype)


randn = zeros = ones = new


def randn_like(tensor):
    return tensor


def arange(first, last, device, dtype):
    return new(last - first, dtype=dtype, device=device)


def matmul(a, b):
    if "all" in LACKS:
        raise RuntimeError("CUBLAS_STATUS_NOT_SUPPORTED,\nwith a second line")
    assert a.shape[1] == b.shape[0], (a.shape, b.shape)
    return work(Tensor(a.shape[0], b.shape[1], dtype=a.dtype))


def addmm(total, a, b, out_dtype, out):
    assert total is out and out_dtype == total.dtype == float32
    assert matmul(a, b).shape == total.shape, (a.shape, b.shape, total.shape)


def add(a, b, out):
    work()


def _scaled_mm(a, b, *_, **__):
    assert a.dtype == b.dtype == float8_e4m3fn
    return matmul(a, b)


def _grouped_mm(a, b, offs):
    assert offs.shape == (b.shape[0],)
    return work()


def manual_seed(_):
    pass


no_grad = contextlib.nullcontext


class cuda:  # noqa: N801: PyTorch's name of a module
    now = 0.0  # milliseconds

    class Event:
        def __init__(self, enable_timing):
            self.at = None

        def record(self):
            self.at = cuda.now

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            return end.at - self.at

    class CUDAGraph:
        took = 0.0

        def replay(self):
            cuda.now += self.took

    class Stream:
        def wait_stream(self, _):
            pass

    @staticmethod
    @contextlib.contextmanager
    def graph(one):
        before = cuda.now
        yield
        one.took, cuda.now = cuda.now - before, before

    stream = staticmethod(contextlib.nullcontext)
    current_stream = Stream

    @staticmethod
    def is_available():
        return "cuda" not in LACKS

    @staticmethod
    def synchronize():
        pass

    empty_cache = synchronize

    @staticmethod
    def get_device_properties(_):
        return type("Properties", (), {"name": "FAKE GPU", "multi_processor_count": 132})


class version:  # noqa: N801
    cuda = "0.0"


class backends:  # noqa: N801
    class cudnn:  # noqa: N801
        @staticmethod
        def version():
            return 1


class autograd:  # noqa: N801
    @staticmethod
    def grad(*_, **__):
        work()


class optim:  # noqa: N801
    class AdamW:
        def __init__(self, tensors, lr, fused):
            assert all(tensor.grad.shape == tensor.shape for tensor in tensors)

        def step(self):
            work()
