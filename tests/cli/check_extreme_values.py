"""Sizes and counts of 0, below it and far beyond any job: answered or refused with a code, never by a signal.

check_extreme_values.py BINARY
"""
import re
import subprocess
import sys

VALUES = ["0", "-1", "3", "16777216", "2147483648", "99999999999999999999"]
BASE = ["simulate", "-p", "2", "-m", "4", "--hardware", "h100"]
MODELS = ["mixtral-8x7b", "deepseek-v3"]


def run(binary, words):
    return subprocess.run([binary, *words], capture_output=True, text=True, timeout=300)


def main():
    binary = sys.argv[1]
    known = run(binary, [*BASE, "--model", "mixtral-8x7b", "--model-size", "nothing=1"]).stderr
    keys = re.findall(r"[a-z_]+", known.split("sizes: ", 1)[1])
    cases = [[*BASE, "--model", model, "--model-size", f"{key}={value}"]
             for model in MODELS for key in keys for value in VALUES]
    help_text = run(binary, ["simulate", "--help"]).stdout
    flags = re.findall(r"(--[a-z0-9-]+) [NB]\b", help_text) + ["-p", "-m", "-v"]
    cases += [[*BASE, "--model", "mixtral-8x7b", f"{flag}={value}" if flag.startswith("--") else flag + value]
              for flag in flags for value in VALUES]
    wrong = []
    for words in cases:
        done = run(binary, words)
        if done.returncode in (0, 1) or done.returncode in (2, 3) and "error[" in done.stderr:
            continue
        wrong.append(f"{' '.join(words)}: ends with {done.returncode}: {done.stderr[:200]}")
    for line in wrong:
        print(line)
    print(f"{len(cases)} runs of {len(keys)} sizes and {len(flags)} flags")
    sys.exit(1 if wrong or len(keys) < 20 or len(flags) < 8 else 0)


main()
