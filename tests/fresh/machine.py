"""A machine of this area: a root folder in which commands run as a stranger would run them.

Mounts are made in a mount namespace of the test's own, and commands run in its process namespace (see run.py): both end
with the test, however it ends, and no other run sees them.
"""

import pathlib
import shutil
import subprocess

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEVICES = ["null", "zero", "full", "random", "urandom"]
TREE = "/root/debubble"


class CommandFailed(Exception):
    pass


def mount(*arguments):
    return subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True).returncode == 0


class Machine:
    """`root` holds a Debian. Commands run in its folder of the cloned tree, with a bare environment."""

    def __init__(self, name, root):
        self.name = name
        self.root = pathlib.Path(root)
        mount("-t", "proc", "proc", self.root / "proc")
        for device in DEVICES:
            target = self.root / "dev" / device
            if not target.exists():
                target.touch()
            mount("--bind", f"/dev/{device}", target)
        for file in ("resolv.conf", "hosts"):
            shutil.copyfile(f"/etc/{file}", self.root / "etc" / file)

    def run(self, script):
        """Runs a script of the shell and returns (stdout, stderr); on failure raises with the end of both."""
        command = ["chroot", str(self.root), "/usr/bin/env", "-i", f"PATH={PATH}", "HOME=/root",
                   "bash", "-c", f"cd {TREE} 2>/dev/null || cd; {script}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise CommandFailed(f"machine {self.name}: `{script}` ended with status {done.returncode}\n"
                                + "\n".join(done.stdout.splitlines()[-40:] + done.stderr.splitlines()[-60:]))
        return done.stdout, done.stderr

    def succeeds(self, script):
        try:
            self.run(script)
        except CommandFailed:
            return False
        return True

    def apt(self, *arguments):
        self.run("DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends " + " ".join(arguments))

    def write(self, path, text="", mode=0o644):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def copy(self, name, folder):
        """A machine that starts as this one is now. This one must not be used any more."""
        upper, work, root = (folder / name / part for part in ("changes", "work", "root"))
        for path in (upper, work, root):
            path.mkdir(parents=True)
        if not mount("-t", "overlay", "overlay", "-o", f"lowerdir={self.root},upperdir={upper},workdir={work}", root):
            # No overlays here, or none on this file system: some seconds and a gigabyte instead.
            subprocess.run(["cp", "-a", "--reflink=auto", "--one-file-system", f"{self.root}/.", str(root)], check=True)
        return Machine(name, root)
