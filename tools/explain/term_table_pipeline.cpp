// What a pipeline consists of, and what the chart draws.
#include "tools/explain/term_table.hpp"

namespace debubble {

void add_pipeline_terms(std::vector<Term>& rows) {
  rows.insert(
      rows.end(),
      {{.name = "device",
        .aliases = "devices, devs, pipeline rank, d0",
        .meaning = "one rank of the pipeline, counted from 0. With tensor, context or expert parallelism it stands for "
                   "all GPUs that hold the same stage and work in step"},
       {.name = "GPU",
        .aliases = "GPUs",
        .meaning = "one accelerator of the topology; tp x cp x dp x pp of them are used"},
       {.name = "stage",
        .aliases = "stages, s0",
        .meaning = "a run of consecutive layers that is one device's, counted from 0 in the order of the model"},
       {.name = "chunk",
        .aliases = "chunks, v, stages per device, virtual stage",
        .meaning =
            "one of several stages on a device; a schedule with v chunks has v x p stages (Megatron-LM's virtual "
            "pipeline stages)"},
       {.name = "microbatch",
        .aliases = "microbatches, m, gradient accumulation",
        .meaning = "the part of a global batch that passes through the stages at once; gradients of all m of them are "
                   "summed before the optimizer step"},
       {.name = "replica",
        .aliases = "replicas, waiting for another replica of the pipeline",
        .meaning = "a copy of the whole model. Data parallelism (--dp) has one in each pipeline; Chimera, GEMS and "
                   "DualPipe hold several in one pipeline, each microbatch going through one of them. The line "
                   "\"replicas\" says how far the simulated pipelines of --dp differ"},
       {.name = "schedule",
        .meaning = "the order of forward and backward passes on each device, without times; `debubble list schedules`"},
       {.name = "op",
        .aliases = "ops",
        .meaning = "one pass of one microbatch through one stage; 3F7 is the forward of microbatch 7 on stage 3"},
       {.name = "F", .aliases = "forward", .meaning = "the forward of a microbatch on a stage"},
       {.name = "B",
        .aliases = "backward",
        .meaning = "the whole backward of a microbatch on a stage: input gradient and weight gradient together"},
       {.name = "I",
        .aliases = "input gradient, dgrad",
        .meaning = "the half of a split backward that the stage before waits for"},
       {.name = "W",
        .aliases = "weight gradient, wgrad",
        .meaning = "the half of a split backward that nobody waits for, so that it can fill bubbles"},
       {.name = "R",
        .aliases = "recompute, recomputation",
        .meaning = "a forward run again just before the backward, in place of keeping its activations"},
       {.name = "overlapped pair",
        .aliases = "X, FB, pair",
        .meaning = "a forward and a backward of two microbatches that run interleaved as one op (DualPipe)"},
       {.name = "device share",
        .aliases = "device shares",
        .meaning = "1/p of the model: what one of p devices computes, or keeps, for one microbatch"},
       {.name = "flush",
        .meaning = "the end of a step at which the pipeline runs empty and all weights are updated at once; "
                   "asynchronous schedules have none"},
       {.name = "warm-up", .aliases = "warmup", .meaning = "the forwards that a device runs before its first backward"},
       {.name = "hop", .aliases = "hops", .meaning = "one message from a stage to the next on another device"},
       {.name = "p2p",
        .aliases = "messages",
        .meaning = "what stages on different devices send each other in a step: activations forward, gradients back; a "
                   "copy is an activation moved to the host or to another device and back"},
       {.name = "cluster",
        .aliases = "topology",
        .meaning = "the topology of the run, how links are shared, and how many of its GPUs each kind of parallelism "
                   "(tp, cp, ep, dp, pp) takes"},
       {.name = "collective",
        .aliases = "collectives, =",
        .meaning =
            "communication among several GPUs: all-reduce, all-gather, reduce-scatter, all-to-all. As a cause of "
            "idle time: waiting for one. The line \"collectives\" is the share of compute time that those inside "
            "layers (tensor, context, expert parallelism) take",
        .see = "docs/models.md"}});
}

}  // namespace debubble
