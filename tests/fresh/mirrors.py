"""Where the packages of a root come from: the mirrors that this machine's apt uses, asked for any suite of Debian.

A machine's sources name its own suite only, but its mirror serves the others, too. Where apt has no source of Debian
(Ubuntu), $DEBUBBLE_DEBIAN_MIRROR is the mirror's URI.
"""

import functools
import os
import pathlib
import re
import subprocess
import tempfile

VARIABLE = "DEBUBBLE_DEBIAN_MIRROR"


class NoMirror(RuntimeError):
    pass


class DownloadFailed(RuntimeError):
    pass


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@functools.cache
def apt_settings():
    """How this machine reaches its mirrors: apt's settings of proxies and checks, and the environment's proxies.

    A mirror may be frozen: what it says is signed, but was meant to be valid until a day long past.
    """
    wanted = re.compile(r"Acquire::(https?::|Check-|Retries|ForceIPv).*")
    dumped = output_of("apt-config", "dump", "--no-empty", "--format", "%F %v%n").splitlines()
    settings = dict(line.split(" ", 1) for line in dumped if wanted.match(line) and "Auto-Detect" not in line)
    settings["Acquire::Check-Valid-Until"] = "false"
    for scheme in ("http", "https"):
        proxy = os.environ.get(f"{scheme}_proxy")
        if proxy:
            settings.setdefault(f"Acquire::{scheme}::Proxy", proxy)
    return settings


def download(uri, path):
    """As apt does it, so that it works wherever apt does."""
    options = [text for name, value in apt_settings().items() for text in ("-o", f"{name}={value}")]
    done = subprocess.run(["/usr/lib/apt/apt-helper", *options, "-o", "APT::Sandbox::User=root", "download-file", uri,
                           str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DownloadFailed(f"apt cannot have {uri}:\n{done.stderr}")


def plain(uri):
    """Sources of cloud images name a file that lists mirrors."""
    if uri.startswith("mirror+file:"):
        lines = pathlib.Path("/" + uri.removeprefix("mirror+file:").strip("/")).read_text().splitlines()
        uri = next(line.split()[0] for line in lines if line.strip() and not line.startswith("#"))
    return uri.rstrip("/")


def apt_repositories():
    """The URIs of Debian's repositories by what follows the suite's name: "", "-updates", "-security"."""
    form = "$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)"
    found = {}
    for line in output_of("apt-get", "indextargets", "--format", form, "Created-By: Packages").splitlines():
        origin, codename, component, uri = line.split(" ", 3)
        kind = re.fullmatch("[a-z]+(|-updates|-security)", codename)
        if origin == "Debian" and component == "main" and kind:
            found.setdefault(kind.group(1), plain(uri))
    return found


@functools.cache
def repositories():
    if mirror := os.environ.get(VARIABLE):
        return dict.fromkeys(("", "-updates"), mirror.rstrip("/"))
    found = apt_repositories()
    if "" not in found:  # apt knows of what origin a source is only after an update
        subprocess.run(["apt-get", "-q", "update"], capture_output=True, check=False)
        found = apt_repositories()
    if "" not in found:
        raise NoMirror(f"apt has no source of Debian here; {VARIABLE}=URI names a mirror")
    return found


def main_repository():
    return repositories()[""]


def answers(uri, release):
    with tempfile.TemporaryDirectory() as folder:
        try:
            download(f"{uri}/dists/{release}/InRelease", pathlib.Path(folder) / "InRelease")
        except DownloadFailed:
            return False
        return True


@functools.cache
def sources(suite):
    """The lines of a sources.list: the suite, and its updates and security where this machine's mirrors have them."""
    return [f"deb {uri} {suite}{kind} main" for kind, uri in sorted(repositories().items())
            if kind == "" or answers(uri, suite + kind)]
