#!/usr/bin/env python3
"""Which glibc programs and shared libraries need, by their dynamic symbols; fails where it is a newer one than allowed.

    tests/package/check_symbols.py FILE...

2.34 is RHEL 9's; Ubuntu 22.04 has 2.35. Exit code 77 (skipped) where the system itself is too new: what is compiled with the
headers of glibc 2.38 needs its strtol.
"""

import platform
import re
import subprocess
import sys

NEWEST = (2, 34)
HEADERS_FROM = (2, 38)
UNDEFINED = re.compile(r"\*UND\*.*\(?GLIBC_(\d+)\.(\d+)[\d.]*\)?\s+(?:\.\S+\s+)?(\S+)$")


def version_text(version):
    return ".".join(map(str, version))


def needs(path):
    """The version of each glibc symbol that a file needs."""
    dump = subprocess.run(["objdump", "-T", str(path)], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in dump.splitlines():
        match = UNDEFINED.search(line)
        if match:
            found[match.group(3)] = (int(match.group(1)), int(match.group(2)))
    return found


def too_new(path):
    """What is wrong with the file, one line for each symbol."""
    found = needs(path)
    if not found:
        return [f"{path}: objdump shows no symbol of glibc"]
    return [f"{path}: {symbol} is of glibc {version_text(version)}, {version_text(NEWEST)} is the newest allowed"
            for symbol, version in sorted(found.items()) if version > NEWEST]


def libraries(path):
    """The shared libraries that a file names."""
    dump = subprocess.run(["objdump", "-p", str(path)], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^\s+NEEDED\s+(\S+)$", dump, re.M)


def main():
    name, version = platform.libc_ver()
    if name == "glibc" and tuple(map(int, version.split(".")[:2])) >= HEADERS_FROM:
        print(f"compiled with the headers of glibc {version}")
        return 77
    problems = [problem for path in sys.argv[1:] for problem in too_new(path)]
    for path in sys.argv[1:]:
        print(f"{path}: glibc {version_text(max(needs(path).values(), default=(0, 0)))}; {', '.join(libraries(path))}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
