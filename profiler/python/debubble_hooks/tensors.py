"""Sizes of tensors, with each piece of memory counted once."""

import torch

_LAZY = getattr(torch.nn.parameter, "UninitializedTensorMixin", ())


def has_shape(tensor):
    """Not so the parameters of a LazyLinear before its first input."""
    return not isinstance(tensor, _LAZY)


def storage_of(tensor):
    """(what identifies the memory, its bytes). Views of one storage have the same; odd tensors count by themselves."""
    if not has_shape(tensor):
        return None, 0
    try:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        pointer = storage.data_ptr()
        if pointer:
            return (str(tensor.device), pointer), storage.nbytes()
        return None, 0
    except Exception:  # sparse, fake, wrapped: no storage of its own
        return (str(tensor.device), -id(tensor)), tensor.numel() * tensor.element_size()


def bytes_of(tensor):
    return tensor.numel() * tensor.element_size() if has_shape(tensor) else 0


def tensors_in(value, depth=0):
    """Every tensor in nested tuples, lists, dicts and objects that look like them."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 4:
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (tuple, list)):
            return
        for item in value:
            yield from tensors_in(item, depth + 1)


def is_float(tensor):
    return tensor.dtype.is_floating_point or tensor.dtype.is_complex


def dtype_name(dtype):
    names = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float64: "fp64"}
    return names.get(dtype, str(dtype).replace("torch.", ""))
