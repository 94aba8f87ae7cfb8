"""The stages that a run trains: the built-in chain, or the user's.

The user's factory is a Python callable, `module:factory`, that takes the number of stages and returns one of

    a list of that many modules; an nn.Sequential, which is cut into that many parts; an object with these as `.stages`.

The object, or the module that the factory is in, may also have `inputs(microbatch)`, the first stage's input, and
`loss(output, microbatch)`, a number made of the last stage's output. Each stage takes one tensor and returns one.
"""

import importlib
import sys

import torch
from torch import nn

HIDDEN, TOKENS, ROWS = 256, 128, 4


class StagesError(Exception):
    """The user's stages cannot be run; the message says why."""


class Block(nn.Module):
    """A residual MLP block: normalise, widen fourfold, GELU, narrow."""

    def __init__(self, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(hidden)
        self.widen = nn.Linear(hidden, 4 * hidden)
        self.narrow = nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        return x + self.narrow(nn.functional.gelu(self.widen(self.norm(x))))


class Chain:
    """As many equal blocks as stages. `inputs` and `loss` are those of every model that has none of its own."""

    def __init__(self, stages):
        self.stages = [Block(HIDDEN) for _ in range(stages)]


def mean_square(output, _microbatch):
    return output.square().mean()


def seeded(microbatch):
    return torch.Generator().manual_seed(1000 + microbatch)


def default_inputs(first, dtype):
    """Random input of the shape that the first layer with a known one takes."""
    for layer in first.modules():
        if isinstance(layer, nn.Embedding):
            return lambda k: torch.randint(layer.num_embeddings, (ROWS, TOKENS // 4), generator=seeded(k))
        size = getattr(layer, "in_features", None) or getattr(layer, "normalized_shape", None)
        if size:
            last = size if isinstance(size, int) else size[-1]
            return lambda k: torch.randn(TOKENS, last, generator=seeded(k), dtype=dtype)
    raise StagesError("the first stage does not say what input it takes: add `inputs(microbatch)` next to the factory")


def load_factory(name, folder):
    module_name, _, attribute = name.partition(":")
    if folder:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise StagesError(f"cannot import {module_name!r}: {error}") from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise StagesError(f"{module_name!r} has no callable {attribute!r}")
    return module, factory


def even_cut(layers, stages):
    return [layers * (stage + 1) // stages - layers * stage // stages for stage in range(stages)]


def cut(layers, stages, partition):
    sizes = partition or even_cut(len(layers), stages)
    if len(sizes) != stages or sum(sizes) != len(layers) or min(sizes) < 1:
        raise StagesError(f"{len(layers)} layers cannot be cut into {stages} stages of "
                          f"{','.join(map(str, sizes))} layers: give --partition {stages} numbers of at least 1 that "
                          f"add up to {len(layers)}")
    ends = [sum(sizes[:stage + 1]) for stage in range(stages)]
    return [layers[end - size:end] for size, end in zip(sizes, ends)]


class Model:
    """`stages`, a list of modules of one dtype; `inputs(microbatch)`; `loss(output, microbatch)`."""

    def __init__(self, plan):
        torch.manual_seed(plan.seed)
        dtype = getattr(torch, plan.dtype)
        module, factory = load_factory(plan.factory, plan.folder) if plan.factory else (None, Chain)
        made = factory(plan.stages)
        own = getattr(made, "stages", None) if not isinstance(made, nn.Sequential) else None
        stages = made if own is None else own
        if isinstance(stages, nn.Sequential):
            stages = cut(stages, plan.stages, plan.partition)
        elif plan.partition:
            raise StagesError("--partition cuts an nn.Sequential, and the factory returns stages: leave it out")
        stages = list(stages)
        if len(stages) != plan.stages or not all(isinstance(stage, nn.Module) for stage in stages):
            raise StagesError(f"the factory must return {plan.stages} modules or an nn.Sequential; "
                              f"it returned {len(stages)} of {type(stages[0]).__name__ if stages else 'nothing'}")
        self.stages = [stage.to(dtype) for stage in stages]
        places = [made, module] if own is not None else [module]
        self.loss = self.found(places, "loss") or mean_square
        inputs = self.found(places, "inputs") or default_inputs(self.stages[0], dtype)
        self.inputs = lambda microbatch: self.cast(inputs(microbatch), dtype)
        self.dtype = dtype
        self.refuse_shared()

    @staticmethod
    def found(places, name):
        return next((getattr(place, name) for place in places if callable(getattr(place, name, None))), None)

    @staticmethod
    def cast(value, dtype):
        if not isinstance(value, torch.Tensor):
            raise StagesError(f"inputs() must return one tensor; it returned a {type(value).__name__}")
        return value.to(dtype) if value.is_floating_point() else value

    def refuse_shared(self):
        """A parameter that two stages share would need a sum of its gradients that no schedule has."""
        owner = {}
        for stage, module in enumerate(self.stages):
            for name, parameter in module.named_parameters():
                first = owner.setdefault(id(parameter), stage)
                if first != stage:
                    raise StagesError(f"stages {first} and {stage} share the parameter {name}: give each its own")
