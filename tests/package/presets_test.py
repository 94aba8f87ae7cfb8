#!/usr/bin/env python3
"""Presets that CI does not build configure here: with several sanitizers, and with clang."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


class Presets(unittest.TestCase):
    def test_each_configures(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("asan", "fuzz") if shutil.which("clang++") else ("asan",):
                with self.subTest(name):
                    done = subprocess.run([CMAKE, "--preset", name, "-B", f"{folder}/{name}"], cwd=SOURCE, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                    self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
