#!/usr/bin/env python3
"""No C++ of ours may be compiled with fused multiply-adds: baselines are the same bytes on every machine.

    compile_flags_test.py BUILD_FOLDER

Counted are the compiler calls of our rooms: of a source, or of two dozen of them, which CMake includes in a file below
the build folder (debubble_UNITY). Calls that only check a header make no code.

Exit codes: 0 all right; 1 each file that lacks the flag, each room without a call and too few calls are printed;
77 skipped, since there is no compile_commands.json.
"""
import collections
import json
import pathlib
import sys

FLAG = "-ffp-contract=off"
ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("cost_models", "formats", "gpu", "live", "profiler", "scenario", "schedules", "sim", "studies", "tools")
FEWEST = 30  # calls of the command and its libraries, two dozen sources at a time
HEADER_CHECK = "_verify_interface_header_sets/"


def room_of(file, build):
    """The room of ours that this file is compiled for, or None: build/ci/sim/core/.../unity_0_cxx.cxx -> sim."""
    if HEADER_CHECK in file:
        return None
    for folder in (build, ROOT):
        if pathlib.Path(file).is_relative_to(folder):
            first = pathlib.Path(file).relative_to(folder).parts[0]
            return first if first in ROOMS else None
    return None


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    path = build / "compile_commands.json"
    if not path.is_file():
        print("SKIPPED: there is no compile_commands.json")
        return 77
    ours = [(room_of(one["file"], build), one) for one in json.loads(path.read_text(encoding="utf-8"))]
    calls = collections.Counter(room for room, _ in ours if room)
    without = sorted({one["file"] for room, one in ours if room and FLAG not in one["command"].split()})
    problems = [f"{file}: compiled without {FLAG}" for file in without]
    problems += [f"{room}: no compiler call is known" for room in ROOMS if not calls[room]]
    if calls.total() < FEWEST:
        problems.append(f"{calls.total()} compiler calls are known; at least {FEWEST} are expected")
    print("\n".join(problems) or f"{calls.total()} compiler calls for {len(ROOMS)} rooms have {FLAG}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
