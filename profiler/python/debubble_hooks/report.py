"""What was found out about the layers, and the file it is written to."""

import os

import torch

from debubble_hooks import accounting, sizes_file
from debubble_hooks.tensors import dtype_name, is_float


class Report:
    def __init__(self, path, note):
        self._path, self._note = path, note
        self._pid = os.getpid()
        self.layers = {}
        self.notes = []
        self.outside = 0  # bytes kept by no layer
        self._facts = {"model": "", "dtype": "", "microbatch": 0, "sequence": 0, "shapes": []}

    def sizes(self, name, kind):
        return self.layers.setdefault(name, accounting.LayerSizes(kind))

    def take_over(self, counting, found, name):
        sizes = self.sizes(name, found.kinds.get(name, ""))
        sizes.activation, sizes.held = counting.kept[name], counting.held[name]
        sizes.gradients, sizes.output = counting.gradients[name], counting.outputs.get(name, 0)
        sizes.checkpointed = name in counting.checkpointed
        module = found.modules[name]() if name in found.modules else None
        sizes.parameters = (accounting.parameter_bytes(module) if module is not None
                            else sum(counting.parameters.get(name, {}).values()))
        sizes.opaque = module is not None and sizes.parameters > 0 and name not in counting.parameters

    def learn(self, found, module, args, kwargs):
        shapes, samples, tokens = accounting.first_batch(args, kwargs)
        if self._facts["model"]:
            if self._facts["model"] == found.model and shapes != self._facts["shapes"] and module is found.root():
                self._note(f"the inputs of {found.model} change their size: {shapes} after {self._facts['shapes']}; "
                           "the sizes are those of the last pass counted")
            elif self._facts["model"] != found.model or module is not found.root():
                return
        parameter = next((p for p in module.parameters() if is_float(p)), None)
        dtype = dtype_name(parameter.dtype) if parameter is not None else ""
        if torch.is_autocast_enabled():
            dtype = dtype_name(torch.get_autocast_gpu_dtype())
        elif getattr(torch, "is_autocast_cpu_enabled", lambda: False)():
            dtype = dtype_name(torch.get_autocast_cpu_dtype())
        self._facts = {"model": found.model, "dtype": dtype, "microbatch": samples, "sequence": tokens,
                       "shapes": shapes}

    def write(self, complete, steps):
        path = self._path or sizes_file.default_path()
        if path is None:
            return
        try:
            trouble = sizes_file.write(path, self._content(complete, steps))
        except Exception as error:
            trouble = f"cannot write {path}: {type(error).__name__}: {error}"
        if trouble:
            self._note(trouble)

    def _content(self, complete, steps):
        layers = []
        for name, sizes in self.layers.items():
            held = min(sizes.activation, sizes.held + sizes.gradients)  # never more than is kept for the whole backward
            layers.append({"name": name, "kind": sizes.kind, "activation_bytes": sizes.activation,
                           "weight_input_bytes": sizes.held, "weight_gradient_bytes": sizes.gradients,
                           "weight_grad_held_bytes": None if sizes.checkpointed or sizes.opaque else held,
                           "output_bytes": sizes.output, "parameter_bytes": sizes.parameters,
                           "workspace_bytes": sizes.workspace, "checkpointed": sizes.checkpointed})
        facts = self._facts
        return {"schema": sizes_file.SCHEMA, "schema_version": 1, "complete": complete, "rank": sizes_file.rank(),
                "pid": self._pid, "torch": torch.__version__, "model": facts["model"], "dtype": facts["dtype"],
                "microbatch_size": facts["microbatch"] or None, "sequence_length": facts["sequence"] or None,
                "input_shapes": facts["shapes"], "steps": steps, "outside_bytes": self.outside,
                "layers": layers, "notes": self.notes}
