#!/usr/bin/env python3
"""Every manual page that `debubble list man-pages` makes is read without a complaint and names all flags of its verb.

    tests/docs/check_man_pages.py BINARY

mandoc and man look at the pages where they are installed; exit code 77 (skipped) where neither is.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

TIMEOUT_S = 60
# A page of a version has no date of its own.
HARMLESS = ("missing date",)


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S).stdout


def complaints(reader, path):
    """What mandoc or man has to say about a page."""
    if reader == "mandoc":
        command = ["mandoc", "-T", "lint", "-W", "warning", path]
    else:
        command = ["man", "--warnings", "--local-file", "--encoding=UTF-8", "--troff-device=utf8", path]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                          env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""})
    lines = (done.stdout if reader == "mandoc" else done.stderr).splitlines()
    problems = [line for line in lines if not any(text in line for text in HARMLESS)]
    if done.returncode != 0 and reader == "man":
        problems.append(f"man ended with status {done.returncode}")
    return problems


def missing_flags(page, verb):
    """Names of a verb's flags and its example's first line, as far as the page lacks them."""
    plain = page.replace("\\-", "-").replace("\\(aq", "'")
    names = [flag["name"] for flag in verb["flags"]] + [name for flag in verb["flags"] for name in flag["aliases"]]
    wanted = [*names, verb["summary"], verb["example"].splitlines()[0]]
    return [text for text in wanted if text not in plain]


def main():
    binary = sys.argv[1]
    pages = [page["name"] for page in json.loads(output_of(binary, "list", "man-pages", "--format", "json"))["man_pages"]]
    verbs = {verb["name"]: verb for verb in json.loads(output_of(binary, "list", "commands", "--format", "json"))["commands"]}
    readers = [reader for reader in ("mandoc", "man") if shutil.which(reader)]
    problems = [] if pages == ["debubble", *(f"debubble-{verb}" for verb in verbs)] else [f"the pages are {pages}"]
    with tempfile.TemporaryDirectory() as folder:
        for name in pages:
            path = os.path.join(folder, name + ".1")
            subprocess.run([binary, "list", "man-pages", name, "-o", path], check=True, timeout=TIMEOUT_S)
            with open(path, encoding="utf-8") as file:
                page = file.read()
            verb = verbs.get(name.removeprefix("debubble-"))
            problems += [f"{name}: does not say {text}" for text in (missing_flags(page, verb) if verb else [])]
            problems += [f"{reader}: {line}" for reader in readers for line in complaints(reader, path)]
    print("\n".join(problems) or f"{len(pages)} pages, read by {' and '.join(readers) or 'nobody'}")
    return 1 if problems else 0 if readers else 77


if __name__ == "__main__":
    sys.exit(main())
