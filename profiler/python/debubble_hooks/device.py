"""What is measured, as `debubble profile` says it. Without PyTorch, which may be what is missing."""

import os


def cpu_is_measured():
    """`--device cpu`: the layers are timed on the CPU."""
    return os.environ.get("DEBUBBLE_DEVICE") == "cpu"
