#!/usr/bin/env python3
"""Fails unless golden/ is what make_golden.py writes."""
import filecmp
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, HERE / "make_golden.py", folder], check=True)
    made = sorted(path.name for path in pathlib.Path(folder).iterdir())
    recorded = sorted(path.name for path in (HERE / "golden").iterdir() if path.suffix in (".json", ".sql"))
    different = filecmp.cmpfiles(folder, HERE / "golden", made, shallow=False)[1]
    different += sorted(set(made) ^ set(recorded))
print(*different or [f"{len(made)} recordings are as generated"], sep="\n")
sys.exit(1 if different else 0)
