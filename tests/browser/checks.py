"""What the browser tests share: a check that says what it found, and machines that cannot run them."""

import os
import pathlib
import shutil
import subprocess
import sys

import chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


class Checks:
    def __init__(self):
        self.failed = []
        self.done = 0

    def equal(self, what, found, wanted):
        self.true(f"{what}: {found!r} instead of {wanted!r}", found == wanted)

    def true(self, what, holds):
        self.done += 1
        if not holds:
            self.failed.append(what)
            print(f"FAILED: {what}")

    def status(self):
        print(f"{self.done - len(self.failed)} of {self.done} checks hold")
        return 1 if self.failed else 0


def apt_has(package):
    """Whether apt can install it; "esbuild=0.17.0": that version."""
    name, _, version = package.partition("=")
    if shutil.which("apt-cache") is None:
        return False
    shown = subprocess.run(["apt-cache", "policy", name], capture_output=True, text=True, check=False).stdout
    candidates = [line.split()[1] for line in shown.splitlines() if line.strip().startswith("Candidate:")]
    return any(one != "(none)" and one.startswith(version) for one in candidates)


def cannot_run(why, *packages):
    """Ends the test: as skipped, but as failed on a CI machine that could have had the packages."""
    names = " ".join(package.partition("=")[0] for package in packages)
    if os.environ.get("CI") and packages and all(apt_has(package) for package in packages):
        print(f"FAILED: {why}; apt has {names}, and tools/test installs them")
        sys.exit(1)
    print(f"SKIPPED: {why}; on Debian 12: apt-get install {names}" if packages else f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def need_browser():
    if chromium.command() is None:
        cannot_run("no Chromium here", "chromium")


def run(binary, *arguments, status=0):
    result = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode != status:
        print(f"FAILED: debubble {' '.join(map(str, arguments))}: status {result.returncode}\n{result.stderr}")
        sys.exit(1)
    return result.stdout
