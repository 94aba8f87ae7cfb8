"""What the checks of the Python module share."""

import subprocess
import sys
import traceback

import debubble

BINARY = sys.argv[1]


def printed_by(command, status=(0, 1)):
    """What the command prints, asked as `result.command` says it."""
    words = command.replace("debubble", BINARY, 1)
    run = subprocess.run(["sh", "-c", words], capture_output=True, check=False)
    assert run.returncode in status, f"{command}: exit status {run.returncode}: {run.stderr.decode()}"
    return run.stdout.decode()


def require_same_json(result):
    """The result's JSON and the command's: the same bytes."""
    expected = printed_by(result.command)
    assert result.json == expected, f"{result.command}: {result.json[:200]!r} is not {expected[:200]!r}"


def refused(call, *arguments, **flags):
    """The debubble.Error that a call raises."""
    try:
        result = call(*arguments, **flags)
    except debubble.Error as error:
        return error
    raise AssertionError(f"{call.__name__}({arguments}, {flags}) was not refused: {result!r}")


def require_error(code, place, call, *arguments, **flags):
    """That the call is refused with this code at this place, with a message and a remedy."""
    error = refused(call, *arguments, **flags)
    assert (error.code, error.place) == (code, place), f"{error.code} at {error.place!r}, not {code} at {place!r}: {error}"
    assert error.message and error.remedy, str(error)
    return error


def run_checks(namespace):
    """Runs every function named check_*; exit status 1 where one fails."""
    failed = 0
    for name, check in list(namespace.items()):
        if not name.startswith("check_"):
            continue
        try:
            found = check()
            print(f"{name}: {found or 'fine'}")
        except Exception:  # noqa: BLE001: told, and the next one runs
            traceback.print_exc()
            print(f"{name}: FAILED")
            failed += 1
    sys.exit(1 if failed else 0)
