"""Makes wheels and source archives (PEP 517) with CMake and the standard library, so that Debian's packages are enough.

A wheel has the command, its files and the module. It is built in build/wheel of the tree, or in $DEBUBBLE_WHEEL_BUILD, where
a second build takes what is there; $CMAKE_ARGS go to cmake as well. It is for the Python that runs this, or for the one
whose headers lie in the folder of `--config-setting headers=FOLDER`, which need not be installed.
"""

import base64
import csv
import hashlib
import importlib.util
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
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = re.search(r"^project\(debubble VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
BASE = f"{PROJECT['name']}-{VERSION}"
# The same files give the same bytes: the earliest time that a zip can have.
EPOCH = (1980, 1, 1, 0, 0, 0)
# CMake 4 refuses libraries that are compiled from their sources here (cmake/DebubbleDependencies.cmake).
CMAKE, CMAKE_OLDEST = "cmake>=3.25,<4", (3, 25)
# The first pybind11 for a CPython; for later ones the last.
PYBIND11 = {(3, 11): (2, 10), (3, 12): (2, 11), (3, 13): (2, 13), (3, 14): (3, 0)}
TARGETS = ["debubble", "debubble_inject", "debubble_pages", "debubble_python"]
# In the root of a tree without git.
NOT_SOURCES = {"build", "dist", "env", ".venv", ".cache", ".deps", "PKG-INFO"}


def run(*command):
    """A step of the build; its output is shown, for pip shows it where the build fails."""
    print("+", *map(shlex.quote, command), flush=True)
    if subprocess.run(command, check=False).returncode != 0:
        raise SystemExit(f"error: {command[0]} failed, see above\n  = help: docs/python.md says what a build takes")


def python_version(headers):
    """(3, 11): of this Python, or of the headers."""
    if headers is None:
        return sys.version_info[:2]
    text = (pathlib.Path(headers) / "patchlevel.h").read_text(encoding="utf-8")
    return tuple(int(re.search(rf"^#define PY_{part}_VERSION\s+(\d+)", text, re.M)[1]) for part in ("MAJOR", "MINOR"))


def tag(headers=None):
    """What the wheel is for: "cp311-cp311-linux_x86_64"."""
    python = "cp{}{}".format(*python_version(headers))
    return f"{python}-{python}-{re.sub('[^A-Za-z0-9]', '_', sysconfig.get_platform())}"


def metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {VERSION}", f"Summary: {PROJECT['description']}",
             f"License: {PROJECT['license']['text']}", f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Classifier: {name}" for name in PROJECT["classifiers"]]
    lines += [f"Requires-Dist: {name}" for name in PROJECT["dependencies"]]
    for extra, names in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {name}; extra == '{extra}'" for name in names)]
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    return "\n".join(lines) + f"\nDescription-Content-Type: text/markdown\n\n{text}"


def information(headers=None):
    """The files of the wheel's .dist-info but for RECORD; `copyright` has the licenses of the libraries inside."""
    wheel = f"Wheel-Version: 1.0\nGenerator: {PROJECT['name']} {VERSION}\nRoot-Is-Purelib: false\nTag: {tag(headers)}\n"
    return {"METADATA": metadata(), "WHEEL": wheel, "LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
            "copyright": (ROOT / "cmake/package/copyright").read_text(encoding="utf-8")}


def cmake_version():
    """Of the cmake on PATH; () where there is none."""
    if shutil.which("cmake") is None:
        return ()
    said = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


def packaged_pybind11():
    """The folder of the Python package pybind11, or None."""
    spec = importlib.util.find_spec("pybind11")
    return spec and spec.origin and pathlib.Path(spec.origin).parent


def pybind11_version():
    """Of that package, else of the system's headers; () where there is neither."""
    package = packaged_pybind11()
    for include in [package / "include"] if package else [pathlib.Path("/usr/local/include"), pathlib.Path("/usr/include")]:
        header = include / "pybind11/detail/common.h"
        if header.exists():
            found = re.findall(r"^#define PYBIND11_VERSION_(?:MAJOR|MINOR)\s+(\d+)", header.read_text(encoding="utf-8"), re.M)
            return tuple(map(int, found))
    return ()


def get_requires_for_build_wheel(config_settings=None):
    """PEP 517: what this machine lacks and a registry has. With Debian's packages that is nothing."""
    oldest = PYBIND11.get(python_version((config_settings or {}).get("headers")), max(PYBIND11.values()))
    lacking = [] if cmake_version() >= CMAKE_OLDEST else [CMAKE]
    lacking += [] if shutil.which("ninja") else ["ninja"]
    return lacking + ([] if pybind11_version() >= oldest else ["pybind11>={}.{}".format(*oldest)])


def build(prefix, headers=None):
    """Builds the command and the module, and installs both into `prefix`."""
    for command in ("cmake", "ninja"):
        if shutil.which(command) is None:
            raise SystemExit(f"error: {command} is missing\n  = help: apt-get install cmake ninja-build")
    folder = os.environ.get("DEBUBBLE_WHEEL_BUILD", str(ROOT / "build" / "wheel"))
    # Tools and pybind11 of an isolated build are gone after it, and the build folder remembers where they were.
    found = [f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}", "-Upybind11_DIR", f"-Ddebubble_PYTHON_HEADERS={headers or ''}"]
    if package := packaged_pybind11():
        found.append(f"-Dpybind11_DIR={package}/share/cmake/pybind11")
    run("cmake", "-S", str(ROOT), "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-Ddebubble_PYTHON=ON",
        "-Ddebubble_TESTS=OFF", "-Ddebubble_BENCH=OFF", "-Ddebubble_CUDA=OFF", "-Ddebubble_MPI=OFF", "-Ddebubble_CBC=OFF",
        f"-DPython_EXECUTABLE={sys.executable}", *found, *shlex.split(os.environ.get("CMAKE_ARGS", "")))
    run("cmake", "--build", folder, "--target", *TARGETS)
    for component in ("command", "python"):
        run("cmake", "--install", folder, "--component", component, "--prefix", str(prefix), "--strip")


def place(name):
    """Where a file of the installation is in the wheel: pip puts scripts on PATH, and data below the same prefix.

    But pip install --target leaves out all data in `lib`, in silence, so libraries are beside our other files."""
    if name.startswith("bin/"):
        return f"{BASE}.data/scripts/{name.removeprefix('bin/')}"
    name = re.sub(r"^lib[^/]*(/\w+-linux-gnu)?/debubble/", "share/debubble/lib/", name)
    return name if name.startswith("debubble/") else f"{BASE}.data/data/{name}"


def write_wheel(files, path):
    """`files` are (bytes, mode) by their names in the wheel; RECORD is made here."""
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(name, content, mode=0o644):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, content)

        for name, (content, mode) in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.writerow((name, f"sha256={digest}", len(content)))
            add(name, content, mode)
        rows.writerow((f"{BASE}.dist-info/RECORD", "", ""))
        add(f"{BASE}.dist-info/RECORD", record.getvalue().encode())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    headers = (config_settings or {}).get("headers")
    with tempfile.TemporaryDirectory() as scratch:
        build(pathlib.Path(scratch), headers)
        installed = {path.relative_to(scratch).as_posix(): path for path in pathlib.Path(scratch).rglob("*") if path.is_file()}
        files = {place(name): (path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
                 for name, path in installed.items() if not name.startswith("share/doc/")}
    files.update({f"{BASE}.dist-info/{name}": (text.encode(), 0o644) for name, text in information(headers).items()})
    name = f"{BASE}-{tag(headers)}.whl"
    write_wheel(files, pathlib.Path(wheel_directory) / name)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """PEP 517: what pip asks for before it builds."""
    folder = pathlib.Path(metadata_directory) / f"{BASE}.dist-info"
    folder.mkdir(parents=True)
    for name, text in information((config_settings or {}).get("headers")).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder.name


def sources():
    """The files of the tree: those that git has, or in an unpacked archive all that was not built."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, text=True, check=False)
        if listed.returncode == 0:
            return sorted({ROOT / name for name in listed.stdout.split("\0") if name})
    kept = [entry for entry in ROOT.iterdir() if entry.name not in NOT_SOURCES]
    inside = [path for entry in kept for path in ([entry] if entry.is_file() else entry.rglob("*"))]
    return sorted(path for path in inside if not {"node_modules", "__pycache__"} & set(path.parts))


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: the tree without what was built."""
    with tarfile.open(pathlib.Path(sdist_directory) / f"{BASE}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in sources():
            if path.is_symlink() or path.is_file():  # git lists what was removed, too
                archive.add(path, f"{BASE}/{path.relative_to(ROOT).as_posix()}", recursive=False)
        text = metadata().encode()
        entry = tarfile.TarInfo(f"{BASE}/PKG-INFO")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return f"{BASE}.tar.gz"
