"""What a training step takes beside its bf16 products, as tools/gpu-validate steps times it: products and casts in 8 bits,
launches by the host, and the copies that sharded parameters take (FSDP2). Needs PyTorch with CUDA."""

import itertools
import math
import statistics
import time
from functools import partial

import torch
import torch.nn.functional as F
from kernel_rows import GptBlock, block_times
from kernel_timing import by_events, by_graph, random, rotating
from torch import nn

# n, k of one layer's products: LLaMA 8B on one tensor rank, GPT 1.3B, and hidden 1024.
PRODUCTS = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336), (6144, 2048), (2048, 2048), (8192, 2048),
            (2048, 8192), (3072, 1024), (1024, 1024), (4096, 1024), (1024, 4096)]
TOKENS = [1024, 4096, 8192]
CASTS = [(1024, 4096), (4096, 4096), (8192, 4096), (4096, 14336), (8192, 14336)]  # rows, columns
HIGHEST = 448.0  # of e4m3
# Parameters of one block: q, k, v, o, gate, up, down, two norms.
BLOCKS = {
    "llama 8b": [(4096, 4096), (1024, 4096), (1024, 4096), (4096, 4096), (14336, 4096), (14336, 4096), (4096, 14336),
                 (4096,), (4096,)],
    "llama 70b": [(8192, 8192), (1024, 8192), (1024, 8192), (8192, 8192), (28672, 8192), (28672, 8192), (8192, 28672),
                  (8192,), (8192,)],
}
RANKS = (8, 64, 256)
LAUNCHES = 500  # below the depth of a stream's queue, which makes the host wait


def eight(*shape, gradient=False):
    return random(*shape).to(torch.float8_e5m2 if gradient else torch.float8_e4m3fn)


def ones(*shape):
    return torch.ones(*shape, device="cuda")


# Variant: operands of the product forward with m rows, n columns, inner size k as they are stored, their scales, and
# whether the product may sum in less than 32 bits, as training does forward only.
def operands(variant, m, n, k):
    if variant == "input_grad":
        return lambda: (eight(m, n, gradient=True), eight(k, n)), ones(()), ones(()), False
    if variant == "weight_grad":
        return lambda: (eight(n, m, gradient=True), eight(k, m)), ones(()), ones(()), False
    make = lambda: (eight(m, k), eight(n, k))  # noqa: E731
    if variant == "forward, scales of rows":
        return make, ones(m, 1), ones(1, n), True
    if variant == "forward, scales of blocks":  # 1 x 128 of the activations, 128 x 128 of the weights
        return make, ones(k // 128, m).t(), ones(n // 128, k // 128).t(), False
    return make, ones(()), ones(()), True


def product(variant, m, n, k):
    make, left, right, fast = operands(variant, m, n, k)

    def multiply(x, w):
        return torch._scaled_mm(x, w.t(), left, right, out_dtype=torch.bfloat16, use_fast_accum=fast)

    return by_graph(rotating(make, multiply))


VARIANTS = ("forward", "input_grad", "weight_grad", "forward, scales of rows", "forward, scales of blocks")


def largest(x):
    return x.abs().amax().float()


def cast(x, scale):
    return (x.float() * scale).clamp(-HIGHEST, HIGHEST).to(torch.float8_e4m3fn)


def cast_both(x, scale):
    """And its transpose, which the weight gradient takes."""
    y = cast(x, scale)
    return y, y.t().contiguous()


def cast_now(x):
    """With the scale of the tensor as it is."""
    scale = HIGHEST / largest(x).clamp(min=1e-12)
    return cast(x, scale), scale


def cast_parts(x, size):
    """A scale for each `size` numbers of a row."""
    parts = x.float().unflatten(-1, (-1, size))
    scale = HIGHEST / parts.abs().amax(-1, keepdim=True).clamp(min=1e-12)
    return (parts * scale).clamp(-HIGHEST, HIGHEST).to(torch.float8_e4m3fn).flatten(-2), scale.squeeze(-1)


def swiglu(x):
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up


def casts(columns):
    """Name: the call, on x and a scale."""
    return {"largest": lambda x, scale: largest(x), "scale known": cast, "scale known, and transposed": cast_both,
            "scale of now": lambda x, scale: cast_now(x), "scales of rows": lambda x, scale: cast_parts(x, columns),
            "scales of 128": lambda x, scale: cast_parts(x, 128), "swiglu, scale known": lambda x, scale: cast(swiglu(x), scale)}


def timed_cast(name, rows, columns, compiled):
    scale = ones(())
    function = casts(columns)[name]
    if compiled:
        torch._dynamo.reset()
        function = torch.compile(function, dynamic=False)
    return by_graph(rotating(lambda: (random(rows, columns),), lambda x: function(x, scale)))


def measure_casts(rows, shapes=tuple(CASTS), eager=(4096, 4096)):
    """Each as torch.compile fuses it; at one size as eager PyTorch runs it, too."""
    for shape in shapes:
        for name in casts(shape[1]):
            rows.measure("cast fp8", f"{name}, compiled", shape, partial(timed_cast, name, *shape, True))
            if shape == eager:
                rows.measure("cast fp8", f"{name}, eager", shape, partial(timed_cast, name, *shape, False))


def host_time(call, times=LAUNCHES):
    """Microseconds of the host for one call, its kernels shorter than that or not: the median of seven rounds."""
    found = []
    for _ in range(8):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(times):
            call()
        found.append(time.perf_counter() - begin)
        torch.cuda.synchronize()
    return 1e6 * statistics.median(found[1:]) / times


def small_calls():
    """Name: a call whose kernels are as short as can be, and how many kernels it launches."""
    x, y = random(16, 64), random(16, 64)
    weight = random(64, 64)
    weight_to_train = random(64, 64).requires_grad_()
    heads = random(1, 4, 16, 64)
    return {
        "add in place": lambda: x.add_(y),
        "add": lambda: x + y,
        "linear": lambda: F.linear(x, weight),
        "linear, recorded by autograd": lambda: F.linear(x, weight_to_train),
        "rms_norm": lambda: F.rms_norm(x, (64,), weight[0]),
        "silu": lambda: F.silu(x),
        "attention": lambda: F.scaled_dot_product_attention(heads, heads, heads, is_causal=True),
        "view": lambda: x.view(4, 256),
        "empty": lambda: torch.empty_like(x),
    }


def graph_of(call, times):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(times):
            call()
    graph.replay()
    return graph


def graph_gap(times=1000):
    """From the start of one kernel as short as can be to that of the next, in a CUDA graph."""
    x = random(1)
    graph = graph_of(lambda: x.add_(1), times)
    return statistics.median(by_events(lambda _: graph.replay(), 1) for _ in range(9)) / times


def graph_launch(kernels):
    """The host's time to launch a graph of so many kernels."""
    x = random(1)
    graph = graph_of(lambda: x.add_(1), kernels)
    return host_time(graph.replay, 20)


def eager_gap():
    x = random(1)
    return statistics.median(by_events(lambda _: x.add_(1), LAUNCHES) for _ in range(7))


def optimizer_host(options, tensors=24 * 12):
    parameters = [random(64, 64).float().requires_grad_() for _ in range(tensors)]
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    optimizer = torch.optim.AdamW(parameters, **options)
    optimizer.step()
    return host_time(optimizer.step, 3)


def fake_ranks(count):
    """A process group of `count` ranks whose collectives do nothing: sizes, launches and copies are as they are."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore
    if dist.is_initialized():
        dist.destroy_process_group()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=count)


def block_host(shard, width=256, length=64, blocks=24):
    """Wall-clock time of a block forward and backward where the GPU waits for the host; `shard`: by FSDP2 on 8 ranks."""
    model = nn.Sequential(*(GptBlock(width, 4) for _ in range(blocks))).cuda()
    if shard:
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
        fake_ranks(8)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for block in model:
            fully_shard(block, mp_policy=policy)
        fully_shard(model, mp_policy=policy)
    else:
        model = model.bfloat16()
    times, _ = block_times(model, random(1, length, width))
    return [(us, f"per block of LayerNorm, Linear, SDPA, GELU; the step of {blocks} blocks") for us in times]


def measure_launches(rows):
    for name, call in small_calls().items():
        rows.measure("launch", f"host, {name}", (), partial(host_time, call))
    rows.measure("launch", "eager, kernel to kernel", (), eager_gap)
    rows.measure("launch", "graph, kernel to kernel", (1000,), graph_gap)
    for kernels in (10, 100, 1000, 5000):
        rows.measure("launch", "graph, host", (kernels,), partial(graph_launch, kernels))
    for name, options in (("fused", {"fused": True}), ("foreach", {"foreach": True}), ("for each tensor", {"foreach": False})):
        rows.measure("launch", f"adamw of 288 tensors, {name}", (288,), partial(optimizer_host, options))
    for name, shard in (("whole", False), ("fsdp2", True)):
        rows.measure_several("launch", (f"block forward, {name}", f"block backward, {name}"), (256, 64, 24),
                             partial(block_host, shard))


def part_sizes(shapes, ranks):
    """Numbers of each parameter that one rank has: whole rows, the last rank's filled up."""
    return [math.ceil(shape[0] / ranks) * math.prod(shape[1:]) for shape in shapes]


def gathered_copy(shapes, ranks):
    """What FSDP2 copies after a gather: each parameter out of the parts of all ranks."""
    sizes = part_sizes(shapes, ranks)
    parts = torch.empty(ranks, sum(sizes), device="cuda", dtype=torch.bfloat16)
    out = [torch.empty(ranks, size, device="cuda", dtype=torch.bfloat16) for size in sizes]
    return by_graph(lambda _: torch.split_with_sizes_copy(parts, sizes, dim=1, out=out))


def reduced_copy(shapes, ranks, kind):
    """What it copies before a sum: gradients, each rank's rows together; in 32 bits where sums are."""
    gradients = [random(*shape) for shape in shapes]
    sizes = part_sizes(shapes, ranks)
    out = torch.empty(ranks, sum(sizes), device="cuda", dtype=kind)
    return by_graph(lambda _: torch._chunk_cat(gradients, dim=0, num_chunks=ranks, out=out))


def own_part(shapes, ranks):
    """What it casts and copies before a gather: a rank's own 32-bit parameters into one 16-bit buffer."""
    sizes = part_sizes(shapes, ranks)
    own = [torch.randn(size, device="cuda") for size in sizes]
    buffer = torch.empty(sum(sizes), device="cuda", dtype=torch.bfloat16)
    parts = list(buffer.split(sizes))
    return by_graph(lambda _: torch._foreach_copy_(parts, own))


def measure_shards(rows, blocks=None, ranks=RANKS):
    for (name, shapes), count in itertools.product((blocks or BLOCKS).items(), ranks):
        shape = (name, count)
        rows.measure("fsdp copy", "before a gather", shape, partial(own_part, shapes, count))
        rows.measure("fsdp copy", "after a gather", shape, partial(gathered_copy, shapes, count))
        rows.measure("fsdp copy", "before a sum, 32 bits", shape, partial(reduced_copy, shapes, count, torch.float32))
        rows.measure("fsdp copy", "before a sum, 16 bits", shape, partial(reduced_copy, shapes, count, torch.bfloat16))


def measure_products(rows, shapes=tuple(PRODUCTS), tokens=tuple(TOKENS)):
    for (n, k), m, variant in itertools.product(shapes, tokens, VARIANTS):
        rows.measure("product fp8", variant, (m, n, k), partial(product, variant, m, n, k))


def measure_all(rows, small=False):
    if small:
        measure_launches(rows)
        measure_shards(rows, {"small": [(64, 64), (64,)]}, (8,))
        measure_products(rows, ((512, 512),), (256,))
        measure_casts(rows, ((128, 256),), (128, 256))
        return
    measure_launches(rows)
    measure_shards(rows)
    measure_products(rows)
    measure_casts(rows)
