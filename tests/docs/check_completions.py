#!/usr/bin/env python3
"""Sources what `debubble list completions bash` prints and completes a few command lines with it.

Exit code 77 (skipped) without bash.
"""

import shutil
import subprocess
import sys

TIMEOUT_S = 60
# Words of the line, the last one being completed; some that must be offered; one that must not.
CASES = [
    (["debubble", "sim"], ["simulate"], "live"),
    (["debubble", "simulate", "--sch"], ["--schedule"], "--devices"),
    (["debubble", "compare", "--sch"], ["--schedules", "--schedule"], "--p2p"),
    (["debubble", "live", "--backend", ""], ["cpu", "cuda", "mpi"], "--backend"),
    (["debubble", "live", "--backend", "m"], ["mpi"], "cpu"),
    (["debubble", "simulate", "--schedule", "zb"], ["zb-h1", "zb-v"], "1f1b"),
    (["debubble", "compare", "--topology", "dgx"], ["dgx-h100"], "ideal"),
    (["debubble", "simulate", "--recompute", ""], ["none", "selective", "full"], "--recompute"),
    (["debubble", "export", "--to", "mega"], ["megatron-layout"], "pytorch-csv"),
    (["debubble", "import", "--from", "n"], ["nsys"], "kineto"),
    (["debubble", "doctor", "-"], ["--gpu", "--help", "-o"], "--schedule"),
]


def complete(script, words):
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _debubble; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    run = subprocess.run(["bash", "--norc", "-c", ask], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    return run.stdout.split()


def main():
    if shutil.which("bash") is None:
        print("no bash here")
        return 77
    script = subprocess.run([sys.argv[1], "list", "completions", "bash"], capture_output=True, text=True, check=True,
                            timeout=TIMEOUT_S).stdout
    failed = 0
    for words, wanted, unwanted in CASES:
        found = complete(script, words)
        if unwanted in found or any(word not in found for word in wanted):
            print(f"{words}: {found}; expected {wanted} and no {unwanted}")
            failed += 1
    print(f"{len(CASES) - failed} of {len(CASES)} lines completed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
