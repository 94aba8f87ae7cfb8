"""Ranges that stay open across calls: the step, and what runs before the first and after the last layer.

The script's own NVTX ranges nest on the same stack. A range of ours is closed only while nothing of the script's is open
above it; where the script closes a range that lies below ours, ours closes first.
"""


class Segments:
    _step = None  # (number, user depth at its begin) of the open step; shared by the calls of a thread through `state`

    def __init__(self, ranges, state):
        self._ranges = ranges
        self._state = state
        self._open = []  # [user depth at its begin] of open segments, innermost last
        if not hasattr(state, "step"):
            state.step, state.last_step = None, None

    def open_step(self, number):
        state = self._state
        if state.step is not None or state.last_step == number:
            return
        self._ranges.push(f"debubble.step:{number}")
        state.step, state.last_step = (number, state.user_depth), number

    def close_step(self):
        if self._state.step is not None:
            if self._state.step[1] == self._state.user_depth:
                self._ranges.pop()
            self._state.step = None

    def open(self, name):
        self._ranges.push("debubble.layer:" + name)
        self._open.append(self._state.user_depth)

    def close(self):
        """Of the innermost segment, unless ranges of the script lie on it; then it stays below what follows."""
        if self._open and self._open[-1] == self._state.user_depth:
            self._ranges.pop()
            self._open.pop()

    def close_all(self):
        while self._open:
            self._ranges.pop()
            self._open.pop()

    def make_way(self, depth):
        """The script is about to close its range number `depth`."""
        if self._open and self._open[-1] == depth:
            self._ranges.pop()
            self._open.pop()
        elif self._state.step is not None and self._state.step[1] == depth and depth > 0:
            self._ranges.pop()
            self._state.step = None
