#!/usr/bin/env python3
"""Which installed packages are taken, and what is said of the others (cmake/DebubbleDependency.cmake).

The packages here are made up: a configuration file, the version file that CMake itself writes, and a target.
"""

import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "{modules}")
include(DebubbleDependency)
debubble_dependency({name} {version} {name}::{name} pool/{name}.tar.gz {sha256})
message(STATUS "found: ${{debubble_DEPENDENCY_SUMMARY}}")
debubble_demand_all()
"""
VERSION_FILE = """include(CMakePackageConfigHelpers)
write_basic_package_version_file("{path}" VERSION {version} COMPATIBILITY {rule} ARCH_INDEPENDENT)
"""


class Dependencies(unittest.TestCase):
    def setUp(self):
        self.made = tempfile.TemporaryDirectory()
        self.addCleanup(self.made.cleanup)
        self.folder = pathlib.Path(self.made.name)

    def install(self, prefix, version, rule="SameMinorVersion", target="thing::thing", first=""):
        place = self.folder / prefix / "lib/cmake/thing"
        place.mkdir(parents=True)
        (place / "thing-config.cmake").write_text(f"add_library({target} INTERFACE IMPORTED)\n" if target else "")
        script = self.folder / "version.cmake"
        version_file = place / "thing-config-version.cmake"
        script.write_text(VERSION_FILE.format(path=version_file, version=version, rule=rule))
        subprocess.run([CMAKE, "-P", script], check=True)
        version_file.write_text(first + version_file.read_text())
        return str(place)

    def configure(self, *options, prefixes=("a",), fetch="OFF", sha256="0" * 64, path=None):
        """What configuring says, on one line."""
        (self.folder / "CMakeLists.txt").write_text(
            PROJECT.format(modules=SOURCE / "cmake", name="thing", version="3.0", sha256=sha256))
        done = subprocess.run(
            [CMAKE, "--fresh", "-S", self.folder, "-B", self.folder / "build", f"-Ddebubble_FETCH_DEPS={fetch}",
             "-DCMAKE_PREFIX_PATH=" + ";".join(str(self.folder / prefix) for prefix in prefixes), *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            env={"PATH": path or "/usr/bin:/bin", "LC_ALL": "C"})
        text = " ".join(done.stdout.split())
        self.assertEqual(done.returncode == 0, "CMake Error" not in text, text)
        return text

    def test_a_newer_version_is_taken_though_the_package_calls_it_incompatible(self):
        self.install("a", "3.12.3")
        self.assertIn("found: thing installed 3.12.3", self.configure())

    def test_an_older_one_is_named_with_its_folder_and_not_called_missing(self):
        place = self.install("a", "2.1.0")
        said = self.configure()
        self.assertIn(f"not taken: thing 2.1.0 in {place} is older than 3.0", said)
        self.assertNotIn("missing", said)

    def test_an_older_one_does_not_hide_a_newer_one(self):
        self.install("a", "2.1.0")
        self.install("b", "4.0")
        self.assertIn("found: thing installed 4.0", self.configure(prefixes=("a", "b")))

    def test_one_without_the_target_is_said_to_lack_it(self):
        place = self.install("a", "3.0.1", target="thing::other")
        self.assertIn(f"not taken: thing 3.0.1 in {place} does not define thing::thing", self.configure())

    def test_a_target_without_a_namespace_will_do(self):
        self.install("a", "3.0.1", target="thing")
        self.assertIn("found: thing installed 3.0.1", self.configure())

    def test_one_of_another_machine_is_not_taken(self):
        place = self.install("a", "3.0.1", first="set(PACKAGE_VERSION_UNSUITABLE TRUE)\n")
        self.assertIn(f"not taken: thing 3.0.1 in {place} is not for this machine", self.configure())

    def test_only_what_is_not_there_is_missing(self):
        said = self.configure()
        self.assertIn("missing: thing >= 3.0", said)
        self.assertNotIn("not taken", said)

    def mirror(self, content):
        folder = self.folder / "mirror/pool/main/pool"
        folder.mkdir(parents=True)
        (folder / "thing.tar.gz").write_bytes(content)
        return f"-Ddebubble_MIRROR=file://{self.folder}/mirror/pool/main"

    def archive(self):
        """The archive of a project that defines the target."""
        content = self.folder / "thing/CMakeLists.txt"
        content.parent.mkdir()
        content.write_text("add_library(thing INTERFACE)\n")
        subprocess.run([CMAKE, "-E", "tar", "czf", "thing.tar.gz", "thing"], cwd=self.folder, check=True)
        return (self.folder / "thing.tar.gz").read_bytes()

    def test_a_download_is_refused_or_fails_or_is_used(self):
        place = self.install("a", "2.1.0")
        archive = self.archive()
        sha256 = hashlib.sha256(archive).hexdigest()
        option = self.mirror(b"damaged")
        self.assertIn("download refused: its SHA-256 is", self.configure(option, fetch="ON", sha256=sha256))
        (self.folder / "mirror/pool/main/pool/thing.tar.gz").write_bytes(archive)
        said = self.configure(option, fetch="ON", sha256=sha256)
        self.assertIn("found: thing downloaded", said)
        self.assertIn(f"not taken: thing 2.1.0 in {place} is older", said)
        self.assertIn("download failed: ", self.configure("-Ddebubble_MIRROR=file:///nowhere", fetch="ON"))

    def apt(self, listed):
        """A PATH whose apt-get is set up with these sources."""
        program = self.folder / "bin/apt-get"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\nprintf '{listed}'\n")
        program.chmod(0o755)
        return f"{program.parent}:/usr/bin:/bin"

    @unittest.skipUnless(pathlib.Path("/usr/lib/apt/apt-helper").exists(), "no apt here")
    def test_without_a_mirror_that_of_apt_is_used(self):
        archive = self.archive()
        self.mirror(archive)
        path = self.apt("Ubuntu noble main file:///elsewhere/\\nDebian trixie-security main file:///elsewhere/\\n"
                        f"Debian trixie contrib file:///elsewhere\\nDebian trixie main file://{self.folder}/mirror/\\n")
        said = self.configure(fetch="ON", sha256=hashlib.sha256(archive).hexdigest(), path=path)
        self.assertIn("found: thing downloaded", said)

    def test_without_any_mirror_the_option_is_named(self):
        said = self.configure(fetch="ON", path=self.apt("Ubuntu noble main file:///elsewhere/\\n"))
        self.assertIn("download failed: apt is not set up with a mirror of Debian here (-Ddebubble_MIRROR=URL", said)
        self.assertIn("missing: thing >= 3.0", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
