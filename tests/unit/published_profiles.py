#!/usr/bin/env python3
"""Checks that traces/published/make.py makes exactly the profiles that stand beside it.

    python3 tests/unit/published_profiles.py ROOT
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def contents(folder):
    # Results and their calibration are no profiles: they stand here as they are.
    others = {"results.json", "calibration.json", "ranges.json"}
    files = (path for path in folder.rglob("*.json") if path.name not in others)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def main():
    published = Path(sys.argv[1]) / "traces/published"
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([sys.executable, "-B", published / "make.py", made], check=True)
        expected = contents(Path(made))
    found = contents(published)
    different = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    for name in different:
        print(f"{name} is not what make.py makes: run python3 traces/published/make.py")
    print(f"{len(found)} files, {len(different)} different")
    sys.exit(1 if different or not found else 0)


if __name__ == "__main__":
    main()
