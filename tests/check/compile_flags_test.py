#!/usr/bin/env python3
"""No C++ of ours may be compiled with fused multiply-adds: baselines are the same bytes on every machine.

    compile_flags_test.py BUILD_FOLDER

Exit codes: 0 all right; 1 each file that lacks the flag is printed; 77 skipped, since there is no compile_commands.json.
"""
import json
import pathlib
import sys

FLAG = "-ffp-contract=off"
ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = tuple(str(ROOT / folder) + "/" for folder in ("cost_models", "live", "profiler", "schedules", "sim", "tools"))


def main():
    path = pathlib.Path(sys.argv[1]) / "compile_commands.json"
    if not path.is_file():
        print("SKIPPED: there is no compile_commands.json")
        return 77
    ours = [one for one in json.loads(path.read_text(encoding="utf-8")) if one["file"].startswith(OURS)]
    without = sorted({one["file"] for one in ours if FLAG not in one["command"].split()})
    print("\n".join(f"{file}: compiled without {FLAG}" for file in without) or f"{len(ours)} sources have {FLAG}")
    return 1 if without or not ours else 0


if __name__ == "__main__":
    sys.exit(main())
