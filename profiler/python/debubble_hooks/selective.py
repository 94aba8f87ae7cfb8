"""What selective activation checkpointing holds of a layer instead of computing it again (PyTorch 2.4 and later)."""

import sys

import torch


def _tensors(held):
    """Of nested dicts, lists and tuples; PyTorch puts each tensor in an object that has it as `val`."""
    if isinstance(held, torch.Tensor):
        yield held
    elif isinstance(held, (dict, list, tuple)):
        for item in held.values() if isinstance(held, dict) else held:
            yield from _tensors(item)
    elif hasattr(held, "val"):
        yield from _tensors(held.val)


def held_tensors():
    """Of the checkpointed forwards that run now; None where PyTorch does not say what it holds."""
    dispatch = sys.modules.get("torch.utils._python_dispatch")
    stack = getattr(dispatch, "_get_current_dispatch_mode_stack", None)
    held = []
    for mode in stack() if stack is not None else ():
        if type(mode).__name__ == "_CachingTorchDispatchMode":
            if not hasattr(mode, "storage"):
                return None
            held += _tensors(mode.storage)
    return held
