"""`pip install .` in a bare root, without a network, and its wheel in another that has nothing but the wheel.

The first has what README.md's build takes and Debian's python3-dev, pybind11-dev and python3-numpy; there the module says
what the command of the same tree says, for the whole catalog. The second has Python, NumPy and the libraries that the
module is linked to.
"""

from machine import TREE
from machines import expect, expect_in, unpacked

BUILD_PACKAGES = ("g++ cmake ninja-build nlohmann-json3-dev libsimdjson-dev libsqlite3-dev libtomlplusplus-dev "
                  "libyaml-cpp-dev libcli11-dev libfmt-dev libtbb-dev zlib1g-dev python3-dev pybind11-dev python3-numpy "
                  "python3-pip python3-venv")
RUN_PACKAGES = "python3-venv python3-numpy libfmt9 libsimdjson14 libtbb12 libsqlite3-0 libyaml-cpp0.7"
CHECKS = ("arguments", "catalog", "errors", "own_schedules", "results", "repeats")
# Nothing outside is reached from there.
OFFLINE = "unshare --net"
# A kernel table and a published profile are found beside the module.
FROM_ANYWHERE = """
import debubble
print(debubble.__version__)
print(debubble.simulate(schedule="1f1b", p=4, m=8))
print(debubble.simulate(model="gpt-1.3b", hardware="h100", p=2, m=8).fits)
print(debubble.simulate(profile="traces/published/zb-a100-1.5b-m24.json", p=8, m=24).makespan_ns)
"""


def bare_root(name, folder, cache, say):
    machine = unpacked(name, folder, cache, say)
    expect(not machine.succeeds("command -v python3"), f"{name} is not bare")
    machine.apt("update")
    return machine


def check_imported(machine, python):
    machine.write("/tmp/anywhere.py", FROM_ANYWHERE)
    out, _ = machine.run(f"cd / && {OFFLINE} {python} /tmp/anywhere.py")
    expect_in("import debubble", "33.00 ms per step, 27.3 % bubble", out)
    expect_in("import debubble", "True\n1456749000", out)


def check_wheel(folder, cache, say, clone_into):
    """`clone_into(root)` puts the tree into a root."""
    machine = bare_root("wheel-made", folder, cache, say)
    clone_into(machine.root)
    machine.apt("install", BUILD_PACKAGES)
    machine.run("python3 -m venv --system-site-packages /venv")
    out, _ = machine.run(f"{OFFLINE} /venv/bin/pip install . 2>&1")
    expect_in("pip install .", "Successfully installed debubble-", out)
    say("wheel: pip install . without a network: " + out.strip().splitlines()[-1])
    check_imported(machine, "/venv/bin/python")
    machine.run("cmake --build build/wheel --target debubble")
    for check in CHECKS:
        out, _ = machine.run(f"{OFFLINE} /venv/bin/python tests/python/check_{check}.py $PWD/build/wheel/bin/debubble")
        say(f"wheel: {check}: {len(out.splitlines())} checks" + "".join(
            "\n    " + line for line in out.splitlines() if "bytes" in line))
    machine.run(f"{OFFLINE} /venv/bin/pip wheel --no-deps -w dist .")
    wheels = list((machine.root / TREE.lstrip("/") / "dist").glob("*.whl"))
    expect(len(wheels) == 1, f"wheels: {wheels}")
    say(f"wheel: {wheels[0].name}, {wheels[0].stat().st_size / 1e6:.1f} MB")

    alone = bare_root("wheel-alone", folder, cache, say)
    alone.apt("install", RUN_PACKAGES)
    (alone.root / "tmp" / wheels[0].name).write_bytes(wheels[0].read_bytes())
    alone.run("python3 -m venv --system-site-packages /venv")
    alone.run(f"{OFFLINE} /venv/bin/pip install --no-index /tmp/{wheels[0].name}")
    check_imported(alone, "/venv/bin/python")
    alone.run("/venv/bin/pip uninstall -y debubble")
    expect(not alone.succeeds("cd / && /venv/bin/python -c 'import debubble'"), "uninstall left the module")
    say("wheel: installed alone, imported from another folder, uninstalled")
