"""What tests by mpirun share: its environment, and a rank that dies."""

import os
import pathlib
import shlex
import signal
import subprocess

# More ranks than cores, as root, by the names of Open MPI 4 and of 5; Open MPI itself is not clean in the eyes of the sanitizers.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "ASAN_OPTIONS": "detect_leaks=0",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
    "NO_COLOR": "1",
}


# How much longer than usual a run may take: sanitizers slow it down.
PATIENCE = int(os.environ.get("DEBUBBLE_PATIENCE", "1"))


def run(*command, timeout=100, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * timeout, check=False,
                          env={**ENVIRONMENT, **more})


def by_rank(*commands):
    """Arguments of mpirun with which each rank runs a command of its own: one command line for all, for mpirun of Open MPI
    5.0.7 did not survive another form."""
    cases = " ".join(f"{rank}) exec {shlex.join(command)};;" for rank, command in enumerate(commands))
    return ["-n", str(len(commands)), "sh", "-c", f"case $OMPI_COMM_WORLD_RANK in {cases} esac"]


def rank_of(process):
    """The MPI rank of a debubble that mpirun started, or None."""
    if b"debubble" not in (process / "cmdline").read_bytes().split(b"\0")[0]:
        return None
    for variable in (process / "environ").read_bytes().split(b"\0"):
        if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
            return int(variable.split(b"=")[1])
    return None


def signal_rank(rank, mark, number):
    """Sends a signal to that rank of the debubble that has `mark` in its command line. Returns its processes."""
    reached = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if rank_of(path) == rank and mark in (path / "cmdline").read_bytes():
                os.kill(int(path.name), number)
                reached.append(int(path.name))
        except OSError:
            continue  # it has just ended
    return reached


def kill_rank(rank, mark):
    return signal_rank(rank, mark, signal.SIGKILL)


def is_running(process):
    """Whether it is there and no zombie, which waits for its parent only."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
