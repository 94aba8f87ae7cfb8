#!/usr/bin/env python3
"""Checks `debubble diff --format json` against docs/diff.schema.json, with --log against docs/log-diff.schema.json, and
its bundle with Python's tarfile.

    check_diff.py ROOT BINARY

Exit codes: 0 fine; 1 not; 77 skipped, since python3-jsonschema is not installed.
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from schemas import errors_of, finish, validator_of  # noqa: E402

RUNS = {
    "toy.json": [],
    "slow.json": ["--times", "f=1.3,b=2"],
    "late.json": ["--comm", "0.3"],
    "pairs.json": ["--schedule", "zb-h1", "--comm", "0.1"],
}
PAIRS = [["toy.json"], ["toy.json", "slow.json"], ["slow.json", "toy.json"], ["toy.json", "late.json"],
         ["pairs.json"]]
MEASURED = "traces/measured/straggler_ar_0.json.gz"  # real: with levels, links and a slow one among them


def debubble(binary, folder, *arguments):
    done = subprocess.run([binary, *arguments], cwd=folder, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"debubble {' '.join(arguments)}: exit code {done.returncode}")
    return done.stdout


def check_logs(root, binary, folder):
    validator = validator_of("log-diff")
    whole = (root / "traces/measured/bigscience_p4.log").read_text(encoding="utf-8")
    memory = "".join(line for line in whole.splitlines(True) if "elapsed time" not in line and "time (ms)" not in line)
    ranks = "(min, max) time across ranks (ms):\n    forward-compute ......: (170.0, 176.5)\n"
    failures = []
    timed = (root / "traces/logs/megatron_uneven.log").read_text(encoding="utf-8")
    arguments = timed[:timed.index("end of arguments")] + "end of arguments ---\n"
    bounds = arguments + (root / "tests/diff/inputs/minmax.txt").read_text(encoding="utf-8")
    for name, text in {"whole": whole, "memory": memory, "ranks": whole + ranks, "timed": timed, "bounds": bounds}.items():
        (folder / f"{name}.log").write_text(text, encoding="utf-8")
        value = json.loads(debubble(binary, folder, "diff", "--log", f"{name}.log", "--hardware", "v100", "--format", "json"))
        failures += errors_of(validator, value, f"{name}.log")
    return failures


def check_bundle(folder):
    with tarfile.open(folder / "b.tar") as bundle:
        names = bundle.getnames()
        if names != ["manifest.json", "predicted.json.gz", "measured.json.gz"]:
            sys.exit(f"the bundle holds {names}")
        manifest = bundle.extractfile("manifest.json").read()
        if not manifest.startswith(b'{"perfetto_manifest"'):
            sys.exit("the manifest does not begin as Perfetto wants it")
        for entry in json.loads(manifest)["perfetto_manifest"]["files"]:
            trace = json.loads(gzip.decompress(bundle.extractfile(entry["path"]).read()))
            if not trace["traceEvents"]:
                sys.exit(f"{entry['path']} has no events")


def main():
    root, binary = pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).resolve())
    validator = validator_of("diff")
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, flags in RUNS.items():
            debubble(binary, folder, "simulate", *flags, "--save-run", name)
        for pair in [*PAIRS, [str(root.resolve() / MEASURED)]]:
            value = json.loads(debubble(binary, folder, "diff", *pair, "--format", "json"))
            failures += errors_of(validator, value, pair)
        failures += check_logs(root, binary, folder)
        debubble(binary, folder, "diff", "toy.json", "slow.json", "--bundle", "b.tar")
        check_bundle(folder)
    finish(failures)


if __name__ == "__main__":
    main()
