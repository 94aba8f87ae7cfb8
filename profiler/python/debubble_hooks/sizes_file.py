"""hooks-RANK-PID.json: what debubble's `profile` reads along with the recording (docs/profiling.md describes it)."""

import json
import os
import tempfile

SCHEMA = "debubble.hooks/1"


def rank():
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return 0


def default_path():
    folder = os.environ.get("DEBUBBLE_RECORD_DIR")
    return os.path.join(folder, f"hooks-{rank()}-{os.getpid()}.json") if folder else None


def write(path, content):
    """Whole or not at all. Returns what went wrong, or None."""
    try:
        folder = os.path.dirname(os.path.abspath(path))
        descriptor, temporary = tempfile.mkstemp(prefix=".hooks-", dir=folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=1)
                file.write("\n")
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        return f"cannot write {path}: {error.strerror}"
    return None
