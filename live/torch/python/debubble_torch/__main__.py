"""`python -m debubble_torch FOLDER RANK`: see the package."""

import ctypes
import os
import signal
import sys
import traceback

# Exit statuses that debubble knows.
OURS, LOST, WRONG_ORDER, LACKING = 1, 75, 76, 77
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def die_with(parent):
    """However debubble ends, no process of its stays."""
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(OURS)


def write_error(folder, rank, error):
    frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)
              if os.path.dirname(__file__) not in frame.filename and "/torch/" not in frame.filename]
    place = f" ({frames[-1]})" if frames else ""
    text = str(error).strip().splitlines()
    kind = "" if type(error).__name__ in ("StagesError", "PlanError", "WrongOrder", "Lacking") else type(error).__name__ + ": "
    with open(os.path.join(folder, f"rank{rank}.error"), "w", encoding="utf-8") as file:
        file.write(kind + (text[0] if text else "no reason given") + place + "\n")


def main():
    folder, rank = sys.argv[1], int(sys.argv[2])
    die_with(int(os.environ["DEBUBBLE_TORCH_PARENT"]))
    from debubble_torch import status as at
    from debubble_torch.plan import read_plan
    status = at.Status(os.path.join(folder, "status.bin"), rank)
    status.set(at.STARTING)
    code = 0
    try:
        from debubble_torch.exchange import Lost
        from debubble_torch.rank import Lacking, Rank
        from debubble_torch.stage import WrongOrder
        with open(os.path.join(folder, "plan.txt"), encoding="utf-8") as file:
            plan = read_plan(file.read())
        try:
            Rank(plan, rank, folder, status).run()
        except (Lost, Lacking, WrongOrder) as error:
            code = {Lost: LOST, Lacking: LACKING, WrongOrder: WRONG_ORDER}[type(error)]
            write_error(folder, rank, error)
    except BaseException as error:  # pylint: disable=broad-except
        # A collective, too, fails where another process has gone.
        lost = isinstance(error, RuntimeError) and any(word in str(error) for word in ("Connection", "gloo", "NCCL"))
        code = LOST if lost else OURS
        write_error(folder, rank, error)
        if not lost:
            traceback.print_exc()
    if code not in (0, LOST):  # who lost another one stays where it was
        status.set(at.FAILED)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads may wait for messages that will not come


main()
