"""One stage of one replica: its forward and the parts of its backward, on any number of pieces in flight.

The split of the backward. I asks autograd for the gradient of the stage's input and, at no cost, for those of what every
module with parameters of its own has returned: they lie on the way. W then asks, module by module, for the gradients of
its parameters from that. So what I has done W does not do again. Where a module is called more than once in a forward, or
returns more than one tensor, that is not possible: W then differentiates the whole stage, and computes input gradients
inside it once more (`differentiates_whole`). Whether the split is right for a stage, `settle_split` finds out by trying.
"""

import torch


class WrongOrder(Exception):
    """An op ran before what it needs: the row is wrong."""


def check_one_tensor(value, stage):
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"stage {stage} must return one tensor; it returned a {type(value).__name__}")
    return value


class Flight:
    """What a piece's forward leaves for its backward."""

    def __init__(self, source, output):
        self.source = source    # the stage's input, a leaf
        self.output = output    # the stage's output, or the loss
        self.makers = {}        # module: what it returned
        self.arrived = None     # the gradient of `output`, kept from I to W
        self.inner = None       # the gradients of `makers`, kept from I to W


class Stage:
    def __init__(self, number, module, loss):
        self.number = number
        self.module = module
        self.loss = loss  # None: not the last stage
        self.flights = {}
        self.sources = {}  # of pieces that are to be recomputed
        self.losses = {}
        self.parameters = [p for p in module.parameters() if p.requires_grad]
        self.sums = [None] * len(self.parameters)
        self.place = {id(p): k for k, p in enumerate(self.parameters)}
        self.owners = [m for m in module.modules() if self.own(m)]
        self.calls = None
        self.differentiates_whole = False
        for owner in self.owners:
            owner.register_forward_hook(self.note)

    @staticmethod
    def own(module):
        return [p for p in module.parameters(recurse=False) if p.requires_grad]

    def note(self, module, _arguments, output):
        if self.calls is None:
            return
        if module in self.calls or not isinstance(output, torch.Tensor):
            self.differentiates_whole = True
        self.calls[module] = output

    def settle_split(self, source, arrived):
        """Compares I and W with B once; where they differ by more than rounding, W does without the short way."""
        def sums_of(*parts):
            self.reset()
            self.forward(0, source)
            for part in parts:
                part()
            return self.sums

        whole = sums_of(lambda: self.backward(0, arrived))
        parts = sums_of(lambda: self.input_gradient(0, arrived), lambda: self.weight_gradient(0))
        self.differentiates_whole = self.differentiates_whole or not all(self.close(a, b) for a, b in zip(whole, parts))
        self.reset()

    @staticmethod
    def close(a, b):
        if a is None or b is None:
            return a is b
        return bool((a - b).abs().max() <= 1e-3 * a.abs().max())

    def reset(self):
        self.flights.clear()
        self.sources.clear()
        self.losses.clear()
        self.sums = [None] * len(self.parameters)

    def forward_for_recompute(self, piece, source):
        """Keeps the input alone; `recompute` makes the rest."""
        self.sources[piece] = source
        with torch.no_grad():
            output = check_one_tensor(self.module(source.detach()), self.number)
            return output if self.loss is None else self.loss(output, piece)

    def recompute(self, piece):
        if piece not in self.sources:
            raise WrongOrder(f"{self.number}R{piece} runs before {self.number}F{piece}, or a second time")
        self.forward(piece, self.sources.pop(piece))

    # The last stage's output is the loss, a number of which it keeps only the value.
    def forward(self, piece, source):
        leaf = source.detach()
        if leaf.is_floating_point() and self.number > 0:
            leaf.requires_grad_()
        self.calls = {}
        output = check_one_tensor(self.module(leaf), self.number)
        if self.loss is not None:
            output = self.loss(output, piece)
            self.losses[piece] = output.detach()
        flight = Flight(leaf, output)
        flight.makers, self.calls = self.calls, None
        self.flights[piece] = flight
        return output.detach()

    def flight(self, piece, op):
        if piece not in self.flights:
            raise WrongOrder(f"{self.number}{op}{piece} runs before {self.number}F{piece}, or a second time")
        return self.flights[piece]

    def add(self, gradients):
        for k, gradient in enumerate(gradients):
            if gradient is None:
                continue
            self.sums[k] = gradient if self.sums[k] is None else self.sums[k].add_(gradient)

    # `arrived` is None on the last stage.
    def backward(self, piece, arrived):
        flight = self.flight(piece, "B")
        wanted = [flight.source] if flight.source.requires_grad else []
        gradients = torch.autograd.grad(flight.output, wanted + self.parameters, arrived, allow_unused=True)
        del self.flights[piece]
        # A gradient may be the very tensor that arrived, or another parameter's: a sum must have memory of its own.
        self.add(self.unshared(gradients[len(wanted):], arrived))
        return gradients[0] if wanted else None

    def unshared(self, gradients, *others):
        seen = {other.data_ptr() for other in others if other is not None}
        result = []
        for gradient in gradients:
            if gradient is not None and (gradient.data_ptr() in seen or not gradient.is_contiguous()):
                gradient = gradient.clone(memory_format=torch.contiguous_format)
            if gradient is not None:
                seen.add(gradient.data_ptr())
            result.append(gradient)
        return result

    def input_gradient(self, piece, arrived):
        flight = self.flight(piece, "I")
        wanted = [flight.source] if flight.source.requires_grad else []
        if self.differentiates_whole:
            flight.arrived = arrived
            if not wanted:
                return None
            return torch.autograd.grad(flight.output, wanted, arrived, retain_graph=True)[0]
        makers = [made for made in flight.makers.values() if made.requires_grad]
        gradients = torch.autograd.grad(flight.output, wanted + makers, arrived, retain_graph=True, allow_unused=True)
        flight.inner = {id(made): gradient for made, gradient in zip(makers, gradients[len(wanted):])}
        return gradients[0] if wanted else None

    def weight_gradient(self, piece):
        flight = self.flight(piece, "W")
        if flight.inner is None and not self.differentiates_whole:
            raise WrongOrder(f"{self.number}W{piece} runs before {self.number}I{piece}")
        if self.differentiates_whole:
            gradients = torch.autograd.grad(flight.output, self.parameters, flight.arrived, allow_unused=True)
        else:
            gradients = [None] * len(self.parameters)
            for module, made in flight.makers.items():
                self.of_module(module, made, flight.inner.get(id(made)), gradients)
        del self.flights[piece]
        self.add(self.unshared(gradients, flight.arrived, *(flight.inner or {}).values()))

    def of_module(self, module, made, gradient, gradients):
        if gradient is None:  # nothing of the output depends on it
            return
        own = self.own(module)
        for parameter, found in zip(own, torch.autograd.grad(made, own, gradient, retain_graph=True, allow_unused=True)):
            k = self.place[id(parameter)]
            gradients[k] = found if gradients[k] is None or found is None else gradients[k] + found
