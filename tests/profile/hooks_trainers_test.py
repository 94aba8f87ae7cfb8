#!/usr/bin/env python3
"""debubble_hooks on models put together as today's trainers do it: torchtitan's blocks in a ModuleDict, each in a
CheckpointWrapper, with a selective policy, compiled. Command line: see hooks_harness.py.

What this Python's PyTorch does not have yet is skipped: selective policies (2.4), torch.compile (2.0).
"""

import functools
import subprocess
import sys

from hooks_harness import BLOCK, STATISTICS, UNIT, HooksTest, main

TITAN = """
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, checkpoint_wrapper
class Titan(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.layers = nn.Embedding(V, H), nn.ModuleDict({str(i): Block() for i in range(L)})
        self.norm, self.out = nn.LayerNorm(H), nn.Linear(H, V, bias=False)
    def forward(self, tokens):
        h = self.tok(tokens)
        for layer in self.layers.values(): h = layer(h)
        return self.out(self.norm(h))
def with_blocks(put_around):
    model = Titan()
    for name, block in list(model.layers.named_children()): model.layers[name] = put_around(block)
    return model
"""
RECOMPUTED = [*sum((["debubble.layer:layers." + k, "debubble.phase:R", "pop", "pop"] for k in "210"), []), "pop"]


@functools.lru_cache(maxsize=None)
def can(statements):
    """Whether this PyTorch knows these names, and what they need is installed."""
    return subprocess.run([sys.executable, "-c", statements], capture_output=True, check=False).returncode == 0


def needs(statements):
    return lambda test: functools.wraps(test)(
        lambda self: test(self) if can(statements) else self.skipTest("this PyTorch has no: " + statements))


WRAPPER = needs("from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, checkpoint_wrapper")
POLICY = needs("from torch.utils.checkpoint import create_selective_checkpoint_contexts")
COMPILE = needs("import torch; torch.compile(torch.nn.Linear(2, 2), backend='aot_eager')(torch.ones(2, 2)).sum().backward()")


class Trainers(HooksTest):
    def titan(self, text):
        done, sizes = self.hooked(TITAN + text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sizes["outside_bytes"], 0)
        layers = self.layers(sizes)
        self.assertEqual(list(layers), ["embedding", "layers.0", "layers.1", "layers.2", "head", "loss"])
        self.assertEqual({layers[f"layers.{block}"]["parameter_bytes"] for block in range(3)}, {50816})
        return layers["layers.1"], done.stderr

    def recomputed(self, text):
        pushed = self.ranges(TITAN + text)
        return pushed[pushed.index("debubble.layer:loss") + 2:]

    @WRAPPER
    def test_a_block_in_a_checkpoint_wrapper_is_checkpointed_and_recomputed(self):
        for way in ("NO_REENTRANT", "REENTRANT"):
            with self.subTest(way=way):
                wrapped = ("with_blocks(lambda block: checkpoint_wrapper(block, checkpoint_impl=CheckpointImpl."
                           f"{way}, preserve_rng_state=False))")
                block, _ = self.titan(f"train({wrapped})")
                self.assertEqual((block["activation_bytes"], block["checkpointed"]), (UNIT, True))
                self.assertEqual(block["kind"], "Block")
                self.assertIsNone(block["weight_grad_held_bytes"])
                self.assertEqual(self.recomputed(f"train({wrapped}, steps=1)"), RECOMPUTED)

    @WRAPPER
    @POLICY
    def test_what_a_selective_policy_holds_is_kept(self):
        text = """
            from torch.utils.checkpoint import create_selective_checkpoint_contexts as contexts
            products = [torch.ops.aten.mm.default, torch.ops.aten.addmm.default]
            train(with_blocks(lambda block: checkpoint_wrapper(block, context_fn=lambda: contexts(products))))"""
        block, _ = self.titan(text.replace("\n            ", "\n"))
        # The input; the products of qkv, proj, fc1 and fc2.
        self.assertEqual((block["activation_bytes"], block["checkpointed"]), (UNIT * (1 + 3 + 1 + 4 + 1), True))

    @COMPILE
    def test_a_compiled_block_says_nothing_of_its_weights_part(self):
        block, told = self.titan("train(with_blocks(lambda block: torch.compile(block, backend='aot_eager')))")
        self.assertEqual(told, "")
        # What autograd would keep, less what the compiler computes again.
        self.assertLessEqual(block["activation_bytes"], BLOCK)
        self.assertGreaterEqual(block["activation_bytes"], UNIT + 2 * STATISTICS)
        self.assertIsNone(block["weight_grad_held_bytes"])
        self.assertFalse(block["checkpointed"])

    @COMPILE
    @WRAPPER
    def test_a_compiled_block_in_a_checkpoint_wrapper_is_one_layer(self):
        around = "checkpoint_wrapper(block, preserve_rng_state=False)"
        for text in (f"torch.compile({around}, backend='aot_eager')",
                     "checkpoint_wrapper(torch.compile(block, backend='aot_eager'), preserve_rng_state=False)"):
            with self.subTest(text=text):
                block, _ = self.titan(f"train(with_blocks(lambda block: {text}))")
                self.assertEqual(block["activation_bytes"], UNIT)
                self.assertIsNone(block["weight_grad_held_bytes"])


if __name__ == "__main__":
    main(__name__)
