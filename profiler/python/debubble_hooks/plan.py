"""Which modules of a model are its layers.

A block list is a ModuleList, ModuleDict or Sequential in which most children are of one class that has children of its
own: transformer blocks, ResNet stages. The outermost ones are taken (experts inside a block are part of the block).
Without any, the outermost lists of plain layers, and a single block where a pipeline stage has one; without those, the
children that hold parameters; at last the model itself. A ModuleList or ModuleDict never runs: within a list, what it
holds are layers.

A layer is named as the model names it, blocks by the key of their ModuleDict. Blocks that know their number in the
whole model are named by that: each pipeline rank of Megatron-LM counts its list from 0.
"""

import collections
import re
import weakref

import torch

# Wrappers put these in front of a module's own name.
_WRAPPERS = re.compile(r"(?:^|(?<=\.))(?:module|_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)(?:\.|$)")


def plain_name(qualified):
    return _WRAPPERS.sub("", qualified).rstrip(".")


def _never_runs(module):
    """Whether the module only holds others: it has no forward of its own."""
    return (isinstance(module, (torch.nn.ModuleList, torch.nn.ModuleDict))
            and type(module).forward is torch.nn.Module.forward)


def _children(module):
    """A block that a list holds twice counts twice; a part that a pipeline stage lacks is None."""
    return [child for child in module._modules.values() if child is not None]


def _is_list(module):
    kinds = (torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Sequential)
    return isinstance(module, kinds) and len(_children(module)) >= 2


def _composite(module):
    return any(True for _ in module.children())


def _is_block_list(module):
    children = _children(module)
    if _never_runs(module) and children and all(_number_in_model(child) is not None for child in children):
        return True  # also one block, whatever lists it holds itself
    if not _is_list(module):
        return False
    classes = collections.Counter(type(child) for child in children if not _never_runs(child))
    kind, count = classes.most_common(1)[0] if classes else (None, 0)
    return 2 * count >= len(children) and count >= 2 and any(type(c) is kind and _composite(c) for c in children)


def _is_list_or_single_block(module):
    if _never_runs(module) and len(_children(module)) == 1:
        only = _children(module)[0]
        return _composite(only) and not _never_runs(only)
    return _is_list(module)


def _outermost(module, prefix, wanted):
    """(name, container) of the outermost modules for which `wanted` holds."""
    if wanted(module):
        return [(prefix, module)]
    found = []
    for name, child in module.named_children():
        found += _outermost(child, f"{prefix}.{name}" if prefix else name, wanted)
    return found


def _children_of(lists):
    layers = []
    for prefix, container in lists:
        for name, child in container.named_children():
            qualified = f"{prefix}.{name}" if prefix else name
            layers += _children_of([(qualified, child)]) if _never_runs(child) else [(qualified, child)]
    return layers


def default_layers(root):
    """[(qualified name, module)] in the order of registration."""
    for wanted in (_is_block_list, _is_list_or_single_block):
        lists = _outermost(root, "", wanted)
        if lists:
            return _children_of(lists)
    return [(name, child) for name, child in _children_of([("", root)]) if _has_parameters(child)] or [("", root)]


def _has_parameters(module):
    return any(True for _ in module.parameters())


def _run_again(module):
    """The module itself, or what a CheckpointWrapper around it holds: that is what a backward calls once more.

    FSDP may lie around the wrapper. A module that is compiled calls nothing that it holds.
    """
    inner = module
    while True:
        parts = inner._modules
        wrapped = parts.get("_checkpoint_wrapped_module")
        if getattr(inner, "_compiled_call_impl", None) is not None:
            return module
        if wrapped is not None:
            return wrapped
        inner = parts.get("_fsdp_wrapped_module")
        if inner is None:
            return module


def _number_in_model(module):
    """Counted from 0. Megatron-LM's blocks have `layer_number`: from 1, over all pipeline ranks and their chunks."""
    number = getattr(_run_again(module), "layer_number", None)
    return number - 1 if isinstance(number, int) and not isinstance(number, bool) and number >= 1 else None


def numbers_in_model(found):
    """(names with the numbers that blocks know in place of their index in the list, whether any list was of such blocks).

    A list counts when every block of it knows a number, and these rise along the list; else its own indices stay.
    """
    names = [plain_name(qualified) or type(module).__name__ for qualified, module in found]
    lists = collections.defaultdict(list)
    for place, name in enumerate(names):
        prefix, dot, last = name.rpartition(".")
        if last.isdigit():
            lists[prefix + dot].append(place)
    numbered = False
    for prefix, places in lists.items():
        numbers = [_number_in_model(found[place][1]) for place in places]
        if None in numbers or any(a >= b for a, b in zip(numbers, numbers[1:])):
            continue
        numbered = True
        for place, number in zip(places, numbers):
            names[place] = f"{prefix}{number}"
    return names, numbered


def matching_layers(root, pattern):
    """The outermost modules whose name matches."""
    taken, layers = [], []
    for name, module in root.named_modules():
        plain = plain_name(name)
        if not plain or not pattern.search(plain) or any(name.startswith(outer + ".") for outer in taken):
            continue
        taken.append(name)
        layers.append((name, module))
    return layers


class Plan:
    """The layers of one root module: names by id, and which is first and last."""

    def __init__(self, root, pattern, taken):
        self.root = weakref.ref(root)
        self.model = type(root).__name__
        found = matching_layers(root, pattern) if pattern else default_layers(root)
        # A Sequential does nothing but run its children, and a model that is one layer has nothing around it.
        first = found[0][1] if found else root
        plain = type(root) is torch.nn.Sequential and any(child is first for child in root.children())
        self.segments = pattern is None and first is not root and not plain
        own, numbered = numbers_in_model(found)
        around = self._prefix([*own, "embedding", "head"], taken)
        # Of a model's second chunk on this rank, only what lies around its blocks needs a name of its own.
        prefix = "" if numbered and not any(name in taken for name in own) else around
        self.names, self.kinds, self.modules = {}, {}, {}
        self.last = None
        for name, module in zip(own, (_run_again(module) for _, module in found)):
            self.names[id(module)] = self.last = prefix + name
            self.kinds[prefix + name] = type(module).__name__
            self.modules[prefix + name] = weakref.ref(module)
        self.before, self.after = (around + "embedding", around + "head") if self.segments else (None, None)
        if self.segments:
            self.kinds[self.before], self.kinds[self.after] = "embedding", "head"
        taken.update(self.kinds)

    def _prefix(self, names, taken):
        """What makes the names different from those of other models: "Critic." for "Critic.blocks.0"."""
        prefix, number = "", 1
        while any(prefix + name in taken for name in names):
            prefix = f"{self.model}." if number == 1 else f"{self.model}{number}."
            number += 1
        return prefix

    def order(self):
        return [name for name in (self.before, *self.modules, self.after) if name is not None]

    def adopt(self, module, name, taken):
        """A module found later. Returns the name it got."""
        name = self._prefix([name], taken) + name
        self.names[id(module)], self.kinds[name], self.modules[name] = name, type(module).__name__, weakref.ref(module)
        taken.add(name)
        return name


def find_root(module):
    """The largest live module that contains `module`: scripts may call parts of a model instead of the model."""
    import gc
    best, size = module, sum(1 for _ in module.modules())
    for candidate in gc.get_objects():
        if not issubclass(type(candidate), torch.nn.Module) or candidate is module:
            continue
        try:
            members = list(candidate.modules())
        except Exception:  # half-built, or not to be walked: then it is not the model being run
            continue
        if len(members) > size and any(member is module for member in members):
            best, size = candidate, len(members)
    return best
