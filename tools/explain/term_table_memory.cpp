// What devices hold.
#include "tools/explain/term_table.hpp"

namespace debubble {

void add_memory_terms(std::vector<Term>& rows) {
  rows.insert(
      rows.end(),
      {{.name = "peak memory",
        .aliases = "peak",
        .meaning = "the most that a device, on each of its GPUs, holds at any time of the step, with the op that "
                   "reaches it and what it consists of",
        .see = "docs/memory.md"},
       {.name = "memory",
        .aliases = "fit, fits",
        .meaning = "whether the run fits: the peak with what the allocator reserves beyond it, against the memory of "
                   "the GPU. Where it does not fit, each line \"fits with\" is one change that was simulated and "
                   "fits",
        .see = "docs/memory.md"},
       {.name = "spare",
        .meaning = "the GPU's memory minus what the run needs on the fullest device; negative where it does not fit, "
                   "by how much is missing"},
       {.name = "on", .meaning = "the device that reaches the peak"},
       {.name = "weight copies",
        .aliases = "copies of the weights, copies",
        .meaning = "how often a device holds a stage's weights at most: replicas of bidirectional schedules, versions "
                   "of asynchronous ones"},
       {.name = "ZeRO",
        .aliases = "ZeRO-1, ZeRO-2, ZeRO-3",
        .meaning = "what the data-parallel ranks shard instead of each holding all of it: 1 optimizer state, 2 also "
                   "gradients, 3 also weights (FSDP)",
        .see = "docs/training-step.md"},
       {.name = "weights", .meaning = "the stage's parameters in the data type of the matmuls"},
       {.name = "gradients", .meaning = "weight gradients, summed over the microbatches"},
       {.name = "extra weights", .meaning = "second and later versions of the weights, of asynchronous schedules"},
       {.name = "activations",
        .meaning = "what a forward keeps for its backward, from the start of F to the end of B (or of I; see held). In "
                   "the device table: the most at once, in device shares"},
       {.name = "held",
        .aliases = "held for weight grad, held from I to W, w-share, w_share",
        .meaning = "the share of an activation that a split backward keeps from the end of I to the end of W "
                   "(--w-share)"},
       {.name = "received", .meaning = "inputs and gradients that have arrived and wait for the op that uses them"},
       {.name = "comm buffers", .meaning = "buffers of collectives, and of messages between stages"},
       {.name = "workspace", .meaning = "what an op needs only while it runs: logits, attention scores, cuBLAS"},
       {.name = "on the host", .meaning = "activations that are offloaded to the host's memory, at most"},
       {.name = "allocated", .meaning = "what tensors take, before the caching allocator rounds and reserves"}});
  rows.insert(
      rows.end(),
      {{.name = "F late",
        .aliases = "late, forward staleness, staleness",
        .meaning =
            "of an asynchronous schedule: updates between the weights that F reads and the update that takes its "
            "gradient"},
       {.name = "B late", .aliases = "backward staleness", .meaning = "the same for the weights that B reads"},
       {.name = "ahead", .aliases = "ahead F / B", .meaning = "how many updates ahead F / B predict the weights"},
       {.name = "F against B",
        .aliases = "inconsistency",
        .meaning = "versions of the weights between the one that F read and the one that B reads"},
       {.name = "versions", .meaning = "versions of a stage's weights that are in use at once"},
       {.name = "buffers", .meaning = "further copies of a stage's weights that the schedule needs"},
       {.name = "in flight",
        .aliases = "flight",
        .meaning = "microbatches whose forward has begun and whose backward has not ended"},
       {.name = "stable step",
        .meaning =
            "the largest learning rate that is stable on a quadratic with this delay of gradients, as a share of "
            "that without delay"}});
}

}  // namespace debubble
