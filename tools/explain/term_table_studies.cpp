// What compare, whatif and explain step add, and where numbers come from.
#include "tools/explain/term_table.hpp"

namespace debubble {
namespace {

void add_compare_terms(std::vector<Term>& rows) {
  rows.insert(
      rows.end(),
      {{.name = "limit",
        .aliases = "what limits it",
        .meaning = "what most of the step is lost to, and what would help"},
       {.name = "try", .aliases = "next", .meaning = "the command that would tell most next"},
       {.name = "best",
        .meaning =
            "the fastest run that fits and waits for all gradients before it updates weights; of equals the one with "
            "less memory, then with fewer copies of the weights. Asynchronous schedules only where nothing else runs. "
            "It is measured against 1f1b where that was compared"},
       {.name = "today",
        .meaning =
            "the best run that each framework can do as it is today, and how much longer than the best of all it "
            "takes; --runs-in compares only what one of them runs"},
       {.name = "not charged",
        .aliases = "gradient sums",
        .meaning =
            "what a row's step leaves out because nothing says how long it takes: what cutting into slices costs, "
            "predictions and corrections of asynchronous schedules, sums of the gradients of a pipeline's copies"},
       {.name = "faster",
        .meaning =
            "an asynchronous schedule (PipeDream and its relatives) that takes less time than the best: it does "
            "not wait for all gradients before it updates weights, so it trains with gradients of older ones. It is "
            "the best only where all that were compared are asynchronous",
        .see = "`debubble list schedules`"},
       {.name = "close",
        .aliases = "~",
        .meaning = "modelled runs (\"~\") whose difference from the best is smaller than what the model gets wrong "
                   "between two schedules",
        .see = "docs/models.md"},
       {.name = "speed",
        .aliases = "per device",
        .meaning = "microbatches per second, relative to the best; per device where the numbers of devices differ"},
       {.name = "needs",
        .meaning = "what a schedule asks of a framework and a model: more weights, a split backward, an even number of "
                   "devices, slices of the sequence, ... The letters are explained below the table"},
       {.name = "notes",
        .meaning = "what a row's numbers rest on or leave out; the letters are explained below the table"},
       {.name = "runs today in", .meaning = "frameworks, or the authors' code, that run this schedule today"},
       {.name = "not run", .meaning = "schedules that refuse this number of devices or microbatches, or this model"},
       {.name = "!", .meaning = "before a row: it does not fit, or has an error"},
       {.name = "*", .meaning = "before a row: the best"},
       {.name = "more", .meaning = "what the text leaves out, and the flag that shows it"}});
}

void add_whatif_terms(std::vector<Term>& rows) {
  rows.insert(
      rows.end(),
      {{.name = "base", .meaning = "the run without the change"},
       {.name = "changed", .meaning = "the run with all changes together"},
       {.name = "change",
        .aliases = "what the change did to it",
        .meaning = "changed less base; pp are percentage points. Of a device: its idle time by cause"},
       {.name = "alone", .meaning = "the step with this change and none of the others"},
       {.name = "together", .meaning = "all causes of idle time, summed over the devices"},
       {.name = "idle, all devices", .meaning = "idle time summed over the devices, by cause"},
       {.name = "path: compute",
        .aliases = "path: transfers, path: collectives",
        .meaning = "the compute, transfers and collectives on the critical path"},
       {.name = "mean", .aliases = "standard deviation", .meaning = "of the step times of all seeds"},
       {.name = "p50",
        .aliases = "p95, p99, least, most, to base",
        .meaning = "quantiles of the step times of all seeds: half of them are at most p50; to base: against the run "
                   "without draws"},
       {.name = "sensitivity",
        .aliases = "cost, each, on the path, of the step, communication that holds compute",
        .meaning = "how much the step grows with each cost: how often it is on the critical path (the exact derivative "
                   "where no transfers share links), and how much of the step that is",
        .see = "docs/whatif.md"},
       {.name = "what would help",
        .aliases = "per microbatch, what would help most, each simulated",
        .meaning = "changes, each simulated, by how much shorter a microbatch's part of the step gets"}});
}

void add_sources(std::vector<Term>& rows) {
  rows.insert(
      rows.end(),
      {{.name = "assumed",
        .aliases = "assumptions",
        .meaning = "what the result rests on, by where it comes from. Shown are defaults and modelled values, which a "
                   "user might want to change; --assumptions shows all, JSON always has them"},
       {.name = "default", .meaning = "nobody gave it: debubble's own value"},
       {.name = "modelled", .meaning = "computed from a model of the hardware, the network or the transformer"},
       {.name = "measured", .meaning = "measured on hardware, here or by the source that is named"},
       {.name = "published", .meaning = "from a paper, a datasheet or a published profile"},
       {.name = "given", .meaning = "given by a flag or a file"},
       {.name = "ideal", .meaning = "the step if all devices were busy all the time: compute / devices"}});
}

}  // namespace

void add_study_terms(std::vector<Term>& rows) {
  add_compare_terms(rows);
  add_whatif_terms(rows);
  add_sources(rows);
}

}  // namespace debubble
