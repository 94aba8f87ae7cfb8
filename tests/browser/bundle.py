#!/usr/bin/env python3
"""The committed bundle of the HTML page (tools/report/dist) is what its sources give, and small enough.

Where esbuild and tsc of the pinned versions are not to be had, others will do if they give the same bytes, as those of
Debian 13 did: then it is what the sources give. Other bytes of another version show nothing: exit code 77 (skipped).
"""

import pathlib
import subprocess
import sys
import tempfile

from checks import ROOT, Checks, cannot_run

REPORT = ROOT / "tools" / "report"
MOST_BYTES = 150_000
PINNED = ("esbuild=0.17.0", "node-typescript=4.8.4")


def check_text(checks, path):
    """What a page embeds as it is: it may end neither the script nor the C++ string that it is in."""
    data = path.read_bytes()
    checks.true(f"{path.name} is ASCII", all(byte < 128 for byte in data))
    text = data.decode("ascii", "replace").lower()
    for ends in ("</script", "</style", "<!--", ')page"'):
        checks.true(f"{path.name} has no {ends}", ends not in text)


def build(*options):
    return subprocess.run([REPORT / "build", *options], capture_output=True, text=True, check=False)


def check_sources(checks):
    """Whether the bundle could be judged: bytes of other versions that differ show nothing."""
    pinned = build("--versions").returncode == 0
    any_version = [] if pinned else ["--any"]
    if build(*any_version, "--versions").returncode != 0:
        cannot_run("no esbuild and tsc here", *PINNED)
    with tempfile.TemporaryDirectory() as folder:
        built = build(*any_version, "--to", folder)
        checks.true(f"tools/report/build: {built.stdout}{built.stderr}", built.returncode == 0)
        for name in ("page.js", "page.css"):
            made = pathlib.Path(folder) / name
            same = made.exists() and made.read_bytes() == (REPORT / "dist" / name).read_bytes()
            if made.exists() and not same and not pinned:
                return False
            checks.true(f"dist/{name} is what the sources give; if not: tools/report/build", same)
    return True


def main():
    checks = Checks()
    files = [REPORT / "dist" / name for name in ("page.js", "page.css")]
    for path in files:
        check_text(checks, path)
    size = sum(path.stat().st_size for path in files)
    print(f"the bundle has {size} bytes, {MOST_BYTES} at most")
    checks.true("the bundle is small", size <= MOST_BYTES)
    compared = check_sources(checks)
    if checks.failed or compared:
        return checks.status()
    cannot_run("esbuild and tsc here are not those that are pinned, and give other bytes", *PINNED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
