"""Runs the real command on what an attacker would give it, and looks at what it costs and leaves behind."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest


BINARY = ""  # set by main()


class Ended:
    """How a run ended: status as a shell counts it, output as bytes, peak memory in MiB, seconds of CPU."""

    def __init__(self, status, out, err, memory, seconds):
        self.status = status if status >= 0 else 128 - status
        self.out = out
        self.err = err
        self.memory = memory
        self.seconds = seconds


def run(*arguments, folder=None, stdin=None, binary=None, stdout=subprocess.PIPE, close=None, patience=120):
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}

    def prepare():
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT):
            signal.signal(one, signal.SIG_DFL)
        if close is not None:
            os.close(close)

    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
        child = subprocess.Popen([binary or BINARY, *arguments], cwd=folder, env=environment, preexec_fn=prepare,
                                 stdin=subprocess.DEVNULL if stdin is None else stdin,
                                 stdout=out if stdout is subprocess.PIPE else stdout, stderr=err)
        timer = threading.Timer(patience, child.kill)
        timer.start()
        _, status, used = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Ended(child.returncode, out.read(), err.read(), used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)


class InFolder(unittest.TestCase):
    """A test with an empty folder of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_here(self, *arguments, **surroundings):
        return run(*arguments, folder=self.folder, **surroundings)

    def made(self, *arguments):
        """stdout of a run that must succeed."""
        ended = self.run_here(*arguments)
        self.assertEqual(ended.status, 0, ended.err)
        return ended.out

    def wait_until(self, holds, seconds=60):
        end = time.monotonic() + seconds
        while not holds() and time.monotonic() < end:
            time.sleep(0.002)


def main():
    global BINARY
    BINARY = os.path.abspath(sys.argv.pop(1))
    sys.modules["attack"].BINARY = BINARY
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
