"""Builds a wheel with CMake and the standard library alone (PEP 517, PEP 427), so that `pip install .` needs no network.

The build folder is build/wheel of the tree, or $DEBUBBLE_WHEEL_BUILD; a second build takes what is there. $CMAKE_ARGS go
to cmake as well. Compiled for the Python that runs this, whichever that is.
"""

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "debubble"
# The same files give the same bytes: the earliest time that a zip can have.
EPOCH = (1980, 1, 1, 0, 0, 0)


def version():
    """The version, which the root CMakeLists.txt alone says."""
    found = re.search(r"project\(debubble VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    return found.group(1)


def tag():
    """What the wheel is for: "cp311-cp311-linux_x86_64"."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[^A-Za-z0-9]', '_', sysconfig.get_platform())}"


def metadata():
    text = (ROOT / "python" / "README.md").read_text(encoding="utf-8")
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\n"
            "Summary: Simulates, explains and measures pipeline-parallel training schedules\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: numpy\n"
            "Provides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n"
            f"Description-Content-Type: text/markdown\n\n{text}")


def information():
    """The files of debubble-VERSION.dist-info but for RECORD."""
    wheel = f"Wheel-Version: 1.0\nGenerator: debubble {version()}\nRoot-Is-Purelib: false\nTag: {tag()}\n"
    return {"METADATA": metadata(), "WHEEL": wheel, "top_level.txt": NAME + "\n",
            "LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8")}


def run(*command):
    """A step of the build; its output is shown, for pip shows it where the build fails."""
    print("+", *map(shlex.quote, command), flush=True)
    if subprocess.run(command, check=False).returncode != 0:
        raise SystemExit(f"error: {command[0]} failed, see above\n  = help: python/README.md says what a build takes; "
                         "on Debian 12: apt-get install g++ cmake ninja-build nlohmann-json3-dev libsimdjson-dev "
                         "libsqlite3-dev libtomlplusplus-dev libyaml-cpp-dev libcli11-dev libfmt-dev libtbb-dev zlib1g-dev "
                         "python3-dev pybind11-dev")


def build(prefix):
    """Builds the module and installs its files into `prefix`."""
    for command in ("cmake", "ninja"):
        if shutil.which(command) is None:
            raise SystemExit(f"error: {command} is missing\n  = help: apt-get install cmake ninja-build")
    folder = os.environ.get("DEBUBBLE_WHEEL_BUILD", str(ROOT / "build" / "wheel"))
    run("cmake", "-S", str(ROOT), "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-Ddebubble_PYTHON=ON",
        "-Ddebubble_TESTS=OFF", "-Ddebubble_BENCH=OFF", "-Ddebubble_CUDA=OFF", "-Ddebubble_MPI=OFF", "-Ddebubble_CBC=OFF",
        "-Ddebubble_FETCH_DEPS=OFF", f"-DPython_EXECUTABLE={sys.executable}", *shlex.split(os.environ.get("CMAKE_ARGS", "")))
    run("cmake", "--build", folder, "--target", "debubble_python")
    run("cmake", "--install", folder, "--component", "python", "--prefix", str(prefix), "--strip")


def write_wheel(files, path):
    """`files` by their names in the wheel, as bytes; RECORD is made here."""
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    base = f"{NAME}-{version()}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(name, content):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, content)

        for name, content in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.writerow((name, f"sha256={digest}", len(content)))
            add(name, content)
        rows.writerow((f"{base}/RECORD", "", ""))
        add(f"{base}/RECORD", record.getvalue().encode())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    base = f"{NAME}-{version()}.dist-info"
    with tempfile.TemporaryDirectory() as scratch:
        build(pathlib.Path(scratch))
        files = {path.relative_to(scratch).as_posix(): path.read_bytes()
                 for path in pathlib.Path(scratch).rglob("*") if path.is_file()}
    files.update({f"{base}/{name}": text.encode() for name, text in information().items()})
    name = f"{NAME}-{version()}-{tag()}.whl"
    write_wheel(files, pathlib.Path(wheel_directory) / name)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """PEP 517: what pip asks for before it builds."""
    base = f"{NAME}-{version()}.dist-info"
    folder = pathlib.Path(metadata_directory) / base
    folder.mkdir(parents=True)
    for name, text in information().items():
        (folder / name).write_text(text, encoding="utf-8")
    return base


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: the tree without what was built."""
    base = f"{NAME}-{version()}"
    built = {"build", "dist", "env", ".venv", ".git", ".cache", ".deps"}  # in the root of the tree

    def kept(entry):
        parts = pathlib.PurePosixPath(entry.name).parts[1:]
        left_out = parts[:1] and parts[0] in built or {"node_modules", "__pycache__"} & set(parts)
        return None if left_out else entry

    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.add(ROOT, base, filter=kept)
        text = metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return f"{base}.tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    """PEP 517: nothing that pip could fetch."""
    return []


def get_requires_for_build_sdist(config_settings=None):
    """PEP 517."""
    return []
