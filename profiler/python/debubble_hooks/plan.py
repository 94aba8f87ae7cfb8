"""Which modules of a model are its layers.

A block list is a ModuleList or Sequential in which most children are of one class that has children of its own:
transformer blocks, ResNet stages. The outermost ones are taken (experts inside a block are part of the block). Without
any, the outermost lists of plain layers; without those, the children that hold parameters; at last the model itself.
"""

import collections
import re
import weakref

import torch

# Wrappers put these in front of a module's own name.
_WRAPPERS = re.compile(r"(?:^|(?<=\.))(?:module|_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)(?:\.|$)")


def plain_name(qualified):
    return _WRAPPERS.sub("", qualified).rstrip(".")


def _is_list(module):
    return isinstance(module, (torch.nn.ModuleList, torch.nn.Sequential)) and len(module) >= 2


def _composite(module):
    return any(True for _ in module.children())


def _is_block_list(module):
    if not _is_list(module):
        return False
    classes = collections.Counter(type(child) for child in module)
    kind, count = classes.most_common(1)[0]
    return 2 * count >= len(module) and count >= 2 and any(type(c) is kind and _composite(c) for c in module)


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
        layers += [(f"{prefix}.{name}" if prefix else name, child) for name, child in container.named_children()]
    return layers


def default_layers(root):
    """[(qualified name, module)] in the order of registration."""
    for wanted in (_is_block_list, _is_list):
        lists = _outermost(root, "", wanted)
        if lists:
            return _children_of(lists)
    children = [(name, child) for name, child in root.named_children() if any(True for _ in child.parameters())]
    return children or [("", root)]


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
        own = [plain_name(qualified) or type(module).__name__ for qualified, module in found]
        prefix = self._prefix([*own, "embedding", "head"], taken)
        self.names, self.kinds, self.modules = {}, {}, {}
        self.last = None
        for name, (_, module) in zip(own, found):
            self.names[id(module)] = self.last = prefix + name
            self.kinds[prefix + name] = type(module).__name__
            self.modules[prefix + name] = weakref.ref(module)
        self.before, self.after = (prefix + "embedding", prefix + "head") if self.segments else (None, None)
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
