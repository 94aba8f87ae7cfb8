#!/usr/bin/env python3
"""The playground's engine prints what the command prints, byte for byte: every schedule of the catalog, every verb it has,
results, figures, traces, refusals.

    playground_equal.py BINARY
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile

from checks import ROOT, Checks, run
from playground_build import need_playground

TABLES = {"own.csv": "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", "circle.csv": "0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n",
          "wrong.csv": "0F0,0X0\n"}
COSTS = (("--times", "f=1,i=0.9,w=0.7", "--comm", "0.13"),
         ("--model", "gpt-1.3b", "--topology", "dgx-a100:1"))


def jobs(binary):
    names = [one["name"] for one in json.loads(run(binary, "list", "schedules", "--format", "json"))["schedules"]]
    size = ("-p", "4", "-m", "8")
    for name in names:
        yield ("simulate", "--schedule", name, *size, "--format", "json")
        for costs in COSTS:
            yield ("simulate", "--schedule", name, *size, *costs, "--format", "json")
        yield ("explain", "schedule", name)
        yield ("export", "--to", "svg", "--schedule", name, *size)
    yield ("export", "--to", "hardware", "h100")
    yield ("export", "--to", "megatron", "--model", "gpt-1.3b", "--topology", "dgx-a100:1", *size)
    for other in ("5", "3"):
        yield ("compare", "--schedules", "all", "-p", other, "-m", "12", "--format", "json")
    yield ("simulate", "--schedule", "zb-v", *size)
    yield ("simulate", "--schedule", "zb-v", *size, "--format", "csv")
    yield ("simulate", "-p", "16", "-m", "128", "--memory", "7MiB", "--allocator", "exact", "--format", "json")
    yield ("simulate", *size, "--jitter", "lognormal:0.05", "--seed", "7", "--format", "json")
    yield ("compare", *size, "--schedules", "gpipe,1f1b,zb-h1,interleaved")
    yield ("whatif", *size, "--slow", "device=1:1.5", "--format", "json")
    yield ("explain", "step", *size)
    yield ("explain", "2F3", *size, "--format", "json")
    for to in ("pytorch-csv", "schedule-json", "chrome-trace", "perfetto-trace"):
        yield ("export", "--to", to, "--schedule", "zb-h1", *size)
    for what in ("schedules", "transforms", "topologies", "models", "hardware"):
        yield ("list", what, "--format", "json")
    for table in TABLES:
        yield ("simulate", "--schedule", table, "--format", "json")
        yield ("simulate", "--schedule", table)
    yield ("simulate", "--schedule", "zb-h11", *size)
    yield ("simulate", "--schedule", "1f1b", "-p", "0")
    yield ("simulate", "--times", "f=1,q=2")
    for number in ("1e400", "1e-400", "inf", "-nan", "0x10", "+1", " 1", "1.", ".5", ".", "1e", "-1", "2.5e-1", "1e+1ms", "0.1s"):
        yield ("simulate", "--comm", number, "--format", "json")


def main():
    engine = need_playground() / "engine"
    binary = pathlib.Path(sys.argv[1]).resolve()
    asked = list(jobs(binary))
    given = json.dumps([{"words": words, "write": TABLES} for words in asked])
    node = ["node", ROOT / "tests" / "browser" / "playground_node.js", engine]
    answered = subprocess.run(node, input=given, capture_output=True, text=True, check=False)
    if answered.returncode != 0:
        print(f"FAILED: node: {answered.stderr[-2000:]}")
        return 1
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in TABLES.items():
            (pathlib.Path(folder) / name).write_text(text)
        for words, found in zip(asked, json.loads(answered.stdout)):
            wanted = subprocess.run([binary, *words], cwd=folder, capture_output=True, check=False)
            line = "debubble " + " ".join(words)
            checks.equal(f"{line}: exit status", found["status"], wanted.returncode)
            for stream, text in (("out", wanted.stdout), ("error", wanted.stderr)):
                checks.true(f"{line}: std{stream}", base64.b64decode(found[stream]) == text)
    print(f"{len(asked)} command lines")
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
