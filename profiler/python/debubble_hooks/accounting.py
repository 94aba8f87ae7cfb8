"""What each layer keeps for its backward, counted by saved-tensor hooks during one forward pass.

    kept        every tensor autograd saves while the layer runs, each storage once, without parameters and buffers
    held        of these, what the weight gradient needs: inputs of modules with weights
    gradients   outputs of modules with weight matrices: their gradients live from input gradient to weight gradient
    output      what the next layer takes in, of what this one returned

Under activation checkpointing a layer keeps its inputs, and what the policy of a selective one holds; what the
recomputation saves counts as workspace.
"""

import collections

import torch

from debubble_hooks.tensors import bytes_of, has_shape, is_float, storage_of, tensors_in


class LayerSizes:
    def __init__(self, kind):
        self.kind = kind
        self.activation = self.held = self.gradients = self.output = self.parameters = self.workspace = 0
        self.checkpointed = False
        self.opaque = False  # compiled: no module in it was seen to run, so nothing is known of its weights' part


class _Weighted:
    """A running module that has parameters of its own."""

    def __init__(self, module, inputs):
        own = [p for p in module._parameters.values() if p is not None and has_shape(p)]
        self.shapes = {tuple(p.shape) for p in own} | {tuple(reversed(p.shape)) for p in own}
        self.matrix = any(p.dim() >= 2 for p in own)
        self.inputs = {storage_of(t)[0] for t in inputs}
        self.numbers = {t.numel() for t in inputs}

    def needs_for_weights(self, tensor, key):
        if tuple(tensor.shape) in self.shapes and key not in self.inputs:
            return False  # a copy of the weight in another type, made by autocast
        return key in self.inputs or tensor.numel() in self.numbers


class Pass:
    """One forward pass of a root module."""

    def __init__(self, permanent):
        self.permanent = permanent  # storages of parameters and buffers
        self.kept, self.held, self.gradients = collections.Counter(), collections.Counter(), collections.Counter()
        self.outputs, self.parameters, self.checkpointed = {}, {}, set()
        self.label = None
        self.weighted = []
        self._seen, self._held_seen = {}, set()  # _seen: the owner of a storage, and which of all saves was its first
        self._saves = 0
        self._label_before = None  # what ran when the layer began
        self._checkpoint_inputs = {}
        self._previous = None  # (layer, its outputs) until the next layer takes them
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, lambda tensor: tensor)

    def _pack(self, tensor):
        try:
            self._count(tensor)
        except Exception:  # never at the cost of the script
            pass
        return tensor

    def _count(self, tensor):
        key, size = storage_of(tensor)
        if key is None or key in self.permanent or isinstance(tensor, torch.nn.Parameter):
            return
        owner = self._checkpoint_inputs.get(key, self.label)
        self._saves += 1
        if key not in self._seen:
            self._seen[key] = (owner, self._saves)
            self.kept[owner] += size
        if self.weighted and key not in self._held_seen and self.weighted[-1].needs_for_weights(tensor, key):
            self._held_seen.add(key)
            self.held[owner] += size

    def enter_weighted(self, module, inputs):
        self.weighted.append(_Weighted(module, inputs))
        if self.label is not None:
            owned = self.parameters.setdefault(self.label, {})
            for parameter in module._parameters.values():
                if parameter is not None:
                    owned[storage_of(parameter)[0]] = bytes_of(parameter)

    def leave_weighted(self, outputs):
        weighted = self.weighted.pop()
        if weighted.matrix and self.label is not None:
            self.gradients[self.label] += sum(bytes_of(t) for t in outputs if is_float(t) and t.requires_grad)

    def enter_layer(self, name, inputs, before):
        """`before`: the segment in front of the first layer, whose output is this layer's input."""
        floats = {storage_of(t)[0]: bytes_of(t) for t in inputs if is_float(t)}
        if self._previous is not None:
            self._hand_over(floats)
        elif before is not None:
            grown = [bytes_of(t) for t in inputs if is_float(t) and t.requires_grad]
            self.outputs[before] = (grown or list(floats.values()) or [0])[0]
        self._label_before, self.label = self.label, name

    def leave_layer(self, name, outputs):
        self._previous = (name, [(storage_of(t)[0], bytes_of(t)) for t in outputs if is_float(t)])
        self.label = None

    def _hand_over(self, taken):
        name, outputs = self._previous
        self._previous = None
        matched = sum({key: size for key, size in outputs if key in taken}.values())
        self.outputs[name] = matched or (outputs[0][1] if outputs else 0)

    def keep_inputs_only(self, name, inputs):
        """The layer runs under checkpointing: autograd keeps its inputs, which are saved after it has returned."""
        self.checkpointed.add(name)
        for tensor in inputs:
            key, _ = storage_of(tensor)
            if key is not None and is_float(tensor):
                self._checkpoint_inputs.setdefault(key, name)

    def inputs_are_kept(self, name, inputs):
        """As above where nothing is saved through our hooks while the layer runs (checkpointing without reentrance).

        Since 2.1 PyTorch saves the inputs as the last thing in front of the layer, through our hooks; they are the
        layer's, unless another had saved them before. Older releases hold them in a closure.
        """
        self.checkpointed.add(name)
        in_front = self._saves - len(inputs)
        for tensor in inputs:
            key, size = storage_of(tensor)
            if key is None or key in self.permanent:
                continue
            if key in self._seen:
                owner, first_save = self._seen[key]
                if owner != self._label_before or first_save <= in_front:
                    continue
                self.kept[owner] -= size
            self._seen[key] = (name, self._saves)
            self.kept[name] += size

    def policy_keeps(self, name, tensors):
        """`tensors`: what selective checkpointing did not want to compute again."""
        for tensor in tensors:
            key, size = storage_of(tensor)
            if key is not None and key not in self.permanent and key not in self._seen:
                self._seen[key] = (name, self._saves)
                self.kept[name] += size

    def end(self, after, outputs):
        """`after`: the segment after the last layer; `outputs` of the root."""
        if self._previous is not None:
            self._hand_over({storage_of(t)[0] for t in outputs})
        if after is not None:
            self.outputs[after] = next((bytes_of(t) for t in outputs if is_float(t)), 0)


def parameter_bytes(module):
    return sum({storage_of(p)[0]: bytes_of(p) for p in module.parameters()}.values())


def permanent_storages(root):
    tensors = [*root.parameters(), *root.buffers()]
    return {storage_of(t)[0] for t in tensors} - {None}


def first_batch(args, kwargs):
    """(shapes of the inputs, samples, tokens per sample): a guess from the first token matrix or activation."""
    inputs = list(tensors_in((args, kwargs)))
    shapes = [list(t.shape) for t in inputs]
    for tensor in inputs:
        if not is_float(tensor) and tensor.dim() == 2:
            return shapes, tensor.shape[0], tensor.shape[1]
    for tensor in inputs:
        if tensor.dim() >= 1:
            return shapes, tensor.shape[0], tensor.shape[1] if tensor.dim() == 3 else 0
    return shapes, 0, 0
