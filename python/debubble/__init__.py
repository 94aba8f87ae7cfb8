"""debubble: where a pipeline-parallel training step waits, why, and which schedule wastes less.

    >>> import debubble
    >>> run = debubble.simulate(schedule="1f1b", devices=4, microbatches=8)
    >>> run.makespan_ns, round(run.bubble_ratio, 3)
    (33000000, 0.273)

Keyword arguments are the flags of the command of the same name, with underscores for dashes and without leading ones:
`microbatch_size=2` is `--microbatch-size 2`, and `p=4` is `-p 4`. Numbers are taken as the command takes them: a bare
time is ms. A list goes to a flag that may be repeated, or is joined by commas; a dict is KEY=VALUE,...; True switches a
flag on, and None leaves it out. A scenario is the same in a dict, in a TOML file, or in its text; keyword arguments take
the place of its own.

Everything is computed by the command's own library; `.json` of a result is what the command prints, byte for byte.
"""

from __future__ import annotations

import os as _os
from pathlib import Path as _Path
from typing import Any as _Any

from debubble import _core
from debubble._call import flag_help as _flag_help
from debubble._call import make_request as _make_request
from debubble._errors import DeadlockError, Diagnostic, Error, UnavailableError
from debubble._results import (ComparedRun, Comparison, Device, Diff, Figure, Finding, Layer, Plan, PlannedRun, Profile,
                               Schedule, Simulation)

__all__ = ["ComparedRun", "Comparison", "DeadlockError", "Device", "Diagnostic", "Diff", "Error", "Figure", "Finding",
           "Layer", "Plan", "PlannedRun", "Profile", "Schedule", "Simulation", "UnavailableError", "compare", "diff",
           "plan", "profile", "schedule", "schedule_names", "simulate"]
__version__: str = _core.version

# As people write and see them: debubble.Error, and not where the code is.
for _name in __all__:
    if isinstance(globals().get(_name), type):
        globals()[_name].__module__ = __name__

def _prefix() -> str:
    """Where share/debubble is that the command reads, too: that of the environment into which the wheel was installed."""
    package = _Path(_core.__file__).absolute().parent
    return str(next((folder for folder in (package, *package.parents) if (folder / "share/debubble").is_dir()), package))


_core.set_prefix(_prefix())


def simulate(scenario: _Any = None, /, **flags: _Any) -> Simulation:
    """One schedule, simulated: step time, bubbles by cause, memory, when each op ran.

    `schedule` is a name of the catalog (`schedule_names()`), the path of a table, a `Schedule`, or a function of your
    own, called with the numbers of devices and microbatches, that returns a row for each device:

        def gpipe(devices, microbatches):
            forward = range(microbatches)
            return [[(d, "F", m) for m in forward] + [(d, "B", m) for m in reversed(forward)] for d in range(devices)]

        debubble.simulate(schedule=gpipe, devices=4, microbatches=8)

    A cell is "0F3" or (0, "F", 3): stage, F, B, I or W, microbatch. Rows are checked like those of a file.

    Raises Error with the code, the place and the remedy of everything that is wrong, and DeadlockError for a run that
    comes to no end.
    """
    return Simulation._of(_core.Run(*_make_request("simulate", scenario, flags)))


def compare(*files: str | _os.PathLike[str], scenario: _Any = None, **flags: _Any) -> Comparison:
    """Several schedules on the same devices, or, of `files`, several scenarios as they are.

    `schedules` is a list of what `simulate` takes; without it, all schedules that can run the job, the best first.
    """
    return Comparison._of(_core.compare(*_make_request("compare", scenario, flags, files)))


def plan(scenario: _Any = None, /, **flags: _Any) -> Plan:
    """The best way to run a job on a number of GPUs: model="llama3-70b", gpus=64, ...

    `top` says how many runs the result has (5). Control-C is noticed between two evaluations.
    """
    return Plan._of(_core.plan(_make_request("plan", scenario, flags)[0]))


def diff(*files: str | _os.PathLike[str], **flags: _Any) -> Diff:
    """A measured run beside its prediction: diff("predicted.json", "measured.json"), or the measured one alone.

    `iteration` ("median", or a number from 1) and `replica` choose what is compared; `log` is a training log of
    Megatron-LM in place of a measured run.
    """
    return Diff._of(_core.diff(_make_request("diff", None, flags, files)[0]))


def schedule(name: _Any = None, /, **flags: _Any) -> Schedule:
    """The order of a schedule's ops: schedule("zb-h1", devices=4, microbatches=8).

    `name` is what `simulate` takes for `schedule`.
    """
    if name is not None:
        if "schedule" in flags:
            raise Error([("C009", "schedule", "the schedule is given twice", "leave one of them out")])
        flags = {"schedule": name, **flags}
    return Schedule._of(_core.Schedule(*_make_request("export", None, flags, (), ["--to", "schedule-json"])))


def profile(path: str | _os.PathLike[str]) -> Profile:
    """A profile file, checked: the times and sizes of a model's layers."""
    return Profile._of(_core.read_profile(_os.fsdecode(_os.fspath(path))))


def _flag_list(verb: str) -> str:
    """The flags of a function, for its docstring."""
    lines = ["", "", "Flags, and the units that their values may have:", ""]
    for flag in _core.flags(verb):
        names = ", ".join([flag["name"], *flag["aliases"], *filter(None, [flag["short"]])]).replace("-", "_")
        lines.append(f"    {names}: {_flag_help(flag)}")
    return "\n".join(lines) + "\n"


def schedule_names() -> list[str]:
    """The names of the catalog, in its order."""
    return _core.schedule_names()


for _function in (simulate, compare, plan, diff):
    _function.__doc__ = (_function.__doc__ or "").rstrip() + _flag_list(_function.__name__)
del _function
