#!/usr/bin/env python3
"""The hooks' tests (tests/profile/hooks*_test.py) on the PyTorch of Debian 13, which is 2.6; the one of Debian 12 is 1.13.

    tests/fresh/pytorch2.py [TEST...]

Makes a Debian 13 root with python3-torch (about 900 MB, a minute) and runs the tests in it, in three minutes more. Takes
root, mmdebstrap and a C++ compiler; not part of continuous integration.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import base_root
import mirrors

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TESTS = ["hooks_test.py", "hooks_ranges_test.py", "hooks_trainers_test.py"]


def make_root(root):
    command = ["mmdebstrap", "--mode=root", "--variant=apt", "--include=python3-torch", "--quiet"]
    command += [f'--aptopt={name} "{value}"' for name, value in mirrors.apt_settings().items()]
    subprocess.run([*command, "trixie", str(root), *mirrors.sources("trixie")], stdin=subprocess.DEVNULL, check=True)


def fill_root(root):
    tree = root / "debubble"
    for part in ("profiler/python", "tests/profile"):
        shutil.copytree(SOURCE / part, tree / part)
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-I", str(SOURCE), "-o", str(tree / "libpush_log.so"),
                    str(SOURCE / "tests/profile/push_log.cpp")], check=True)


def run_tests(root, names):
    failed = 0
    for test in TESTS:
        print(f"==== {test}", flush=True)
        done = subprocess.run(["chroot", str(root), "/usr/bin/python3", f"/debubble/tests/profile/{test}",
                               "/debubble/profiler/python", "/debubble/libpush_log.so", *names], check=False)
        failed += done.returncode != 0
    return failed


def main():
    if os.geteuid() != 0:
        sys.exit("making a root file system takes root")
    if "--in-namespace" not in sys.argv:  # mounts end with the namespace
        sys.exit(subprocess.run(["unshare", "--mount", sys.executable, __file__, "--in-namespace", *sys.argv[1:]],
                                check=False).returncode)
    with tempfile.TemporaryDirectory(prefix="pytorch2-", dir=base_root.cache_folder()) as folder:
        root = pathlib.Path(folder) / "root"
        make_root(root)
        fill_root(root)
        mounted = [root / name for name in ("proc", "sys", "dev")]
        for place in mounted:
            subprocess.run(["mount", "--rbind", "--make-rslave", f"/{place.name}", str(place)], check=True)
        try:
            failed = run_tests(root, [name for name in sys.argv[1:] if name != "--in-namespace"])
        finally:
            for place in mounted:
                subprocess.run(["umount", "--recursive", str(place)], check=True)
    sys.exit(f"{failed} of {len(TESTS)} files failed" if failed else 0)


if __name__ == "__main__":
    main()
