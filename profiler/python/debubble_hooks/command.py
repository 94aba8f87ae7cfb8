"""The command line: takes our flags off, installs the hooks, and runs the script as `python` itself would."""

import argparse
import builtins
import ctypes
import io
import os
import runpy
import sys
import types

from debubble_hooks import sizes_file
from debubble_hooks.device import cpu_is_measured


def parser():
    result = argparse.ArgumentParser(
        prog="python -m debubble_hooks",
        usage="python -m debubble_hooks [options] (train.py | -m module) [its arguments]",
        description="Runs a PyTorch training script with ranges around its layers, and counts what each layer keeps for "
                    "its backward. Under `debubble profile -o FILE -- python -m debubble_hooks train.py` both end up in "
                    "the profile.")
    result.add_argument("--layers", metavar="REGEX",
                        help="modules whose qualified name matches are the layers (default: the blocks of the model's "
                             "ModuleList or Sequential, and what runs before and after them)")
    result.add_argument("--sizes", metavar="FILE", help="where the sizes go (default: next to the recording)")
    result.add_argument("--size-passes", metavar="N", type=int, default=2,
                        help="forward passes in which sizes are counted (default: 2; 0: none)")
    result.add_argument("--no-operators", action="store_true",
                        help="without PyTorch's operator ranges: lighter, but no backward can be attributed")
    result.add_argument("-m", dest="module", action="store_true", help="run a module, like python -m")
    return result


def split(arguments):
    """(our arguments, the script and its arguments): the first word that is no option of ours begins the script."""
    takes_value = {"--layers", "--sizes", "--size-passes"}
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        if arguments[index] == "--":
            return arguments[:index], arguments[index + 1:]
        if arguments[index] == "-m":
            return arguments[:index + 1], arguments[index + 1:]
        index += 2 if arguments[index] in takes_value else 1
    return arguments[:index], arguments[index:]


def run_script(words, as_module):
    """Like `python words...`: argv, the first entry of sys.path, __file__ and __name__ are those of the script."""
    sys.argv = list(words)
    if as_module:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        return
    sys.path[0] = os.path.dirname(os.path.realpath(words[0]))
    # Not runpy.run_path: it takes the module away at the end, under threads and exit handlers that still use it.
    path = os.path.abspath(words[0])
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    script = types.ModuleType("__main__")
    script.__dict__.update(__file__=path, __builtins__=builtins, __spec__=None, __cached__=None)
    sys.modules["__main__"] = script
    exec(code, script.__dict__)


def another_rank_is_wanted():
    """`debubble profile --rank 3` measures that rank alone: the others run as they would without us."""
    wanted = os.environ.get("DEBUBBLE_RANK", "")
    return wanted.isdigit() and int(wanted) != sizes_file.rank()


def without_torch(error):
    """Nothing can be timed, so the script does not run for nothing; the launcher gets to know why."""
    message = f"{sys.executable} has no PyTorch that can be imported ({error})"
    advice = "install it there (Debian: apt install python3-torch), or start the script with the python that has it"
    library = os.environ.get("DEBUBBLE_INJECT")
    try:
        ctypes.CDLL(library).debubble_host_trouble(b"U041", message.encode(), advice.encode())
    except (OSError, AttributeError, TypeError):
        print(f"debubble_hooks: {message}: {advice}", file=sys.stderr)
    return 3


def main(arguments):
    ours, script = split(arguments)
    options = parser().parse_args(ours)
    if not script:
        parser().error("which script? write: python -m debubble_hooks train.py")
    if not options.module and not os.path.exists(script[0]):
        parser().error(f"there is no file {script[0]}")
    if options.no_operators and cpu_is_measured():
        parser().error("--no-operators leaves nothing that could be timed on the CPU: leave it out")
    try:
        import torch  # noqa: F401  (the script needs it; without it our hooks have nothing to watch)
    except ImportError as error:
        if cpu_is_measured():
            return without_torch(error)
        print("debubble_hooks: PyTorch cannot be imported, so nothing is watched", file=sys.stderr)
        run_script(script, options.module)
        return 0
    if another_rank_is_wanted():
        run_script(script, options.module)
        return 0
    from debubble_hooks.watch import Watch, WatchOptions

    watch = Watch(WatchOptions(layers=options.layers, sizes_file=options.sizes, size_passes=options.size_passes,
                               operators=not options.no_operators))
    watch.install()
    try:
        run_script(script, options.module)
        watch.finish(complete=True)
    except SystemExit as ending:
        watch.finish(complete=ending.code in (None, 0))
        raise
    except BaseException:
        watch.finish(complete=False)
        raise
    return 0
