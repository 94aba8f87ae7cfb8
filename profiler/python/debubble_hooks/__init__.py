"""Marks the layers of an unmodified PyTorch script for debubble, and measures what each keeps for its backward.

    python -m debubble_hooks [--layers REGEX] train.py --its --own --flags

Nothing in the script changes: modules are watched from outside. For each training forward

    root module called      debubble.layer:embedding    until the first layer
      layer called          debubble.layer:blocks.0     ... blocks.1, blocks.2, ...
      after the last layer  debubble.layer:head         until the root returns
    loss function called    debubble.layer:loss

become ranges (of debubble's recorder, or NVTX), optimizer.step() ends a range debubble.step:N, and PyTorch's own operator
ranges (emit_nvtx) let the backward be attributed. Sizes are counted in the first passes only, by saved-tensor hooks.
"""
