"""Training steps: a range debubble.step:N from the first forward of a step to the end of its optimizer step."""


class Steps:
    def __init__(self):
        self.number = 0
        self._main = None  # id of the optimizer whose steps count: the first that steps

    def stepped(self, optimizer):
        """Whether this ends a step. Of several optimizers the first decides, so that one iteration is one step."""
        if self._main is None:
            self._main = id(optimizer)
        if id(optimizer) != self._main:
            return False
        self.number += 1
        return True
