#!/usr/bin/env python3
"""Runs the fenced command blocks of Markdown documents, so that no document shows what the program does not do, and
transcripts (transcript.py).

```console   `$ command` lines, each followed by what it prints, stdout and stderr together. The command must succeed and
             print exactly that; a line `...` stands for any number of lines. `\\` at the end of a line continues it.
```pycon     `>>> statement` lines, each followed by what Python shows for it, compared in the same way; a statement goes on after
             `... `. All such blocks of a document are one session of the Python that the module was built for. Where this
             build has no module they are not run.
```bash      A script that must succeed. Set-up commands (git clone, cd into it, apt-get, tools/..., cmake --preset) are
             not run, since they would run these very tests; what they name must exist.

All blocks of one document run in one scratch folder, top to bottom, with `debubble` on PATH, `traces` beside them and no
colour, 80 columns wide. Relative links of the document must lead somewhere. `--update` rewrites the expected output.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from commands import PROGRESS, TIMEOUT_S, command_at, take_shown
from transcript import check_transcript, transcript_failures

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(`{3,})(\w*)\s*$")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PYCON = pathlib.Path(__file__).resolve().with_name("pycon.py")


class Block:
    def __init__(self, language, first_line, lines):
        self.language = language
        self.first_line = first_line  # index of the first line inside the fence
        self.lines = lines


def blocks_of(text):
    """The fenced blocks of a document, in order."""
    blocks, fence, start = [], None, 0
    lines = text.splitlines()
    for index, line in enumerate(lines):
        match = FENCE.match(line)
        if fence is None and match:
            fence, start = match, index + 1
        elif fence is not None and line.strip() == fence.group(1):
            blocks.append(Block(fence.group(2), start, lines[start:index]))
            fence = None
    if fence is not None:
        raise ValueError(f"line {start}: the block is not closed")
    return blocks


def commands_of(block):
    """(index of the line after the command, command, expected lines) of a console block."""
    commands, index = [], 0
    if block.lines and not block.lines[0].startswith("$ "):
        raise ValueError(f"line {block.first_line + 1}: a console block begins with `$ command`")
    while index < len(block.lines):
        start, command = command_at(block.lines, index)
        index = start
        while index < len(block.lines) and not block.lines[index].startswith("$ "):
            index += 1
        commands.append((start, command, block.lines[start:index]))
    return commands


def run(script, folder, binary):
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    if binary:
        environment["PATH"] = f"{binary.parent}{os.pathsep}{environment['PATH']}"
    result = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            timeout=TIMEOUT_S, check=False)
    return result.returncode, [line for line in result.stdout.splitlines() if not PROGRESS.fullmatch(line)]


def script_problem(words):
    """What is wrong with a script of the tree that a document tells people to run, or None."""
    script = ROOT / words[0]
    if not script.is_file():
        return f"{words[0]} does not exist"
    if not os.access(script, os.X_OK):
        return f"{words[0]} is not executable"
    if "bash" in script.read_text(encoding="utf-8").splitlines()[0]:
        check = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
        return check.stderr.strip() or None
    return None


def preset_problem(words):
    """What is wrong with the --preset of a cmake or ctest command, or None."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    kind = "configure"
    if words[0] == "ctest":
        kind = "test"
    elif words[1] in ("--build", "--workflow"):
        kind = words[1].removeprefix("--")
    name = words[words.index("--preset") + 1]
    known = [preset["name"] for preset in presets[f"{kind}Presets"] if not preset.get("hidden")]
    return None if name in known else f"there is no {kind} preset {name}"


def setup_problem(line):
    """(is it a set-up command, what is wrong with it)."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["sudo"]:
        words = words[1:]
    if words[:2] == ["git", "clone"] or words[:1] == ["apt-get"] or (words[:1] == ["cd"] and words[1] == "debubble"):
        return True, None
    if words and re.match(r"(\./)?(tools/|tests/|\.ci/)", words[0]):
        return True, script_problem(words)
    if words and words[0] in ("cmake", "ctest") and "--preset" in words:
        return True, preset_problem(words)
    return False, None


def module_beside(binary):
    """The folder of the Python module in the command's build folder, or None."""
    folder = binary.parent.parent / "python" if binary else None
    return folder if folder and list(folder.glob("debubble/_core.*.so")) else None


def run_session(blocks, folder, binary):
    """[[(start, statement, expected, shown), ...], ...] of a document's pycon blocks; none without a module."""
    module = module_beside(binary)
    if not blocks or module is None:
        return [[] for _ in blocks]
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    environment = {**os.environ, "PYTHONPATH": str(module), "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
    result = subprocess.run([python, str(PYCON)], cwd=folder, env=environment, text=True, capture_output=True,
                            input=json.dumps([block.lines for block in blocks]), timeout=TIMEOUT_S, check=False)
    if result.returncode != 0:
        raise ValueError(result.stderr)
    return json.loads(result.stdout)


def check_session(block, statements):
    """(problems, the block's lines with what was really shown) of one pycon block."""
    problems, lines, copied = [], [], 0
    for start, statement, expected, shown in statements:
        lines += block.lines[copied:start]
        copied = start + len(expected)
        problems += take_shown(expected, shown, ("document", "Python"), f"line {block.first_line + start}: >>> {statement.rstrip()}", lines)
    return problems, lines + block.lines[copied:]


def check_script(block, folder, binary):
    problems, script = [], []
    for offset, line in enumerate(block.lines):
        is_setup, problem = setup_problem(line) if not line.startswith((" ", "\t")) else (False, None)
        if problem:
            problems.append(f"line {block.first_line + offset + 1}: {problem}")
        if not is_setup:
            script.append(line)
    code, output = run("\n".join(script), folder, binary)
    if code != 0:
        problems.append("\n".join([f"line {block.first_line + 1}: the script ended with exit code {code}", *output]))
    return problems


def check_console(block, folder, binary):
    """(problems, the block's lines with what was really printed)."""
    problems, lines, copied = [], [], 0
    for start, command, expected in commands_of(block):
        code, output = run(command, folder, binary)
        place = f"line {block.first_line + start}: $ {command}"
        lines += block.lines[copied:start]
        copied = start + len(expected)
        problems += take_shown(expected, output, ("document", "program"), place, lines)
        if code != 0:
            problems.append(f"{place}\nended with exit code {code} (write `command || echo \"exit code $?\"` to show one)")
    return problems, lines


def check_links(text, document):
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(line):
            path = target.split("#")[0]
            if path and not re.match(r"\w+:", path) and not (document.parent / path).exists():
                yield f"line {number}: the link to {target} leads nowhere"


def check_document(document, binary, update=False):
    """Every problem of one document; with `update`, mends its console blocks in place."""
    text = document.read_text(encoding="utf-8")
    problems, lines, shift = list(check_links(text, document)), text.splitlines(), 0
    with tempfile.TemporaryDirectory(prefix="debubble-docs-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "traces").symlink_to(ROOT / "traces")
        blocks = blocks_of(text)
        session = iter(run_session([block for block in blocks if block.language == "pycon"], folder, binary))
        for block in blocks:
            if block.language == "bash":
                problems += check_script(block, folder, binary)
            elif block.language in ("console", "pycon"):
                if block.language == "pycon":
                    found, printed = check_session(block, next(session))
                else:
                    found, printed = check_console(block, folder, binary)
                problems += found
                begin = block.first_line + shift
                lines[begin:begin + len(block.lines)] = printed
                shift += len(printed) - len(block.lines)
    if update:
        document.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return problems


SELF_TEST = [  # language, content, what must be said about it ("" = nothing)
    ("console", "$ echo one; echo two\none\ntwo", ""),
    ("console", "$ seq 5\n1\n...\n5\n$ echo next\nnext", ""),
    ("console", "$ seq 5\n...\n4", "+5"),
    ("console", "$ echo one\ntwo", "-two"),
    ("console", "$ echo one", "+one"),
    ("console", "$ true\nmore", "-more"),
    ("console", "$ echo a \\\n  b\na b", ""),
    ("console", "$ echo out; exit 3\nout", "exit code 3"),
    ("console", "$ echo oops >&2\noops", ""),
    ("console", "$ echo kept > file", ""),
    ("console", "$ cat file\nkept", ""),
    ("console", "$ ls traces/README.md.absent || echo none\n...\nnone", ""),
    ("console", "$ echo ${NO_COLOR} ${COLUMNS}\n1 80", ""),
    ("console", "output without command", "begins with `$ command`"),
    ("bash", "git clone https://example.org/debubble.git\ncd debubble\ntrue", ""),
    ("bash", "false", "exit code 1"),
    ("bash", "false\ntrue", "exit code 1"),
    ("bash", "tools/no-such-script --now", "tools/no-such-script does not exist"),
    ("bash", "cmake --workflow --preset dev\nctest --preset ci -L golden", ""),
    ("bash", "cmake --preset nonesuch", "no configure preset nonesuch"),
    ("text", "$ false", ""),
]


def self_test():
    failures = transcript_failures()
    with tempfile.TemporaryDirectory() as scratch:
        document = pathlib.Path(scratch) / "document.md"
        kept = "```console\n$ echo kept > file\n```\n"
        for language, content, expected in SELF_TEST:
            document.write_text(f"{kept}```{language}\n{content}\n```\n", encoding="utf-8")
            try:
                found = check_document(document, None)
            except ValueError as error:
                found = [str(error)]
            if bool(found) != bool(expected) or not all(expected in problem for problem in found):
                failures.append(f"{language}: {content!r}: expected {expected!r}, found {found}")
        document.write_text("[here](document.md#top) [away](https://example.org) [gone](absent.md)\n", encoding="utf-8")
        if check_document(document, None) != ["line 1: the link to absent.md leads nowhere"]:
            failures.append("links")
        document.write_text("```console\n$ seq 3\nold\n$ echo x\n```\nend\n", encoding="utf-8")
        check_document(document, None, update=True)
        if document.read_text(encoding="utf-8") != "```console\n$ seq 3\n1\n2\n3\n$ echo x\nx\n```\nend\n":
            failures.append("update")
    print(*failures, sep="\n", end="\n" if failures else "")
    return 1 if failures else 0


def check(document, binary, update):
    """(what it holds, problems)."""
    if document.suffix == ".transcript":
        sections, problems = check_transcript(document, binary, update)
        return f"{sections} sections", problems
    problems = check_document(document, binary, update)
    count = sum(block.language in ("bash", "console", "pycon") for block in blocks_of(document.read_text(encoding="utf-8")))
    return f"{count} blocks", problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("documents", nargs="*", type=pathlib.Path)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/dev/bin/debubble", help="the debubble command")
    parser.add_argument("--update", action="store_true", help="rewrite the expected output in the documents")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if not arguments.documents:
        parser.error("which documents?")
    failed = False
    for document in arguments.documents:
        parts, problems = "not run", []
        try:
            parts, problems = check(document.resolve(), arguments.binary.resolve(), arguments.update)
        except (ValueError, subprocess.TimeoutExpired) as error:
            problems = [str(error)]
        failed = failed or bool(problems)
        print(f"{document.name}: {parts}, {len(problems)} problems", *problems, sep="\n\n")
    return 1 if failed and not arguments.update else 0


if __name__ == "__main__":
    sys.exit(main())
