#!/usr/bin/env python3
"""The data of `simulate --html` for every schedule of the catalog: what the page draws adds up to the numbers of
`--format json`. Needs no browser.

    contract.py BINARY
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks, run
from page_file import PageFile

JOBS = [("-p", 4, "-m", 8, "--comm", "0.1"), ("-p", 4, "-m", 8, "--times", "f=1,i=1.1,w=0.7", "--p2p", "blocking")]
MORE = [("--model", "gpt-1.3b", "--hardware", "h100", "--topology", "dgx-h100:4", "--dp", 8, "-p", 4, "-m", 8),
        ("--schedule", "1f1b", "-p", 4, "-m", 8, "--slow", "device=2:1.5", "--comm", "0.2"),
        ("--schedule", "bpipe", "-p", 4, "-m", 8), ("--schedule", "1f1b", "-p", 1, "-m", 1)]
DOCUMENTS = ["report.json", "devices.csv", "report.txt"]


def check_gaps(checks, what, page, report):
    gaps = page.table(0, "gaps")
    causes = [key for key in gaps if key not in ("device", "begin", "duration", "before")]
    sums = collections.Counter()
    for row, device in enumerate(gaps["device"]):
        parts = {cause: gaps[cause][row] for cause in causes}
        checks.true(f"{what}: causes of gap {row} add up", sum(parts.values()) == gaps["duration"][row] > 0)
        for cause, time in parts.items():
            sums[device, cause] += time
    for device in report["devices"]:
        for cause, time in device["idle_by_cause_ns"].items():
            checks.equal(f"{what}: {cause} of device {device['device']}", sums[device["device"], cause], time)


def check_spans(checks, what, page, report):
    spans = page.table(0, "spans")
    steps = page.table(0, "steps")
    busy = collections.Counter()
    for device, time in zip(spans["device"], spans["duration"]):
        busy[device] += time
    for row, device in enumerate(steps["device"]):
        if steps["lane"][row] == 0:
            busy[device] += steps["duration"][row]
    for device in report["devices"]:
        checks.equal(f"{what}: busy time of device {device['device']}", busy[device["device"]], device["busy_ns"])
    ends = [begin + time for begin, time in zip(spans["begin"], spans["duration"])]
    checks.true(f"{what}: devices are in order", spans["device"] == sorted(spans["device"]))
    checks.true(f"{what}: the last op ends by the makespan", max(ends) <= report["makespan_ns"])
    checks.true(f"{what}: no gate points outside", all(index < len(ends) for gate, index in
                                                      zip(spans["gate"], spans["gate_index"]) if gate == 1))


def check_path(checks, what, page, report):
    """Each part of the critical path begins when the one before it ends, from 0 to the makespan."""
    tables = ["", "spans", "transfers", "copies", "collectives", "steps"]
    lanes = {name: page.table(0, name) for name in tables[1:]}
    path = page.table(0, "path")
    at = 0
    for lane, row in zip(path["gate"], path["gate_index"]):
        table = lanes[tables[lane]]
        checks.true(f"{what}: the path goes on at {at}", table["begin"][row] == at)
        at = table["begin"][row] + table["duration"][row]
    checks.equal(f"{what}: the path ends", at, report["makespan_ns"])


def check_memory(checks, what, page, report):
    memory = page.table(0, "memory")
    categories = [key for key in memory if key not in ("device", "at")]
    peaks = collections.Counter()
    for row, device in enumerate(memory["device"]):
        peaks[device] = max(peaks[device], sum(memory[key][row] for key in categories))
    for device in report["devices"]:
        checks.equal(f"{what}: peak of device {device['device']}", peaks[device["device"]], device["peak_memory_bytes"])


def check_job(checks, binary, folder, job):
    what = " ".join(map(str, job))
    path = folder / "page.html"
    run(binary, "simulate", *job, "--html", path)
    page = PageFile(path)
    checks.equal(f"{what}: version", page.header["page_version"], 1)
    checks.equal(f"{what}: documents", [one["name"] for one in page.header["documents"]], DOCUMENTS)
    report = json.loads(page.text("report.json"))
    printed = json.loads(run(binary, "simulate", *job, "--format", "json"))
    for one in (report, printed):
        one.pop("command_line")
    checks.equal(f"{what}: report.json", report, printed)
    checks.equal(f"{what}: devices.csv", page.text("devices.csv"), run(binary, "simulate", *job, "--format", "csv"))
    check_spans(checks, what, page, report)
    check_gaps(checks, what, page, report)
    check_memory(checks, what, page, report)
    check_path(checks, what, page, report)


def check_large(checks, binary, folder):
    """A page holds the ops of runs that the text has no chart of."""
    path = folder / "large.html"
    run(binary, "simulate", "-p", 2, "-m", 60_000, "--html", path)
    checks.equal("ops of a large run", PageFile(path).header["runs"][0]["tables"]["spans"]["rows"], 2 * 2 * 60_000)


def takes(binary, schedule, job):
    """Whether the schedule takes that job: some refuse transfers that hold lanes."""
    command = [binary, "simulate", "--schedule", schedule, *map(str, job)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main():
    binary = sys.argv[1]
    checks = Checks()
    names = [one["name"] for one in json.loads(run(binary, "list", "schedules", "--format", "json"))["schedules"]]
    with tempfile.TemporaryDirectory() as folder:
        jobs = [("--schedule", name, *JOBS[k % 2 if takes(binary, name, JOBS[1]) else 0]) for k, name in enumerate(names)]
        for job in jobs + MORE:
            check_job(checks, binary, pathlib.Path(folder), job)
        check_large(checks, binary, pathlib.Path(folder))
        first = pathlib.Path(folder) / "page.html"
        again = first.read_bytes()
        run(binary, "simulate", *MORE[-1], "--html", first)
        checks.true("the same run gives the same bytes", first.read_bytes() == again)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
