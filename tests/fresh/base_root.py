"""The bare Debian that every machine of this area starts from: made once by mmdebstrap and kept outside of the tree.

It holds what README.md asks for, git and apt, and nothing else. The archive is made anew when its recipe changes, when
it is older than three weeks, or when its checksum is wrong. Two runs at the same time take turns here.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

import mirrors

INCLUDED = ["git", "ca-certificates"]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"  # has the keys of all releases
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


def make_archive(path, suite, sources, settings):
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", "--include=" + ",".join(INCLUDED), "--quiet"]
    command += [f"--keyring={KEYRING}"] if os.path.exists(KEYRING) else []
    command += [f'--aptopt={name} "{value}"' for name, value in settings.items()]
    command += ["--dpkgopt=force-unsafe-io"]  # a root that is thrown away need not survive a power cut
    command += [suite, str(path), *sources]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"mmdebstrap failed with status {done.returncode}:\n{done.stdout}{done.stderr}")


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_young(file):
    return time.time() - file.stat().st_mtime < MAX_AGE_S


def is_intact(archive, note):
    try:
        return is_young(note) and sha256_of(archive) == json.loads(note.read_text())["sha256"]
    except (OSError, ValueError, KeyError):
        return False


def base_archive(cache, suite, say):
    """The archive of the suite's base root, made when there is none that will do. To be called with the cache locked."""
    sources, settings = mirrors.sources(suite), mirrors.apt_settings()
    recipe = {"suite": suite, "packages": INCLUDED, "sources": sources, "settings": settings}
    name = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]
    archive, note = cache / f"base-{suite}-{name}.tar", cache / f"base-{suite}-{name}.json"
    if is_intact(archive, note):
        say(f"base root: {archive} is intact")
        return archive
    for old in cache.glob("base-*"):
        if old.name.startswith(f"base-{suite}-") or not is_young(old):
            old.unlink()  # another run that still reads one has it open
    with tempfile.TemporaryDirectory(prefix="making-", dir=cache) as folder:
        fresh = pathlib.Path(folder) / archive.name
        say("base root: mmdebstrap with " + ", ".join(line.split()[2] for line in sources))
        make_archive(fresh, suite, sources, settings)
        recipe["sha256"] = sha256_of(fresh)
        os.replace(fresh, archive)
        (pathlib.Path(folder) / "note").write_text(json.dumps(recipe, indent=1))
        os.replace(pathlib.Path(folder) / "note", note)  # last: an archive without its note does not count
    return archive


def pinned_source(cache, path_in_pool, sha256):
    """An archive of Debian's pool."""
    path = cache / pathlib.PurePosixPath(path_in_pool).name
    if path.exists() and sha256_of(path) == sha256:
        return path
    partial = path.with_suffix(".partial")
    mirrors.download(f"{mirrors.main_repository()}/pool/main/{path_in_pool}", partial)
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
