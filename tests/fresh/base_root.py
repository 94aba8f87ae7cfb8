"""The bare Debian 12 that every machine of this area starts from: made once by mmdebstrap and kept outside of the tree.

It holds what README.md asks for, git and apt, and nothing else. The archive is made anew when its recipe changes, when
it is older than three weeks, or when its checksum is wrong. Two runs at the same time take turns here.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

INCLUDED = ["git", "ca-certificates"]
SUITE = "bookworm"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
DEFAULT_SOURCES = [
    f"deb http://deb.debian.org/debian {SUITE} main",
    f"deb http://deb.debian.org/debian {SUITE}-updates main",
    f"deb http://deb.debian.org/debian-security {SUITE}-security main",
]
MAX_AGE_S = 21 * 24 * 3600


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(base) / "debubble-fresh"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(cache):
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def apt_sources():
    """The lines of sources.list: the mirrors that this machine uses for the same release, or Debian's own."""
    form = "$(ORIGIN) $(RELEASE) $(COMPONENT) $(REPO_URI)"
    lines = []
    for line in output_of("apt-get", "indextargets", "--format", form, "Created-By: Packages").splitlines():
        origin, release, component, uri = line.split(" ", 3)
        if origin == "Debian" and component == "main" and re.fullmatch(SUITE + "(-updates|-security)?", release):
            lines.append(f"deb {uri} {release} main")
    return sorted(set(lines)) if f" {SUITE} main" in "\n".join(lines) else DEFAULT_SOURCES


def apt_settings():
    """How this machine reaches its mirrors: apt's settings of proxies and checks, and the environment's proxies."""
    wanted = re.compile(r"Acquire::(https?::|Check-|Retries|ForceIPv).*")
    dumped = output_of("apt-config", "dump", "--no-empty", "--format", "%F %v%n").splitlines()
    settings = dict(line.split(" ", 1) for line in dumped if wanted.match(line) and "Auto-Detect" not in line)
    for scheme in ("http", "https"):
        proxy = os.environ.get(f"{scheme}_proxy")
        if proxy:
            settings.setdefault(f"Acquire::{scheme}::Proxy", proxy)
    return settings


def make_archive(path, sources, settings):
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", "--include=" + ",".join(INCLUDED), "--quiet"]
    command += [f"--keyring={KEYRING}"] if os.path.exists(KEYRING) else []
    command += [f'--aptopt={name} "{value}"' for name, value in settings.items()]
    command += ["--dpkgopt=force-unsafe-io"]  # a root that is thrown away need not survive a power cut
    command += [SUITE, str(path), *sources]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"mmdebstrap failed with status {done.returncode}:\n{done.stdout}{done.stderr}")


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_intact(archive, note):
    try:
        wanted = json.loads(note.read_text())["sha256"]
        return time.time() - note.stat().st_mtime < MAX_AGE_S and sha256_of(archive) == wanted
    except (OSError, ValueError, KeyError):
        return False


def base_archive(cache, say):
    """The archive of the base root, made when there is none that will do. To be called with the cache locked."""
    sources, settings = apt_sources(), apt_settings()
    recipe = {"suite": SUITE, "packages": INCLUDED, "sources": sources, "settings": settings}
    name = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]
    archive, note = cache / f"base-{name}.tar", cache / f"base-{name}.json"
    if is_intact(archive, note):
        say(f"base root: {archive} is intact")
        return archive
    for old in cache.glob("base-*"):
        old.unlink()  # another run that still reads one has it open
    with tempfile.TemporaryDirectory(prefix="making-", dir=cache) as folder:
        fresh = pathlib.Path(folder) / archive.name
        say("base root: mmdebstrap " + SUITE)
        make_archive(fresh, sources, settings)
        recipe["sha256"] = sha256_of(fresh)
        os.replace(fresh, archive)
        (pathlib.Path(folder) / "note").write_text(json.dumps(recipe, indent=1))
        os.replace(pathlib.Path(folder) / "note", note)  # last: an archive without its note does not count
    return archive


def pinned_source(cache, url, sha256):
    """The archive `url` of Debian's pool as apt's own helper fetches it, so that it works wherever apt does."""
    path = cache / pathlib.PurePosixPath(url).name
    if path.exists() and sha256_of(path) == sha256:
        return path
    mirror = next(line for line in apt_sources() if line.endswith(f" {SUITE} main")).split()[1].rstrip("/")
    options = [text for name, value in apt_settings().items() for text in ("-o", f"{name}={value}")]
    partial = path.with_suffix(".partial")
    subprocess.run(["/usr/lib/apt/apt-helper", *options, "-o", "APT::Sandbox::User=root", "download-file",
                    f"{mirror}/pool/main/{url}", str(partial)], check=True, stdout=subprocess.DEVNULL)
    os.replace(partial, path)
    return path


def unpack(archive, root):
    root.mkdir()
    subprocess.run(["tar", "--extract", "--numeric-owner", "--file", str(archive), "--directory", str(root)], check=True)


def remove(folder):
    subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=False)


def sweep(runs):
    """Removes what runs left behind that were killed: folders whose lock nobody holds. With the cache locked."""
    for folder in runs.iterdir():
        with contextlib.suppress(OSError), open(folder / "lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(folder)


@contextlib.contextmanager
def run_folder(cache):
    """A folder of this run's own, removed with all in it at the end."""
    runs = cache / "runs"
    runs.mkdir(exist_ok=True)
    with locked(cache):
        sweep(runs)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=runs))
        lock = open(folder / "lock", "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        remove(folder)
        lock.close()
