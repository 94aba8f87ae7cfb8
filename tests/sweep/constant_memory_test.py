#!/usr/bin/env python3
"""The memory that `debubble sweep` takes does not grow with its rows: constant_memory_test.py DEBUBBLE"""
import os
import subprocess
import sys

SMALL = "0.001:0.1:+0.001"
LARGE = "0.001:1:+0.001"


def peak_kib(binary, shares):
    """Of 100 x the number of shares rows."""
    command = [binary, "sweep", "-p", "1", "-m", "2", "--comm", "0.01:1:+0.01", "--w-share", shares, "--format", "csv"]
    # A sanitizer keeps what was freed; with little of it, as much after many rows as after few.
    options = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **options}) as process:
        lines = sum(1 for _ in process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit status {process.returncode}")
    return lines - 1, usage.ru_maxrss


def main():
    rows, small = peak_kib(sys.argv[1], SMALL)
    more_rows, large = peak_kib(sys.argv[1], LARGE)
    print(f"{rows} rows: {small} KiB, {more_rows} rows: {large} KiB")
    sys.exit(0 if (rows, more_rows) == (10_000, 100_000) and large < small + 4096 else 1)


main()
