#!/usr/bin/env python3
"""Sources what `debubble list completions SHELL` prints and completes a few command lines with it.

    tests/docs/check_completions.py BINARY bash|fish|zsh

zsh completes on a terminal only; there the script is loaded and its two entry points are replaced by ones that print what
they are given. Exit code 77 (skipped) without the shell.
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


def complete_in_bash(script, words):
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _debubble; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    run = subprocess.run(["bash", "--norc", "-c", ask], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    return run.stdout.split()


def complete_in_fish(script, words):
    ask = f"{script}\ncomplete -C '{' '.join(words)}'"
    run = subprocess.run(["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    return [line.split("\t")[0] for line in run.stdout.splitlines()]


# Offers what the specifications of _arguments name: all flags, or the words of the flag before.
ZSH_STUBS = r"""
compdef() { :; }
_describe() { print -l -- ${verbs%%:*}; }
_arguments() {
  local spec flag value
  for spec in "$@"; do
    spec=${${spec#\(*\)}#\*}
    flag=${spec%%[=\[]*} value=${spec#*\]}
    if [[ $words[CURRENT-1] == $flag && $value == *\(* ]]; then print -l -- ${=${value#*\(}%%\)*}; fi
    if [[ $words[CURRENT] == -* && $flag == -* ]]; then print -- $flag; fi
  done
}
"""


def complete_in_zsh(script, words):
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f"{ZSH_STUBS}\n{script}\nwords=({quoted}); CURRENT={len(words)}; _debubble"
    run = subprocess.run(["zsh", "--no-rcs", "-c", ask], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    return [word for word in run.stdout.split() if word.startswith(words[-1])]


COMPLETE = {"bash": complete_in_bash, "fish": complete_in_fish, "zsh": complete_in_zsh}


def main():
    shell = sys.argv[2]
    if shutil.which(shell) is None:
        print(f"no {shell} here")
        return 77
    script = subprocess.run([sys.argv[1], "list", "completions", shell], capture_output=True, text=True, check=True,
                            timeout=TIMEOUT_S).stdout
    subprocess.run([shell, "-n"], input=script, text=True, check=True, timeout=TIMEOUT_S)
    failed = 0
    for words, wanted, unwanted in CASES:
        found = COMPLETE[shell](script, words)
        if unwanted in found or any(word not in found for word in wanted):
            print(f"{words}: {found}; expected {wanted} and no {unwanted}")
            failed += 1
    print(f"{len(CASES) - failed} of {len(CASES)} lines completed by {shell}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
