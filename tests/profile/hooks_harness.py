"""How the tests of debubble_hooks run scripts: in a process of their own, after a small model, on this Python's PyTorch."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

PACKAGE = LIBRARY = None

MODEL = """
import sys
import torch, torch.nn as nn, torch.nn.functional as F
H, V, T, B, L = 32, 100, 16, 2, 3
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.qkv, self.proj = nn.LayerNorm(H), nn.Linear(H, 3 * H), nn.Linear(H, H)
        self.ln2, self.fc1, self.fc2 = nn.LayerNorm(H), nn.Linear(H, 4 * H), nn.Linear(4 * H, H)
    def forward(self, x):
        q, k, v = self.qkv(self.ln1(x)).chunk(3, -1)
        x = x + self.proj(torch.softmax(q @ k.transpose(1, 2), -1) @ v)
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))
class GPT(nn.Module):
    def __init__(self, run=lambda block, x: block(x)):
        super().__init__()
        self.run = run
        self.wte, self.blocks = nn.Embedding(V, H), nn.ModuleList(Block() for _ in range(L))
        self.norm, self.out = nn.LayerNorm(H), nn.Linear(H, V, bias=False)
    def forward(self, tokens):
        x = self.wte(tokens)
        for block in self.blocks: x = self.run(block, x)
        return self.out(self.norm(x))
def train(model, steps=3):
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        tokens = torch.randint(0, V, (B, T))
        loss = F.cross_entropy(model(tokens).view(-1, V), tokens.view(-1))
        optimizer.zero_grad(); loss.backward(); optimizer.step()
    return loss.item()
torch.manual_seed(0)
"""
UNIT = 2 * 16 * 32 * 4      # microbatch x tokens x width x bytes of fp32
STATISTICS = 2 * 2 * 16 * 4  # mean and reciprocal deviation of a LayerNorm
SCORES = 2 * 16 * 16 * 4
BLOCK = UNIT * (1 + 1 + 3 + 1 + 1 + 1 + 4 + 4) + 2 * STATISTICS + SCORES


class HooksTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)

    def run_python(self, *arguments, **environment):
        base = {name: value for name, value in os.environ.items() if not name.startswith(("DEBUBBLE", "RANK"))}
        return subprocess.run([sys.executable, *arguments], cwd=self.folder, text=True, capture_output=True, timeout=300,
                              env={**base, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", **environment},
                              check=False)

    def script(self, text, name="train.py"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return name

    def hooked(self, text, *options, **environment):
        """(process, sizes file) of a script after MODEL."""
        done = self.run_python("-m", "debubble_hooks", "--sizes", "sizes.json", *options,
                               self.script(MODEL + textwrap.dedent(text)), **environment)
        path = self.folder / "sizes.json"
        return done, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def layers(self, sizes):
        return {layer["name"]: layer for layer in sizes["layers"]}

    def ranges(self, text):
        log = self.folder / "ranges.log"
        log.unlink(missing_ok=True)
        done, _ = self.hooked(text, DEBUBBLE_INJECT=LIBRARY, PUSH_LOG=str(log), DEBUBBLE_RECORD_DIR=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in log.read_text(encoding="utf-8").splitlines() if not line.startswith("fact ")]


def main(test_module):
    """`test_module` is the name of the calling module; its command line: FOLDER_OF_THE_PACKAGE PUSH_LOG_LIBRARY [TEST...].

    Prints "SKIPPED:" where this Python has no PyTorch.
    """
    global PACKAGE, LIBRARY
    if importlib.util.find_spec("torch") is None:
        print("SKIPPED: this python3 has no PyTorch")
        sys.exit(77)
    PACKAGE, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(module=test_module, argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
