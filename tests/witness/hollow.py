"""The real frameworks, made importable on a machine with neither a GPU nor all that they import: what is not installed is
a hollow module, enough for `import` to pass, never for a result."""
import importlib.abc
import importlib.machinery
import os
import sys
import types
import typing
import warnings

class Nothing:
    """Whatever is asked of it is it again; as a decorator it leaves what it decorates as it is, as a base it is none."""

    def __call__(self, *given, **named):
        return given[0] if len(given) == 1 and not named and callable(given[0]) else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key):
        return self

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __instancecheck__(self, what):
        return False

    def __mro_entries__(self, bases):
        return ()


nothing = Nothing()


class HollowModule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return nothing


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, roots):
        self.roots = roots

    def find_spec(self, name, path=None, target=None):
        absent = any(name == root or name.startswith(root + ".") for root in self.roots)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if absent else None

    def create_module(self, spec):
        module = HollowModule(spec.name)
        module.__path__, module.__version__ = [], "3.6.0"
        return module

    def exec_module(self, module):
        pass


def prepare(frameworks, *absent):
    """Makes the packages in the folder `frameworks` importable, with hollow ones for those named; after torch, which must not
    take Triton for installed."""
    warnings.filterwarnings("ignore")
    os.environ.update(CUDA_DEVICE_MAX_CONNECTIONS="1", DS_ACCELERATOR="cpu", DS_BUILD_OPS="0", RANK="0")
    if not hasattr(typing, "override"):  # Python 3.11
        typing.override = lambda method: method
    import torch
    import torch._dynamo  # noqa: F401  asks for Triton while it is imported
    import torch.utils._triton as triton
    import torch.utils.flop_counter  # noqa: F401  so does this
    triton.has_triton_package()
    triton.has_triton()
    torch.compile = lambda model=None, **_: model if model is not None else (lambda inner: inner)
    sys.path.insert(0, frameworks)
    sys.meta_path.insert(0, Finder(("triton", *absent)))
