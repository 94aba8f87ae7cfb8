"""From the arguments of a call to what the library is asked: scenarios, and schedules of the program's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Callable

from debubble import _core
from debubble._errors import Error, wrong_call

VERBS = frozenset(_core.verbs())
SCHEDULE_KEYS = ("schedule", "schedules")
JSON_END = ["--format", "json"]

Scenario = "str | os.PathLike[str] | Mapping[str, Any] | None"


def flag_help(flag: Mapping[str, Any]) -> str:
    """What a flag is, and in which units its value may be written."""
    units = flag["unit"].split("|")
    if len(units) > 10:
        units = ["GB/s", "GiB/s", "Gbit/s", "..."]
    return f"{flag['help']} [{', '.join(units)}]" if flag["unit"] else str(flag["help"])


def flat(scenario: Mapping[str, Any], verb: str) -> dict[str, Any]:
    """A scenario as a dict: keys of the verb's own section take the place of those for all verbs."""
    common, own = {}, {}
    for key, value in scenario.items():
        if not isinstance(key, str):
            raise wrong_call("scenario", f"the key {key!r} is no text", "keys are the flags' names")
        if key in VERBS and isinstance(value, Mapping):
            if key == verb:
                own = {str(name): item for name, item in value.items()}
        else:
            common[key] = value
    return {**common, **own}


def split_scenario(scenario: Any, verb: str) -> tuple[str | None, str, dict[str, Any]]:
    """A scenario as (path, text of TOML, keyword arguments), of which it is one."""
    if scenario is None:
        return None, "", {}
    if isinstance(scenario, Mapping):
        return None, "", flat(scenario, verb)
    if isinstance(scenario, os.PathLike):
        scenario = os.fspath(scenario)
        if not isinstance(scenario, str):
            raise wrong_call("scenario", "the path is bytes", "give it as text")
        return scenario, "", {}
    if not isinstance(scenario, str):
        raise wrong_call("scenario", f"a scenario is no {type(scenario).__name__}",
                         "give a dict, a path of a TOML file, or its text")
    if "\n" in scenario or "=" in scenario:
        return None, scenario, {}
    if scenario.endswith(".toml"):
        return scenario, "", {}
    raise wrong_call("scenario", f"{scenario!r} is neither the path of a .toml file nor TOML",
                     f"write schedule={scenario!r} for a schedule")


def cell_text(cell: Any, place: str) -> str:
    """One cell of a row as PyTorch's tables have it: "0F1", "" for idle, "(0F1;0B0)OVERLAP_F_B"."""
    if cell is None:
        return ""
    if isinstance(cell, (tuple, list)):
        if len(cell) == 2:
            return f"({cell_text(cell[0], place)};{cell_text(cell[1], place)})OVERLAP_F_B"
        if len(cell) != 3:
            raise Error([("T024", place, f"{cell!r} is not an action", "write (stage, 'F', microbatch), or '3F12'")])
        stage, kind, microbatch = cell
        return f"{stage}{kind}{microbatch}"
    text = str(cell)
    if "+" in text:
        first, _, second = text.partition("+")
        text = f"({first};{second})OVERLAP_F_B"
    if any(mark in text for mark in ",\n\r\"\0"):
        raise Error([("T024", place, f"{text!r} is not an action", "one cell holds one action, such as '3F12'")])
    return text


def table_text(rows: Any, name: str) -> str:
    """Rows of cells, one row a device, as the text of a table. A text is taken for one already."""
    if isinstance(rows, str):
        return rows
    try:
        lists = [list(row) if not isinstance(row, str) else [row] for row in rows]
    except TypeError:
        raise Error([("T024", name, f"a schedule is a list of rows, and not a {type(rows).__name__}",
                      "return a list for each device, of cells such as '0F0' or (0, 'F', 0)")]) from None
    lines = (",".join(cell_text(cell, f"{name}:{row + 1}:{place + 1}") for place, cell in enumerate(cells))
             for row, cells in enumerate(lists))
    return "".join(line + "\n" for line in lines)


class OwnSchedules:
    """The schedules of a call that are none of the catalog: functions, rows, `Schedule`s."""

    def __init__(self) -> None:
        self.makers: dict[str, Callable[[int, int], str]] = {}

    def name_of(self, schedule: Any) -> Any:
        """What stands for it among the flags; names and paths stand for themselves."""
        if callable(schedule):
            name = self.free_name(getattr(schedule, "__name__", type(schedule).__name__).strip("<>"))
            self.makers[name] = lambda devices, microbatches: table_text(schedule(devices, microbatches), name)
            return name
        if hasattr(schedule, "_native"):
            name = self.free_name(schedule.name.removesuffix("()"))
            self.makers[name] = lambda devices, microbatches: schedule.json
            return name
        if isinstance(schedule, (list, tuple)) and schedule and all(isinstance(row, (list, tuple)) for row in schedule):
            name = self.free_name("rows")
            self.makers[name] = lambda devices, microbatches: table_text(schedule, name)
            return name
        return schedule

    def free_name(self, name: str) -> str:
        """A name in the form that the library takes for a program's own, "mine()"; each is there once."""
        name = name.replace("/", "-").replace(",", "-")
        number, free = 1, f"{name}()"
        while free in self.makers:
            number += 1
            free = f"{name}-{number}()"
        return free

    def replace_in(self, given: dict[str, Any]) -> None:
        for key in SCHEDULE_KEYS:
            value = given.get(key)
            if value is None or isinstance(value, str):
                continue
            # Of `schedules` a list is one of schedules, also where all of them are rows.
            several = key == "schedules" and isinstance(value, (list, tuple))
            named = value if several else self.name_of(value)
            if named is value and isinstance(value, (list, tuple)):
                named = [self.name_of(one) for one in value]
            given[key] = named


def make_request(verb: str, scenario: Any, given: dict[str, Any], files: tuple[Any, ...] = (),
                 end: list[str] | None = None) -> tuple[Any, dict[str, Callable[[int, int], str]]]:
    """What the library is asked, and the makers of the program's own schedules by name."""
    given = dict(given)
    path = given.pop("config", None)
    if path is not None:
        if scenario is not None:
            raise wrong_call("config", "a scenario is given twice", "leave one of them out")
        if not isinstance(path, (str, os.PathLike)):
            raise wrong_call("config", f"a {type(path).__name__} is no path", "name a TOML file")
        scenario = path if isinstance(path, os.PathLike) else _Path(path)
    path, text, keys = split_scenario(scenario, verb)
    given = {**{key: value for key, value in keys.items() if key not in given}, **given}
    own = OwnSchedules()
    own.replace_in(given)
    names = []
    for file in files:
        if not isinstance(file, (str, os.PathLike)):
            raise wrong_call("FILE", f"a {type(file).__name__} is no path", "name a file")
        names.append(os.fsdecode(os.fspath(file)))
    return _core.Request(path, text, names, given, JSON_END if end is None else end), own.makers


class _Path:
    """A path whatever it looks like."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path
