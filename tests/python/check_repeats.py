#!/usr/bin/env python3
"""Calls stand alone: no memory is lost, nothing of one is in another, threads run side by side, Control-C is heard.

Usage: check_repeats.py BINARY
"""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import debubble
from support import run_checks


def resident_kib():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def everything():
    run = debubble.simulate(schedule="zb-h1", p=4, m=8, times={"f": 1, "b": 2})
    run.json, run.spans, run.memory, run.transfers, run._repr_html_()
    debubble.simulate(schedule=lambda p, m: [["0F0", "0B0"]], p=1, m=1)
    debubble.compare(schedules="1f1b,gpipe", p=4, m=8)
    debubble.schedule("1f1b", p=4, m=8).json
    debubble.profile("traces/published/zb-a100-1.5b-m24.json")
    for wrong in ({"schedul": 1}, {"schedule": "chimera", "p": 3}, {"profile": "nowhere.json"}):
        try:
            debubble.simulate(**wrong)
        except debubble.Error:
            pass


def check_no_leak():
    for _ in range(30):
        everything()
    gc.collect()
    before = resident_kib()
    for _ in range(150):
        everything()
    gc.collect()
    grown = resident_kib() - before
    # A leak of one report or figure per round would be megabytes.
    assert grown < 3000, f"{grown} KiB more after 150 rounds"
    return f"{grown} KiB more after 150 rounds"


def check_nothing_is_shared():
    first = debubble.simulate(schedule="1f1b", p=4, m=8)
    text = first.json
    debubble.simulate(schedule="zb-h1", p=2, m=4, times={"f": 9, "b": 9}, comm=3)
    try:
        debubble.simulate(times="x")
    except debubble.Error:
        pass
    assert debubble.simulate(schedule="1f1b", p=4, m=8).json == text == first.json
    assert first.spans.size == 64


def check_threads():
    """Sixteen threads, each its own runs: the numbers of one thread alone."""
    expected = {m: debubble.simulate(schedule="zb-h1", p=4, m=m).json for m in range(4, 20)}
    wrong = []

    def work(m):
        for _ in range(20):
            run = debubble.simulate(schedule="zb-h1", p=4, m=m)
            if run.json != expected[m] or run.spans.size != 4 * m * 3:
                wrong.append(m)

    threads = [threading.Thread(target=work, args=(m,)) for m in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def check_lock_is_released():
    """Another thread counts on while a long run is simulated."""
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted[0]
        debubble.simulate(schedule="1f1b", p=16, m=60_000)
        during = counted[0] - before
    finally:
        done.set()
        thread.join()
    assert during >= 3, during


def check_one_result_in_threads():
    """What is found when it is asked for, asked by several threads at once."""
    run = debubble.simulate(schedule="1f1b", p=8, m=13_000)
    sizes = []
    threads = [threading.Thread(target=lambda: sizes.append((run.spans.size, len(run.json)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sizes) == 4 and len(set(sizes)) == 1, sizes


LONG_PLAN = """
import debubble, sys
print("ready", flush=True)
try:
    debubble.plan(model="llama3-70b", hardware="h100", topology="dgx-h100:64", gpus=512, global_batch=1024, gap="0",
                  threads=1)
except KeyboardInterrupt:
    print("interrupted", debubble.simulate(p=4, m=8).makespan_ns, flush=True)
"""


# A shell lets what it starts in the background ignore this signal, and the children of that would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def check_interrupt():
    child = subprocess.Popen([sys.executable, "-c", LONG_PLAN], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    said, _ = child.communicate(timeout=120)
    assert said == "interrupted 33000000\n" and child.returncode == 0, (said, child.returncode)
    return f"heard after {time.monotonic() - began:.1f} s"


def check_handlers_are_left_alone():
    """The command's signal handlers are the command's."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)}
    everything()
    assert before == {number: signal.getsignal(number) for number in before}


def check_nothing_is_printed():
    code = "import debubble; debubble.simulate(p=4, m=8); debubble.compare(p=4, m=8); debubble.simulate(p=16, m=60000)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (said.stdout, said.stderr) == ("", ""), said


def check_fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0 if debubble.simulate(p=4, m=8).makespan_ns == 33000000 else 1)
    assert os.waitpid(pid, 0)[1] == 0


if __name__ == "__main__":
    run_checks(globals())
