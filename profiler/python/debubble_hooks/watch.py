"""Watch: everything that happens around the calls of a model's modules, put together.

State is per thread, since autograd recomputes checkpointed layers on threads of its own. What goes wrong in here is
reported once on stderr and ends the watching, never the script: what was entered before is still left.
"""

import collections
import dataclasses
import os
import re
import sys
import threading
from typing import Optional

import torch

from debubble_hooks import accounting, cpu, patches, ranges, selective
from debubble_hooks.catalogue import Catalogue
from debubble_hooks.device import cpu_is_measured
from debubble_hooks.operators import Operators
from debubble_hooks.report import Report
from debubble_hooks.segments import Segments
from debubble_hooks.steps import Steps
from debubble_hooks.tensors import tensors_in


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
        self.layer_open = False  # its range was pushed
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
        self._operators = cpu.CpuRecorder() if cpu_is_measured() else Operators(options.operators)
        self._steps = Steps()
        self._report = Report(options.sizes_file, self._note)
        self._models = Catalogue(self._pattern, self._note)
        self._passes = collections.Counter()
        self._in_backward = 0
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
        if state.plan is not None and state.layer is None and id(module) in self._models.names:
            return self._layer_call(original, module, args, kwargs)
        if state.counting is not None and any(p is not None for p in module._parameters.values()):
            return self._weighted_call(original, module, args, kwargs)
        return original(module, *args, **kwargs)

    def _root_call(self, original, module, args, kwargs):
        if self._within_backward():
            name = self._models.name_of(module)
            if name is None:
                return original(module, *args, **kwargs)
            return self._recompute_call(original, module, name, args, kwargs)
        state = self._state
        state.inside = True
        try:
            self._guarded(self._enter_root, module, args, kwargs)
            if state.plan is not None and self._models.name_of(module) is not None:
                result = self._layer_call(original, module, args, kwargs)
            else:
                result = original(module, *args, **kwargs)
            self._guarded(self._end_counting, module, result)
            return result
        finally:
            self._guarded(self._leave_root, always=True)
            state.inside = False
            state.plan = None

    def _layer_call(self, original, module, args, kwargs):
        state, name = self._state, self._models.names[id(module)][1]
        state.layer = name
        self._models.ran.add(name)
        self._guarded(self._enter_layer, module, name, args, kwargs)
        try:
            if state.counting is not None and any(p is not None for p in module._parameters.values()):
                result = self._weighted_call(original, module, args, kwargs)
            else:
                result = original(module, *args, **kwargs)
            if state.counting is not None:
                self._guarded(self._count_held_by_policy, name)
                self._guarded(state.counting.leave_layer, name, list(tensors_in(result)))
            return result
        finally:
            state.layer = None
            self._guarded(self._leave_layer, name, always=True)

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
        counting = self._guarded(self._begin_recount, module, name)
        try:
            return original(module, *args, **kwargs)
        finally:
            if counting is not None:
                counting.hooks.__exit__(None, None, None)
                self._guarded(self._end_recount, name, counting)
            self._ranges.pop()
            self._ranges.pop()
            state.inside = False

    def _begin_recount(self, module, name):
        done = self._passes[("R", name)] >= self._options.size_passes
        if done or name not in self._report.layers or self._state.foreign:
            return None
        counting = accounting.Pass(accounting.permanent_storages(module))
        counting.label = name
        self._ranges.counting()
        counting.hooks.__enter__()
        return counting

    def _end_recount(self, name, counting):
        self._passes[("R", name)] += 1
        self._report.layers[name].workspace = counting.kept[name]

    def _around_loss(self, original, args, kwargs):
        state = self._state
        marked = state.plan is not None  # inside of a model the loss belongs to its layers
        unwatched = self._broken or marked or state.in_loss or self._within_backward() or not self._models
        if unwatched or not torch.is_grad_enabled() or os.getpid() != self._pid:
            return original(*args, **kwargs)
        counting = None
        if self._passes["loss"] < self._options.size_passes and not state.foreign:
            counting = accounting.Pass(set())
            counting.label = "loss"
            self._ranges.counting()
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
                self._report.sizes("loss", "loss").activation = counting.kept["loss"]

    # ---- entering and leaving --------------------------------------------------------------------------------------

    def _enter_root(self, module, args, kwargs):
        state = self._state
        if not torch.is_grad_enabled():
            return
        found = self._models.plan_of(module)
        if found is None or (not module.training and id(found) in self._trained):
            return  # an evaluation between training passes
        if module.training:
            self._trained.add(id(found))
        self._open_ranges()
        state.plan = found
        state.segments = Segments(self._ranges, state)
        state.segments.open_step(self._steps.number)
        state.around = found.segments and self._models.name_of(module) is None
        if state.around:
            state.segments.open(found.before)
        if self._passes[id(module)] < self._options.size_passes and not state.foreign:
            self._begin_counting(found, module, args, kwargs)

    def _begin_counting(self, found, module, args, kwargs):
        state = self._state
        self._report.learn(found, module, args, kwargs)
        state.counting = accounting.Pass(accounting.permanent_storages(found.root() or module))
        state.counting.label = found.before if state.around else None
        self._ranges.counting()
        state.counting.hooks.__enter__()
        state.own_hooks = state.counting.hooks

    def _end_counting(self, module, result):
        state = self._state
        counting, found = state.counting, state.plan
        if counting is None:
            return
        after = found.after if state.around else None
        counting.end(after, list(tensors_in(result)))
        self._passes[id(module)] += 1
        self._report.outside = counting.kept[None]
        for name in found.order():
            if name in counting.outputs or name in counting.parameters or counting.kept[name]:
                self._report.take_over(counting, found, name)

    def _leave_root(self):
        state = self._state
        if state.counting is not None:
            hooks, state.own_hooks, state.counting = state.own_hooks, None, None
            if hooks is not None:
                hooks.__exit__(None, None, None)
        if state.segments is not None:
            state.segments.close_all()
            if self._broken:
                state.segments.close_step()  # no optimizer step will

    def _enter_layer(self, module, name, args, kwargs):
        state = self._state
        state.segments.close()
        self._ranges.push("debubble.layer:" + name)
        state.layer_open = True
        counting = state.counting
        if counting is None:
            return
        inputs = list(tensors_in((args, kwargs)))
        counting.enter_layer(name, inputs, state.plan.before if state.around else None)
        if not torch.is_grad_enabled():
            counting.keep_inputs_only(name, inputs)
        elif state.foreign:
            kind = type(state.foreign[-1]).__name__
            if kind != "_checkpoint_hook":  # that of torch.utils.checkpoint
                self._note(f"layers run under saved-tensor hooks of the script ({kind}): they count as checkpointed")
            if state.foreign_served is not state.foreign[-1] and "cpu" not in kind:
                counting.inputs_are_kept(name, inputs)
            state.foreign_served = state.foreign[-1]
            counting.checkpointed.add(name)

    def _count_held_by_policy(self, name):
        held = selective.held_tensors() if self._state.foreign else []
        if held is None:
            self._note("what selective checkpointing holds is not counted: this PyTorch does not tell")
        self._state.counting.policy_keeps(name, held or [])

    def _leave_layer(self, name):
        state = self._state
        if state.layer_open:
            state.layer_open = False
            self._ranges.pop()
        if self._broken:
            return
        found = state.plan
        if found is None or not state.around or name != found.last:
            if state.counting is not None:
                state.counting.label = None
            return
        state.segments.open(found.after)
        if state.counting is not None:
            state.counting.label = found.after

    # ---- small things ----------------------------------------------------------------------------------------------

    def _open_ranges(self):
        if isinstance(self._ranges, ranges._Nowhere):
            self._ranges = self._operators if cpu_is_measured() else ranges.open_ranges()
            self._ranges.fact("torch", torch.__version__)
        self._operators.start()

    def _stepped(self, optimizer):
        if os.getpid() != self._pid:
            return
        if self._broken:
            if self._state.segments is not None:
                self._state.segments.close_step()  # opened before another thread failed
            return
        if not self._steps.stepped(optimizer):
            return
        if self._state.segments is not None:
            self._state.segments.close_step()
        if self._report.layers and self._steps.number == max(1, self._options.size_passes):
            self._report.write(False, self._steps.number)  # a script that is killed later has left its sizes

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

    def _within_backward(self):
        """The count holds for threads of autograd too, which PyTorch before 2.1 cannot tell from others."""
        return self._in_backward > 0 or patches.thread_in_backward()

    def _user_pushed(self):
        self._state.user_depth += 1

    def _user_popping(self):
        state = self._state
        if state.segments is not None:
            state.segments.make_way(state.user_depth)
        state.user_depth = max(0, state.user_depth - 1)

    def _guarded(self, function, *arguments, always=False):
        """`always`: of what leaves; it must undo what was entered before something failed."""
        if self._broken and not always:
            return None
        try:
            return function(*arguments)
        except Exception as error:  # the script matters more than our figures
            self._broken = True
            self._note(f"stopped watching: {type(error).__name__}: {error}")
            return None

    def _note(self, text):
        if text in self._report.notes:
            return
        self._report.notes.append(text)
        print(f"debubble_hooks: {text}", file=sys.stderr)

    # ---- the end ---------------------------------------------------------------------------------------------------

    def finish(self, complete):
        if self._finished or os.getpid() != self._pid:
            return
        self._finished = True
        if self._state.segments is not None:
            self._state.segments.close_step()
        self._operators.stop()
        if not self._report.layers and not self._broken:
            self._note("no model ran forward with gradients: no layer was seen")
        for note in self._models.never_ran() if not self._broken else ():
            self._note(note)
        self._report.write(complete, self._steps.number)
