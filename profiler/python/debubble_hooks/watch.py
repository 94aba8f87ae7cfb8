"""Watch: everything that happens around the calls of a model's modules, put together.

State is per thread, since autograd recomputes checkpointed layers on threads of its own. What goes wrong in here is told
once on stderr and ends the watching, never the script.
"""

import collections
import dataclasses
import os
import re
import sys
import threading
import weakref
from typing import Optional

import torch

from debubble_hooks import accounting, patches, plan, ranges, sizes_file
from debubble_hooks.operators import Operators
from debubble_hooks.segments import Segments
from debubble_hooks.steps import Steps
from debubble_hooks.tensors import dtype_name, is_float, tensors_in

MOST_ROOTS = 16  # root modules looked at; a script that makes a new one every step gets no further plans


@dataclasses.dataclass
class WatchOptions:
    layers: Optional[str] = None
    sizes_file: Optional[str] = None
    size_passes: int = 2
    operators: bool = True


class _Thread(threading.local):
    def __init__(self):
        self.inside = False   # a root module of this thread is running, marked or not
        self.plan = None      # its plan, when it is marked
        self.layer = None     # name of the running layer
        self.around = False   # what runs before and after the layers is marked too
        self.in_loss = False
        self.counting = None  # the Pass in which sizes are counted
        self.foreign = []     # saved-tensor hooks of others that are open
        self.foreign_served = None
        self.user_depth = 0   # NVTX ranges of the script that are open
        self.segments = None
        self.own_hooks = None


class Watch:
    def __init__(self, options):
        self._options = options
        self._pattern = self._compiled(options.layers)
        self._pid = os.getpid()
        self._state = _Thread()
        self._ranges = ranges._Nowhere()
        self._operators = Operators(options.operators)
        self._steps = Steps()
        self._plans, self._names, self._taken = {}, {}, set()
        self._layers, self._notes = {}, []
        self._passes = collections.Counter()
        self._in_backward = 0
        self._outside = 0
        self._facts = {"model": "", "dtype": "", "microbatch": 0, "sequence": 0, "shapes": []}
        self._broken = self._finished = False
        self._trained = set()

    @staticmethod
    def _compiled(pattern):
        try:
            return re.compile(pattern) if pattern else None
        except re.error as error:
            sys.exit(f"debubble_hooks: --layers {pattern}: not a regular expression: {error}")

    def install(self):
        self._range_push, self._range_pop = patches.wrap_user_ranges(self._user_pushed, self._user_popping)
        ranges._Nvtx.push = staticmethod(self._range_push)
        ranges._Nvtx.pop = staticmethod(self._range_pop)
        patches.wrap_foreign_hooks(self._foreign_entered, self._foreign_left)
        patches.wrap_disabled_hooks(self._pause_counting, self._resume_counting)
        patches.wrap_module_calls(self._around)
        patches.wrap_losses(self._around_loss)
        patches.wrap_backward(self._backward_entered, self._backward_left)
        patches.wrap_optimizers(self._stepped)
        self._operators.watch_other_profilers(self._note)

    # ---- what the script does -------------------------------------------------------------------------------------

    def _around(self, original, module, args, kwargs):
        state = self._state
        if self._broken or os.getpid() != self._pid:
            return original(module, *args, **kwargs)
        if not state.inside:
            return self._root_call(original, module, args, kwargs)
        if state.plan is not None and state.layer is None and id(module) in self._names:
            return self._layer_call(original, module, args, kwargs)
        if state.counting is not None and any(p is not None for p in module._parameters.values()):
            return self._weighted_call(original, module, args, kwargs)
        return original(module, *args, **kwargs)

    def _root_call(self, original, module, args, kwargs):
        if self._in_backward:
            name = self._name_of(module)
            if name is None:
                return original(module, *args, **kwargs)
            return self._recompute_call(original, module, name, args, kwargs)
        state = self._state
        state.inside = True
        try:
            self._guarded(self._enter_root, module, args, kwargs)
            if state.plan is not None and self._name_of(module) is not None:
                result = self._layer_call(original, module, args, kwargs)
            else:
                result = original(module, *args, **kwargs)
            self._guarded(self._end_counting, module, result)
            return result
        finally:
            self._guarded(self._leave_root)
            state.inside = False
            state.plan = None

    def _layer_call(self, original, module, args, kwargs):
        state, name = self._state, self._names[id(module)][1]
        state.layer = name
        self._guarded(self._enter_layer, module, name, args, kwargs)
        try:
            if state.counting is not None and any(p is not None for p in module._parameters.values()):
                result = self._weighted_call(original, module, args, kwargs)
            else:
                result = original(module, *args, **kwargs)
            if state.counting is not None:
                self._guarded(state.counting.leave_layer, name, list(tensors_in(result)))
            return result
        finally:
            state.layer = None
            self._guarded(self._leave_layer, name)

    def _weighted_call(self, original, module, args, kwargs):
        counting = self._state.counting
        self._guarded(counting.enter_weighted, module, list(tensors_in((args, kwargs))))
        result = None
        try:
            result = original(module, *args, **kwargs)
            return result
        finally:
            self._guarded(counting.leave_weighted, list(tensors_in(result)))

    def _recompute_call(self, original, module, name, args, kwargs):
        """A checkpointed layer runs again inside of the backward."""
        state = self._state
        state.inside = True
        self._ranges.push("debubble.layer:" + name)
        self._ranges.push("debubble.phase:R")
        counting = None
        if name in self._layers and self._passes[("R", name)] < self._options.size_passes and not state.foreign:
            counting = accounting.Pass(self._permanent_of(module))
            counting.label = name
            counting.hooks.__enter__()
        try:
            return original(module, *args, **kwargs)
        finally:
            if counting is not None:
                counting.hooks.__exit__(None, None, None)
                self._passes[("R", name)] += 1
                self._layers[name].workspace = counting.kept[name]
            self._ranges.pop()
            self._ranges.pop()
            state.inside = False

    def _around_loss(self, original, args, kwargs):
        state = self._state
        marked = state.plan is not None  # inside of a model the loss belongs to its layers
        unwatched = self._broken or marked or state.in_loss or self._in_backward or not self._plans
        if unwatched or not torch.is_grad_enabled() or os.getpid() != self._pid:
            return original(*args, **kwargs)
        counting = None
        if self._passes["loss"] < self._options.size_passes and not state.foreign:
            counting = accounting.Pass(set())
            counting.label = "loss"
        state.in_loss = True
        self._ranges.push("debubble.layer:loss")
        try:
            if counting is None:
                return original(*args, **kwargs)
            with counting.hooks:
                return original(*args, **kwargs)
        finally:
            self._ranges.pop()
            state.in_loss = False
            if counting is not None:
                self._passes["loss"] += 1
                sizes = self._layers.setdefault("loss", accounting.LayerSizes("loss"))
                sizes.activation = counting.kept["loss"]

    # ---- entering and leaving --------------------------------------------------------------------------------------

    def _enter_root(self, module, args, kwargs):
        state = self._state
        if not torch.is_grad_enabled():
            return
        found = self._plan_of(module)
        if found is None or (not module.training and id(found) in self._trained):
            return  # an evaluation between training passes
        if module.training:
            self._trained.add(id(found))
        self._open_ranges()
        state.plan = found
        state.segments = Segments(self._ranges, state)
        state.segments.open_step(self._steps.number)
        state.around = found.segments and self._name_of(module) is None
        if state.around:
            state.segments.open(found.before)
        if self._passes[id(module)] < self._options.size_passes and not state.foreign:
            self._begin_counting(found, module, args, kwargs)

    def _begin_counting(self, found, module, args, kwargs):
        state = self._state
        self._learn_facts(found, module, args, kwargs)
        state.counting = accounting.Pass(self._permanent_of(found.root() or module))
        state.counting.label = found.before if state.around else None
        state.own_hooks = state.counting.hooks
        state.own_hooks.__enter__()

    def _end_counting(self, module, result):
        state = self._state
        counting, found = state.counting, state.plan
        if counting is None:
            return
        after = found.after if state.around else None
        counting.end(after, list(tensors_in(result)))
        self._passes[id(module)] += 1
        self._outside = counting.kept[None]
        for name in found.order():
            if name in counting.outputs or name in counting.parameters or counting.kept[name]:
                self._take_over(counting, found, name)

    def _take_over(self, counting, found, name):
        sizes = self._layers.setdefault(name, accounting.LayerSizes(found.kinds.get(name, "")))
        sizes.activation, sizes.held = counting.kept[name], counting.held[name]
        sizes.gradients, sizes.output = counting.gradients[name], counting.outputs.get(name, 0)
        sizes.checkpointed = name in counting.checkpointed
        module = found.modules[name]() if name in found.modules else None
        sizes.parameters = (accounting.parameter_bytes(module) if module is not None
                            else sum(counting.parameters.get(name, {}).values()))

    def _leave_root(self):
        state = self._state
        if state.counting is not None:
            hooks, state.own_hooks, state.counting = state.own_hooks, None, None
            if hooks is not None:
                hooks.__exit__(None, None, None)
        if state.segments is not None:
            state.segments.close_all()

    def _enter_layer(self, module, name, args, kwargs):
        state = self._state
        state.segments.close()
        self._ranges.push("debubble.layer:" + name)
        counting = state.counting
        if counting is None:
            return
        inputs = list(tensors_in((args, kwargs)))
        counting.enter_layer(name, inputs, state.plan.before if state.around else None)
        if not torch.is_grad_enabled():
            counting.keep_inputs_only(name, inputs)
        elif state.foreign:
            kind = type(state.foreign[-1])
            self._note(f"layers run under saved-tensor hooks of the script ({kind.__name__}): they count as "
                       "checkpointed")
            if state.foreign_served is not state.foreign[-1] and "cpu" not in kind.__name__:
                counting.inputs_are_kept(name, inputs)
            state.foreign_served = state.foreign[-1]
            counting.checkpointed.add(name)

    def _leave_layer(self, name):
        state = self._state
        self._ranges.pop()
        found = state.plan
        if found is None or not state.around or name != found.last:
            if state.counting is not None:
                state.counting.label = None
            return
        state.segments.open(found.after)
        if state.counting is not None:
            state.counting.label = found.after

    # ---- finding out -----------------------------------------------------------------------------------------------

    def _name_of(self, module):
        entry = self._names.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else None

    def _plan_of(self, module):
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
            self._check_plan(root, found)
            for name, reference in found.modules.items():
                self._names[id(reference())] = (reference, name)
        self._adopt_stray(module, root, found)
        self._plans[id(module)] = (weakref.ref(module), found)
        return found

    def _adopt_stray(self, module, root, found):
        """A part of the model that the script calls by itself and that holds no layer is a layer."""
        if found is None or module is root or self._pattern or self._name_of(module) is not None:
            return
        if any(self._name_of(child) is not None for child in module.modules()):
            return
        qualified = next((n for n, m in root.named_modules() if m is module), type(module).__name__)
        if not any(True for _ in module.parameters()):
            return
        name = found.adopt(module, plan.plain_name(qualified), self._taken)
        self._names[id(module)] = (found.modules[name], name)

    def _check_plan(self, root, found):
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

    def _learn_facts(self, found, module, args, kwargs):
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

    @staticmethod
    def _permanent_of(root):
        return accounting.permanent_storages(root)

    # ---- small things ----------------------------------------------------------------------------------------------

    def _open_ranges(self):
        if isinstance(self._ranges, ranges._Nowhere):
            self._ranges = ranges.open_ranges()
            self._ranges.fact("torch", torch.__version__)
        self._operators.start()

    def _stepped(self, optimizer):
        if self._broken or os.getpid() != self._pid or not self._steps.stepped(optimizer):
            return
        if self._state.segments is not None:
            self._state.segments.close_step()
        if self._layers and self._steps.number == max(1, self._options.size_passes):
            self._write(complete=False)  # a script that is killed later has left its sizes

    def _foreign_entered(self, hooks):
        if hooks is not self._state.own_hooks and not self._is_ours(hooks):
            self._state.foreign.append(hooks)

    def _foreign_left(self, hooks):
        if self._state.foreign and self._state.foreign[-1] is hooks:
            self._state.foreign.pop()

    @staticmethod
    def _is_ours(hooks):
        return isinstance(getattr(getattr(hooks, "pack_hook", None), "__self__", None), accounting.Pass)

    def _pause_counting(self):
        state = self._state
        hooks = state.own_hooks if not state.foreign else None
        if hooks is not None:
            hooks.__exit__(None, None, None)
        return hooks

    @staticmethod
    def _resume_counting(hooks):
        if hooks is not None:
            hooks.__enter__()

    def _backward_entered(self):
        self._in_backward += 1

    def _backward_left(self):
        self._in_backward -= 1

    def _user_pushed(self):
        self._state.user_depth += 1

    def _user_popping(self):
        state = self._state
        if state.segments is not None:
            state.segments.make_way(state.user_depth)
        state.user_depth = max(0, state.user_depth - 1)

    def _guarded(self, function, *arguments):
        if self._broken:
            return
        try:
            function(*arguments)
        except Exception as error:  # the script matters more than our figures
            self._broken = True
            self._note(f"stopped watching: {type(error).__name__}: {error}")

    def _note(self, text):
        if text in self._notes:
            return
        self._notes.append(text)
        print(f"debubble_hooks: {text}", file=sys.stderr)

    # ---- the end ---------------------------------------------------------------------------------------------------

    def finish(self, complete):
        if self._finished or os.getpid() != self._pid:
            return
        self._finished = True
        if self._state.segments is not None:
            self._state.segments.close_step()
        self._operators.stop()
        if not self._layers and not self._broken:
            self._note("no model ran forward with gradients: no layer was seen")
        self._write(complete)

    def _write(self, complete):
        path = self._options.sizes_file or sizes_file.default_path()
        if path is None:
            return
        try:
            trouble = sizes_file.write(path, self._content(complete))
        except Exception as error:
            trouble = f"cannot write {path}: {type(error).__name__}: {error}"
        if trouble:
            self._note(trouble)

    def _content(self, complete):
        layers = []
        for name, sizes in self._layers.items():
            held = min(sizes.activation, sizes.held + sizes.gradients)  # never more than is kept for the whole backward
            layers.append({"name": name, "kind": sizes.kind, "activation_bytes": sizes.activation,
                           "weight_input_bytes": sizes.held, "weight_gradient_bytes": sizes.gradients,
                           "weight_grad_held_bytes": None if sizes.checkpointed else held,
                           "output_bytes": sizes.output, "parameter_bytes": sizes.parameters,
                           "workspace_bytes": sizes.workspace, "checkpointed": sizes.checkpointed})
        facts = self._facts
        return {"schema": sizes_file.SCHEMA, "schema_version": 1, "complete": complete, "rank": sizes_file.rank(),
                "pid": self._pid, "torch": torch.__version__, "model": facts["model"], "dtype": facts["dtype"],
                "microbatch_size": facts["microbatch"] or None, "sequence_length": facts["sequence"] or None,
                "input_shapes": facts["shapes"], "steps": self._steps.number, "outside_bytes": self._outside,
                "layers": layers, "notes": self._notes}
