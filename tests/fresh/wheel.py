"""`pip install .` and `python -m build` in bare roots of both releases; and a wheel where there is nothing but Python.

In the roots that build, first with Debian's packages and no network: the module says what the command of the same wheel says,
for the whole catalog. Then without Debian's build tools: pip fetches them. It does so here, as this machine's pip is set up, and
the root has what it fetched, for it need not reach a registry.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile

from machine import TREE
from machines import expect, expect_in, unpacked

PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
BUILD_PACKAGES = ("g++ nlohmann-json3-dev libsimdjson-dev libsqlite3-dev libtomlplusplus-dev libyaml-cpp-dev libcli11-dev "
                  "libfmt-dev libtbb-dev zlib1g-dev python3-build python3-dev python3-numpy python3-venv")
BUILD_TOOLS = "cmake ninja-build pybind11-dev"
CHECKS = ("arguments", "catalog", "errors", "own_schedules", "results", "repeats")
# Nothing outside is reached from there.
OFFLINE = "unshare --net"
FETCHED = "PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels"
# A kernel table and a published profile are found, and what NumPy is for says so where it is missing.
FROM_ANYWHERE = """
import debubble
run = debubble.simulate(model="gpt-1.3b", hardware="h100", p=2, m=8)
print(debubble.simulate(schedule="1f1b", p=4, m=8))
print(run.fits, debubble.simulate(profile="traces/published/zb-a100-1.5b-m24.json", p=8, m=24).makespan_ns)
try:
    print("spans", run.spans["end_ns"].max() == run.makespan_ns, len(run.memory))
except ImportError as error:
    print(error)
"""
HAS_NUMPY = "spans True 2"
HAS_NO_NUMPY = "pip install 'debubble[numpy]'"


def bare_root(name, folder, cache, say, suite):
    machine = unpacked(name, folder, cache, say, suite)
    expect(not machine.succeeds("command -v python3"), f"{name} is not bare")
    machine.apt("update")
    return machine


def fetch(machine, python, *requirements):
    """Puts into /wheels of a machine what pip finds for its Python, as pip is set up here."""
    platforms = [word for name in ("manylinux_2_34", "manylinux_2_28", "manylinux_2_27", "manylinux2014")
                 for word in ("--platform", f"{name}_{machine.run('uname -m')[0].strip()}")]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # Debian's Python has its pip there only
        subprocess.run([f"{folder}/bin/pip", "--quiet", "download", "--dest", str(machine.root / "wheels"), "--only-binary",
                        ":all:", "--python-version", python, *platforms, *requirements], check=True)


def check_imported(machine, python, arrays):
    machine.write("/tmp/anywhere.py", FROM_ANYWHERE)
    out, _ = machine.run(f"cd / && {OFFLINE} {python} /tmp/anywhere.py")
    for wanted in ("33.00 ms per step, 27.3 % bubble", "True 1456749000", arrays):
        expect_in("import debubble", wanted, out)


def check_sdist(machine):
    """The archive has every file of the tree and no other."""
    machine.run(f"{OFFLINE} python3 -m build --no-isolation --sdist --outdir /tmp/sdist")
    archive = next((machine.root / "tmp/sdist").iterdir())
    with tarfile.open(archive) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()} - {"PKG-INFO"}
    tracked = set(machine.run("git -c safe.directory='*' -c core.quotePath=off ls-files")[0].splitlines())
    expect(packed == tracked, "the source archive is not the tree", " ".join(sorted(packed ^ tracked)[:40]))


def without_network(machine, say):
    machine.run("python3 -m venv --system-site-packages /venv")
    out, _ = machine.run(f"{OFFLINE} /venv/bin/pip install . 2>&1")
    expect_in("pip install .", "Successfully installed debubble-", out)
    say(f"{machine.name}: pip install . without a network: " + out.strip().splitlines()[-1])
    check_imported(machine, "/venv/bin/python", HAS_NUMPY)
    for check in CHECKS:
        out, _ = machine.run(f"{OFFLINE} /venv/bin/python tests/python/check_{check}.py /venv/bin/debubble")
        say(f"{machine.name}: {check}: {len(out.splitlines())} checks")
    out, _ = machine.run(f"{OFFLINE} python3 -m build --no-isolation --wheel 2>&1")
    say(f"{machine.name}: python -m build --no-isolation: " + out.strip().splitlines()[-1])
    check_sdist(machine)


def with_what_pip_fetches(machine, python, say):
    machine.apt("purge", BUILD_TOOLS)
    asked, _ = machine.run("PYTHONPATH=python python3 -c 'import build_backend; "
                           "print(*build_backend.get_requires_for_build_wheel())'")
    expect([word[:5] for word in asked.split()] == ["cmake", "ninja", "pybin"], "requirements of the build", asked)
    fetch(machine, python, *asked.split(), "numpy")
    out, _ = machine.run(f"{FETCHED} {OFFLINE} python3 -m build --wheel --outdir /tmp/fetched 2>&1")
    say(f"{machine.name}: python -m build with {asked.strip()}: " + out.strip().splitlines()[-1])
    machine.run(f"python3 -m venv /bare && {OFFLINE} /bare/bin/pip install --no-index /tmp/fetched/*.whl")
    check_imported(machine, "/bare/bin/python", HAS_NO_NUMPY)
    expect_in("debubble doctor", "injection library", machine.run("cd / && /bare/bin/debubble doctor")[0])
    check_numpy_of_pip(machine, "/bare")


def check_numpy_of_pip(machine, venv):
    machine.run(f"{FETCHED} {OFFLINE} {venv}/bin/pip install 'debubble[numpy]'")
    check_imported(machine, f"{venv}/bin/python", HAS_NUMPY)


def check_wheel(folder, cache, say, clone_into):
    """`clone_into(root)` puts the tree into a root."""
    for suite, python in PYTHONS.items():
        machine = bare_root(f"wheel-{suite}", folder, cache, say, suite)
        clone_into(machine.root)
        machine.apt("install", BUILD_PACKAGES, BUILD_TOOLS)
        without_network(machine, say)
        with_what_pip_fetches(machine, python, say)


def put_headers(machine, other, python):
    """The headers of the Python of another release, and their folder: a wheel for it needs no more of it."""
    other.run(f"cd /tmp && apt-get -q download libpython{python}-dev && dpkg -x libpython{python}-dev_*.deb headers")
    place, include = f"headers/python{python}", other.root / "tmp/headers/usr/include"
    shutil.copytree(include / f"python{python}", machine.root / place)
    shutil.copy(next(include.glob(f"*-linux-gnu/python{python}/pyconfig.h")), machine.root / place)
    return f"/{place}"


def install_alone(machine, wheel, python):
    """The wheel alone, in the environment that is returned, on a machine that has Python and nothing of ours."""
    machine.apt("install", "python3-venv")
    fetch(machine, python, "numpy")
    shutil.copy(wheel, machine.root / "tmp")
    machine.run(f"python3 -m venv /venv && {OFFLINE} /venv/bin/pip install --no-index /tmp/{wheel.name}")
    check_imported(machine, "/venv/bin/python", HAS_NO_NUMPY)
    return "/venv"


def check_removed(machine, venv):
    machine.run(f"{venv}/bin/pip uninstall -y debubble")
    left, _ = machine.run(f"find {venv} -type f -path '*debubble*'")
    expect(not left, "uninstall left files", left)
