"""What is wrong, where, and what to do about it: the command's own error messages as exceptions."""

from __future__ import annotations

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """One problem. `debubble.Error.diagnostics` has all that were found at once."""

    code: str  # "C012"; docs/errors.md lists them
    place: str  # "--devices", "plan.toml:3", "profile.json#/layers/3", "mine():2:5" (row and cell); may be empty
    message: str  # what is wrong
    remedy: str  # what to do; may be empty


class Error(Exception):
    """What the command would refuse with exit status 2, with the same words.

    `code`, `place`, `message` and `remedy` are those of the first problem; `diagnostics` has all of them.
    """

    def __init__(self, diagnostics: list[tuple[str, str, str, str]]) -> None:
        super().__init__(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(Diagnostic(*row) for row in diagnostics)

    @property
    def code(self) -> str:
        return self.diagnostics[0].code

    @property
    def place(self) -> str:
        return self.diagnostics[0].place

    @property
    def message(self) -> str:
        return self.diagnostics[0].message

    @property
    def remedy(self) -> str:
        return self.diagnostics[0].remedy

    def __str__(self) -> str:
        lines = []
        for found in self.diagnostics:
            lines.append(f"error[{found.code}]: {found.message}")
            if found.place:
                lines.append(f"  --> {found.place}")
            if found.remedy:
                lines.append(f"  = help: {found.remedy}")
        return "\n".join(lines)


class UnavailableError(Error):
    """Something this machine lacks; the command's exit status is 3."""


class DeadlockError(Error):
    """The schedule comes to no end: devices wait for each other. The message names the ops."""


def wrong_call(place: str, message: str, remedy: str) -> Error:
    """A value that no flag can have."""
    return Error([("C061", place, message, remedy)])
