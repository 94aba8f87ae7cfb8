#!/usr/bin/env python3
"""README's first command on machines that have none of what this one has (the test area `fresh`).

    tests/fresh/run.py                    the releases of Debian that README names, and on the first all other machines
    tests/fresh/run.py --suite testing    another one, alone
    tests/fresh/run.py --only no-simdjson the bare machine, which all others start from, and the machines named
    tests/fresh/run.py --only package --keep dist
                                          makes the packages and wheels, tries them, and keeps them in the folder dist
    tests/fresh/run.py --only wheel       `pip install .` and `python -m build` in a bare root of each release, without a
                                          network and with what pip fetches

Makes a bare Debian root, clones the tree into it and runs the first command of README.md as a stranger would, twice;
then builds in copies of that root that differ by what is installed (machines.py). Packages are made and tried when they
are named (package.py). Takes root, apt, a mirror of Debian (mirrors.py) and minutes. Where these are missing it is
skipped, unless $CI is set: there it fails.
"""

import argparse
import contextlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

import base_root
import machines
import mirrors
import package
import readme
import wheel
from machine import TREE, CommandFailed

# The other machines are copies of the first.
RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
SOURCE = pathlib.Path(__file__).resolve().parents[2]
STARTED = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - STARTED:6.1f} s] {text}", flush=True)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def phase(name):
    begin, cpu = time.monotonic(), cpu_seconds()
    say(f"{name} ...")
    yield
    say(f"{name}: {time.monotonic() - begin:.1f} s, {cpu_seconds() - cpu:.1f} CPU s")


def missing_prerequisite():
    """What keeps the test from running here, or None."""
    if os.geteuid() != 0:
        return "making a root file system takes root"
    for command in ("mmdebstrap", "git", "tar", "unshare", "setpriv", "chroot", "apt-get", "apt-config", "lintian",
                    "objdump"):
        if shutil.which(command) is None:
            return f"the command {command} is missing (tools/test installs it)"
    try:
        mirrors.repositories()
    except mirrors.NoMirror as error:
        return str(error)
    return None


def run_in_namespaces(folder, arguments):
    """Runs this program again in mount and process namespaces of its own and returns its exit status.

    All mounts and processes end with the namespaces, and those end with this process, also when it is killed.
    """
    child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL",
                              "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                              sys.executable, __file__, "--in-folder", str(folder), *arguments])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by SIGTERM"))
    try:
        return child.wait()
    finally:
        child.kill()
        child.wait()


def clone_into(root):
    """The tree as a stranger gets it: HEAD, and what a developer changed in tracked files since."""
    settings = root / "gitconfig"
    settings.write_text("[safe]\n\tdirectory = *\n")  # the tree may belong to another user than root
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"}
    for name in [name for name in environment if name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")]:
        del environment[name]
    clone = root / TREE.lstrip("/")
    git = ["git", "-C", str(SOURCE)]
    subprocess.run([*git, "clone", "--quiet", "--no-hardlinks", str(SOURCE), str(clone)], env=environment, check=True)
    changes = subprocess.run([*git, "diff", "--binary", "HEAD"], env=environment, check=True, capture_output=True).stdout
    if changes:
        say("uncommitted changes of tracked files are part of the tree under test")
        subprocess.run(["git", "-C", str(clone), "apply", "-"], env=environment, input=changes, check=True)
    settings.unlink()


def bare_machine(suite, folder, cache):
    """Does what README's first command does on the release, and returns the machine where it was done."""
    release = RELEASES.get(suite, suite)
    with phase(f"{release}: base root"):
        machine = machines.unpacked(suite, folder, cache, say, suite)
    clone_into(machine.root)
    document = readme.Readme(SOURCE / "README.md")
    machines.check_bare(machine)
    with phase(f"{release}: {document.first_command}"):
        first = machines.first_run(machine, document)
    with phase(f"{release}: {document.first_command}, once more"):
        machines.second_run(machine, document, first)
    return machine, document


def run_release(suite, others, folder, cache, keep):
    """The bare machine and the `others` that start from it."""
    bare, document = bare_machine(suite, folder, cache)
    for name, check in machines.OTHERS.items():
        if name in others:
            with phase(name):
                check(bare.copy(name, folder), document, cache, say)
    if "package" in others:
        with phase("package"):
            package.check_packages(bare.copy("package", folder), folder, cache, say, keep)


def run_all(folder, arguments):
    cache = base_root.cache_folder()
    chosen = set(arguments.only or [])
    if "wheel" in chosen:
        with phase("wheel"):
            wheel.check_wheel(folder, cache, say, clone_into)
        if chosen == {"wheel"}:
            return
    first = next(iter(RELEASES))
    suites = [arguments.suite] if arguments.suite else list(RELEASES) if chosen <= {"bare"} else [first]
    for suite in suites:
        others = chosen if chosen or suite != first else set(machines.OTHERS)
        run_release(suite, others, folder, cache, arguments.keep)
    say("all machines: as promised")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", help="a release by Debian's name for it, such as trixie or testing")
    parser.add_argument("--only", action="append", choices=["bare", *machines.OTHERS, "package", "wheel"])
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="where the packages are copied to")
    parser.add_argument("--in-folder", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if problem := missing_prerequisite():
        print(f"error: {problem}" if os.environ.get("CI") else f"SKIPPED: {problem}")
        return 1 if os.environ.get("CI") else 0
    if arguments.in_folder is None:
        with base_root.run_folder(base_root.cache_folder()) as folder:
            return run_in_namespaces(folder, sys.argv[1:])
    try:
        run_all(arguments.in_folder, arguments)
    except (CommandFailed, machines.Unexpected, RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"FAILED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
