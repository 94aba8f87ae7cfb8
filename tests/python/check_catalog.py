#!/usr/bin/env python3
"""The module says what the command says, byte for byte, for every schedule of the catalog.

Usage: check_catalog.py BINARY
"""

import debubble
from support import refused, require_same_json, run_checks

SIZES = ({"p": 4, "m": 8}, {"p": 2, "m": 12}, {"p": 3, "m": 6})
COSTS = ({}, {"times": {"f": 1.3, "b": 2.1}, "comm": 0.05},
         {"profile": "traces/published/zb-a100-1.5b-m24.json", "p2p": "overlapped"})


def same_or_refused_alike(call, printed_words, **flags):
    """Whether it ran: then the JSON is the command's. Else both refuse with the same codes."""
    try:
        require_same_json(call(**flags))
        return True
    except debubble.DeadlockError:
        raise
    except debubble.Error as error:
        from support import BINARY
        import subprocess

        words = [BINARY, *printed_words]
        run = subprocess.run(words, capture_output=True, text=True, check=False)
        assert run.returncode in (2, 3), f"{words}: {run.returncode}, and the module says {error}"
        for found in error.diagnostics:
            assert f"error[{found.code}]: {found.message}" in run.stderr, f"{found} is not in {run.stderr}"
        return False


def words_of(verb, **flags):
    words = [verb]
    for name, value in flags.items():
        if isinstance(value, dict):
            value = ",".join(f"{key}={item}" for key, item in value.items())
        words += ["-" + name if len(name) == 1 else "--" + name.replace("_", "-"), str(value)]
    return words


def check_simulate():
    equal = refusals = 0
    for schedule in debubble.schedule_names():
        for size in SIZES:
            for costs in COSTS:
                flags = {"schedule": schedule, **size, **costs}
                if same_or_refused_alike(debubble.simulate, words_of("simulate", **flags), **flags):
                    equal += 1
                else:
                    refusals += 1
    names = len(debubble.schedule_names())
    assert equal >= names, equal
    return f"{equal} runs of {names} schedules have the command's bytes, {refusals} are refused alike"


def check_compare_all():
    for flags in ({"p": 4, "m": 8}, {"p": 4, "m": 8, "memory_limit": "3"},
                  {"p": 8, "m": 24, "profile": "traces/published/zb-a100-1.5b-m24.json"}):
        require_same_json(debubble.compare(**flags))
    return "3 comparisons of the whole catalog"


def check_schedules():
    equal = 0
    for schedule in debubble.schedule_names():
        try:
            found = debubble.schedule(schedule, p=4, m=8)
        except debubble.Error:
            continue
        require_same_json(found)
        ops = [tuple(cell.split("+")) for row in found.rows for cell in row]
        assert sum(map(len, ops)) == found.ops.size
        equal += 1
    assert equal > 20
    return f"{equal} schedules"


def check_modelled():
    for flags in ({"model": "gpt-1.3b", "hardware": "h100", "topology": "dgx-h100:1", "p": 2, "tp": 4, "m": 8},
                  {"model": "llama3-8b", "hardware": "a100", "p": 4, "m": 16, "schedule": "zb-h1"},
                  {"p": 4, "m": 8, "slow": "device=2:1.25", "transform": ["recompute"]}):
        require_same_json(debubble.simulate(**flags))


def check_plan():
    require_same_json(debubble.plan(model="gpt-1.3b", hardware="h100", gpus=4, global_batch=16, topology="dgx-h100:1"))
    require_same_json(debubble.plan(schedule_only=True, p=3, m=4, times={"f": 1, "b": 2}))


def check_out_of_memory():
    run = debubble.simulate(model="llama3-70b", hardware="h100", p=4, m=8)
    assert run.fits is False
    require_same_json(run)


def check_refusals_are_the_commands():
    assert refused(debubble.simulate, schedule="chimera", p=3).code == "S011"


if __name__ == "__main__":
    run_checks(globals())
