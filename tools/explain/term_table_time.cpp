// Where the time of a step goes.
#include "tools/explain/term_table.hpp"

namespace debubble {
namespace {

void add_causes(std::vector<Term>& rows) {
  rows.insert(
      rows.end(),
      {{.name = "idle",
        .aliases = ".",
        .meaning =
            "time in which a device computes nothing, from the start of the step to its end. Each moment has one "
            "cause; the causes sum to it exactly",
        .formula = "idle = step time - busy",
        .see = "docs/how-it-works.md"},
       {.name = "fill",
        .meaning = "idle time before a device's first backward, waiting for compute elsewhere: the pipeline fills"},
       {.name = "drain",
        .meaning = "idle time after a device's last forward, waiting for compute elsewhere, and after its last op: the "
                   "pipeline drains"},
       {.name = "dependency",
        .meaning = "idle time between fill and drain, waiting for compute elsewhere: stages are uneven, or the order "
                   "leaves gaps"},
       {.name = "transfer latency", .aliases = "latency", .meaning = "idle time for the latency of a message"},
       {.name = "transfer bandwidth",
        .aliases = "bandwidth",
        .meaning = "idle time for the bytes of a message, at the rate that it gets on links of its own"},
       {.name = "transfer contention",
        .aliases = "contention",
        .meaning = "idle time because a message shared its links with others: beyond what it takes alone"},
       {.name = "straggler",
        .aliases = "stragglers, ops beyond what their stages cost",
        .meaning = "idle time because an op elsewhere took longer than its stage costs (--slow, --jitter, measured "
                   "runs), or another replica was slower"},
       {.name = "memory limit",
        .aliases = "copies of activations that were moved away",
        .meaning = "idle time waiting for an activation that was moved away to save memory"},
       {.name = "launch gap",
        .aliases = "launch gaps",
        .meaning = "idle time between two ops of a measured run with nothing to wait for: the host, Python, the "
                   "launch of kernels"},
       {.name = "busy", .meaning = "time in which a device computes, collectives inside layers included"},
       {.name = "share", .meaning = "the last row of the device table: the column's part of all devices' time"}});
}

void add_parts_of_step(std::vector<Term>& rows) {
  rows.insert(
      rows.end(),
      {{.name = "step parts",
        .aliases = "pipeline",
        .meaning = "what a training step does apart from the passes, and when the pipeline itself has ended. Exposed: "
                   "the part of it that nothing hides",
        .see = "docs/training-step.md"},
       {.name = "gradient reduce", .meaning = "all-reduce or reduce-scatter of gradients over the data-parallel ranks"},
       {.name = "embedding reduce",
        .meaning = "all-reduce of tied embeddings' gradients between the first and the last stage"},
       {.name = "parameter gather", .meaning = "all-gather of weights that ZeRO shards over the data-parallel ranks"},
       {.name = "global norm", .meaning = "the norm of all gradients, for clipping: every device waits for it"},
       {.name = "optimizer",
        .aliases = "O",
        .meaning = "the update of the weights; as memory: master weights and moments"},
       {.name = "other", .meaning = "tasks of the training step that have no name of their own"},
       {.name = "exposed", .meaning = "the part of a collective that no compute hides"},
       {.name = "extra work",
        .meaning =
            "work that was put into bubbles (--transform fill-bubbles): how much, and how much busier devices get",
        .see = "docs/transforms.md"}});
}

void add_totals(std::vector<Term>& rows) {
  rows.insert(
      rows.end(),
      {{.name = "step time",
        .aliases = "step, makespan, makespan_ns, iteration time",
        .meaning = "from the first op of a training step to the end of the last, the makespan; with --step on the "
                   "gradient reduction and the optimizer are part of it. Ideal: the compute of all devices, spread "
                   "evenly and without waiting"},
       {.name = "bubble",
        .aliases = "bubble_ratio, bubble_over_ideal, bubble/step, bubble/ideal",
        .meaning = "the time in which devices wait. Two definitions are in use, and papers mean either: of the step, "
                   "and of the ideal",
        .formula = "bubble_ratio = idle / (devices x step time); bubble_over_ideal = idle / ideal compute, which is "
                   "(p - 1) / m for gpipe and 1f1b with equal stages",
        .see = "docs/bubbles.md"},
       {.name = "range",
        .aliases = "range from, scatter",
        .meaning = "where a measured step time may be, if the model is as good for this job as for the published "
                   "records: 80 of 100 of them are inside. It comes from how far measured kernels and runs scatter",
        .see = "docs/models.md"},
       {.name = "throughput",
        .aliases = "samples/s, tokens/s",
        .meaning = "samples, or tokens, per second of all replicas"},
       {.name = "MFU",
        .aliases = "model FLOPs utilization",
        .meaning =
            "model FLOPs utilization: the FLOPs that the model needs (recomputation not counted) per second, as a "
            "share of the GPUs' dense peak in the data type of the matmuls",
        .formula = "model FLOPs per step / (step time x GPUs x peak)"},
       {.name = "span",
        .meaning = "the longest time from a device's first start to its last end, the cost of the zero-bubble papers; "
                   "steps that are chained without a barrier overlap beyond it",
        .formula = "span_bubble_ratio = (span - busy) / span on the device with the longest span"},
       {.name = "steady period",
        .meaning = "what each further step takes when steps follow one another without a barrier in between"},
       {.name = "steady state",
        .aliases = "in a stream",
        .meaning = "of an asynchronous schedule, which fills once: the time per microbatch once the pipeline is full"},
       {.name = "critical path",
        .aliases = "path, the critical path, what its critical path consists of",
        .meaning =
            "the chain of ops, transfers and collectives, each waiting for the one before, that is as long as the "
            "step. What is not on it can take longer without a longer step, up to a point"},
       {.name = "compute",
        .meaning =
            "on the critical path: time in which one of its ops runs. \"Compute on the other devices\" is what the "
            "path takes to get to the device that it stays on longest, and away from it"},
       {.name = "transfers",
        .aliases = "transfer",
        .meaning = "on the critical path: messages between devices, by what they wait for (latency, bandwidth, "
                   "contention)"},
       {.name = "barrier",
        .aliases = "barriers of the split output layer",
        .meaning = "a collective that all devices wait for: of an output layer that is split over all of them "
                   "(--transform vocabulary)",
        .see = "docs/transforms.md"},
       {.name = "slowed ops",
        .aliases = "ops slowed by overlapping collectives",
        .meaning = "compute takes longer while a collective runs beside it, as both use the GPU's multiprocessors and "
                   "memory (--slow-down)"},
       {.name = "deadlock",
        .meaning = "a cycle of devices that wait for each other: the order cannot be run with these transfers"}});
}

}  // namespace

void add_time_terms(std::vector<Term>& rows) {
  add_totals(rows);
  add_causes(rows);
  add_parts_of_step(rows);
}

}  // namespace debubble
