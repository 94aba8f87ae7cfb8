"""What holds for every reader of import and every file of ours: an import that succeeds read a model, leaves no size unread,
and writes what simulate accepts.

check_doors.py BINARY ROOT
"""
import gzip
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

SIZE = re.compile(r"(parallel_size|parallel_degree|batch_size|seq_len|seq_length|sequence_length|num_layers)$")
READERS = {"torchtitan": [], "nemo": [], "nanotron": [], "neox": [], "deepspeed": ["--model", "gpt2-xl"],
           "accelerate": ["--model", "gpt2-xl"]}
ENDINGS = [".toml", ".yaml", ".json"]
RECORDINGS = ("kineto", "nsys", "records", "profiles")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=120)
    return done.returncode, done.stderr.decode(errors="replace")


def cases(root, folder):
    """(reader, file, further words) of all files that a person might give."""
    for top in ("traces", "tests"):
        for file in sorted((root / top).rglob("*")):
            if not file.is_file() or "corpus" in file.parts or file.stat().st_size > 300_000:
                continue
            if file.suffix in (".sh", ".slurm", ".sbatch"):
                yield "megatron", file, ["--gpus", "64"]
            elif file.suffix in (".yaml", ".yml", ".toml", ".json"):
                for reader, words in READERS.items():
                    yield reader, file, [*words, "--world-size", "64"]
    yield from recordings(root, folder)
    for file in sorted((root / "tests/fuzz/corpus/framework_config").iterdir()):
        text = file.read_bytes()[1:]
        for ending in ENDINGS:
            copy = folder / (file.name + ending)
            copy.write_bytes(text)
            for reader, words in READERS.items():
                yield reader, copy, [*words, "--world-size", "64"]


def recordings(root, folder):
    """Traces, real ones and those that the importers' tests make, and profiles; each by the reader of each kind too."""
    made = folder / "made"
    subprocess.run([sys.executable, root / "tests/importers/make_golden.py", made], check=True)
    for file in sorted((root / "traces/recordings").glob("*.gz")):
        (made / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
    for file in sorted(made.glob("*.sql")):
        with sqlite3.connect(file.with_suffix(".sqlite")) as database:
            database.executescript(file.read_text())
    profiles = sorted((root / "tests/importers/golden/profiles").glob("*.json"))
    for first in profiles:
        for second in profiles:
            yield "profiles", first, [second]
    for file in [*sorted(made.iterdir()), *profiles, root / "traces/ci.suite.json"]:
        for reader in RECORDINGS:
            yield reader, file, []
            if reader in ("kineto", "nsys"):
                yield reader, file, ["--layers", "none"]


def fault_of_profile(binary, written):
    """Of what a recording's import wrote."""
    layers = json.loads(written.read_text())["layers"]
    if not any(layer.get(part, {}).get("median_ns", 0) > 0 for layer in layers for part in ("forward", "backward")):
        return "no layer takes time"
    status, said = run(binary, "simulate", "--profile", written, "-p", min(2, len(layers)), "-m", 2)
    return "" if status in (0, 1) else f"simulate ends with {status}: {said[:200]}"


def fault(binary, reader, file, words, written):
    status, said = run(binary, "import", "--from", reader, file, *words, "-o", written, *(
        ["--all-notes"] if reader in READERS else []))
    if status not in (0, 2):
        return f"import ends with {status}: {said[:200]}"
    if status == 2:
        return "" if said.startswith("error[") else f"refused without an error: {said[:200]}"
    if reader in RECORDINGS:
        return fault_of_profile(binary, written)
    text = written.read_text()
    if not re.search(r"^(model|profile) = ", text, re.MULTILINE):
        return "no model was read"
    for key in re.findall(r'unknown key "([^"]*)"', said):
        if SIZE.search(key) and "eval" not in key and "valid" not in key:
            return f"{key} stays unread"
    status, said = run(binary, "simulate", "--config", written, "--hardware", "h100")
    return "" if status in (0, 1) else f"simulate ends with {status}: {said[:200]}"


def main():
    binary, root = sys.argv[1], Path(sys.argv[2])
    tried = read = 0
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for reader, file, words in cases(root, folder):
            written = folder / "written.toml"
            written.unlink(missing_ok=True)
            found = fault(binary, reader, file, words, written)
            tried += 1
            read += written.exists()
            if found:
                wrong.append(f"{reader} {file}: {found}")
    for line in wrong:
        print(line)
    print(f"{tried} imports, {read} of them read")
    sys.exit(1 if wrong or read == 0 else 0)


main()
