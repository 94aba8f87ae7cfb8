"""What debubble's functions take: the flags of the commands of the same names.

Made by tests/python/check_stubs.py --update.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from debubble._errors import DeadlockError as DeadlockError
from debubble._errors import Diagnostic as Diagnostic
from debubble._errors import Error as Error
from debubble._errors import UnavailableError as UnavailableError
from debubble._results import ComparedRun as ComparedRun
from debubble._results import Comparison as Comparison
from debubble._results import Device as Device
from debubble._results import Diff as Diff
from debubble._results import Figure as Figure
from debubble._results import Finding as Finding
from debubble._results import Layer as Layer
from debubble._results import Plan as Plan
from debubble._results import PlannedRun as PlannedRun
from debubble._results import Profile as Profile
from debubble._results import Schedule as Schedule
from debubble._results import Simulation as Simulation

# A text, a number, a path; a list of these; KEY=VALUE as a dict.
_One = Union[str, int, float, os.PathLike[str]]
Value = Union[_One, Sequence[_One], Mapping[str, _One], None]
# An op: "0F3", (0, "F", 3), two of them as a pair, or "" and None where the device idles.
_Cell = Union[str, tuple[Any, ...], list[Any], None]
_Rows = Sequence[Sequence[_Cell]]
ScheduleLike = Union[str, os.PathLike[str], Schedule, _Rows, Callable[[int, int], _Rows]]
Scenario = Union[str, os.PathLike[str], Mapping[str, Any], None]

__version__: str

def profile(path: str | os.PathLike[str]) -> Profile: ...
def schedule_names() -> list[str]: ...

def simulate(
    scenario: Scenario = ..., /, *,
    config: str | os.PathLike[str] | None = ...,
    schedule: ScheduleLike | Sequence[Any] | None = ...,  # schedule name, .csv or .json file (default: 1f1b)
    schedules: ScheduleLike | Sequence[Any] | None = ...,  # the same as schedule
    devices: int | str | None = ...,  # devices in the pipeline (default: 4)
    pp: int | str | None = ...,  # the same as devices
    p: int | str | None = ...,  # the same as devices
    microbatches: int | str | None = ...,  # microbatches per iteration (default: 8)
    m: int | str | None = ...,  # the same as microbatches
    chunks: int | str | None = ...,  # stages per device (default: the schedule's own)
    v: int | str | None = ...,  # the same as chunks
    param: Value = ...,  # schedule parameter; see `explain schedule NAME`
    transform: Value = ...,  # transforms, in this order; see `list transforms`
    global_batch: int | str | None = ...,  # samples per step of all replicas, instead of -m
    gbs: int | str | None = ...,  # the same as global_batch
    times: Value = ...,  # ms per device share: f=1,i=1,w=1 or f=1,b=2
    w_share: Value = ...,  # activations kept from I to W, 0..1 (default: 1) [1 = 100 %]
    profile: Value = ...,  # profile of layer times; several: sizes of one model
    partition: Value = ...,  # layers per stage: a,b,c, auto, even, memory, ...
    comm: Value = ...,  # latency per hop; bare: ms (default: profile's, 0) [ns, us, ms, s, min, h]
    bandwidth: Value = ...,  # link bandwidth: 25GB/s (default: profile's, none) [GB/s, GiB/s, Gbit/s, ...]
    host_bandwidth: Value = ...,  # offloading bandwidth (default: topology's, 25GB/s) [GB/s, GiB/s, Gbit/s, ...]
    p2p: Value = ...,  # how sends meet compute (auto: the framework's)
    model: Value = ...,  # model or a config.json; see `debubble list models`
    model_size: Value = ...,  # overrides of model sizes: layers=12,hidden=4096
    hardware: Value = ...,  # GPU by name or FILE.json (default: topology's)
    sequence: int | str | None = ...,  # tokens per sample (default: model's, profile's)
    seq_length: int | str | None = ...,  # the same as sequence
    seq: int | str | None = ...,  # the same as sequence
    microbatch_size: int | str | None = ...,  # samples per microbatch (default: 1, profile's)
    mbs: int | str | None = ...,  # the same as microbatch_size
    microbatch: int | str | None = ...,  # the same as microbatch_size
    dtype: Value = ...,  # matmul data type: bf16 (default), fp16, fp32, fp8
    fp8_recipe: Value = ...,  # scales of fp8: delayed (default), tensorwise, ...
    grad_dtype: Value = ...,  # gradient data type: fp32 (default), bf16, fp16
    optimizer: Value = ...,  # adam (default), sgd, momentum (also lion), muon
    weight_dtype: Value = ...,  # weights as stored: same as matmuls (default), fp32
    master_weights: Value = ...,  # optimizer's copy of 16-bit weights: fp32 (default)
    moment_dtype: Value = ...,  # optimizer moments: fp32 (default), bf16, fp16, fp8
    second_moment_dtype: Value = ...,  # second moment (default: --moment-dtype)
    low_gradients: Value = ...,  # 16-bit gradients once summed: freed (default), kept
    fp8_weights: Value = ...,  # 8-bit weights: beside 16-bit (default), or alone
    attention: Value = ...,  # attention kernel: flash (default) or unfused
    recompute: Value = ...,  # recompute in B: none (default), selective, full
    recompute_stages: Value = ...,  # stages that recompute: 0-2,5 (default: all)
    recompute_blocks: Value = ...,  # first:2, every:2, chunks:4 or 0-3,7 (default: all)
    recompute_modules: Value = ...,  # of selective: mlp,moe_act,... (default: core_attn)
    loss: Value = ...,  # cross entropy: unfused (default) or fused
    grad_accumulation: Value = ...,  # weight-gradient sums: fused (default), separate
    tensor_overlap: Value = ...,  # hide --tp collectives: on (in B), off, userbuffers
    context_exchange: Value = ...,  # exchange over --cp: ring (default) or all-to-all
    expert_imbalance: Value = ...,  # busiest expert rank's tokens over the mean [1 = as it is]
    capacity_factor: Value = ...,  # expert capacity: pads or drops tokens to it [1 = as it is]
    moe_dispatch: Value = ...,  # alltoall (default), deepep, hybrid or allgather
    moe_overlap: Value = ...,  # overlap expert exchange with compute: off, on
    efficiency: Value = ...,  # measured kernel efficiencies, JSON
    kernels: Value = ...,  # measured kernel times (default: hardware's)
    cuda_graphs: Value = ...,  # kernels in CUDA graphs: off (default), on
    host_launch: Value = ...,  # host time per eager kernel (default: 62us)
    calibrate: Value = ...,  # divides modelled times: compute=0.95,network=0.9
    dropout: bool | None = ...,  # the model is trained with dropout
    scatter_gather: bool | None = ...,  # --tp ranks send 1/tp each, and gather
    topology: Value = ...,  # topology: ideal (default), see `list topologies`
    network: Value = ...,  # link sharing: fluid (default), fifo, uncontended
    tp: int | str | None = ...,  # tensor-parallel ranks (default: 1)
    cp: int | str | None = ...,  # context-parallel ranks (default: 1)
    ep: int | str | None = ...,  # expert-parallel ranks (default: 1)
    etp: int | str | None = ...,  # ranks that split an expert (default: as --tp)
    dp: int | str | None = ...,  # replicas of the pipeline (default: 1)
    zero: int | str | None = ...,  # ZeRO stage of --dp: 0 (default) to 3
    sequence_parallel: bool | None = ...,  # sequence parallelism over the --tp ranks
    rank_order: Value = ...,  # rank order, nearest first (default: tp,cp,dp,pp)
    rank_devices: Value = ...,  # GPUs by rank: 0-7,16-23 (default: 0-)
    transfer_latency: Value = ...,  # latency per transfer, on top of links (default: 0) [ns, us, ms, s, min, h]
    transfer_bandwidth: Value = ...,  # bandwidth limit of a rank's transfer [GB/s, GiB/s, Gbit/s, ...]
    step: Value = ...,  # training step: on, off, or reduce=2,optimizer=0.5
    grad_reduce: Value = ...,  # gradient reduction: overlap (default) or at-end
    collective: Value = ...,  # algorithm: auto, ring, tree, hierarchical, ...
    density: Value = ...,  # share of gradients sent, --collective sparse [1 = 100 %]
    norm: Value = ...,  # norm: barrier (default), post-validation, none
    gather: Value = ...,  # gather: after-optimizer (default), before-forward
    overlap_grad_reduce: bool | None = ...,  # reduce first stage's gradients in buckets, during B
    overlap_param_gather: bool | None = ...,  # gather first stage's weights in buckets, during F
    bucket_size: Value = ...,  # parameters per bucket (default: max(40M, 1M x dp))
    keep_whole: bool | None = ...,  # ZeRO-2 and 3: shard between steps only
    slow_down: Value = ...,  # compute slowdown while collectives run: 0.15 [1 = 100 %]
    optimizer_bandwidth: Value = ...,  # memory bandwidth of the optimizer [GB/s, GiB/s, Gbit/s, ...]
    tied_embedding: Value = ...,  # gradient size of a tied embedding [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    memory: Value = ...,  # memory per GPU, or a list by device; auto, off [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    memory_outside: Value = ...,  # memory outside the allocator (with auto: 1GiB) [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    allocator: Value = ...,  # caching (PyTorch's; default), expandable or exact
    allocator_reserve: Value = ...,  # share taken beyond --allocator's: 0.05 (default 0) [1 = 100 %]
    slow: Value = ...,  # slowdown: device=3:2, stage=0:1.1, or a run file
    factors: Value = ...,  # microbatch sizes: lognormal:0.3, zipf:1.2, file
    jitter: Value = ...,  # jitter of every op: lognormal:0.05
    seed: Value = ...,  # random seed (default: 1)
) -> Simulation: ...

def compare(
    *files: str | os.PathLike[str],
    scenario: Scenario = ...,
    config: str | os.PathLike[str] | None = ...,
    schedules: ScheduleLike | Sequence[Any] | None = ...,  # schedules, joined by commas (default: all)
    schedule: ScheduleLike | Sequence[Any] | None = ...,  # the same as schedules
    devices: int | str | None = ...,  # devices in the pipeline (default: 4)
    pp: int | str | None = ...,  # the same as devices
    p: int | str | None = ...,  # the same as devices
    microbatches: int | str | None = ...,  # microbatches per iteration (default: 8)
    m: int | str | None = ...,  # the same as microbatches
    chunks: int | str | None = ...,  # stages per device (default: the schedule's own)
    v: int | str | None = ...,  # the same as chunks
    param: Value = ...,  # schedule parameter; see `explain schedule NAME`
    transform: Value = ...,  # transforms, in this order; see `list transforms`
    global_batch: int | str | None = ...,  # samples per step of all replicas, instead of -m
    gbs: int | str | None = ...,  # the same as global_batch
    times: Value = ...,  # ms per device share: f=1,i=1,w=1 or f=1,b=2
    w_share: Value = ...,  # activations kept from I to W, 0..1 (default: 1) [1 = 100 %]
    profile: Value = ...,  # profile of layer times; several: sizes of one model
    partition: Value = ...,  # layers per stage: a,b,c, auto, even, memory, ...
    comm: Value = ...,  # latency per hop; bare: ms (default: profile's, 0) [ns, us, ms, s, min, h]
    bandwidth: Value = ...,  # link bandwidth: 25GB/s (default: profile's, none) [GB/s, GiB/s, Gbit/s, ...]
    host_bandwidth: Value = ...,  # offloading bandwidth (default: topology's, 25GB/s) [GB/s, GiB/s, Gbit/s, ...]
    p2p: Value = ...,  # how sends meet compute (auto: the framework's)
    model: Value = ...,  # model or a config.json; see `debubble list models`
    model_size: Value = ...,  # overrides of model sizes: layers=12,hidden=4096
    hardware: Value = ...,  # GPU by name or FILE.json (default: topology's)
    sequence: int | str | None = ...,  # tokens per sample (default: model's, profile's)
    seq_length: int | str | None = ...,  # the same as sequence
    seq: int | str | None = ...,  # the same as sequence
    microbatch_size: int | str | None = ...,  # samples per microbatch (default: 1, profile's)
    mbs: int | str | None = ...,  # the same as microbatch_size
    microbatch: int | str | None = ...,  # the same as microbatch_size
    dtype: Value = ...,  # matmul data type: bf16 (default), fp16, fp32, fp8
    fp8_recipe: Value = ...,  # scales of fp8: delayed (default), tensorwise, ...
    grad_dtype: Value = ...,  # gradient data type: fp32 (default), bf16, fp16
    optimizer: Value = ...,  # adam (default), sgd, momentum (also lion), muon
    weight_dtype: Value = ...,  # weights as stored: same as matmuls (default), fp32
    master_weights: Value = ...,  # optimizer's copy of 16-bit weights: fp32 (default)
    moment_dtype: Value = ...,  # optimizer moments: fp32 (default), bf16, fp16, fp8
    second_moment_dtype: Value = ...,  # second moment (default: --moment-dtype)
    low_gradients: Value = ...,  # 16-bit gradients once summed: freed (default), kept
    fp8_weights: Value = ...,  # 8-bit weights: beside 16-bit (default), or alone
    attention: Value = ...,  # attention kernel: flash (default) or unfused
    recompute: Value = ...,  # recompute in B: none (default), selective, full
    recompute_stages: Value = ...,  # stages that recompute: 0-2,5 (default: all)
    recompute_blocks: Value = ...,  # first:2, every:2, chunks:4 or 0-3,7 (default: all)
    recompute_modules: Value = ...,  # of selective: mlp,moe_act,... (default: core_attn)
    loss: Value = ...,  # cross entropy: unfused (default) or fused
    grad_accumulation: Value = ...,  # weight-gradient sums: fused (default), separate
    tensor_overlap: Value = ...,  # hide --tp collectives: on (in B), off, userbuffers
    context_exchange: Value = ...,  # exchange over --cp: ring (default) or all-to-all
    expert_imbalance: Value = ...,  # busiest expert rank's tokens over the mean [1 = as it is]
    capacity_factor: Value = ...,  # expert capacity: pads or drops tokens to it [1 = as it is]
    moe_dispatch: Value = ...,  # alltoall (default), deepep, hybrid or allgather
    moe_overlap: Value = ...,  # overlap expert exchange with compute: off, on
    efficiency: Value = ...,  # measured kernel efficiencies, JSON
    kernels: Value = ...,  # measured kernel times (default: hardware's)
    cuda_graphs: Value = ...,  # kernels in CUDA graphs: off (default), on
    host_launch: Value = ...,  # host time per eager kernel (default: 62us)
    calibrate: Value = ...,  # divides modelled times: compute=0.95,network=0.9
    dropout: bool | None = ...,  # the model is trained with dropout
    scatter_gather: bool | None = ...,  # --tp ranks send 1/tp each, and gather
    topology: Value = ...,  # topology: ideal (default), see `list topologies`
    network: Value = ...,  # link sharing: fluid (default), fifo, uncontended
    tp: int | str | None = ...,  # tensor-parallel ranks (default: 1)
    cp: int | str | None = ...,  # context-parallel ranks (default: 1)
    ep: int | str | None = ...,  # expert-parallel ranks (default: 1)
    etp: int | str | None = ...,  # ranks that split an expert (default: as --tp)
    dp: int | str | None = ...,  # replicas of the pipeline (default: 1)
    zero: int | str | None = ...,  # ZeRO stage of --dp: 0 (default) to 3
    sequence_parallel: bool | None = ...,  # sequence parallelism over the --tp ranks
    rank_order: Value = ...,  # rank order, nearest first (default: tp,cp,dp,pp)
    rank_devices: Value = ...,  # GPUs by rank: 0-7,16-23 (default: 0-)
    transfer_latency: Value = ...,  # latency per transfer, on top of links (default: 0) [ns, us, ms, s, min, h]
    transfer_bandwidth: Value = ...,  # bandwidth limit of a rank's transfer [GB/s, GiB/s, Gbit/s, ...]
    step: Value = ...,  # training step: on, off, or reduce=2,optimizer=0.5
    grad_reduce: Value = ...,  # gradient reduction: overlap (default) or at-end
    collective: Value = ...,  # algorithm: auto, ring, tree, hierarchical, ...
    density: Value = ...,  # share of gradients sent, --collective sparse [1 = 100 %]
    norm: Value = ...,  # norm: barrier (default), post-validation, none
    gather: Value = ...,  # gather: after-optimizer (default), before-forward
    overlap_grad_reduce: bool | None = ...,  # reduce first stage's gradients in buckets, during B
    overlap_param_gather: bool | None = ...,  # gather first stage's weights in buckets, during F
    bucket_size: Value = ...,  # parameters per bucket (default: max(40M, 1M x dp))
    keep_whole: bool | None = ...,  # ZeRO-2 and 3: shard between steps only
    slow_down: Value = ...,  # compute slowdown while collectives run: 0.15 [1 = 100 %]
    optimizer_bandwidth: Value = ...,  # memory bandwidth of the optimizer [GB/s, GiB/s, Gbit/s, ...]
    tied_embedding: Value = ...,  # gradient size of a tied embedding [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    memory: Value = ...,  # memory per GPU, or a list by device; auto, off [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    memory_outside: Value = ...,  # memory outside the allocator (with auto: 1GiB) [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    allocator: Value = ...,  # caching (PyTorch's; default), expandable or exact
    allocator_reserve: Value = ...,  # share taken beyond --allocator's: 0.05 (default 0) [1 = 100 %]
    slow: Value = ...,  # slowdown: device=3:2, stage=0:1.1, or a run file
    factors: Value = ...,  # microbatch sizes: lognormal:0.3, zipf:1.2, file
    jitter: Value = ...,  # jitter of every op: lognormal:0.05
    seed: Value = ...,  # random seed (default: 1)
    equal: Value = ...,  # equal devices (default), stages or memory
    runs_in: Value = ...,  # only what runs there today: megatron, paddle, ...
    memory_limit: Value = ...,  # memory per device: 76GiB; bare: device shares [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
) -> Comparison: ...

def plan(
    scenario: Scenario = ..., /, *,
    config: str | os.PathLike[str] | None = ...,
    gpus: int | str | None = ...,  # GPUs of the job (default: those of your run)
    global_batch: int | str | None = ...,  # samples of one step (default: 4 Mi tokens)
    gbs: int | str | None = ...,  # the same as global_batch
    script: Value = ...,  # your run: Megatron-LM script, its log, or .toml
    fix: Value = ...,  # fixed: tp, cp, ep, pp, dp, zero, microbatch, ...
    only: Value = ...,  # only these: schedule=1f1b,interleaved
    runs_in: Value = ...,  # only what runs there today: megatron, paddle, ...
    objective: Value = ...,  # minimize: step (default), cost, memory
    best: Value = ...,  # the same as objective
    price: Value = ...,  # price of a GPU hour: also print the cost
    gap: Value = ...,  # stop within this much of the optimum (default: 1%)
    margin: Value = ...,  # memory to stay free, else not first (default: 5%)
    budget: Value = ...,  # time for the search (default: none) [whole seconds]
    front: bool | None = ...,  # also the Pareto front of step time and memory
    threads: int | str | None = ...,  # threads; same answer (default: the cores)
    top: int | str | None = ...,  # runs in the result (default: 5)
    planner: Value = ...,  # also ask: dapple, pipedream:straight=yes, all
    as_published: bool | None = ...,  # also as published, with the faults of that code
    device_types: Value = ...,  # heterogeneous devices: types and counts
    schedule_only: bool | None = ...,  # only the best order of a given pipeline (p, m)
    schedules: ScheduleLike | Sequence[Any] | None = ...,  # schedules, joined by commas (default: all)
    schedule: ScheduleLike | Sequence[Any] | None = ...,  # the same as schedules
    devices: int | str | None = ...,  # devices in the pipeline (default: 4)
    pp: int | str | None = ...,  # the same as devices
    p: int | str | None = ...,  # the same as devices
    microbatches: int | str | None = ...,  # microbatches per iteration (default: 8)
    m: int | str | None = ...,  # the same as microbatches
    chunks: int | str | None = ...,  # stages per device (default: the schedule's own)
    v: int | str | None = ...,  # the same as chunks
    param: Value = ...,  # schedule parameter; see `explain schedule NAME`
    transform: Value = ...,  # transforms, in this order; see `list transforms`
    times: Value = ...,  # ms per device share: f=1,i=1,w=1 or f=1,b=2
    w_share: Value = ...,  # activations kept from I to W, 0..1 (default: 1) [1 = 100 %]
    profile: Value = ...,  # profile of layer times; several: sizes of one model
    partition: Value = ...,  # layers per stage: a,b,c, auto, even, memory, ...
    comm: Value = ...,  # latency per hop; bare: ms (default: profile's, 0) [ns, us, ms, s, min, h]
    bandwidth: Value = ...,  # link bandwidth: 25GB/s (default: profile's, none) [GB/s, GiB/s, Gbit/s, ...]
    host_bandwidth: Value = ...,  # offloading bandwidth (default: topology's, 25GB/s) [GB/s, GiB/s, Gbit/s, ...]
    p2p: Value = ...,  # how sends meet compute (auto: the framework's)
    model: Value = ...,  # model or a config.json; see `debubble list models`
    model_size: Value = ...,  # overrides of model sizes: layers=12,hidden=4096
    hardware: Value = ...,  # GPU by name or FILE.json (default: topology's)
    sequence: int | str | None = ...,  # tokens per sample (default: model's, profile's)
    seq_length: int | str | None = ...,  # the same as sequence
    seq: int | str | None = ...,  # the same as sequence
    microbatch_size: int | str | None = ...,  # samples per microbatch (default: 1, profile's)
    mbs: int | str | None = ...,  # the same as microbatch_size
    microbatch: int | str | None = ...,  # the same as microbatch_size
    dtype: Value = ...,  # matmul data type: bf16 (default), fp16, fp32, fp8
    fp8_recipe: Value = ...,  # scales of fp8: delayed (default), tensorwise, ...
    grad_dtype: Value = ...,  # gradient data type: fp32 (default), bf16, fp16
    optimizer: Value = ...,  # adam (default), sgd, momentum (also lion), muon
    weight_dtype: Value = ...,  # weights as stored: same as matmuls (default), fp32
    master_weights: Value = ...,  # optimizer's copy of 16-bit weights: fp32 (default)
    moment_dtype: Value = ...,  # optimizer moments: fp32 (default), bf16, fp16, fp8
    second_moment_dtype: Value = ...,  # second moment (default: --moment-dtype)
    low_gradients: Value = ...,  # 16-bit gradients once summed: freed (default), kept
    fp8_weights: Value = ...,  # 8-bit weights: beside 16-bit (default), or alone
    attention: Value = ...,  # attention kernel: flash (default) or unfused
    recompute: Value = ...,  # recompute in B: none (default), selective, full
    recompute_stages: Value = ...,  # stages that recompute: 0-2,5 (default: all)
    recompute_blocks: Value = ...,  # first:2, every:2, chunks:4 or 0-3,7 (default: all)
    recompute_modules: Value = ...,  # of selective: mlp,moe_act,... (default: core_attn)
    loss: Value = ...,  # cross entropy: unfused (default) or fused
    grad_accumulation: Value = ...,  # weight-gradient sums: fused (default), separate
    tensor_overlap: Value = ...,  # hide --tp collectives: on (in B), off, userbuffers
    context_exchange: Value = ...,  # exchange over --cp: ring (default) or all-to-all
    expert_imbalance: Value = ...,  # busiest expert rank's tokens over the mean [1 = as it is]
    capacity_factor: Value = ...,  # expert capacity: pads or drops tokens to it [1 = as it is]
    moe_dispatch: Value = ...,  # alltoall (default), deepep, hybrid or allgather
    moe_overlap: Value = ...,  # overlap expert exchange with compute: off, on
    efficiency: Value = ...,  # measured kernel efficiencies, JSON
    kernels: Value = ...,  # measured kernel times (default: hardware's)
    cuda_graphs: Value = ...,  # kernels in CUDA graphs: off (default), on
    host_launch: Value = ...,  # host time per eager kernel (default: 62us)
    calibrate: Value = ...,  # divides modelled times: compute=0.95,network=0.9
    dropout: bool | None = ...,  # the model is trained with dropout
    scatter_gather: bool | None = ...,  # --tp ranks send 1/tp each, and gather
    topology: Value = ...,  # topology: ideal (default), see `list topologies`
    network: Value = ...,  # link sharing: fluid (default), fifo, uncontended
    tp: int | str | None = ...,  # tensor-parallel ranks (default: 1)
    cp: int | str | None = ...,  # context-parallel ranks (default: 1)
    ep: int | str | None = ...,  # expert-parallel ranks (default: 1)
    etp: int | str | None = ...,  # ranks that split an expert (default: as --tp)
    dp: int | str | None = ...,  # replicas of the pipeline (default: 1)
    zero: int | str | None = ...,  # ZeRO stage of --dp: 0 (default) to 3
    sequence_parallel: bool | None = ...,  # sequence parallelism over the --tp ranks
    rank_order: Value = ...,  # rank order, nearest first (default: tp,cp,dp,pp)
    rank_devices: Value = ...,  # GPUs by rank: 0-7,16-23 (default: 0-)
    transfer_latency: Value = ...,  # latency per transfer, on top of links (default: 0) [ns, us, ms, s, min, h]
    transfer_bandwidth: Value = ...,  # bandwidth limit of a rank's transfer [GB/s, GiB/s, Gbit/s, ...]
    step: Value = ...,  # training step: on, off, or reduce=2,optimizer=0.5
    grad_reduce: Value = ...,  # gradient reduction: overlap (default) or at-end
    collective: Value = ...,  # algorithm: auto, ring, tree, hierarchical, ...
    density: Value = ...,  # share of gradients sent, --collective sparse [1 = 100 %]
    norm: Value = ...,  # norm: barrier (default), post-validation, none
    gather: Value = ...,  # gather: after-optimizer (default), before-forward
    overlap_grad_reduce: bool | None = ...,  # reduce first stage's gradients in buckets, during B
    overlap_param_gather: bool | None = ...,  # gather first stage's weights in buckets, during F
    bucket_size: Value = ...,  # parameters per bucket (default: max(40M, 1M x dp))
    keep_whole: bool | None = ...,  # ZeRO-2 and 3: shard between steps only
    slow_down: Value = ...,  # compute slowdown while collectives run: 0.15 [1 = 100 %]
    optimizer_bandwidth: Value = ...,  # memory bandwidth of the optimizer [GB/s, GiB/s, Gbit/s, ...]
    tied_embedding: Value = ...,  # gradient size of a tied embedding [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    memory: Value = ...,  # memory per GPU, or a list by device; auto, off [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    memory_outside: Value = ...,  # memory outside the allocator (with auto: 1GiB) [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    allocator: Value = ...,  # caching (PyTorch's; default), expandable or exact
    allocator_reserve: Value = ...,  # share taken beyond --allocator's: 0.05 (default 0) [1 = 100 %]
    slow: Value = ...,  # slowdown: device=3:2, stage=0:1.1, or a run file
    factors: Value = ...,  # microbatch sizes: lognormal:0.3, zipf:1.2, file
    jitter: Value = ...,  # jitter of every op: lognormal:0.05
    seed: Value = ...,  # random seed (default: 1)
) -> Plan: ...

def diff(
    *files: str | os.PathLike[str],
    log: Value = ...,  # measured: a training log of Megatron-LM
    hardware: Value = ...,  # of log: its GPU (default: as nvidia-smi says)
    iteration: Value = ...,  # measured iteration: median or 1, 2, ...
    replica: int | str | None = ...,  # of several data-parallel pipelines: which, from 0
) -> Diff: ...

def schedule(
    name: ScheduleLike | None = ..., /, *,
    config: str | os.PathLike[str] | None = ...,
    schedule: ScheduleLike | Sequence[Any] | None = ...,  # schedule name, .csv or .json file (default: 1f1b)
    schedules: ScheduleLike | Sequence[Any] | None = ...,  # the same as schedule
    devices: int | str | None = ...,  # devices in the pipeline (default: 4)
    pp: int | str | None = ...,  # the same as devices
    p: int | str | None = ...,  # the same as devices
    microbatches: int | str | None = ...,  # microbatches per iteration (default: 8)
    m: int | str | None = ...,  # the same as microbatches
    chunks: int | str | None = ...,  # stages per device (default: the schedule's own)
    v: int | str | None = ...,  # the same as chunks
    param: Value = ...,  # schedule parameter; see `explain schedule NAME`
    transform: Value = ...,  # transforms, in this order; see `list transforms`
    global_batch: int | str | None = ...,  # samples per step of all replicas, instead of -m
    gbs: int | str | None = ...,  # the same as global_batch
    times: Value = ...,  # ms per device share: f=1,i=1,w=1 or f=1,b=2
    w_share: Value = ...,  # activations kept from I to W, 0..1 (default: 1) [1 = 100 %]
    profile: Value = ...,  # profile of layer times; several: sizes of one model
    partition: Value = ...,  # layers per stage: a,b,c, auto, even, memory, ...
    comm: Value = ...,  # latency per hop; bare: ms (default: profile's, 0) [ns, us, ms, s, min, h]
    bandwidth: Value = ...,  # link bandwidth: 25GB/s (default: profile's, none) [GB/s, GiB/s, Gbit/s, ...]
    host_bandwidth: Value = ...,  # offloading bandwidth (default: topology's, 25GB/s) [GB/s, GiB/s, Gbit/s, ...]
    p2p: Value = ...,  # how sends meet compute (auto: the framework's)
    model: Value = ...,  # model or a config.json; see `debubble list models`
    model_size: Value = ...,  # overrides of model sizes: layers=12,hidden=4096
    hardware: Value = ...,  # GPU by name or FILE.json (default: topology's)
    sequence: int | str | None = ...,  # tokens per sample (default: model's, profile's)
    seq_length: int | str | None = ...,  # the same as sequence
    seq: int | str | None = ...,  # the same as sequence
    microbatch_size: int | str | None = ...,  # samples per microbatch (default: 1, profile's)
    mbs: int | str | None = ...,  # the same as microbatch_size
    microbatch: int | str | None = ...,  # the same as microbatch_size
    dtype: Value = ...,  # matmul data type: bf16 (default), fp16, fp32, fp8
    fp8_recipe: Value = ...,  # scales of fp8: delayed (default), tensorwise, ...
    grad_dtype: Value = ...,  # gradient data type: fp32 (default), bf16, fp16
    optimizer: Value = ...,  # adam (default), sgd, momentum (also lion), muon
    weight_dtype: Value = ...,  # weights as stored: same as matmuls (default), fp32
    master_weights: Value = ...,  # optimizer's copy of 16-bit weights: fp32 (default)
    moment_dtype: Value = ...,  # optimizer moments: fp32 (default), bf16, fp16, fp8
    second_moment_dtype: Value = ...,  # second moment (default: --moment-dtype)
    low_gradients: Value = ...,  # 16-bit gradients once summed: freed (default), kept
    fp8_weights: Value = ...,  # 8-bit weights: beside 16-bit (default), or alone
    attention: Value = ...,  # attention kernel: flash (default) or unfused
    recompute: Value = ...,  # recompute in B: none (default), selective, full
    recompute_stages: Value = ...,  # stages that recompute: 0-2,5 (default: all)
    recompute_blocks: Value = ...,  # first:2, every:2, chunks:4 or 0-3,7 (default: all)
    recompute_modules: Value = ...,  # of selective: mlp,moe_act,... (default: core_attn)
    loss: Value = ...,  # cross entropy: unfused (default) or fused
    grad_accumulation: Value = ...,  # weight-gradient sums: fused (default), separate
    tensor_overlap: Value = ...,  # hide --tp collectives: on (in B), off, userbuffers
    context_exchange: Value = ...,  # exchange over --cp: ring (default) or all-to-all
    expert_imbalance: Value = ...,  # busiest expert rank's tokens over the mean [1 = as it is]
    capacity_factor: Value = ...,  # expert capacity: pads or drops tokens to it [1 = as it is]
    moe_dispatch: Value = ...,  # alltoall (default), deepep, hybrid or allgather
    moe_overlap: Value = ...,  # overlap expert exchange with compute: off, on
    efficiency: Value = ...,  # measured kernel efficiencies, JSON
    kernels: Value = ...,  # measured kernel times (default: hardware's)
    cuda_graphs: Value = ...,  # kernels in CUDA graphs: off (default), on
    host_launch: Value = ...,  # host time per eager kernel (default: 62us)
    calibrate: Value = ...,  # divides modelled times: compute=0.95,network=0.9
    dropout: bool | None = ...,  # the model is trained with dropout
    scatter_gather: bool | None = ...,  # --tp ranks send 1/tp each, and gather
    topology: Value = ...,  # topology: ideal (default), see `list topologies`
    network: Value = ...,  # link sharing: fluid (default), fifo, uncontended
    tp: int | str | None = ...,  # tensor-parallel ranks (default: 1)
    cp: int | str | None = ...,  # context-parallel ranks (default: 1)
    ep: int | str | None = ...,  # expert-parallel ranks (default: 1)
    etp: int | str | None = ...,  # ranks that split an expert (default: as --tp)
    dp: int | str | None = ...,  # replicas of the pipeline (default: 1)
    zero: int | str | None = ...,  # ZeRO stage of --dp: 0 (default) to 3
    sequence_parallel: bool | None = ...,  # sequence parallelism over the --tp ranks
    rank_order: Value = ...,  # rank order, nearest first (default: tp,cp,dp,pp)
    rank_devices: Value = ...,  # GPUs by rank: 0-7,16-23 (default: 0-)
    transfer_latency: Value = ...,  # latency per transfer, on top of links (default: 0) [ns, us, ms, s, min, h]
    transfer_bandwidth: Value = ...,  # bandwidth limit of a rank's transfer [GB/s, GiB/s, Gbit/s, ...]
    step: Value = ...,  # training step: on, off, or reduce=2,optimizer=0.5
    grad_reduce: Value = ...,  # gradient reduction: overlap (default) or at-end
    collective: Value = ...,  # algorithm: auto, ring, tree, hierarchical, ...
    density: Value = ...,  # share of gradients sent, --collective sparse [1 = 100 %]
    norm: Value = ...,  # norm: barrier (default), post-validation, none
    gather: Value = ...,  # gather: after-optimizer (default), before-forward
    overlap_grad_reduce: bool | None = ...,  # reduce first stage's gradients in buckets, during B
    overlap_param_gather: bool | None = ...,  # gather first stage's weights in buckets, during F
    bucket_size: Value = ...,  # parameters per bucket (default: max(40M, 1M x dp))
    keep_whole: bool | None = ...,  # ZeRO-2 and 3: shard between steps only
    slow_down: Value = ...,  # compute slowdown while collectives run: 0.15 [1 = 100 %]
    optimizer_bandwidth: Value = ...,  # memory bandwidth of the optimizer [GB/s, GiB/s, Gbit/s, ...]
    tied_embedding: Value = ...,  # gradient size of a tied embedding [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    memory: Value = ...,  # memory per GPU, or a list by device; auto, off [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    memory_outside: Value = ...,  # memory outside the allocator (with auto: 1GiB) [B, kB, MB, GB, TB, KiB, MiB, GiB, TiB]
    allocator: Value = ...,  # caching (PyTorch's; default), expandable or exact
    allocator_reserve: Value = ...,  # share taken beyond --allocator's: 0.05 (default 0) [1 = 100 %]
    slow: Value = ...,  # slowdown: device=3:2, stage=0:1.1, or a run file
    factors: Value = ...,  # microbatch sizes: lognormal:0.3, zipf:1.2, file
    jitter: Value = ...,  # jitter of every op: lognormal:0.05
    seed: Value = ...,  # random seed (default: 1)
) -> Schedule: ...
