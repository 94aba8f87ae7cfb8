"""The machines: what each has, what is typed there, and what must come of it.

The bare machine of a release builds everything once. The others are copies of it, so that they compile only what differs.
"""

import contextlib
import functools
import http.server
import json
import re
import threading

import base_root
from machine import TREE, Machine

BINARY = "build/release/bin/debubble"
TRACE = "zb-h1.trace.json"
# What the machine that runs the tests has, and a bare machine must not show.
NOT_ON_A_BARE_MACHINE = ["g++", "c++", "clang++", "cmake", "ninja", "ccache", "mpicxx", "mpirun", "nvcc", "python3"]
NEVER_INSTALLED = ["clang++", "ccache", "mpicxx", "mpirun", "nvcc"]
HEADERS_NEVER_INSTALLED = ["mpi.h", "Cbc_C_Interface.h", "cuda_runtime.h", "cupti.h", "doctest.h"]


class Unexpected(Exception):
    pass


def expect(condition, message, output=""):
    if not condition:
        raise Unexpected(message + ("\n" + output if output else ""))


def expect_in(text, wanted, output):
    expect(wanted in output, f"`{text}` did not print: {wanted}", output[-6000:])


def unpacked(name, folder, cache, say, suite="bookworm"):
    """A machine of the suite's base root, as that is."""
    with base_root.locked(cache):
        base_root.unpack(base_root.base_archive(cache, suite, say), folder / name)
    return Machine(name, folder / name)


def check_absent(machine, commands):
    for command in commands:
        expect(not machine.succeeds(f"command -v {command}"), f"{command} leaked into machine {machine.name}")
    names = " -o ".join(f"-name {header}" for header in HEADERS_NEVER_INSTALLED)
    found, _ = machine.run(f"find / -xdev -path /root -prune -o \\( {names} \\) -print")
    expect(not found, f"headers leaked into machine {machine.name}", found)


def check_bare(machine):
    """Nothing of the testing machine is seen: no tool, no header, nothing in /usr/local, no variable."""
    check_absent(machine, NOT_ON_A_BARE_MACHINE)
    found, _ = machine.run("find /usr/local /opt -type f; ls build 2>/dev/null || true")
    expect(not found, "the bare machine is not bare", found)
    variables, _ = machine.run("env | cut -d= -f1 | sort | tr '\\n' ' '")
    expect(set(variables.split()) <= {"HOME", "PATH", "PWD", "OLDPWD", "SHLVL", "_"}, "variables leaked", variables)


def check_tables(out):
    """The comparison and the simulation of the quick start, and that they agree. Returns the step time in ms."""
    in_ms = {"ms": 1, "s": 1000}
    # The heading may take several lines; units stand on the one that begins with the column's name.
    unit = re.search(r"^  schedule +(ms|s)\b", out, re.M)
    expect(unit, "the comparison has no header", out)
    rows = re.findall(r"^[* ] (\S+(?: \w+=\S+)*) +(\d+\.\d+) +\d+\.\d %", out, re.M)
    times = {name: float(step) * in_ms[unit.group(1)] for name, step in rows}
    expect(len(times) >= 10 and {"1f1b", "zb-h1"} <= set(times), "the comparison lacks schedules", out)
    more = re.search(r"^  \.\.\. (\d+) more rows$", out, re.M)
    expect(more and len(times) + int(more.group(1)) >= 30, "the comparison does not say how many rows it leaves out", out)
    best = re.findall(r"^\* (\S+)", out, re.M)
    expect(len(best) == 1 and times["1f1b"] > times["zb-h1"], "the comparison marks no best schedule", out)
    simulated = re.search(r"^step time +([\d.]+) (ms|s);", out, re.M)
    expect(simulated, "the simulation prints no step time", out)
    milliseconds = float(simulated.group(1)) * in_ms[simulated.group(2)]
    expect(abs(milliseconds - times["zb-h1"]) <= milliseconds / 1000, "the two step times of zb-h1 differ", out)
    return milliseconds


def check_trace(machine, step_ms, devices=8, microbatches=24):
    """The written trace: every op of the schedule on every device, and the step as long as the report says."""
    trace = json.loads((machine.root / TREE.lstrip("/") / TRACE).read_text())
    ops = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["cat"] == "compute"]
    per_device = {}
    for op in ops:
        per_device[op["pid"]] = per_device.get(op["pid"], 0) + 1
    # ZB-H1 splits the backward: forward, input gradient, weight gradient.
    expect(sorted(per_device.values()) == [3 * microbatches] * devices, f"ops per device in the trace: {per_device}")
    end_ms = max(op["ts"] + op["dur"] for op in ops) / 1000
    expect(abs(end_ms - step_ms) <= step_ms / 1000, f"the trace ends at {end_ms} ms, the step at {step_ms} ms")


def first_run(machine, document):
    out, errors = machine.run(document.first_command)
    expect_in(document.first_command, "==> installing ", errors)
    check_trace(machine, check_tables(out))
    check_absent(machine, NEVER_INSTALLED)
    # What `profile` takes beside the command is built with it.
    machine_says, _ = machine.run("build/release/bin/debubble doctor || true")
    expect(re.search(r"^injection library +ok", machine_says, re.M), "the injection library is not built", machine_says)
    # The lines that README gives for doing it by hand install the same: nothing is left to install.
    for line in document.apt_lines:
        expect_in(line, " 0 newly installed", machine.run(line)[0])
    return out


def second_run(machine, document, first):
    """Does nothing but show: installs nothing, compiles nothing, and prints the same."""
    out, errors = machine.run(document.first_command)
    expect("==> installing " not in errors, "the second run installed packages", errors)
    expect_in(document.first_command, "ninja: no work to do.", errors)
    expect(out == first, "the second run printed something else than the first", out)
    configured, _ = machine.run(document.configure)
    expect_in(document.configure, "CUDA toolkit: none", configured)
    expect_in(document.configure, "MPI: none", configured)
    expect_in(document.configure, "CBC: none", configured)


def configure(machine, document, options=""):
    """Configures from nothing and keeps the compiled objects. Returns the output on one line."""
    out, errors = machine.run(f"{document.configure} --fresh {options}")
    return " ".join((out + errors).split())


def build_and_simulate(machine, document):
    machine.run(f"{document.build} --target debubble")
    command = document.example.replace("debubble", BINARY, 1)
    out, _ = machine.run(command)
    expect(document.shows(out), f"`{command}` prints something else than README.md shows", out)


class Mirror(http.server.SimpleHTTPRequestHandler):
    """A Debian mirror that has one archive, or a damaged one, and notes what was asked of it."""

    def log_message(self, *_):
        self.server.requests.append(self.path)


@contextlib.contextmanager
def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Mirror, directory=str(folder)))
    server.requests = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def without_simdjson(machine, document, cache, say):
    """The pinned archive is downloaded. What comes damaged or not at all is refused in words that say what to do."""
    machine.apt("purge", "libsimdjson-dev", "'libsimdjson[0-9]*'")
    rules = (machine.root / TREE.lstrip("/") / "cmake/DebubbleDependencies.cmake").read_text()
    url, sha256 = re.search(r"(s/simdjson/\S+)\s+([0-9a-f]{64})", rules).groups()
    with base_root.locked(cache):
        archive = base_root.pinned_source(cache, url, sha256).read_bytes()
    folder = machine.root / "mirror"
    machine.write(f"mirror/{url}")
    with serve(folder) as server:
        options = f"-Ddebubble_MIRROR=http://127.0.0.1:{server.server_port}"
        refused = configure_failing(machine, document, options)
        expect_in(document.configure, "download refused: its SHA-256 is", refused)
        (folder / url).unlink()
        refused = configure_failing(machine, document, options)
        expect_in(document.configure, "download failed: ", refused)
        (folder / url).write_bytes(archive)
        configured = configure(machine, document, options)
        expect_in(document.configure, "simdjson downloaded", configured)
        expect(len(server.requests) >= 3, f"requests to the mirror: {server.requests}")
    say("no-simdjson: refused twice, then downloaded; building")
    build_and_simulate(machine, document)


def configure_failing(machine, document, options):
    """Configures where that must fail and the reason must be told. Returns the output on one line."""
    out, _ = machine.run(f"{document.configure} --fresh {options} 2>&1 && echo 'went well' || true")
    text = " ".join(out.split())
    expect("went well" not in text, "configuring went well without simdjson", text)
    expect_in(document.configure, "missing: simdjson >= ", text)
    expect_in(document.configure, "apt-get install ", text)
    return text


def with_clang(machine, document, cache, say):
    """clang is the only compiler. Unoptimised, since every object is compiled anew, and each source alone: a forgotten
    #include would not show in what is compiled together."""
    del cache
    machine.run("rm -rf build")
    version = machine.run("g++ -dumpversion")[0].strip()
    machine.apt("purge", "g++", f"g++-{version}", "gcc", f"gcc-{version}")
    machine.apt("install", "clang")
    expect(not machine.succeeds("command -v g++ || command -v gcc"), "g++ is still there")
    configured = configure(machine, document, "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -Ddebubble_UNITY=OFF")
    expect_in(document.configure, ": Clang ", configured)
    say("clang: configured; building")
    build_and_simulate(machine, document)


def with_half_an_mpi(machine, document, cache, say):
    """Open MPI's library as Debian packages it, and the link that programs are linked by: no header, no mpicxx."""
    del cache, say
    machine.apt("install", "libopenmpi3")
    machine.run("ln -s libmpi.so.40 /usr/lib/$(uname -m)-linux-gnu/libmpi.so")
    configured = configure(machine, document)
    expect_in(document.configure, "MPI: not found (incomplete, missing: compiler wrapper mpicxx, header mpi.h; "
              "present: library libmpi (/usr/lib/", configured)
    build_and_simulate(machine, document)


def with_half_a_cuda(machine, document, cache, say):
    """A CUDA toolkit without CUPTI, made of small files: NVIDIA's own is gigabytes, and nothing of it is linked."""
    del cache, say
    machine.write("usr/local/cuda/bin/nvcc",
                  "#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n", mode=0o755)
    machine.write("usr/local/cuda/include/cuda_runtime.h")
    machine.write("usr/local/cuda/lib64/libcudart.so")
    configured = configure(machine, document)
    problem = ("12.4.131 in /usr/local/cuda/bin is incomplete, missing: CUPTI's header cupti.h, "
               "CUPTI's library libcupti")
    expect_in(document.configure, f"CUDA toolkit: not found ({problem}", configured)
    build_and_simulate(machine, document)
    expect_in("debubble doctor", problem, " ".join(machine.run(f"{BINARY} doctor")[0].split()))


OTHERS = {
    "half-mpi": with_half_an_mpi,
    "half-cuda": with_half_a_cuda,
    "no-simdjson": without_simdjson,
    "clang": with_clang,
}
