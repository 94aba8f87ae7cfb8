#!/usr/bin/env python3
"""Errors: code, place and remedy as attributes, all problems at once, and never the end of the interpreter.

Usage: check_errors.py BINARY
"""

import copy
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile

import debubble
from support import refused, require_error, run_checks


def check_attributes():
    error = refused(debubble.simulate, schedule="chimera", p=3)
    assert (error.code, error.place) == ("S011", "--devices")
    assert error.remedy == "nearest legal values: -p 2 or 4", error.remedy
    assert str(error) == ("error[S011]: chimera needs an even number of devices; got 3\n  --> --devices\n"
                          "  = help: nearest legal values: -p 2 or 4"), str(error)
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert same.diagnostics == error.diagnostics and type(same) is debubble.Error


def check_all_at_once():
    error = refused(debubble.simulate, times="f=x", comm="y", bandwidth="z")
    assert {found.place for found in error.diagnostics} == {"--times f", "--comm", "--bandwidth"}, error


def check_hostile_files():
    """Random bytes, damaged profiles and tables: refused, each."""
    draw = random.Random(7)
    whole = pathlib.Path("traces/published/zb-a100-1.5b-m24.json").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "file.json"
        for turn in range(120):
            damaged = bytearray(whole)
            for _ in range(draw.randint(1, 4)):
                damaged[draw.randrange(len(damaged))] = draw.randrange(256)
            text = bytes(damaged) if turn % 3 else draw.randbytes(draw.randint(0, 300))
            path.write_bytes(text)
            for call in (lambda: debubble.profile(path), lambda: debubble.simulate(profile=path, p=2, m=2),
                         lambda: debubble.simulate(schedule=path), lambda: debubble.diff(path),
                         lambda: debubble.simulate(config=path)):
                try:
                    call()
                except debubble.Error as error:
                    assert error.code and error.message, error


def check_deadlock():
    # Legal rows that wait for each other once transfers hold both sides.
    flags = {"schedule": "breadth-first", "p": 2, "m": 4}
    for schedule in ("breadth-first", debubble.schedule("breadth-first", p=2, m=4)):
        debubble.simulate(**{**flags, "schedule": schedule})
        error = refused(debubble.simulate, **{**flags, "schedule": schedule}, p2p="coupled", comm=1)
        assert isinstance(error, debubble.DeadlockError) and error.code == "X010", error
        assert error.message.startswith("deadlock: device") and "coupled" in error.remedy, error
        assert "; with" not in error.message and error.place.startswith("breadth-first"), error


def check_unavailable():
    code = """
import debubble
debubble._core.set_prefix("/nowhere")
try:
    debubble.simulate(model="gpt-1.3b", hardware="h100", p=2)
except debubble.UnavailableError as error:
    print(isinstance(error, debubble.Error), error.code)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "True U040\n", said


def check_too_large():
    require_error("S015", "--microbatches", debubble.simulate, p=10**9, m=10**9)


if __name__ == "__main__":
    run_checks(globals())
