"""What the prediction is made of, measured before the run: ops with the other processes idle, and messages."""

import statistics
import time

import torch
import torch.distributed as dist

WARM_UP = 2
MESSAGES = 20
IN_FLIGHT = 4


def timed(work, cuda):
    begin = time.monotonic_ns()
    result = work()
    if cuda:
        torch.cuda.synchronize()
    return time.monotonic_ns() - begin, result


def op_times(stage, source, arrived, repetitions, cuda):
    """Nanoseconds of F, B, I and W: medians. Several pieces are in flight, as in a run: their data are not in the cache."""
    times = {kind: [] for kind in "FBIW"}
    for _ in range(-(-repetitions // IN_FLIGHT) + 1):
        for kinds in ("FB", "FIW"):
            for kind in kinds:
                work = {"F": lambda piece: stage.forward(piece, source), "B": lambda piece: stage.backward(piece, arrived),
                        "I": lambda piece: stage.input_gradient(piece, arrived), "W": stage.weight_gradient}[kind]
                for piece in range(IN_FLIGHT):
                    times[kind].append(timed(lambda: work(piece), cuda)[0])
    stage.reset()
    first = {"F": 2 * IN_FLIGHT}  # warm-up
    return {kind: round(statistics.median(found[first.get(kind, IN_FLIGHT):])) for kind, found in times.items()}


def saved_bytes(stage, source):
    """(bytes that autograd keeps of a forward, bytes of the gradients that are kept from I to W), parameters left out."""
    sizes = {}
    parameters = {p.data_ptr() for p in stage.parameters}

    def keep(tensor):
        if tensor.data_ptr() not in parameters:
            sizes[tensor.data_ptr()] = max(sizes.get(tensor.data_ptr(), 0), tensor.numel() * tensor.element_size())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        stage.forward(0, source)
    made = [made for made in stage.flights[0].makers.values() if isinstance(made, torch.Tensor)]
    stage.reset()
    return sum(sizes.values()), sum(tensor.numel() * tensor.element_size() for tensor in made)


def random_like(boundary, device, scale=1.0):
    shape, dtype = boundary
    generator = torch.Generator().manual_seed(7)
    return (scale * torch.randn(shape, generator=generator, dtype=dtype)).to(device)


def stage_figures(stage, boundaries, first_input, repetitions, device):
    """{"F": ns, "B": ns, "I": ns, "W": ns, "activation": bytes, "held": bytes, "input": bytes, "output": bytes, "weights": bytes}"""
    source = first_input if stage.number == 0 else random_like(boundaries[stage.number - 1], device)
    arrived = None if stage.loss is not None else random_like(boundaries[stage.number], device, 1e-3)
    stage.settle_split(source, arrived)
    figures = op_times(stage, source, arrived, repetitions, device.type == "cuda")
    activation, made = saved_bytes(stage, source)
    output = 0 if arrived is None else arrived.numel() * arrived.element_size()
    weights = sum(p.numel() * p.element_size() for p in stage.parameters)
    return {**figures, "activation": activation, "held": activation + made,
            "input": source.numel() * source.element_size(), "output": output, "weights": weights}


def one_way(rank, world, exchange, size, first_tag, work):
    """Medians over messages of `size` bytes, from each process to the next, of what they take while all are at work."""
    target, source = (rank + 1) % world, (rank - 1) % world
    keys = [("probe", size, k) for k in range(MESSAGES)]
    exchange.post([(key, first_tag + k, source, (size,), torch.uint8) for k, key in enumerate(keys)])
    message = torch.zeros(size, dtype=torch.uint8, device=exchange.device)
    dist.barrier()
    sent = []
    for k in range(MESSAGES):
        sent.append(exchange.send(message, target, first_tag + k))
        work()
    came = [exchange.take(key)[1] for key in keys]
    exchange.finish()
    for key in keys:
        exchange.buffers.pop(key)
    begins = [None] * world
    dist.all_gather_object(begins, sent)
    times = [None] * world
    dist.all_gather_object(times, [end - begin for begin, end in zip(begins[source], came)])
    return round(statistics.median(sum((each[WARM_UP:] for each in times), [])))


def link(rank, world, exchange, largest, first_tag, work):
    """(latency in ns, bytes per second or 0 where that was too fast to measure). The clock of all processes is one."""
    if world < 2:
        return 0, 0
    latency = one_way(rank, world, exchange, 8, first_tag, work)
    whole = one_way(rank, world, exchange, max(largest, 8), first_tag + MESSAGES, work)
    return latency, round(largest * 1e9 / (whole - latency)) if whole > latency and largest > 8 else 0
