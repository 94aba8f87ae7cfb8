"""Which kernels of training tools/gpu-validate kernels times, and with which calls of PyTorch."""

import itertools
import math
import statistics
import time
from functools import partial

import torch
import torch.nn.functional as F
from kernel_timing import by_events, by_graph, random, rotating
from torch import nn

# n, k of one layer's products: GPT 1.3B, LLaMA 8B, 70B on 1 and 8 tensor ranks, GPT 175B on 8; then logits.
PRODUCTS = [(6144, 2048), (2048, 2048), (8192, 2048), (2048, 8192), (6144, 4096), (4096, 4096), (28672, 4096),
            (4096, 14336), (1280, 8192), (8192, 1024), (7168, 8192), (8192, 3584), (10240, 8192), (57344, 8192),
            (8192, 28672), (4608, 12288), (12288, 1536), (6144, 12288), (12288, 6144), (51200, 2048), (32064, 8192)]
TOKENS = [1024, 4096, 16384]
# Variant: the factors of a product with m rows, n columns and inner size k forward, and the call.
VARIANTS = {
    "forward": (lambda m, n, k: (random(m, k), random(n, k)), lambda x, w: torch.matmul(x, w.t())),
    "input_grad": (lambda m, n, k: (random(m, n), random(n, k)), torch.matmul),
    "weight_grad": (lambda m, n, k: (random(m, n), random(m, k)), lambda dy, x: torch.matmul(dy.t(), x)),
    "weight_grad adds to fp32": (
        lambda m, n, k: (random(m, n), random(m, k), torch.zeros(n, k, device="cuda")),
        lambda dy, x, dw: torch.addmm(dw, dy.t(), x, out_dtype=torch.float32, out=dw)),
}
HEADS = [(128, 32, 8), (128, 32, 32), (64, 32, 32), (96, 32, 32)]  # size, heads, heads of keys
BACKENDS = ("CUDNN_ATTENTION", "FLASH_ATTENTION")  # of torch.nn.attention.SDPBackend
SUSTAINED = ((8192, 8192, 8192), (8192, 28672, 4096), (16384, 2048, 2048), (16384, 12288, 6144))  # m, n, k
LENGTHS = (1024, 2048, 4096, 8192, 16384)


def product(m, n, k, variant):
    make, multiply = VARIANTS[variant]
    return by_graph(rotating(lambda: make(m, n, k), multiply))


def product_fp8(m, n, k):
    """One scale per tensor, known before: the bare product."""
    one = torch.ones((), device="cuda")

    def eight(*shape):
        return random(*shape).to(torch.float8_e4m3fn)

    def multiply(x, w):
        return torch._scaled_mm(x, w.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True)

    return by_graph(rotating(lambda: (eight(m, k), eight(n, k)), multiply))


def grouped(experts, tokens, n, k):
    ends = torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * tokens
    return by_graph(rotating(lambda: (random(experts * tokens, k), random(experts, n, k)),
                             lambda x, w: torch._grouped_mm(x, w.transpose(-2, -1), offs=ends)))


def attention(batch, heads, kv_heads, length, size, causal, backend, backward):
    """Forward in a graph; backward, which autograd runs, by events around ten, the median of five such."""
    from torch.nn.attention import SDPBackend, sdpa_kernel  # not in older ones
    q, k, v = (random(batch, count, length, size).requires_grad_(backward) for count in (heads, kv_heads, kv_heads))

    def forward(_=0):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kv_heads)

    with sdpa_kernel(getattr(SDPBackend, backend)):
        if not backward:
            with torch.no_grad():
                return by_graph(forward)
        out = forward()
        gradient = torch.randn_like(out)

        def back(_):
            torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True)

        by_events(back, 3)
        return statistics.median(by_events(back, 10) for _ in range(5))


def measure_products(rows, shapes=tuple(PRODUCTS), tokens=tuple(TOKENS)):
    for n, k in shapes:
        for m in tokens:
            for variant in VARIANTS:
                rows.measure("product bf16", variant, (m, n, k), partial(product, m, n, k, variant))
            rows.measure("product fp8", "forward", (m, n, k), partial(product_fp8, m, n, k))


def measure_grouped(rows, experts=8, each=(64, 256, 1024, 4096), shapes=((4096, 7168), (2048, 4096))):
    """Products of experts with as many tokens each, and one product of all their tokens."""
    for tokens in each:
        for n, k in shapes:
            shape = (experts, tokens, n, k)
            rows.measure("grouped bf16", "forward", shape, partial(grouped, *shape))
            rows.measure("grouped bf16", "one product", shape, partial(product, experts * tokens, n, k, "forward"))


def measure_attention(rows, lengths=LENGTHS, tokens=8192):
    """Causal and full by cuDNN and FlashAttention; each head of its own keys only at 4096 for size 128, as it is known
    to matter little, and other sizes only causal."""
    for length in lengths:
        batch = max(1, tokens // length)
        for size, heads, kv_heads in HEADS:
            if size == 128 and heads == kv_heads and length != 4096:
                continue
            masks = (True, False) if size == 128 else (True,)
            for backend, causal, backward in itertools.product(BACKENDS, masks, (False, True)):
                variant = f"{'backward' if backward else 'forward'} {'causal' if causal else 'full'} {backend.lower()}"
                arguments = (batch, heads, kv_heads, length, size, causal, backend, backward)
                rows.measure("attention", variant, (batch, f"{heads}/{kv_heads}", length, size),
                             partial(attention, *arguments))


def measure_passes(rows, tokens=16384, width=8192, parameters=1 << 26):
    """Passes over memory, and one step of a fused AdamW in 32 bits over four tensors of `parameters`."""
    x = [random(tokens, width) for _ in range(3)]
    weight = random(width)
    passes = {"copy": lambda i: x[2].copy_(x[i % 2]),
              "add": lambda _: torch.add(x[0], x[1], out=x[2]),
              "rms_norm": lambda i: F.rms_norm(x[i % 3], (width,), weight),
              "layer_norm": lambda i: F.layer_norm(x[i % 3], (width,), weight, weight),
              "gelu": lambda i: F.gelu(x[i % 3], approximate="tanh"),
              "softmax": lambda i: F.softmax(x[i % 3], -1)}
    for name, call in passes.items():
        rows.measure("memory", name, (tokens, width), partial(by_graph, call))

    def adamw():
        tensors = [torch.randn(parameters, device="cuda", requires_grad=True) for _ in range(4)]
        for tensor in tensors:
            tensor.grad = torch.randn_like(tensor)
        optimizer = torch.optim.AdamW(tensors, lr=1e-4, fused=True)
        by_events(lambda _: optimizer.step(), 2)  # makes its states
        return by_events(lambda _: optimizer.step(), 10)

    rows.measure("memory", "adamw fp32, fused", (4 * parameters,), adamw)


def clock_and_power(call, times):
    """While `times` calls run."""
    try:
        import pynvml
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByIndex(0)
        for number in range(times):
            call(number)
        clock = pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM)
        watts = pynvml.nvmlDeviceGetPowerUsage(device) / 1000
        torch.cuda.synchronize()
        return f"{clock} MHz, {watts:.0f} W"
    except Exception as error:  # noqa: BLE001: pynvml is not always there, and has errors of its own
        return f"no clocks: {error}"


def sustained(m, n, k, seconds):
    """Blocks of 0.1 s of one product for some seconds: the first one, and the median of the last second's."""
    make, multiply = VARIANTS["forward"]
    call = rotating(lambda: make(m, n, k), multiply)
    by_events(call, 3)
    time.sleep(0.5)
    times = max(1, math.ceil(100_000 / by_events(call, 3)))
    found = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found.append(by_events(call, times))
    return (found[0], ""), (statistics.median(found[-10:]), clock_and_power(call, times))


def measure_sustained(rows, shapes=SUSTAINED, seconds=3.0):
    for shape in shapes:
        rows.measure_several("sustained", ("first 0.1 s", "last second"), shape, partial(sustained, *shape, seconds), seconds)


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.qkv, self.proj = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm2, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def block_times(model, x):
    """Microseconds of the wall clock of a block forward and backward, where the GPU waits for the host; and the step."""
    def step():
        begin = time.perf_counter()
        loss = model(x).float().sum()
        torch.cuda.synchronize()
        middle = time.perf_counter()
        loss.backward()
        torch.cuda.synchronize()
        return middle - begin, time.perf_counter() - middle

    for _ in range(10):
        step()
    found = [step() for _ in range(30)]
    return [1e6 * statistics.median(f[index] for f in found) / len(model) for index in range(2)], step


def host(width, length, blocks):
    model = nn.Sequential(*(GptBlock(width, 4) for _ in range(blocks))).cuda().bfloat16()
    times, step = block_times(model, random(1, length, width))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as recording:
        step()
    on_gpu = torch.autograd.DeviceType.CUDA
    kernels = sum(event.count for event in recording.key_averages() if event.device_type == on_gpu)
    remark = f"per block of LayerNorm, Linear, SDPA, GELU; {kernels} kernels in the step of {blocks} blocks"
    return [(us, remark) for us in times]


def measure_host(rows, width=256, length=64, blocks=24):
    """Blocks so small that the GPU waits for the host: wall-clock time of one block's forward and backward."""
    shape = (width, length, blocks)
    rows.measure_several("host", ("forward", "backward"), shape, partial(host, *shape))


def measure_all(rows, small=False):
    if small:
        measure_passes(rows, 64, 64, 1 << 10)
        measure_host(rows, blocks=2)
        measure_attention(rows, (1024,), 1024)
        measure_products(rows, ((256, 128),), (64,))
        measure_grouped(rows, 2, (64,), ((256, 128),))
        measure_sustained(rows, ((256, 256, 256),), 0.2)
        return
    measure_passes(rows)
    measure_host(rows)
    measure_attention(rows)
    measure_products(rows)
    measure_grouped(rows)
    measure_sustained(rows)
