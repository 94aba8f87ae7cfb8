#!/usr/bin/env python3
"""README's first command on machines that have none of what this one has (the test area `fresh`).

    tests/fresh/run.py                    all machines
    tests/fresh/run.py --only no-simdjson the bare machine, which all others start from, and the machines named

Makes a bare Debian 12 root, clones the tree into it and runs the first command of README.md as a stranger would, twice;
then builds in copies of that root that differ by what is installed (machines.py). Takes root, apt and minutes. Without
root it is skipped, unless $CI is set: there it fails.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import base_root
import machines
import readme
from machine import TREE, CommandFailed, Machine

SOURCE = pathlib.Path(__file__).resolve().parents[2]
IN_NAMESPACE = "DEBUBBLE_FRESH_IN_NAMESPACE"
STARTED = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - STARTED:6.1f} s] {text}", flush=True)


@contextlib.contextmanager
def phase(name):
    begin = time.monotonic()
    say(f"{name} ...")
    yield
    say(f"{name}: {time.monotonic() - begin:.1f} s")


def missing_prerequisite():
    """What keeps the test from running here, or None."""
    if os.geteuid() != 0:
        return "making a root file system takes root"
    for command in ("mmdebstrap", "git", "tar", "unshare", "chroot", "apt-get", "apt-config"):
        if shutil.which(command) is None:
            return f"the command {command} is missing (tools/test installs it)"
    return None


def enter_namespaces():
    """Starts this program again in mount and process namespaces of its own.

    All mounts and all processes go with the namespaces, also when the test is killed.
    """
    os.environ[IN_NAMESPACE] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                          sys.executable, *sys.argv])


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


def start_machine(cache, folder):
    with phase("base root"), base_root.locked(cache):
        archive = base_root.base_archive(cache, say)
        base_root.unpack(archive, folder / "bare")
    clone_into(folder / "bare")
    return Machine("bare", folder / "bare")


def run_all(chosen):
    cache = base_root.cache_folder()
    with contextlib.ExitStack() as cleanup:
        folder = cleanup.enter_context(base_root.run_folder(cache))
        bare = start_machine(cache, folder)
        cleanup.callback(bare.unmount)
        document = readme.Readme(SOURCE / "README.md")
        machines.check_bare(bare)
        with phase(f"bare: {document.first_command}"):
            first = machines.first_run(bare, document)
        with phase(f"bare: {document.first_command}, once more"):
            machines.second_run(bare, document, first)
        for name, check in machines.OTHERS.items():
            if chosen and name not in chosen:
                continue
            machine = bare.copy(name, folder)
            cleanup.callback(machine.unmount)
            with phase(name):
                check(machine, document, cache, say)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[*machines.OTHERS, "bare"])
    chosen = parser.parse_args().only
    problem = missing_prerequisite()
    if problem:
        print(f"error: {problem}" if os.environ.get("CI") else f"SKIPPED: {problem}")
        return 1 if os.environ.get("CI") else 0
    if IN_NAMESPACE not in os.environ:
        enter_namespaces()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by SIGTERM"))
    try:
        run_all(chosen)
    except (CommandFailed, machines.Unexpected, RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"FAILED: {error}")
        return 1
    say("all machines: as promised")
    return 0


if __name__ == "__main__":
    sys.exit(main())
