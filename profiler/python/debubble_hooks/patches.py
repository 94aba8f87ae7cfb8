"""The few places of PyTorch that are wrapped, each so that the original is called exactly once, whatever we do."""

import functools
import types

import torch


def is_compiling():
    """Whether torch.compile traces right now; it takes this for a constant and sees the original call only."""
    return False


if hasattr(torch, "compiler") and hasattr(torch.compiler, "is_compiling"):
    is_compiling = torch.compiler.is_compiling  # noqa: F811
elif hasattr(torch, "_dynamo"):
    is_compiling = torch._dynamo.is_compiling  # noqa: F811


def unwatched():
    return bool(is_compiling() or torch.jit.is_tracing())


def wrap_module_calls(around):
    original = torch.nn.Module.__call__

    @functools.wraps(original)
    def __call__(module, *args, **kwargs):
        if is_compiling() or torch.jit.is_tracing():
            return original(module, *args, **kwargs)
        return around(original, module, args, kwargs)

    torch.nn.Module.__call__ = __call__


def wrap_losses(around):
    """Functional losses. The wrapper lives in the namespace of torch.nn.functional, so that scripting one still works."""
    functional = torch.nn.functional
    names = [name for name in dir(functional)
             if (name.endswith("_loss") or "cross_entropy" in name) and not name.startswith("_")]
    for name in names:
        original = getattr(functional, name)
        if not isinstance(original, types.FunctionType):
            continue

        def make(original):
            def call(*args, **kwargs):
                return around(original, args, kwargs) if unwatched() is False else original(*args, **kwargs)
            return call

        call = make(original)
        wrapper = types.FunctionType(call.__code__, {**vars(functional), "unwatched": unwatched}, name, None,
                                     call.__closure__)
        setattr(functional, name, functools.wraps(original)(wrapper))


def wrap_backward(entered, left):
    """Every backward that Python enters: Tensor.backward, torch.autograd.backward and grad, and those who call the engine
    themselves, as Megatron-LM's custom_backward does, end in this method."""
    variable = torch.autograd.Variable
    engine = variable._execution_engine  # the object has no state: there is one engine, in C++

    def run_backward(self, *args, **kwargs):
        entered()
        try:
            return engine.run_backward(*args, **kwargs)
        finally:
            left()

    members = {"run_backward": run_backward}
    try:
        variable._execution_engine = type("Engine", (type(engine),), members)()
    except TypeError:  # a type that nothing can be derived from: hand on all else
        members["__getattr__"] = lambda self, name: getattr(engine, name)
        variable._execution_engine = type("Engine", (), members)()


def thread_in_backward():
    """Whether PyTorch says that this thread is in a backward, also one that C++ entered. Versions before 2.1 cannot."""
    task = getattr(torch._C, "_current_graph_task_id", None)
    return task is not None and task() != -1


def wrap_optimizers(stepped):
    """`stepped(optimizer)` after each step, of every class that is ever made."""
    original_init = torch.optim.Optimizer.__init__

    def wrap_step(cls):
        if "step" not in vars(cls) or getattr(vars(cls)["step"], "_debubble", False):
            return
        original = vars(cls)["step"]

        @functools.wraps(original)
        def step(self, *args, **kwargs):
            result = original(self, *args, **kwargs)
            stepped(self)
            return result

        step._debubble = True
        cls.step = step

    @functools.wraps(original_init)
    def __init__(self, *args, **kwargs):
        original_init(self, *args, **kwargs)
        wrap_step(next((cls for cls in type(self).__mro__ if "step" in vars(cls)), type(self)))

    torch.optim.Optimizer.__init__ = __init__


def wrap_foreign_hooks(entered, left):
    """Saved-tensor hooks of others: checkpointing without reentrance, offloading."""
    cls = torch.autograd.graph.saved_tensors_hooks
    original_enter, original_exit = cls.__enter__, cls.__exit__

    def __enter__(self):
        entered(self)
        return original_enter(self)

    def __exit__(self, *error):
        left(self)
        return original_exit(self, *error)

    cls.__enter__, cls.__exit__ = __enter__, __exit__


def wrap_disabled_hooks(pause, resume):
    """torch.func refuses to run under saved-tensor hooks, so ours are lifted there."""
    original = getattr(torch.autograd.graph, "disable_saved_tensors_hooks", None)
    if original is None:
        return

    class _Lifted:
        def __init__(self, *args, **kwargs):
            self._inner = original(*args, **kwargs)

        def __enter__(self):
            self._ours = pause()
            return self._inner.__enter__()

        def __exit__(self, *error):
            try:
                return self._inner.__exit__(*error)
            finally:
                resume(self._ours)

        def __call__(self, function):  # also a decorator
            @functools.wraps(function)
            def inside(*args, **kwargs):
                with self:
                    return function(*args, **kwargs)
            return inside

    torch.autograd.graph.disable_saved_tensors_hooks = _Lifted


def wrap_user_ranges(pushed, popping):
    """NVTX ranges of the script itself, so that ours are never closed in their stead."""
    nvtx = torch.cuda.nvtx
    push, pop = nvtx.range_push, nvtx.range_pop

    @functools.wraps(push)
    def range_push(*args, **kwargs):
        pushed()
        return push(*args, **kwargs)

    @functools.wraps(pop)
    def range_pop(*args, **kwargs):
        popping()
        return pop(*args, **kwargs)

    nvtx.range_push, nvtx.range_pop = range_push, range_pop
    return push, pop


def wrap_profiler_starts(before):
    """`before()` runs whenever PyTorch's profiler is about to start: one runs at a time, and the script's comes first."""
    profiler = torch.autograd.profiler
    for name in ("_prepare_profiler", "_enable_profiler"):
        original = getattr(profiler, name, None)
        if original is not None:
            setattr(profiler, name, _after(before, original))


def _after(before, original):
    def call(*arguments, **named):
        before()
        return original(*arguments, **named)
    return call
