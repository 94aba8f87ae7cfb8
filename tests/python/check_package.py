#!/usr/bin/env python3
"""The wheel that python/build_backend.py makes, of this build's command and module: whole, and enough in a bare environment.

Usage: check_package.py BINARY [FILE...]

The files are those that must have been built, too. Building it from nothing is tests/fresh/run.py --only wheel.
"""

import atexit
import base64
import csv
import functools
import hashlib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import debubble
from support import BINARY, run_checks

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python"))  # last: the package beside it is not built
import build_backend  # noqa: E402

BUILD = pathlib.Path(BINARY).parents[1]
SCRATCH = tempfile.TemporaryDirectory()
atexit.register(SCRATCH.cleanup)  # in silence
DATA = "share/debubble/"
IN_DATA = {DATA + "kernels/h100.csv", DATA + "traces/published/zb-a100-1.5b-m24.json", DATA + "traces/measured/measured.suite.json",
           DATA + "python/debubble_hooks/__init__.py", DATA + "python/debubble_torch/__init__.py",
           DATA + "lib/libdebubble_inject.so", "share/bash-completion/completions/debubble"}
# In a bare environment: what needs no NumPy, and what says how to have it.
WITHOUT_NUMPY = """
import importlib.util, debubble
assert importlib.util.find_spec("numpy") is None
print(debubble.__file__)
run = debubble.simulate(model="gpt-1.3b", hardware="h100", p=2)
print(run.fits, debubble.simulate(profile="traces/published/zb-a100-1.5b-m24.json", p=8, m=24).makespan_ns)
for name in ("spans", "transfers", "memory"):
    try:
        getattr(run, name)
    except ImportError as error:
        print(error)
"""


@functools.cache
def wheel_in(name):
    """A wheel of this build, by the backend, which finds nothing left to build."""
    def installed(prefix, headers):
        assert headers is None
        for component in ("command", "python"):
            subprocess.run(["cmake", "--install", str(BUILD), "--component", component, "--prefix", str(prefix), "--strip"],
                           check=True, stdout=subprocess.DEVNULL)

    folder = pathlib.Path(SCRATCH.name) / name
    folder.mkdir()
    build, build_backend.build = build_backend.build, installed
    try:
        return folder / build_backend.build_wheel(folder)
    finally:
        build_backend.build = build


def check_wheel():
    path = wheel_in("first")
    assert re.fullmatch(r"debubble-[\d.]+-cp3\d+-cp3\d+-linux_\w+\.whl", path.name), path.name
    assert path.read_bytes() == wheel_in("second").read_bytes(), "two wheels of one build differ"
    wheel = zipfile.ZipFile(path)
    names = wheel.namelist()
    assert len(names) == len(set(names)) and wheel.testzip() is None
    record = next(name for name in names if name.endswith(".dist-info/RECORD"))
    rows = {row[0]: row for row in csv.reader(wheel.read(record).decode().splitlines())}
    assert set(rows) == set(names), set(rows) ^ set(names)
    for name in names:
        content = wheel.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert name == record or rows[name][1:] == [f"sha256={digest}", str(len(content))], name
    base = record.removesuffix(".dist-info/RECORD")
    wanted = {"debubble/__init__.py", "debubble/__init__.pyi", "debubble/_core.pyi", "debubble/py.typed",
              f"{base}.data/scripts/debubble", f"{base}.dist-info/LICENSE", f"{base}.dist-info/copyright",
              *(f"{base}.data/data/{name}" for name in IN_DATA)}
    assert wanted <= set(names), wanted - set(names)
    assert not [name for name in names if ".data/data/lib" in name], "pip install --target leaves these out"
    assert not [name for name in names if "__pycache__" in name or "/share/doc/" in name]
    return f"{path.name}, {path.stat().st_size / 1e6:.1f} MB, {len(names)} files"


def bare_environment():
    """A virtual environment that has the wheel and nothing else, and how to run its commands there; None without venv."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        return None
    folder = pathlib.Path(SCRATCH.name) / "env"
    clean = {"PATH": f"{folder}/bin:/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
             "HOME": SCRATCH.name, "LC_ALL": "C.UTF-8"}

    def run(*command):
        done = subprocess.run(command, env=clean, cwd="/", capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    run(sys.executable, "-m", "venv", str(folder))
    run("pip", "-q", "install", str(wheel_in("first")))
    return folder, run


def check_installed():
    environment = bare_environment()
    if environment is None:
        assert not os.environ.get("CI"), "there is no venv (apt-get install python3-venv)"
        return "not done: there is no venv (apt-get install python3-venv)"
    folder, run = environment
    assert "33.00 ms" in run("debubble", "simulate", "--schedule", "1f1b", "-p", "4", "-m", "8")
    assert " fits" in run("debubble", "simulate", "--model", "gpt-1.3b", "--hardware", "h100", "-p", "4", "-m", "8")
    assert "korthikanti" in run("debubble", "accuracy", "--source", "korthikanti")
    run("debubble", "check", "traces/measured/measured.suite.json")
    doctor = run("debubble", "doctor", "--width", "400")
    for what in ("injection library", "python3", "debubble_hooks"):
        assert re.search(rf"^{what} +ok .*", doctor, re.M), doctor
    assert f"{folder}/share/debubble/lib" in doctor, doctor
    run("pip", "-q", "install", "--target", f"{folder}/elsewhere", str(wheel_in("first")))
    doctor = run(f"{folder}/elsewhere/bin/debubble", "doctor", "--width", "400")
    assert re.search(rf"^injection library +ok .*{folder}/elsewhere", doctor, re.M), doctor
    place, numbers, *refused = run("python", "-c", WITHOUT_NUMPY).splitlines()
    assert place.startswith(str(folder)) and numbers == "True 1456749000", (place, numbers)
    assert len(refused) == 3 and all("pip install 'debubble[numpy]'" in line for line in refused), refused
    run("pip", "-q", "uninstall", "-y", "debubble")
    places = [path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(folder / "elsewhere")]
    left = [str(path) for path in places if "debubble" in str(path.relative_to(folder))]
    assert not left, left


def check_metadata():
    with tempfile.TemporaryDirectory() as folder:
        base = build_backend.prepare_metadata_for_build_wheel(folder)
        text = (pathlib.Path(folder) / base / "METADATA").read_text()
    head = text.partition("\n\n")[0].splitlines()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"Version: {debubble.__version__}" in head and "Requires-Python: >=3.11" in head, head
    assert f"Classifier: Programming Language :: Python :: {version}" in head or version not in ("3.11", "3.13"), head
    # The command needs nothing but the wheel.
    assert [line for line in head if line.startswith("Requires-Dist")] == [
        "Requires-Dist: numpy; extra == 'numpy'", "Requires-Dist: pandas; extra == 'pandas'"], head


def check_requirements():
    """Here, where the build tools are those of Debian, a registry is asked for nothing; elsewhere for what is missing."""
    assert build_backend.get_requires_for_build_wheel() == [], build_backend.get_requires_for_build_wheel()
    path, found = os.environ["PATH"], build_backend.pybind11_version
    try:
        os.environ["PATH"], build_backend.pybind11_version = "/nowhere", lambda: (2, 0)
        assert [re.match(r"\w+", name)[0] for name in build_backend.get_requires_for_build_wheel()] == [
            "cmake", "ninja", "pybind11"]
    finally:
        os.environ["PATH"], build_backend.pybind11_version = path, found


def check_sdist():
    """All that the tree has, and nothing that was built: a wheel is built of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / build_backend.build_sdist(folder)
        names = {name.partition("/")[2] for name in tarfile.open(path).getnames()}
    assert {"PKG-INFO", "pyproject.toml", "python/build_backend.py", "CMakeLists.txt", "sim/core/op.hpp",
            "tools/report/build"} <= names
    assert not [name for name in names if name.startswith(("build/", ".git/")) or "node_modules" in name]
    tracked = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if tracked.returncode == 0:
        missing = {name for name in tracked.stdout.split("\0") if name and (ROOT / name).exists()} - names
        assert not missing, missing


if __name__ == "__main__":
    run_checks(globals())
