#!/usr/bin/env python3
"""Launch scripts of public repositories: their arguments are those that bash gave them, or they are refused by name.

What the text and `given` do not determine (the output of nvidia-smi, the date) is shown as <NAME> where it has no
effect; everything else must be equal, word by word. ASKED are the scripts that depend on more than they say.
"""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ASKED = {
    "microsoft-bert-with-pile-ds-pretrain-bert": "num_gpus",
    "microsoft-pretrain-ds-pretrain-gpt-1-3b-dense-base-script": "num_gpus",
    "microsoft-gpt3-pretrain-gpt3-distributed-test": "",
    "nvidia-modelopt-train": "MODEL_ARGS",
    "nvidia-modelopt-train-v2": "MODEL_ARGS",
    "nvidia-sc21-run-figure-12": "SRUN.sh",
    "nvidia-sc21-run-table-1": "SRUN.sh",
}


def filled(text, name, given):
    changes = (given["filled_in"] or {}).get(name, [])
    for old, new in changes if changes and isinstance(changes[0], list) else [changes] if changes else []:
        text = text.replace(old, new)
    return text


def command(binary, facts, root, corpus):
    given = facts["given"]
    script = root / "repo" / facts["path"]
    script.parent.mkdir(parents=True)
    script.write_text(filled((corpus / facts["script"]).read_text(), facts["path"], given))
    for name, text in facts["sourced_files"].items():
        path = root / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text, name, given))
    folder = pathlib.Path(str(root) + given["cwd"])
    folder.mkdir(parents=True, exist_ok=True)
    environment = root / "environment"
    environment.write_text("".join(f"{name}={value}\n" for name, value in given["env"].items()) + "USER=nobody\n")
    words = [binary, "import", "--from", "megatron", str(script), "--arguments-only", "--directory", str(folder),
             "--environment", str(environment), "-o", "-"]
    if given["args"]:
        words += ["--args", " ".join(shlex.quote(word) for word in given["args"])]
    for number, (path, text) in enumerate(given["files"].items()):
        if path.endswith("/"):
            continue
        local = root / f"file{number}"
        if path.startswith("/repo/"):
            local = root / path[1:]
            local.parent.mkdir(parents=True, exist_ok=True)
        else:
            words += ["--file", f"{path}={local}"]
        local.write_text(text)
    return words


def run_by_bash(words, facts, root):
    """The same command with --run-script: what lies outside the script's folder is given by name."""
    words = [*words, "--run-script"]
    inside = [*facts["sourced_files"], *(path[6:] for path in facts["given"]["files"] if path.startswith("/repo/"))]
    for name in sorted({name for name in inside if not name.endswith("/")}):
        words += ["--file", f"{root}/repo/{name}={root}/repo/{name}"]
    empty = root / "empty"
    empty.write_text("")
    for path in facts["given"]["files"]:
        if path.endswith("/"):
            words += ["--file", f"{str(root) + path if path.startswith('/repo/') else path}.is-there={empty}"]
    return words


def without_ranks(words):
    """Of which ranks a profile is taken: a loop over as many as nvidia-smi lists, and nothing depends on it."""
    if "--profile-ranks" not in words:
        return words
    begin = words.index("--profile-ranks") + 1
    end = next((k for k in range(begin, len(words)) if words[k].startswith("--")), len(words))
    return words[:begin] + words[end:]


def differs(ours, truth):
    ours, truth = without_ranks(ours), without_ranks(truth)
    if len(ours) != len(truth):
        return f"{len(ours)} words, {len(truth)} expected"
    for mine, true in zip(ours, truth):
        if mine != true and "<" not in mine:
            return f"{mine!r} where bash has {true!r}"
    return ""


# Where bash cannot come to the training under its guard: what the script looks for is not there.
NOT_RUN = {
    "aws-samples-scripts-finetune-llama": "perl (line 61)",  # with set -e
    "nvidia-gptoss-02-train-v2": "pretrain_gpt.py not found",
    "nvidia-llama-train-llama3-8b-h100-fp8-v2": "pretrain_gpt.py not found",
    "nvidia-megatron-fsdp-sbatch-mfsdp-deepseek-v3": "no arguments like",  # sbatch <<EOF
}


def bash_agrees():
    binary, corpus = sys.argv[1], pathlib.Path(__file__).parent / "launch_corpus"
    equal, stopped, problems = 0, 0, []
    for path in sorted(corpus.glob("*.json")):
        facts = json.loads(path.read_text())
        if facts["id"] in ASKED:
            continue
        with tempfile.TemporaryDirectory() as folder:
            words = run_by_bash(command(binary, facts, pathlib.Path(folder), corpus), facts, pathlib.Path(folder))
            run = subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                                 check=False)
        if "error[P032" in run.stderr:
            print("SKIPPED:", run.stderr)
            return 0
        if run.returncode == 0 and "starts the same training" in run.stderr:
            equal += 1
        elif facts["id"] in NOT_RUN and "error[P033" in run.stderr and NOT_RUN[facts["id"]] in run.stderr:
            stopped += 1
        else:
            problems.append(f"{facts['id']}: {run.returncode}: {run.stderr[:500]}")
    for problem in problems:
        print(problem)
    print(f"{equal} equal, {stopped} not run to their training, {len(problems)} problems")
    return 1 if problems else 0


def main():
    if sys.argv[2:] == ["--run-script"]:
        return bash_agrees()
    binary, corpus = sys.argv[1], pathlib.Path(__file__).parent / "launch_corpus"
    exact, asked, problems = 0, 0, []
    for path in sorted(corpus.glob("*.json")):
        facts = json.loads(path.read_text())
        name = facts["id"]
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            run = subprocess.run(command(binary, facts, root, corpus), capture_output=True, text=True, timeout=60,
                                 stdin=subprocess.DEVNULL, check=False)
            ours = [word.replace(folder, "") for word in shlex.split(run.stdout)]
        if run.returncode == 2 and name in ASKED and ASKED[name] in run.stderr and "P030" in run.stderr:
            asked += 1
        elif run.returncode != 0:
            problems.append(f"{name}: {run.returncode}: {run.stderr[:300]}")
        elif difference := differs(ours[1:], facts["argv"]):
            problems.append(f"{name}: {difference}")
        else:
            exact += 1
    for problem in problems:
        print(problem)
    print(f"{exact} exact, {asked} asked, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
