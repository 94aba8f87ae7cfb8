#!/usr/bin/env python3
"""Schedules of the program's own: a function, rows, or a Schedule; checked like those of files.

Usage: check_own_schedules.py BINARY
"""

import pathlib
import tempfile

import debubble
from support import require_error, run_checks


def gpipe(devices, microbatches):
    forward = range(microbatches)
    return [[(d, "F", m) for m in forward] + [(d, "B", m) for m in reversed(forward)] for d in range(devices)]


def one_forward_one_backward(devices, microbatches):
    rows = []
    for device in range(devices):
        ahead = min(devices - 1 - device, microbatches)
        row = [f"{device}F{m}" for m in range(ahead)]
        for m in range(microbatches):
            if m + ahead < microbatches:
                row.append(f"{device}F{m + ahead}")
            row.append(f"{device}B{m}")
        rows.append(row)
    return rows


def numbers(run):
    return {key: value for key, value in run.data.items() if key not in ("command_line", "schedule", "assumptions",
                                                                         "findings", "limit")}


def check_like_the_catalog():
    for name, function in (("gpipe", gpipe), ("1f1b", one_forward_one_backward)):
        for devices, microbatches in ((1, 1), (2, 5), (4, 8), (8, 32)):
            costs = {"p": devices, "m": microbatches, "times": {"f": 1.25, "b": 2.5}, "comm": 0.1}
            mine, theirs = debubble.simulate(schedule=function, **costs), debubble.simulate(schedule=name, **costs)
            assert numbers(mine) == numbers(theirs), (name, devices, microbatches)
            assert (mine.spans == theirs.spans).all()
            assert debubble.schedule(function, p=devices, m=microbatches).rows == \
                debubble.schedule(name, p=devices, m=microbatches).rows


def check_like_a_file():
    rows = one_forward_one_backward(3, 6)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.csv"
        path.write_text("".join(",".join(row) + "\n" for row in rows))
        file, mine = debubble.simulate(schedule=path), debubble.simulate(schedule=rows)
    assert numbers(file) == numbers(mine)


def check_every_schedule_comes_back():
    """A Schedule of the catalog, given back, is the same run: copies, slices and replicas included."""
    same = 0
    for name in debubble.schedule_names():
        try:
            schedule, theirs = debubble.schedule(name, p=4, m=8), debubble.simulate(schedule=name, p=4, m=8)
        except debubble.Error:
            continue
        mine = debubble.simulate(schedule=schedule)
        assert mine.makespan_ns == theirs.makespan_ns and (mine.spans == theirs.spans).all(), name
        same += 1
    assert same > 20
    return f"{same} schedules"


def check_pairs_and_idle_cells():
    dualpipe = debubble.schedule("dualpipe", p=2, m=4)
    assert any("+" in cell for row in dualpipe.rows for cell in row)
    assert debubble.schedule([list(row) for row in dualpipe.rows]).rows == dualpipe.rows
    assert debubble.schedule([["0F0", None, "", "0B0"]]).rows == (("0F0", "0B0"),)
    pairs = [[(0, "F", 0), ((0, "F", 1), (0, "B", 0)), (0, "B", 1)]]
    assert debubble.schedule(pairs).rows == (("0F0", "0F1+0B0", "0B1"),)


def check_comparison():
    found = debubble.compare(schedules=[gpipe, "1f1b", one_forward_one_backward, lambda p, m: gpipe(p, m)], p=4, m=8)
    assert [run.schedule for run in found.runs] == ["gpipe()", "1f1b", "one_forward_one_backward()", "lambda()"]
    assert [run.makespan_ns for run in found.runs] == [33000000] * 4
    twice = debubble.compare(schedules=[lambda p, m: gpipe(p, m), lambda p, m: one_forward_one_backward(p, m)], p=4, m=8)
    assert [run.schedule for run in twice.runs] == ["lambda()", "lambda-2()"]
    rows = [["0F0", "0B0"], ["1F0", "1B0"]]
    assert [run.schedule for run in debubble.compare(schedules=[rows, rows], p=2, m=1).runs] == ["rows()", "rows-2()"]


def check_sizes():
    assert debubble.simulate(schedule=gpipe).devices == 4
    sizes = []
    debubble.simulate(schedule=lambda p, m: sizes.append((p, m)) or gpipe(p, m), p=3, m=5)
    assert sizes == [(3, 5)], sizes
    require_error("C001", "--devices", debubble.simulate, schedule=lambda p, m: gpipe(2, m), p=3)


def check_wrong_rows():
    def of(rows):
        def mine(devices, microbatches):
            return rows
        return mine

    wrong = {"T009": ([["0F0", "0B0"], ["1B0", "1F0"]], "mine():2:1"),
             "T011": ([["0F0", "0B0", "0F1", "0B1"], ["1F1", "1B1", "1F0", "1B0"]], None),
             "T004": ([["0F0"]], "mine():1"), "T003": ([["0F0", "0F0", "0B0"]], "mine():1:2"),
             "T024": ([["0F0", "hello"]], "mine():1:2")}
    for code, (rows, place) in wrong.items():
        for schedule in (of(rows), rows):
            try:
                debubble.simulate(schedule=schedule, p=len(rows))
            except debubble.Error as error:
                assert error.code == code and error.remedy, error
                if place and callable(schedule):
                    assert error.place == place, error
            else:
                raise AssertionError(f"{rows} was taken")
    for rows in (3, None, [3], [[("0", "F")]], [["0F0,0B0"]], [[(0, "F", 0, 1)]], [["0F0\n"]], [], "", [[]]):
        error = None
        try:
            debubble.simulate(schedule=of(rows), p=1, m=1)
        except debubble.Error as found:
            error = found
        assert error is not None and error.code in ("T004", "T024", "P016"), (rows, error)


def check_faults_of_the_function():
    def broken(devices, microbatches):
        raise LookupError("mine")

    for call in (debubble.simulate, debubble.schedule):
        try:
            call(schedule=broken)
        except LookupError as error:
            assert str(error) == "'mine'" or str(error) == "mine"
        else:
            raise AssertionError("the function's own exception is lost")
    try:
        debubble.simulate(schedule=lambda: [])
    except TypeError:
        pass
    else:
        raise AssertionError("a function without arguments was called")


if __name__ == "__main__":
    run_checks(globals())
