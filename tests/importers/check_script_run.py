#!/usr/bin/env python3
"""import --run-script: bash runs a script under a guard, and what it starts is what is read out of the script.

Most of it are attacks: what a script tries, and what must not have come of it. Skipped where bwrap cannot make a guard.
"""
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BINARY = sys.argv[1]
TRAINING = ("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 8 --num-attention-heads 1 "
            "--seq-length 2 --micro-batch-size 1 --max-position-embeddings 2 ")
PROBLEMS = []


def check(holds, what):
    if not holds:
        PROBLEMS.append(what)
        print("FAILED:", what)


def run(script, *flags, folder=None, environment=None, name="x.sh"):
    with tempfile.TemporaryDirectory() as own:
        path = pathlib.Path(folder or own) / name
        path.write_text(script)
        begin = time.monotonic()
        done = subprocess.run([BINARY, "import", "--from", "megatron", str(path), "--arguments-only", "--run-script",
                               "-o", "-", *flags], capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                              check=False, env=environment)
        done.seconds = time.monotonic() - begin
        done.out = done.stdout.decode(errors="replace")
        done.err = done.stderr.decode(errors="replace")
        return done


def refused(done, code, *parts):
    check(done.returncode == 2 and f"error[{code}" in done.err and not done.out,
          f"{code} expected, got {done.returncode}: {done.err[-400:]}")
    for part in parts:
        check(part in done.err, f"{part!r} expected in {done.err[-400:]}")


def agreement():
    done = run("L=$(echo 4 | tr 4 6)\n" + TRAINING + "--num-layers $L\n")
    check(done.returncode == 0 and "\n6\n" in done.out and "starts the same training" in done.err, done.err)
    done = run("#!/bin/bash\n#SBATCH --nodes=2\nsrun -N $SLURM_NNODES bash -c '" + TRAINING + "'\n")
    check(done.returncode == 0 and "same training" in done.err, done.err)
    done = run("nvidia-smi -L\n" + TRAINING)
    check(done.returncode == 0 and "nvidia-smi (line 1)" in done.err, done.err)
    # Whoever is not given is asked for, and bash's empty text does not answer.
    refused(run(TRAINING + "--seq-length $SEQ"), "P030", "--set SEQ=VALUE")
    check(run(TRAINING + "--seq-length $SEQ", "--set", "SEQ=4096").returncode == 0, "SEQ=4096")
    # The reading takes no part in what changes nothing; bash stops there.
    refused(run(": ${DATA:?no data}\n" + TRAINING + "--data-path $DATA"), "P033", "no data", "status")
    # bash sets HOSTNAME itself; the reading takes it as not set.
    refused(run("L=4; [ -z \"${HOSTNAME:-}\" ] || L=6\n" + TRAINING + "--num-layers $L"), "P034",
            "read: --num-layers 4, run: --num-layers 6")
    refused(run("exit 3\n" + TRAINING), "P030")
    refused(run("--num-layers 2 --hidden-size 8\n"), "C009", "nothing to run")
    refused(run("if true; then\n" + TRAINING), "P031")


def alone():
    with tempfile.TemporaryDirectory() as folder:
        whole = pathlib.Path(folder) / "environment"
        whole.write_text("USER=nobody\n")
        words = ("--environment", str(whole))
        awk = "L=$(printf '3 4\\n' | awk '{ for (k = 1; k <= NF; ++k) s += $k } END { print s }')\n"
        done = run(awk + TRAINING + "--num-layers $L", *words)
        check(done.returncode == 0 and "\n7\n" in done.out, done.err)
        refused(run(awk + "hostname\n" + TRAINING + "--num-layers $L", *words), "P030", "hostname")
        refused(run("L=$(date +%s)\n" + TRAINING + "--num-layers $L", *words), "P030", "two runs of the script differ")
        refused(run(awk + TRAINING + "--num-layers $L"), "P030")


def files():
    with tempfile.TemporaryDirectory() as outside:
        place = pathlib.Path(outside)
        (place / "secret").write_text("swordfish\n")
        (place / "own").mkdir()
        (place / "own/beside.sh").write_text("L=6\n")
        (place / "own/.hidden").write_text("swordfish\n")
        (place / "own/link").symlink_to(place / "secret")
        read = ('for f in %s/secret %s/own/.hidden %s/own/link /etc/passwd /etc/shadow /root/.bashrc /proc/1/environ; do\n'
                '  cat "$f"; done\nls / /root /home /etc /proc\nexit 4\n' % ((outside,) * 3))
        done = run(read + TRAINING + "\n", folder=place / "own", environment={"PATH": "/usr/bin", "TOKEN": "swordfish"})
        check("swordfish" not in done.err + done.out and "root:" not in done.err, "a file was read: " + done.err)
        done = run('source "$(dirname "$0")/beside.sh"\n' + TRAINING + "--num-layers $L", folder=place / "own")
        check(done.returncode == 0 and "\n6\n" in done.out and "same training" in done.err, done.err)
        written = ("echo x >%s/new; echo x >>%s/secret; rm -rf %s/own; echo x >/usr/bin/cat; rm -f /usr/lib/os-release; "
                   "mkdir -p /usr/new\n" % ((outside,) * 3))
        done = run(written + TRAINING, folder=place / "own")
        check(not (place / "new").exists() and (place / "secret").read_text() == "swordfish\n", "a file was written")
        check((place / "own/beside.sh").exists() and pathlib.Path("/usr/lib/os-release").exists(), "a file was removed")


def shared_folders():
    with tempfile.TemporaryDirectory() as home:
        refused(run(TRAINING, folder=home, environment={"HOME": home}), "P032", "a folder of its own")
        refused(run(TRAINING, "--directory", home, environment={"HOME": home}), "P032", "a folder of its own")
        refused(run(TRAINING, "--directory", "/", environment={"HOME": home}), "P032", "below /, where")
        done = run(TRAINING, environment={"HOME": home})
        check(done.returncode == 0, done.err)


def network():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0.2)
        run("echo x >/dev/tcp/127.0.0.1/%d\n%s" % (server.getsockname()[1], TRAINING))
        try:
            server.accept()
            check(False, "the network was reached")
        except TimeoutError:
            pass


def attack(script, *flags):
    """The reading gives up on a loop without end, so that with a whole environment bash is asked."""
    with tempfile.TemporaryDirectory() as folder:
        whole = pathlib.Path(folder) / "environment"
        whole.write_text("USER=nobody\n")
        done = run(script + "\nfor ((k = 0; k < 10000000; ++k)); do [ $k -lt 9 ] || break; for ((;;)); do break; done; done\n"
                   + TRAINING, "--environment", str(whole), *flags)
        check(done.seconds < 30, f"{done.seconds:.0f} s: {script}")
        return done


def limits():
    mark = "debubble-outlives-%d" % time.time_ns()
    refused(attack("while :; do :; done &\nwhile :; do :; done # %s" % mark), "P033", "longer than 10 s")
    refused(attack("while :; do echo a line of output, over and over again; done"), "P033",
            "printed more than 16 MiB")
    refused(attack("bomb() { while :; do bomb & done; }; bomb"), "P033")
    attack("(exec -a %s setsid bash -c 'while :; do :; done' &)" % mark)
    left = [line for line in subprocess.run(["ps", "ax", "-o", "args"], capture_output=True, text=True,
                                            check=False).stdout.splitlines() if mark in line]
    check(not left, f"left behind: {left}")
    refused(attack("while :; do head -c 100000000 /dev/zero; done >/tmp/full; ls -l /tmp >&2; exit 1"), "P033")
    refused(attack("x=x; while :; do x=$x$x; done"), "P033", "cannot allocate")
    refused(attack("while :; do echo x >&9; done"), "P033")
    refused(attack("printf 'end\\0' >/run/debubble/records/0.start"), "P033", "not recorded to its end")
    refused(attack("ln -s /etc/passwd /run/debubble/records/1.start; kill -KILL -1; exit 5"), "P033")
    refused(attack("kill -KILL $PPID; while :; do :; done"), "P03")


def without_bwrap():
    """A folder that has all but bwrap cannot be had, so that a stand-in of PATH must not count either."""
    with tempfile.TemporaryDirectory() as folder:
        fake = pathlib.Path(folder) / "bwrap"
        fake.write_text("#!/bin/sh\ntouch %s/called\n" % folder)
        fake.chmod(0o755)
        run(TRAINING, environment={"PATH": folder + ":/usr/bin"})
        check(not (pathlib.Path(folder) / "called").exists(), "a bwrap of PATH was called")


def main():
    done = run(TRAINING)
    if shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin") is None:
        refused(done, "P032", "apt-get install bubblewrap", "nothing is run")
        print("SKIPPED: no bwrap")
        return 1 if PROBLEMS else 0
    if done.returncode == 2 and "error[P032]" in done.err:
        print("SKIPPED:", done.err)
        return 0
    for part in (agreement, alone, files, shared_folders, network, limits, without_bwrap):
        part()
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
