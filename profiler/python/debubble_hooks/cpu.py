"""Layers timed on the CPU, for `debubble profile --device cpu`: PyTorch's own profiler sees the operators of a step, and
debubble's library records them as it records a GPU's kernels (profiler/host).

    step 0    step 1    step 2    step 3    step 4     step 5
    profiler  profiler  profiler  profiler  unwatched  profiler      DEBUBBLE_RECORD_STEPS, as on a GPU

The profiler begins in front of a step and ends after it, so that starting and reading it is in no step. Steps without it
tell what it costs. Everything else of the watching is as on a GPU: this class is both its ranges and its operators.
"""

import ctypes
import os
import platform
import threading
import time

import torch

from debubble_hooks import patches

_STEP = "debubble.step:"
MOST_RANGES = 20_000  # layer executions in one step; a script without optimizer steps would fill the memory
EVERY = 5
_OTHER_PROFILER = "the script runs PyTorch's profiler itself, which times the layers here and runs once at a time"


def library():
    """libdebubble_inject.so, or None where nobody records."""
    path = os.environ.get("DEBUBBLE_INJECT")
    if not path or not os.environ.get("DEBUBBLE_RECORD_DIR"):
        return None
    try:
        loaded = ctypes.CDLL(path)
        text, number, small = ctypes.c_char_p, ctypes.c_int64, ctypes.c_uint32
        loaded.debubble_host_fact.argtypes = [text, text]
        loaded.debubble_host_range.argtypes = [text, text, number, number, number, small, small]
        loaded.debubble_host_step.argtypes = [ctypes.c_int]
        loaded.debubble_host_bare_step.argtypes = [number, number, ctypes.c_int, ctypes.c_int]
        loaded.debubble_host_trouble.argtypes = [text, text, text]
        return loaded
    except (OSError, AttributeError):
        return None


def trouble(code, message, advice):
    """For the launcher, which makes it its own message and exit status."""
    loaded = library()
    if loaded is not None:
        loaded.debubble_host_trouble(code.encode(), message.encode(), advice.encode())


def processor_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() == "model name" and value.strip():
                    return " ".join(value.split())
    except OSError:
        pass
    return f"{platform.machine() or 'unknown'} CPU"


def device_name(threads):
    return f"{processor_name()}, {threads} thread{'s' if threads != 1 else ''}"


def _steps_left_out(text):
    """Every how many-th step runs unwatched; 0: none, None: every one is."""
    if text == "all":
        return 0
    if text == "none":
        return None
    if text.isdigit() and 2 <= int(text) <= 1_000_000:
        return int(text)
    if text:
        trouble("U009", f'DEBUBBLE_RECORD_STEPS: "{text}" is neither "all" nor a number from 2 on',
                f"{EVERY} leaves every {EVERY}th step unrecorded, to see what recording costs; all records every step")
    return EVERY


class _Events:
    """What PyTorch's profiler saw, with times in nanoseconds: releases before 2.3 tell those in another place."""

    def __init__(self, results):
        self._all = results.events()
        self._exact = {}
        if self._all and not hasattr(self._all[0], "start_ns"):
            pending = list(results.experimental_event_tree())
            while pending:
                node = pending.pop()
                self._exact[node.correlation_id] = (node.start_time_ns, node.end_time_ns)
                pending.extend(node.children)

    def times(self, event):
        if hasattr(event, "start_ns"):
            return event.start_ns(), event.start_ns() + event.duration_ns()
        exact = self._exact.get(event.correlation_id())
        return exact or (1000 * event.start_us(), 1000 * (event.start_us() + event.duration_us()))

    def __iter__(self):
        for event in self._all:
            if event.device_type() == torch.autograd.DeviceType.CPU and not event.is_async():
                yield event


class CpuRecorder:
    def __init__(self):
        self._library = library()
        self._local = threading.local()
        self._tell = print
        self._every = _steps_left_out(os.environ.get("DEBUBBLE_RECORD_STEPS", ""))
        self._steps = 0
        self._off = self._library is None
        self._profile = self._ours = None
        self._text, self._began, self._ranges, self._slow = "", 0, 0, False
        self._step_range = self._threads = None
        self._opened = False  # the record file

    # ---- what takes the place of ranges ------------------------------------------------------------------------------

    def push(self, text):
        stack = self._stack()
        if text.startswith(_STEP):
            stack.append(_STEP)
            self._begin_step(text)
            return
        self._ranges += 1
        if self._ranges == MOST_RANGES + 1 and not self._off:
            self._give_up(f"more than {MOST_RANGES} layers ran in one step: it is not recorded; does the script call "
                          "optimizer.step()?")
        stack.append(self._entered(text) if self._profile is not None else None)

    def pop(self):
        stack = self._stack()
        top = stack.pop() if stack else None
        if top is _STEP:
            self._end_step()
        elif top is not None:
            top.__exit__(None, None, None)

    def fact(self, key, value):
        if self._library is not None:
            self._opened = True
            self._library.debubble_host_fact(key.encode(), str(value).encode())

    def counting(self):
        """Sizes are counted in this step, which takes time: it is warm-up."""
        self._slow = True

    def _stack(self):
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        return self._local.stack

    @staticmethod
    def _entered(text):
        entered = torch.autograd.profiler.record_function(text)
        entered.__enter__()
        return entered

    # ---- what takes the place of operators ---------------------------------------------------------------------------

    def start(self):
        pass

    def stop(self):
        """The script has ended."""
        if self._library is None:
            return
        self._off = True
        self._stop_profiler()
        if self._opened:
            self._library.debubble_host_close()

    def watch_other_profilers(self, tell):
        """torch.profiler in the script needs the same place, and gets it."""
        self._tell = tell
        patches.wrap_profiler_starts(self._yield_to_script)

    def _yield_to_script(self):
        if self._profile is not None and not self._ours:
            self._give_up(_OTHER_PROFILER, for_good=True)

    # ---- steps -------------------------------------------------------------------------------------------------------

    def _begin_step(self, text):
        self._stop_profiler()  # of a step that another one cut short
        self._text, self._ranges, self._slow = text, 0, False
        self._began = time.perf_counter_ns()
        if self._off or torch.cuda.is_initialized():
            return
        self._describe()
        step, self._steps = self._steps, self._steps + 1
        if self._every is None or (self._every and step >= 2 and step % self._every == self._every - 1):
            return
        if torch.autograd._profiler_enabled():  # starting ours would end theirs
            self._give_up(_OTHER_PROFILER, for_good=True)
            return
        try:
            self._ours = True
            profile = torch.autograd.profiler.profile(record_shapes=True)
            profile.__enter__()
            self._profile = profile
        except Exception as error:
            self._give_up(f"PyTorch's profiler cannot be started: {error}", for_good=True)
            return
        finally:
            self._ours = False
        self._step_range = self._entered(text)

    def _end_step(self):
        if self._off:
            return
        if torch.cuda.is_initialized():
            self._off = True
            self._stop_profiler()
            trouble("U041", "the script works on a GPU, and the CPU was to be measured",
                    "let it run its model on the CPU, or leave --device cpu out")
            return
        if self._profile is None:
            self._bare_step()
            return
        try:
            self._step_range.__exit__(None, None, None)
            profile = self._stop_profiler()
            self._hand_over(_Events(profile.kineto_results))
        except Exception as error:  # it would end the script, out of optimizer.step()
            self._give_up(f"what PyTorch's profiler saw cannot be read: {error}", for_good=True)

    def _bare_step(self):
        if not self._text:
            return  # given up
        duration = time.perf_counter_ns() - self._began
        # A run without any profiler is one to compare with as a whole; there no step is an exception.
        self._library.debubble_host_bare_step(int(self._text[len(_STEP):]), duration, self._every is not None,
                                              self._slow)

    def _hand_over(self, events):
        add = self._library.debubble_host_range
        for event in events:
            begin, end = events.times(event)
            shapes = event.shapes()
            add(event.name().encode(), str(shapes).encode() if shapes else b"", begin, end, event.sequence_nr(),
                event.start_thread_id() & 0xFFFFFFFF, event.fwd_thread_id() & 0xFFFFFFFF)
        self._library.debubble_host_step(self._slow)

    def _stop_profiler(self):
        profile, self._profile = self._profile, None
        if profile is not None:
            try:
                profile.__exit__(None, None, None)
            except Exception as error:
                self._tell(f"PyTorch's profiler did not end well: {error}")
        return profile

    def _give_up(self, why, for_good=False):
        """Of this step, or of all that follow."""
        self._stop_profiler()
        self._text = ""
        self._off = self._off or for_good
        self._tell(why)
        if for_good:
            if why is _OTHER_PROFILER:
                trouble("U003", why, "take torch.profiler out of the script, or do not call it while it is measured")
            else:
                trouble("U041", why, "PyTorch 1.13 or later with its profiler is needed")

    def _describe(self):
        threads = torch.get_num_threads()
        if self._threads is None:
            self.fact("device.0.name", device_name(threads))
        elif self._threads != threads:
            self._tell(f"the script changed the number of threads from {self._threads} to {threads}")
        self._threads = threads
