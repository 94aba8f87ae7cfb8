"""Runs the ```pycon blocks of a document: what is typed after `>>> ` and what Python shows for it.

    python3 pycon.py < blocks.json

`blocks.json` is a list of lists of lines; all blocks share their names. Prints, as JSON, for each block the statements with
the lines that were expected and those that were shown, so that who asks can compare (run_blocks.py).
"""

import contextlib
import io
import json
import sys
import traceback


def statements_of(lines):
    """(index of the line after the statement, its source, expected lines)."""
    found, index = [], 0
    while index < len(lines):
        if not lines[index].startswith(">>> "):
            raise ValueError(f"a pycon block begins with `>>> `, not {lines[index]!r}")
        source = [lines[index][4:]]
        index += 1
        while index < len(lines) and lines[index].startswith("... "):
            source.append(lines[index][4:])
            index += 1
        start = index
        while index < len(lines) and not lines[index].startswith(">>> "):
            index += 1
        found.append((start, "\n".join(source) + "\n", lines[start:index]))
    return found


def shown_by(source, names):
    """What Python shows: output, the value, or an exception's last lines."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "<document>", "single"), names)  # noqa: S102: the document's own text
        except Exception as error:  # noqa: BLE001: shown as Python shows it
            print("Traceback (most recent call last):")
            print("    ...")
            print("".join(traceback.format_exception_only(error)).rstrip())
    return out.getvalue().splitlines()


def main():
    names = {"__name__": "__main__"}
    blocks = json.load(sys.stdin)
    print(json.dumps([[[start, source, expected, shown_by(source, names)] for start, source, expected in statements_of(lines)]
                      for lines in blocks]))


if __name__ == "__main__":
    main()
