import contextlib


class SDPBackend:
    CUDNN_ATTENTION, FLASH_ATTENTION = "cudnn", "flash"


def sdpa_kernel(backend):
    assert backend in ("cudnn", "flash")
    return contextlib.nullcontext()
