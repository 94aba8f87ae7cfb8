"""Whether the pipeline's gradients are those of the unsplit model.

Process 0 has the whole model. It runs every microbatch through all stages at once, differentiates its loss by all
parameters at once, and adds the gradients up in the order in which the pipeline adds them: of each stage in the order of
its B or W in the row of its device, then replica after replica. Same operations, same order: the same bits, unless PyTorch
picks other kernels.
"""

import torch
import torch.distributed as dist

# Of the largest gradient of a parameter.
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4}


def sum_between_replicas(plan, rank, stages, groups):
    """Every holder of a stage gets the sum over all replicas, as after a step's all-reduce."""
    for stage in range(plan.stages):
        holders = plan.holders(stage)
        if len(holders) < 2:
            continue
        own = [stages[replica, stage] for replica, device in holders if device == rank]
        devices = sorted({device for _, device in holders})
        for k in range(len(own[0].parameters) if own else 0):
            parts = [copy.sums[k] for copy in own if copy.sums[k] is not None]
            total = torch.zeros_like(own[0].parameters[k]) if not parts else parts[0].clone()
            for part in parts[1:]:
                total += part
            if len(devices) > 1:
                dist.all_reduce(total, group=groups[tuple(devices)])
            for copy in own:
                copy.sums[k] = total


def make_groups(plan):
    """One group for each set of devices that hold the same stage; made by all processes in one order."""
    sets = sorted({tuple(sorted({device for _, device in plan.holders(stage)})) for stage in range(plan.stages)})
    return {devices: dist.new_group(list(devices)) for devices in sets if len(devices) > 1}


def flat(stage):
    return torch.cat([(torch.zeros_like(p) if g is None else g).detach().flatten()
                      for p, g in zip(stage.parameters, stage.sums)] or [torch.zeros(0)])


def collect(plan, rank, stages, model):
    """In process 0: by stage the flat gradient of its first replica's holder; elsewhere nothing."""
    result = {}
    for stage in range(plan.stages):
        replica, device = plan.holders(stage)[0]
        if rank == device:
            own = flat(stages[replica, stage])
            if rank == 0:
                result[stage] = own
            elif own.numel():
                dist.send(own, 0)
        elif rank == 0:
            parameters = [p for p in model.stages[stage].parameters() if p.requires_grad]
            result[stage] = torch.zeros(sum(p.numel() for p in parameters), dtype=model.dtype, device=model.device)
            if parameters:
                dist.recv(result[stage], device)
    return result


def microbatch_gradients(model, piece, inputs):
    """(loss, by stage the gradients of its parameters) of one microbatch of the unsplit model."""
    value = inputs[piece]
    for stage in model.stages:
        value = stage(value)
    loss = model.loss(value, piece)
    parameters = [[p for p in stage.parameters() if p.requires_grad] for stage in model.stages]
    found = iter(torch.autograd.grad(loss, sum(parameters, []), allow_unused=True))
    return loss.detach(), [[next(found) for _ in own] for own in parameters]


def reference(plan, model, inputs):
    """(losses, by stage the list of its parameters' gradients): sums in the pipeline's order."""
    losses, pieces = {}, []
    for piece in range(plan.pieces):
        losses[piece], gradients = microbatch_gradients(model, piece, inputs)
        pieces.append(gradients)
    totals = []
    for stage in range(plan.stages):
        replicas = []
        for replica in range(plan.replicas):
            replicas.append(added([pieces[piece][stage] for piece in plan.gradient_order(replica, stage)]))
        totals.append(added([each for each in replicas if each is not None]))
    return losses, totals


def added(lists):
    total = None
    for gradients in lists:
        if total is None:
            total = [None if g is None else g.clone() for g in gradients]
            continue
        for k, gradient in enumerate(gradients):
            if gradient is not None:
                total[k] = gradient.clone() if total[k] is None else total[k].add_(gradient)
    return total


def compare(model, totals, collected):
    """Facts of the comparison, and the names of the parameters that differ by more than the tolerance."""
    facts = {"parameters": 0, "numbers": 0, "same_bits": 0, "max_absolute": 0.0, "max_relative": 0.0,
             "tolerance": TOLERANCE[model.dtype]}
    wrong = []
    for stage, module in enumerate(model.stages):
        place = 0
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        for k, (name, parameter) in enumerate(named):
            found = collected[stage][place:place + parameter.numel()].view_as(parameter)
            place += parameter.numel()
            wanted = totals[stage][k] if totals[stage] and totals[stage][k] is not None else torch.zeros_like(parameter)
            absolute = (found - wanted).abs().max().item()
            relative = absolute / (wanted.abs().max().item() or 1.0)
            facts["parameters"] += 1
            facts["numbers"] += parameter.numel()
            facts["same_bits"] += bool(torch.equal(found, wanted))
            facts["max_absolute"] = max(facts["max_absolute"], absolute)
            facts["max_relative"] = max(facts["max_relative"], relative)
            if not relative <= facts["tolerance"]:  # also where it is not a number
                wrong.append((stage, name, absolute, relative))
    return facts, wrong
