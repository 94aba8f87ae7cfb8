"""What the prediction is made of, measured before the run: ops with the other processes idle, and the connection."""

import statistics
import time

import torch
import torch.distributed as dist

WARM_UP = 2
ROUND_TRIPS = 30


def timed(work, cuda):
    begin = time.monotonic_ns()
    result = work()
    if cuda:
        torch.cuda.synchronize()
    return time.monotonic_ns() - begin, result


def op_times(stage, source, arrived, repetitions, cuda):
    """Nanoseconds of F, B, I and W: medians."""
    times = {kind: [] for kind in "FBIW"}
    for _ in range(WARM_UP + repetitions):
        for parts in ("B", "IW"):
            took, _ = timed(lambda: stage.forward(0, source), cuda)
            times["F"].append(took)
            for kind in parts:
                work = {"B": lambda: stage.backward(0, arrived), "I": lambda: stage.input_gradient(0, arrived),
                        "W": lambda: stage.weight_gradient(0)}[kind]
                times[kind].append(timed(work, cuda)[0])
    stage.reset()
    return {kind: round(statistics.median(found[WARM_UP * (2 if kind == "F" else 1):])) for kind, found in times.items()}


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


def one_way(rank, exchange, size, first_tag):
    """Nanoseconds from process 0 to process 1 or back: half of the median round trip of `size` bytes."""
    peer = 1 - rank
    key = [("ping", size, k) for k in range(ROUND_TRIPS)]
    exchange.post([(key[k], first_tag + k, peer, (size,), torch.uint8) for k in range(ROUND_TRIPS)])
    message = torch.zeros(size, dtype=torch.uint8, device=exchange.device)
    times = []
    for k in range(ROUND_TRIPS):
        begin = time.monotonic_ns()
        if rank == 0:
            exchange.send(message, peer, first_tag + k)
        exchange.take(key[k])
        if rank == 1:
            exchange.send(message, peer, first_tag + k)
        times.append(time.monotonic_ns() - begin)
    exchange.finish()
    for each in key:
        exchange.buffers.pop(each)
    return round(statistics.median(times[WARM_UP:])) // 2


def link(rank, world, exchange, largest, first_tag):
    """(latency in ns, bytes per second or 0 where that was too fast to measure); process 0 has the result."""
    latency, bandwidth = 0, 0
    if world > 1 and rank < 2:
        latency = one_way(rank, exchange, 8, first_tag)
        whole = one_way(rank, exchange, max(largest, 8), first_tag + ROUND_TRIPS)
        if whole > latency and largest > 8:
            bandwidth = round(largest * 1e9 / (whole - latency))
    dist.barrier()
    return latency, bandwidth
