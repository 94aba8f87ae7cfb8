#!/usr/bin/env python3
"""The stubs say what the module takes: every flag of every function, and nothing else; `--update` writes them anew.

Usage: check_stubs.py BINARY [--update]

With mypy (apt-get install mypy) the package and a program that uses it are checked as well.
"""

import inspect
import keyword
import pathlib
import shutil
import subprocess
import sys
import tempfile

import debubble
from debubble import _core
from debubble._call import flag_help
from support import run_checks

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "debubble"
STUB = PACKAGE / "__init__.pyi"
TYPES = {"switch": "bool | None", "integer": "int | str | None", "text": "Value", "list": "Value"}
HEAD = '''"""What debubble's functions take: the flags of the commands of the same names.

Made by tests/python/check_stubs.py --update.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from debubble._errors import DeadlockError as DeadlockError
from debubble._errors import Diagnostic as Diagnostic
from debubble._errors import Error as Error
from debubble._errors import UnavailableError as UnavailableError
'''
MIDDLE = '''
# A text, a number, a path; a list of these; KEY=VALUE as a dict.
_One = Union[str, int, float, os.PathLike[str]]
Value = Union[_One, Sequence[_One], Mapping[str, _One], None]
# An op: "0F3", (0, "F", 3), two of them as a pair, or "" and None where the device idles.
_Cell = Union[str, tuple[Any, ...], list[Any], None]
_Rows = Sequence[Sequence[_Cell]]
ScheduleLike = Union[str, os.PathLike[str], Schedule, _Rows, Callable[[int, int], _Rows]]
Scenario = Union[str, os.PathLike[str], Mapping[str, Any], None]

__version__: str

def profile(path: str | os.PathLike[str]) -> Profile: ...
def schedule_names() -> list[str]: ...
'''
FUNCTIONS = {  # name: (verb whose flags it takes, what stands before them, what it returns)
    "simulate": ("simulate", "scenario: Scenario = ..., /, *,", "Simulation"),
    "compare": ("compare", "*files: str | os.PathLike[str],\n    scenario: Scenario = ...,", "Comparison"),
    "plan": ("plan", "scenario: Scenario = ..., /, *,", "Plan"),
    "diff": ("diff", "*files: str | os.PathLike[str],", "Diff"),
    "schedule": ("simulate", "name: ScheduleLike | None = ..., /, *,", "Schedule"),
}


def names_of(flag):
    names = [flag["name"], *flag["aliases"], *([flag["short"]] if flag["short"] else [])]
    return [name.replace("-", "_") for name in names]


def type_of(flag):
    if flag["name"] in ("schedule", "schedules"):
        return "ScheduleLike | Sequence[Any] | None"
    return TYPES[flag["kind"]]


def signature(name, verb, first, result):
    lines = [f"\ndef {name}(", f"    {first}", "    config: str | os.PathLike[str] | None = ...,"]
    if name == "diff":
        lines.pop()
    for flag in _core.flags(verb):
        for number, keyword_name in enumerate(names_of(flag)):
            said = f"the same as {names_of(flag)[0]}" if number else flag_help(flag)
            lines.append(f"    {keyword_name}: {type_of(flag)} = ...,  # {said}")
    return "\n".join([*lines, f") -> {result}: ..."]) + "\n"


def stub_text():
    classes = [name for name in debubble.__all__ if inspect.isclass(getattr(debubble, name)) and f"as {name}\n" not in HEAD]
    imports = "".join(f"from debubble._results import {name} as {name}\n" for name in classes)
    return HEAD + imports + MIDDLE + "".join(signature(name, *row) for name, row in FUNCTIONS.items())


def check_stub():
    assert STUB.read_text() == stub_text(), "write it anew with tests/python/check_stubs.py BINARY --update"
    return f"{len(stub_text().splitlines())} lines"


def check_names_are_keywords():
    for verb, _, _ in FUNCTIONS.values():
        seen = [name for flag in _core.flags(verb) for name in names_of(flag)]
        assert len(seen) == len(set(seen)), sorted(name for name in seen if seen.count(name) > 1)
        for name in seen:
            assert name.isidentifier() and not keyword.iskeyword(name) and name not in ("scenario", "files", "config"), name


def check_core_stub():
    text = (PACKAGE / "_core.pyi").read_text()
    for name in dir(_core):
        if not name.startswith("_"):
            assert f"class {name}" in text or f"def {name}(" in text or f"\n{name}: " in text, name
    for kind in (_core.Run, _core.Study, _core.Schedule):
        for name in dir(kind):
            if not name.startswith("_"):
                assert f"def {name}(self" in text, f"{kind.__name__}.{name}"


def check_docstrings():
    for name in debubble.__all__:
        thing = getattr(debubble, name)
        assert thing.__doc__ and len(thing.__doc__) > 10, name
    assert "host_bandwidth" in debubble.simulate.__doc__ and "GB/s" in debubble.simulate.__doc__
    assert debubble.compare.__doc__.count("memory_limit: ") == 1


PROGRAM = '''
import debubble

def mine(devices: int, microbatches: int) -> list[list[tuple[int, str, int]]]:
    return [[(0, "F", 0), (0, "B", 0)]]

run = debubble.simulate(schedule=mine, p=1, m=1, times={"f": 1, "b": 2}, comm=0.1, slow=["device=0:1.5"])
step: int = run.makespan_ns
fits: bool | None = run.fits
debubble.simulate({"devices": 4}, schedule="zb-h1").spans["end_ns"].max()
best = debubble.compare(schedules=["1f1b", mine], p=1, m=1).best
if best is not None and best.makespan_ns is not None:
    step = best.makespan_ns
debubble.plan(model="llama3-8b", gpus=8, top=3).runs[0].text.upper()
debubble.simulate(sequence_parallel=True)
'''
WRONG = '''
import debubble
debubble.simulate(schedul="1f1b")
debubble.simulate(devices=4.5)
debubble.simulate(p=2).makespan
'''


def mypy(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.py"
        path.write_text(text)
        run = subprocess.run(["mypy", "--cache-dir", folder + "/cache", "--no-error-summary", "--show-error-codes",
                              str(path)], capture_output=True, text=True, check=False,
                             env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(PACKAGE.parent)})
        return run.stdout


def check_types():
    if shutil.which("mypy", path="/usr/bin") is None:
        return "not done: there is no mypy"
    out = mypy(PROGRAM)
    assert not out, out
    out = mypy(WRONG)
    assert len(out.splitlines()) >= 3 and "program.py:3" in out and "program.py:4" in out and "program.py:5" in out, out
    return "mypy agrees"


if __name__ == "__main__":
    if "--update" in sys.argv:
        STUB.write_text(stub_text())
        sys.exit(0)
    run_checks(globals())
