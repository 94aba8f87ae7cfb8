"""The models of a script and their layers, as they are met."""

import weakref

import torch

from debubble_hooks import plan

MOST_NAMED = 4
MOST_ROOTS = 16  # root modules looked at; a script that makes a new one every step gets no further plans


class Catalogue:
    def __init__(self, pattern, note):
        self._pattern, self._note = pattern, note
        self._plans, self._taken = {}, set()
        self.names = {}  # id of a layer -> (weak reference, name)
        self.ran = set()  # names of layers that ran in a forward with gradients

    def __bool__(self):
        return bool(self._plans)

    def name_of(self, module):
        entry = self.names.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else None

    def never_ran(self):
        """One sentence for each model of which a layer was never called."""
        plans = {id(found): found for _, found in self._plans.values() if found is not None}
        for found in plans.values():
            idle = [name for name in found.modules if name not in self.ran]
            if idle:
                listed = ", ".join(idle[:MOST_NAMED]) + (f" and {len(idle) - MOST_NAMED} more"
                                                         if len(idle) > MOST_NAMED else "")
                yield (f"{len(idle)} of the {len(found.modules)} layers of {found.model} never ran forward with gradients: "
                       f"{listed}; their work, if there is any, lies outside of layers (--layers REGEX names others)")

    def plan_of(self, module):
        """The plan of the model that `module` belongs to, or None when it has no parameters."""
        known = self._plans.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        if len(self._plans) >= MOST_ROOTS:
            self._note(f"more than {MOST_ROOTS} models are called; further ones are not watched")
            return None
        root = plan.find_root(module)
        found = next((p for _, p in self._plans.values() if p is not None and p.root() is root), None)
        if found is None and any(True for _ in root.parameters()) and not isinstance(root, torch.jit.ScriptModule):
            found = plan.Plan(root, self._pattern, self._taken)
            self._check(root, found)
            for name, reference in found.modules.items():
                self.names[id(reference())] = (reference, name)
        self._adopt_stray(module, root, found)
        self._plans[id(module)] = (weakref.ref(module), found)
        return found

    def _adopt_stray(self, module, root, found):
        """A part of the model that the script calls by itself and that holds no layer is a layer."""
        if found is None or module is root or self._pattern or self.name_of(module) is not None:
            return
        if any(self.name_of(child) is not None for child in module.modules()):
            return
        qualified = next((n for n, m in root.named_modules() if m is module), type(module).__name__)
        if not any(True for _ in module.parameters()):
            return
        name = found.adopt(module, plan.plain_name(qualified), self._taken)
        self.names[id(module)] = (found.modules[name], name)

    def _check(self, root, found):
        if not found.names:
            self._note(f"--layers matches no module of {found.model}; its modules are named like "
                       + ", ".join(plan.plain_name(n) for n, _ in list(root.named_modules())[1:6]))
        layers = set(found.names)
        for module in root.modules():
            compiled = type(module).__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None)
            if compiled and any(id(child) in layers for child in module.modules() if child is not module):
                self._note(f"{type(module).__name__} is compiled as a whole: its layers cannot be told apart; run the "
                           "script without torch.compile, or compile each layer by itself")
                break
