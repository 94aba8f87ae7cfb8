"""Commands with the text that they print, as documents and transcripts hold them."""

import difflib
import os
import re

HERE_DOCUMENT = re.compile(r"<<-?'(\w+)'")
TIMEOUT_S = 120 * int(os.environ.get("DEBUBBLE_PATIENCE", "1"))
PROGRESS = re.compile(r"debubble: .* (\.\.\.|left)")  # printed once something has taken two seconds: on slow machines only


def command_at(lines, index):
    """(index of the line after it, command): `\\` at the end of a line continues it, and so does a here-document."""
    first = index
    command = [lines[index][2:]]
    try:
        while command[-1].endswith("\\"):
            index += 1
            command.append(lines[index])
        here = HERE_DOCUMENT.search(command[-1])
        while here and command[-1] != here.group(1):
            index += 1
            command.append(lines[index])
    except IndexError:
        raise ValueError(f"`{lines[first]}` has no end") from None
    return index + 1, "\n".join(command)


def same(expected, actual):
    return expected == actual or ("[..]" in expected and
                                  re.fullmatch(".*".join(map(re.escape, expected.split("[..]"))), actual) is not None)


def matches(expected, actual):
    """Whether the lines are equal, `...` standing for any number of lines and `[..]` for a part of one."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[skip:]) for skip in range(len(actual) + 1))
    return bool(actual) and same(expected[0], actual[0]) and matches(expected[1:], actual[1:])


def take_shown(expected, shown, names, place, lines):
    """Adds to `lines` what a file should have there; a list with the problem, empty where it is what was expected."""
    if matches(expected, shown):
        lines += expected
        return []
    lines += [next((kept for kept in expected if "[..]" in kept and same(kept, line)), line) for line in shown]
    return ["\n".join([place, *difflib.unified_diff(expected, shown, *names, lineterm="")])]
