#!/usr/bin/env python3
"""The wheel that python/build_backend.py makes, of this build's module: whole, installable by pip, the same twice.

Usage: check_package.py BINARY

Building it from nothing is tests/fresh/run.py --only wheel.
"""

import base64
import csv
import hashlib
import importlib.util
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


def wheel_in(folder):
    """A wheel of this build, by the backend, which finds nothing left to build."""
    def installed(prefix):
        subprocess.run(["cmake", "--install", str(BUILD), "--component", "python", "--prefix", str(prefix)],
                       check=True, stdout=subprocess.DEVNULL)

    build, build_backend.build = build_backend.build, installed
    try:
        return pathlib.Path(folder) / build_backend.build_wheel(folder)
    finally:
        build_backend.build = build


def check_wheel():
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        path = wheel_in(first)
        assert re.fullmatch(r"debubble-[\d.]+-cp3\d+-cp3\d+-linux_\w+\.whl", path.name), path.name
        assert path.read_bytes() == wheel_in(second).read_bytes(), "two wheels of one build differ"
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
        wanted = {"debubble/__init__.py", "debubble/__init__.pyi", "debubble/_core.pyi", "debubble/py.typed",
                  "debubble/share/debubble/kernels/h100.csv",
                  "debubble/share/debubble/traces/published/zb-a100-1.5b-m24.json"}
        assert wanted <= set(names), wanted - set(names)
        assert not [name for name in names if "__pycache__" in name]
        metadata = wheel.read(record.replace("RECORD", "METADATA")).decode()
        assert f"\nVersion: {debubble.__version__}\n" in metadata and "\nRequires-Dist: numpy\n" in metadata
        return f"{path.name}, {path.stat().st_size / 1e6:.1f} MB, {len(names)} files"


def check_installed():
    """In a virtual environment, with no network and from another folder."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        return "not done: there is no venv (apt-get install python3-venv)"
    with tempfile.TemporaryDirectory() as folder:
        path = wheel_in(folder)
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", f"{folder}/env"], check=True)
        python = f"{folder}/env/bin/python"
        clean = {"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": folder}
        subprocess.run([python, "-m", "pip", "-q", "install", str(path)], check=True, env=clean)
        code = ("import debubble; print(debubble.__file__); print(debubble.simulate(model='gpt-1.3b', hardware='h100', p=2).fits, "
                "debubble.simulate(profile='traces/published/zb-a100-1.5b-m24.json', p=8, m=24).makespan_ns)")
        said = subprocess.run([python, "-c", code], check=True, env=clean, cwd=folder, capture_output=True, text=True).stdout
        place, numbers = said.splitlines()
        assert place.startswith(folder) and numbers.startswith("True 1456749000"), said


def check_metadata():
    with tempfile.TemporaryDirectory() as folder:
        base = build_backend.prepare_metadata_for_build_wheel(folder)
        assert {path.name for path in (pathlib.Path(folder) / base).iterdir()} >= {"METADATA", "WHEEL"}
    text = (ROOT / "pyproject.toml").read_text()
    assert 'requires = []' in text and 'backend-path = ["python"]' in text
    if sys.version_info >= (3, 11):
        import tomllib

        project = tomllib.loads(text)["project"]
        assert project["dependencies"] == ["numpy"] and project["dynamic"] == ["version"]


def check_sdist():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / build_backend.build_sdist(folder)
        names = {name.partition("/")[2] for name in tarfile.open(path).getnames()}
        assert {"PKG-INFO", "pyproject.toml", "python/build_backend.py", "CMakeLists.txt", "sim/core/op.hpp",
                "tools/report/build"} <= names
        assert not [name for name in names if name.startswith(("build/", ".git/")) or "node_modules" in name]


if __name__ == "__main__":
    run_checks(globals())
