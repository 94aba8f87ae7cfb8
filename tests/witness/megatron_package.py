"""What Megatron-LM itself makes of a line of arguments and of a schedule: its parser, checks, groups, model, functions."""
import argparse
import collections
import contextlib
import dataclasses
import io
import os
import sys
import types

import torch
import torch.distributed as dist
from packaging.version import Version
from torch.testing._internal.distributed.fake_pg import FakeStore


class Device:
    major, minor, name, multi_processor_count, total_memory = 9, 0, "NVIDIA H100", 132, 80 << 30


torch.cuda.get_device_properties = lambda *_: Device
torch.cuda.get_device_capability = lambda *_: (9, 0)
torch.cuda.current_device = lambda: torch.device("meta")
torch.cuda.Stream = lambda *_, **__: None

import megatron.core.utils  # noqa: E402

megatron.core.utils._te_version = Version("2.14.0")  # as if Transformer Engine were there: the usual case

from megatron.core import parallel_state  # noqa: E402
from megatron.core.enums import ModelType  # noqa: E402
from megatron.core.models.common.embeddings import rope_utils  # noqa: E402
from megatron.core.models.gpt import GPTModel, gpt_layer_specs  # noqa: E402
from megatron.core.num_microbatches_calculator import ConstantNumMicroBatchesCalculator  # noqa: E402
from megatron.core.optimizer.optimizer_config import OptimizerConfig  # noqa: E402
from megatron.core.pipeline_parallel import combined_1f1b, schedules  # noqa: E402
from megatron.core.pipeline_parallel.p2p_communication import P2PCommunicator  # noqa: E402
from megatron.core.tokenizers.utils.build_tokenizer import vocab_size_with_padding  # noqa: E402
from megatron.core.transformer import dot_product_attention, transformer_block  # noqa: E402
from megatron.core.transformer.enums import LayerType  # noqa: E402
from megatron.core.transformer.moe import moe_layer, moe_utils  # noqa: E402
from megatron.training import argument_utils, arguments  # noqa: E402

for module in (rope_utils, moe_utils):  # kernels of Transformer Engine: there, never called
    for name in [name for name, value in vars(module).items() if name.startswith("fused_") and value is None]:
        setattr(module, name, lambda *_, **__: None)

megatron_arguments = arguments.add_megatron_arguments(argparse.ArgumentParser(allow_abbrev=False))
arguments.add_megatron_arguments = lambda parser: megatron_arguments  # made once: it takes longer than all the rest

with_widths = dot_product_attention.DotProductAttention.__init__
dot_product_attention.DotProductAttention.__init__ = (  # latent attention tells its widths; it has no parameters
    lambda self, *given, k_channels=None, v_channels=None, **named: with_widths(self, *given, **named))


class NoDevice(torch.overrides.TorchFunctionMode):
    """What asks for a GPU gets the device that has no memory."""

    def __torch_function__(self, function, kinds, given=(), named=None):
        named = dict(named or {})
        if function is torch.Tensor.cuda:
            return given[0]
        if "cuda" in str(named.get("device", "")):
            named["device"] = torch.device("meta")
        return function(*given, **named)


def groups(args, rank):
    """Megatron's process groups of one rank, without processes."""
    if dist.is_initialized():
        parallel_state.destroy_model_parallel()
        dist.destroy_process_group()
    hook = sys.excepthook
    dist.init_process_group("fake", rank=rank, world_size=args.world_size, store=FakeStore())
    sys.excepthook = hook  # else one more rank is written before each line of a traceback
    parallel_state.initialize_model_parallel(
        tensor_model_parallel_size=args.tensor_model_parallel_size,
        pipeline_model_parallel_size=args.pipeline_model_parallel_size,
        virtual_pipeline_model_parallel_size=args.virtual_pipeline_model_parallel_size,
        context_parallel_size=args.context_parallel_size, expert_model_parallel_size=args.expert_model_parallel_size,
        expert_tensor_parallel_size=args.expert_tensor_parallel_size, create_gloo_process_groups=False,
        order="tp-cp-ep-pp-dp" if getattr(args, "use_tp_pp_dp_mapping", False) else "tp-cp-ep-dp-pp")


def cut_of(args, config):
    """Layers of each stage with the embedding and the head, as parallel ranks build them; stages in the order of the model."""
    p, v = args.pipeline_model_parallel_size, config.virtual_pipeline_model_parallel_size or 1
    virtual = config.virtual_pipeline_model_parallel_size is not None
    layout = config.pipeline_model_parallel_layout
    cut = []
    for stage in range(p * v):
        rank, chunk = stage % p, stage // p
        parallel_state.set_pipeline_model_parallel_rank(rank)  # a layout asks for it
        layers = transformer_block.get_num_layers_to_build(config, chunk if virtual else None, rank)
        if layout is None:
            layers += (stage == 0) + (stage == p * v - 1)
        else:
            parts = layout.layout[rank][chunk]
            layers += parts.count(LayerType.embedding) + parts.count(LayerType.loss)
        cut.append(layers)
    parallel_state.set_pipeline_model_parallel_rank(None)
    return cut


def verdict(words, world, counted):
    """What happens to a job of these arguments, before its first step; `counted`: with the model, and its parameters."""
    os.environ["WORLD_SIZE"] = str(world)
    sys.argv = ["pretrain_gpt.py", *words]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            args = arguments.parse_args()
            arguments.validate_args(args)
            config = argument_utils.core_transformer_config_from_args(args)
            groups(args, 0)
            microbatches = ConstantNumMicroBatchesCalculator(
                args.global_batch_size, args.micro_batch_size, args.data_parallel_size, args.decrease_batch_size_if_needed, 1).get()
            cut = cut_of(args, config)
            p, v = args.pipeline_model_parallel_size, config.virtual_pipeline_model_parallel_size or 1
            group = config.microbatch_group_size_per_vp_stage if v > 1 else None
            if v > 1:
                order_of(p, microbatches, v, group)
            vocabulary = vocab_size_with_padding(args.vocab_size, args, False)
            held = parameters(args, vocabulary) if counted else None
    except (SystemExit, Exception) as error:  # whatever stops the job
        return types.SimpleNamespace(starts=False, why=f"{type(error).__name__}: {error}" if str(error) != "2" else said.getvalue())
    return types.SimpleNamespace(starts=True, args=args, config=config, microbatches=microbatches, stages=p * v, cut=cut, group=group,
                                 vocabulary=vocabulary, parameters=held)


def experts_run(args):
    """Whether a layer of experts takes its first step: it looks at its ranks before anything else."""
    if not args.num_experts:
        return True
    layer = types.SimpleNamespace(training=True, attn_tp_group=Group(0, args.tensor_model_parallel_size), config=args)
    try:
        moe_layer.MoELayer.forward(layer, None)
    except ValueError:
        return False
    except AttributeError:  # past that look
        return True


def optimizer_made(args):
    """Whether its settings make an optimizer's."""
    named = {field.name: getattr(args, field.name) for field in dataclasses.fields(OptimizerConfig) if hasattr(args, field.name)}
    try:
        return OptimizerConfig(**named) is not None
    except (AssertionError, ValueError):
        return False
    except RuntimeError:  # past these looks: there is no Transformer Engine
        return True


def parameters(args, vocabulary):
    """Parameters of each pipeline rank's part of the model that Megatron builds, of tensor rank 0 and expert rank 0."""
    args.padded_vocab_size, args.perform_initialization, args.transformer_impl = vocabulary, False, "local"
    args.moe_grouped_gemm = args.persist_layer_norm = args.apply_rope_fusion = args.sequence_parallel = False
    args.no_persist_layer_norm, args.moe_token_dispatcher_type = True, "allgather"
    args.context_parallel_size, counts = 1, []  # of no consequence, and refused by attention that is not Transformer Engine's
    for rank in range(args.pipeline_model_parallel_size):
        groups(args, rank * (args.world_size // args.pipeline_model_parallel_size))
        config = argument_utils.core_transformer_config_from_args(args)
        config.gradient_accumulation_fusion = config.bias_dropout_fusion = config.masked_softmax_fusion = False
        counts.append(sum(part_of(args, config, chunk) for chunk in range(config.virtual_pipeline_model_parallel_size or 1)))
    return counts


def part_of(args, config, chunk):
    stage = chunk if config.virtual_pipeline_model_parallel_size else None
    if args.num_experts:
        layer = gpt_layer_specs.get_gpt_decoder_block_spec(config, use_transformer_engine=False, normalization=args.normalization,
                                                           vp_stage=stage)
    else:
        layer = gpt_layer_specs.get_gpt_layer_local_spec(qk_layernorm=config.qk_layernorm, normalization=config.normalization)
    with torch.device("meta"), NoDevice():
        model = GPTModel(
            config=config, transformer_layer_spec=layer, vocab_size=args.padded_vocab_size,
            max_sequence_length=args.max_position_embeddings, vp_stage=stage,
            pre_process=parallel_state.is_pipeline_first_stage(ignore_virtual=False, vp_stage=stage),
            post_process=parallel_state.is_pipeline_last_stage(ignore_virtual=False, vp_stage=stage),
            share_embeddings_and_output_weights=not args.untie_embeddings_and_output_weights,
            position_embedding_type=args.position_embedding_type, rotary_percent=args.rotary_percent)
    return sum(parameter.numel() for parameter in model.parameters())


class Group:
    def __init__(self, rank, size):
        self.rank, self.size = lambda: rank, lambda: size


class Tensor:
    """Stands for what a chunk made of a microbatch."""

    def __init__(self, chunk=None, microbatch=None):
        self.chunk, self.microbatch = chunk, microbatch


class Links:
    """A communicator that hands out what is asked for: the order of the ops does not depend on it."""

    def __init__(self, rank, size, config):
        self.pp_group, self.config, self.virtual_pipeline_model_parallel_size = Group(rank, size), config, config.chunks
        self.is_pp_first_stage, self.is_pp_last_stage = rank == 0, rank == size - 1
        self.total_stages, self.current_stage = size, rank

    def __getattr__(self, name):
        both = name == "send_forward_backward_recv_forward_backward"
        return lambda *_, **__: (Tensor(), Tensor()) if both else Tensor()


class Handle:
    def __init__(self, events, end):
        self.wait = lambda: events.append(("wait", end))


class Runs:
    """Takes 0F0 as a run of F."""

    def __init__(self, events):
        self.append = lambda op: events.append(("run", ("F" if "F" in op else "B", op)))


class TimedLinks(P2PCommunicator):
    """Megatron's own communicator, which writes down what it would post and wait for (virtual_clock.py)."""

    def __init__(self, rank, size, config):
        self.pp_group, self.config, self.virtual_pipeline_model_parallel_size = Group(rank, size), config, config.chunks
        self.events, self.counts = [], collections.Counter()

    is_pp_first_stage = property(lambda self: self.current_stage == 0)
    is_pp_last_stage = property(lambda self: self.current_stage == self.total_stages - 1)

    def _communicate(self, *, tensor_send_next, tensor_send_prev, recv_prev, recv_next, wait_on_reqs=True, **_):
        rank, size = self.current_stage, self.total_stages
        wanted = {"send_next": tensor_send_next is not None, "recv_prev": recv_prev, "send_prev": tensor_send_prev is not None,
                  "recv_next": recv_next}
        receiver = {"send_next": ("F", (rank + 1) % size), "recv_prev": ("F", rank), "send_prev": ("B", (rank - 1) % size),
                    "recv_next": ("B", rank)}
        handles = {}
        for name in (name for name in wanted if wanted[name]):
            end = (name[0], *receiver[name], self.counts[name])
            self.counts[name] += 1
            self.events.append(("post", end))
            handles[name] = Handle(self.events, end)
        if wait_on_reqs:
            for handle in handles.values():
                handle.wait()
        return Tensor() if recv_prev else None, Tensor() if recv_next else None, handles


class Config:
    """The schedule's settings: those that are named, and nothing else is on."""

    def __init__(self, **named):
        self.__dict__.update(named)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


combined_1f1b.set_streams = lambda *_, **__: None
schedules.is_pp_first_stage = lambda group: group.rank() == 0
schedules.is_pp_last_stage = lambda group: group.rank() == group.size() - 1


def events_of(p, m, v, group, turned=None):
    """What each rank posts, waits for and runs: "flush" with --overlap-p2p-communication-warmup-flush, "no overlap" with
    --no-overlap-p2p-communication."""
    overlaps = v > 1 and turned != "no overlap"
    return order_of(p, m, v, group, timed={"overlap_p2p_comm": overlaps, "batch_p2p_comm": not overlaps,
                                           "overlap_p2p_comm_warmup_flush": turned == "flush"})


def order_of(p, m, v, group, combined=False, timed=None):
    """Each rank's ops in the order of Megatron's own function, as 0F0: stage, kind, microbatch. `combined`: with
    --overlap-moe-expert-parallel-comm, a forward pass before the backward pass that it runs beside. `timed`: settings of the
    transfers, for events_of."""
    run = schedules.forward_backward_pipelining_with_interleaving if v > 1 else (
        schedules.forward_backward_pipelining_without_interleaving) if p > 1 else schedules.forward_backward_no_pipelining
    rows = []
    plain = schedules.forward_step, schedules.backward_step, schedules.deallocate_output_tensor, combined_1f1b.combined_forward_backward_step
    try:
        for rank in range(p):
            ops = []
            config = Config(microbatch_group_size_per_vp_stage=group or p, pipeline_model_parallel_size=p, hidden_size=8,
                            chunks=v if v > 1 else None, virtual_pipeline_model_parallel_size=v if v > 1 else None,
                            overlap_moe_expert_parallel_comm=combined, **(timed or {"batch_p2p_comm": True}))
            links = TimedLinks(rank, p, config) if timed else Links(rank, p, config)
            if timed:
                ops = Runs(links.events)

            def forward(function, data, model, count, tensor, store, *_, current_microbatch=None, rank=rank, ops=ops, **__):
                ops.append(f"{model.chunk * p + rank}F{current_microbatch}")
                return Tensor(model.chunk, current_microbatch), 0

            def backward(tensor, output, gradient, *_, rank=rank, ops=ops):
                ops.append(f"{output.chunk * p + rank}B{output.microbatch}")
                return Tensor()

            def beside(function, data, model, count, tensor, store, of_backward, _, output, *__, current_microbatch=None, forward=forward,
                       backward=backward, **___):
                made = forward(function, data, model, count, tensor, store, current_microbatch=current_microbatch)[0] if model else None
                return made, 0, backward(None, output, None) if of_backward else None

            schedules.forward_step, schedules.backward_step, combined_1f1b.combined_forward_backward_step = forward, backward, beside
            schedules.deallocate_output_tensor = lambda *_, **__: None
            chunks = [torch.nn.Identity() for _ in range(v)]
            for index, chunk in enumerate(chunks):
                chunk.config, chunk.chunk, chunk.model_type = config, index, ModelType.encoder_or_decoder
            shared = object.__new__(schedules.ProcessGroupCollection)
            for name in ("tp", "cp"):
                object.__setattr__(shared, name, Group(0, 1))
            object.__setattr__(shared, "pp", links.pp_group)
            with NoDevice():
                run(forward_step_func=None, data_iterator=[None] * v, model=chunks, num_microbatches=m, seq_length=8,
                    micro_batch_size=1, forward_only=False, p2p_communicator=links, pg_collection=shared)
            rows.append(links.events if timed else ops)
    finally:
        (schedules.forward_step, schedules.backward_step, schedules.deallocate_output_tensor,
         combined_1f1b.combined_forward_backward_step) = plain
    return rows
