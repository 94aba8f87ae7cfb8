#!/usr/bin/env python3
"""A small PyTorch transformer on a GPU, to be measured in several ways by tools/gpu-validate.

Without flags it just trains: for `debubble profile -- python -m debubble_hooks`. --kineto FILE records it with
torch.profiler, its layers named as debubble_hooks names them; --memory FILE writes what each block allocates.
"""

import argparse
import contextlib
import json

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, BLOCKS, VOCABULARY, SAMPLES, TOKENS = 1024, 16, 4, 8192, 4, 1024
WARM_UP, STEPS = 5, 15


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.qkv, self.proj = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm2, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        samples, tokens, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(samples, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        scores = torch.softmax(q @ k.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5, -1)
        x = x + self.proj((scores @ v).transpose(1, 2).reshape(samples, tokens, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, layer_range):
        super().__init__()
        self.layer_range = layer_range
        self.tokens, self.blocks = nn.Embedding(VOCABULARY, WIDTH), nn.ModuleList(Block() for _ in range(BLOCKS))
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        with self.layer_range("embedding"):
            x = self.tokens(tokens)
        for number, block in enumerate(self.blocks):
            with self.layer_range(f"blocks.{number}"):
                x = block(x)
        with self.layer_range("head"):
            return self.out(self.norm(x))


def step(model, optimizer, tokens, layer_range):
    logits = model(tokens)
    with layer_range("loss"):
        loss = F.cross_entropy(logits.view(-1, VOCABULARY).float(), tokens.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class Allocations:
    """What each block's forward leaves allocated."""

    def __init__(self):
        self.found = {}

    @contextlib.contextmanager
    def __call__(self, name):
        before = torch.cuda.memory_allocated()
        yield
        self.found[name] = torch.cuda.memory_allocated() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kineto", metavar="FILE")
    parser.add_argument("--memory", metavar="FILE")
    options = parser.parse_args()
    layer_range = lambda name: contextlib.nullcontext()  # noqa: E731
    if options.kineto:
        layer_range = lambda name: torch.profiler.record_function("debubble.layer:" + name)  # noqa: E731
    if options.memory:
        layer_range = Allocations()
    torch.manual_seed(0)
    model = Transformer(layer_range).cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    tokens = torch.randint(0, VOCABULARY, (SAMPLES, TOKENS), device="cuda")
    for _ in range(WARM_UP):
        step(model, optimizer, tokens, layer_range)
    torch.cuda.synchronize()
    if options.kineto:
        with torch.profiler.profile(record_shapes=True) as recording:
            for _ in range(STEPS):
                step(model, optimizer, tokens, layer_range)
                recording.step()
            torch.cuda.synchronize()
        recording.export_chrome_trace(options.kineto)
        return
    for _ in range(STEPS):
        step(model, optimizer, tokens, layer_range)
    torch.cuda.synchronize()
    if options.memory:
        with open(options.memory, "w", encoding="utf-8") as file:
            json.dump(layer_range.found, file)


if __name__ == "__main__":
    main()
