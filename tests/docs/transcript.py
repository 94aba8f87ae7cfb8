"""Runs transcripts: what a person types and is answered, as a test.

    # a title: what the section shows
    $ cat > t.csv <<'END'
    0F0,0F0
    END
    $ debubble simulate --schedule t.csv
    error[T003]: 0F0 is in the schedule twice (0F0: row 1, cell 1)

Text before the first title is about the file; a title may have several lines. Each section runs by sh in an empty folder of
its own, but for `inputs`, the folder of that name beside the transcript, and `tree`, that of the sources, where a command names
them. Nothing of the tester's terminal, colours or language reaches it. A command is followed by stdout, by stderr with `! `
before each line, and by `? STATUS` unless it ended with 0. What begins with `error[` is a refusal: exit status 2, nothing on
stdout, this on stderr, and no file made or changed. A line `...` stands for any number of lines, `[..]` for a part of one: other
libraries' words. `figures` (beside this file) is on PATH: values of JSON that a command printed.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import tempfile

from commands import PROGRESS, TIMEOUT_S, command_at, take_shown

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH")


def lines_of(path):
    with open(path, encoding="utf-8", newline="") as stream:  # a carriage return is one
        return stream.read().removesuffix("\n").split("\n")


def sections_of(lines):
    """([(index of the line after the command, command, expected lines), ...], index of the line after the section), each."""
    index = next((at for at, line in enumerate(lines) if line.startswith("# ")), None)
    if index is None:
        raise ValueError("there is no section: a line that begins with `# `")
    sections = []
    while index < len(lines):
        title, commands, index = lines[index], [], index + 1
        while index < len(lines) and lines[index].startswith("# "):
            index += 1
        if index == len(lines) or not lines[index].startswith("$ "):
            raise ValueError(f"line {index + 1}: `{title}` begins with `$ command`")
        while index < len(lines) and lines[index].startswith("$ "):
            start, command = command_at(lines, index)
            index = start
            while index < len(lines) and not lines[index].startswith(("$ ", "# ")):
                index += 1
            ends = index < len(lines) and lines[index].startswith("# ") and lines[index - 1] == ""
            commands.append((start, command, lines[start:index - ends]))
        sections.append((commands, index))
    return sections


def files_in(folder):
    paths = (os.path.join(place, name) for place, folders, names in os.walk(folder) for name in (*folders, *names))
    return sorted((path, os.lstat(path).st_mtime_ns) for path in paths)


def text_lines(data):
    """The last one says so if its end is missing."""
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    return lines[:-1] if lines[-1] == "" else [*lines[:-1], lines[-1] + "\\ no newline"]


def shown_by(command, folder, environment):
    """Lines as a transcript has them."""
    before = files_in(folder)
    try:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return [f"? it ran longer than {TIMEOUT_S} s"]
    out, err = text_lines(done.stdout), [line for line in text_lines(done.stderr) if not PROGRESS.fullmatch(line)]
    refused = done.returncode == 2 and not out and err and err[0].startswith("error[")
    lines = out + [line if refused else f"! {line}" for line in err]
    if done.returncode == 2 and files_in(folder) != before:
        lines.append("? 2, and a file was made or changed")
    elif done.returncode != 0 and not refused:
        lines.append(f"? {done.returncode}")
    return lines


def run_section(commands, inputs, environment):
    with tempfile.TemporaryDirectory(prefix="debubble-transcript-") as folder:
        for name, place in (("inputs", inputs), ("tree", ROOT)):
            if any(f"{name}/" in command for _, command, _ in commands):
                pathlib.Path(folder, name).symlink_to(place)
        return [shown_by(command, folder, environment) for _, command, _ in commands]


def check_transcript(path, binary, update=False):
    """(number of sections, problems) of one file; with `update`, mends it in place."""
    lines = lines_of(path)
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    tools = f"{pathlib.Path(__file__).resolve().parent}:/usr/bin:/bin"
    environment |= {"PATH": f"{binary.parent}:{tools}" if binary else tools, "TERM": "xterm"}
    sections = sections_of(lines)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda section: run_section(section[0], path.parent / "inputs", environment), sections))
    problems, mended, copied = [], [], 0
    for (commands, end), shown in zip(sections, results):
        for (start, command, expected), printed in zip(commands, shown):
            mended += lines[copied:start]
            copied = start + len(expected)
            place = f"{path}:{start}: $ {command}"
            problems += take_shown(expected, printed, ("transcript", "program"), place, mended)
        mended += lines[copied:end]
        copied = end
    if update:
        path.write_bytes(("\n".join(mended) + "\n").encode("utf-8"))
    return len(sections), problems


SELF_TEST = [  # content, what must be said about it ("" = nothing)
    ("about it\n\n# one\n$ echo a\na\n\n# two\n$ echo b; echo\nb\n\n\n# three\n$ true", ""),
    ("# a folder each\n$ echo > file; ls\nfile\n# two\n$ ls\n$ echo $NO_COLOR$LANG$TERM\nxterm", ""),
    ("# of\n# two lines\n$ false\n? 1", ""),
    ("# here\n$ cat > t <<'END'\n# no title\n$ no command\nEND\n$ cat t | tail -n 1\n$ no command", "+$ no command"),
    ("# a wrong word\n$ echo a\nb", "test.transcript:2: $ echo a\n--- transcript\n+++ program\n@@ -1 +1 @@\n-b\n+a"),
    ("# after a failure\n$ echo a\nb\n\n# the next\n$ false", "+? 1"),
    ("# figures\n$ echo '{\"a\": [{\"b\": 1}, {\"b\": 2.5}]}' | figures a[0].b 'sum(x.b for x in a) > 3' 'a[1]'\n1 true {\"b\": 2.5}", ""),
    ("# a status\n$ echo a; exit 3\na\n? 3", ""),
    ("# another status\n$ exit 3\n? 4", "+? 3"),
    ("# a part\n$ echo a b c\na [..] c\n$ echo a b\na [..] c", "-a [..] c"),
    ("# both\n$ echo a; echo b >&2\na\n! b", ""),
    ("# stderr\n$ echo a; echo b >&2\na\nb", "+! b"),
    ("# a refusal\n$ echo 'error[A]: b' >&2; exit 2\nerror[A]: b", ""),
    ("# its status\n$ echo 'error[A]: b' >&2; exit 1\nerror[A]: b", "+? 1"),
    ("# no failure\n$ echo 'error[A]: b' >&2\nerror[A]: b", "+! error[A]: b"),
    ("# its stdout\n$ echo out; echo 'error[A]: b' >&2; exit 2\nerror[A]: b", "+out\n+! error[A]: b\n+? 2"),
    ("# its stdout alone\n$ echo 'error[A]: b'; exit 2\nerror[A]: b", "+? 2"),
    ("# its files\n$ echo > f; echo 'error[A]: b' >&2; exit 2\nerror[A]: b", "+? 2, and a file was made"),
    ("# a changed file\n$ echo > f\n$ sleep 0.01; echo > f; echo 'error[A]: b' >&2; exit 2\nerror[A]: b", "+? 2, and"),
    ("# no end\n$ printf a\na", "+a\\ no newline"),
    ("$ echo a\na", "no section"),
    ("# nothing", "begins with `$ command`"),
    ("# here\n$ cat <<'END'\na", "has no end"),
]


def transcript_failures():
    """What the self-test finds wrong."""
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "test.transcript"
        for content, expected in SELF_TEST:
            path.write_text(content + "\n", encoding="utf-8")
            try:
                found = "\n".join(check_transcript(path, None)[1])
            except ValueError as error:
                found = str(error)
            if bool(found) != bool(expected) or expected not in found:
                failures.append(f"{content!r}: expected {expected!r}, found {found!r}")
        path.write_text("about\n\n# a\n$ echo a; echo b\n[..]a\nc\n\n# b\n$ echo b; false\n# c\n$ true\nold\n", encoding="utf-8")
        check_transcript(path, None, update=True)
        if path.read_text(encoding="utf-8") != "about\n\n# a\n$ echo a; echo b\n[..]a\nb\n\n# b\n$ echo b; false\nb\n? 1\n# c\n$ true\n":
            failures.append("update of a transcript: " + path.read_text(encoding="utf-8"))
    return failures
