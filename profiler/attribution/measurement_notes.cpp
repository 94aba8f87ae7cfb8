#include "profiler/attribution/measurement_notes.hpp"

#include <algorithm>
#include <utility>

#include "profiler/attribution/slot.hpp"
#include "profiler/attribution/statistics.hpp"
#include "sim/core/quantities.hpp"

namespace debubble::attribution {
namespace {

class Notes {
 public:
  explicit Notes(std::vector<std::string>& notes) : notes_(notes) {}
  void add(std::string note) { notes_.push_back(std::move(note)); }
  void add_if(bool holds, std::string note) {
    if (holds) add(std::move(note));
  }
  void add_count(std::int64_t count, const std::string& what) {
    if (count != 0) add(std::to_string(count) + " " + what);
  }

 private:
  std::vector<std::string>& notes_;
};

std::string percent(std::int64_t ppm) { return format_with_unit(ppm, {"%", 10'000, 1}); }

// What the recorder said of the CUPTI that it used.
void note_recorder(const Results& results, Notes& notes) {
  const auto found = results.facts.find("cupti.note");
  if (found == results.facts.end()) return;
  for (const std::string& note : found->second) notes.add(note);
}

void note_warm_up(const Results& results, Notes& notes) {
  notes.add_if(results.steps > 0, std::to_string(results.warm_up_steps) + " of " + std::to_string(results.steps) +
                                      " steps were discarded as warm-up");
  notes.add_if(results.warm_up_passes > 0, "the recording has no steps: the first " +
                                               std::to_string(results.warm_up_passes) +
                                               " executions of every layer were discarded as warm-up");
  notes.add_if(results.forced, "nothing was left after the warm-up: the last step counts all the same");
  notes.add_count(results.outside_steps, "executions of layers outside of steps do not count");
}

void note_overhead(const Results& results, const Measurement& measurement, Notes& notes) {
  if (!results.paused || measurement.overhead_ppm) return;
  notes.add("the profiler's overhead is not known: it takes " + std::to_string(kLeastToCompare) +
            " steps with it and as many without, there were " + std::to_string(results.recorded_walls.size()) +
            " and " + std::to_string(results.unrecorded_walls.size()));
}

void note_clock(const Results& results, const Measurement& measurement, Notes& notes) {
  const ClockState& clock = measurement.clock;
  notes.add_if(results.clock.drifted(), "throttled: the last third of the steps took " +
                                            percent(clock.drift_ppm.value_or(0)) + " longer than the first");
  notes.add_if(results.clock.slowed(), "throttled: the clock was slowed down in " +
                                           std::to_string(clock.slowed_samples) + " of " +
                                           std::to_string(clock.samples) + " samples");
  notes.add_if(clock.power_capped_samples > 0,
               "the GPU was at its power cap in " + std::to_string(clock.power_capped_samples) + " of " +
                   std::to_string(clock.samples) + " samples, as in any long run of matmuls");
}

// Then the layers that were named are not the model's, or are not all of them: 40 blocks of a list that nobody knew.
void note_outside(const Measurement& measurement, Notes& notes) {
  const Nanoseconds outside = measurement.kernel_time - measurement.layer_time;
  if (outside <= measurement.layer_time) return;
  const auto most =
      std::max_element(measurement.rest.begin(), measurement.rest.end(),
                       [](const RestItem& left, const RestItem& right) { return left.total < right.total; });
  constexpr double kPpm = 1e6;
  const auto share =
      static_cast<std::int64_t>(kPpm * static_cast<double>(outside) / static_cast<double>(measurement.kernel_time));
  const bool known = most->what == to_string(Rest::kCommunication) || most->what == to_string(Rest::kOptimizer) ||
                     most->what == to_string(Rest::kCopies) || most->what == to_string(Rest::kBeforeRanges);
  notes.add(percent(share) + (measurement.on_cpu ? " of the steps' time" : " of the GPU time") +
            " lies outside of layers, most of it in \"" + most->what + "\"" +
            (known ? "" : ": are the layers that were named all there are?"));
}

void note_attribution(const Results& results, const Ledger& ledger, Notes& notes) {
  notes.add_count(results.before_launches,
                  "kernels at the start have no launch: the recording begins in the middle of work (a clip); their " +
                      std::to_string(results.before_launches_time) + " ns are in the rest");
  notes.add_count(results.placed_by_time, "kernels had no link and were placed by the time of their launch");
  notes.add_count(results.ambiguous_nodes, "autograd nodes could belong to several threads: the newest op was taken");
  notes.add_count(results.whole_nodes,
                  "fused backward nodes have another number of products than their order tells apart: they stay whole");
  notes.add_count(ledger.communication_in_layers(), "ns of communication inside layers are counted in the rest");
  notes.add_count(ledger.overlapped(),
                  "ns of kernels overlapped others of their layer: its time is the sum of their durations");
}

void note_losses(const Measurement& measurement, Notes& notes) {
  for (const LossItem& loss : measurement.losses) notes.add_count(loss.count, loss.what);
}

void note_sizes(const std::map<std::string, LayerFacts>& facts, bool memory_seen, const Attribution& attribution,
                Notes& notes) {
  notes.add_if(facts.empty() && memory_seen,
               "sizes are the net allocation of each layer's forward: what it keeps for backward and its output");
  notes.add_if(facts.empty() && !memory_seen, "nothing is known of sizes: they are 0");
  if (facts.empty()) return;
  std::map<std::string, LayerFacts> unknown = facts;
  for (const ProfileLayer& layer : attribution.profile.layers) {
    notes.add_if(unknown.erase(layer.name) == 0,
                 "layer \"" + layer.name + "\": nothing is known of its sizes but what was seen");
  }
  for (const auto& [name, fact] : unknown) notes.add("layer \"" + name + "\" has sizes but was never seen to run");
}

}  // namespace

void add_measurement_notes(const Results& results, const Ledger& ledger, const std::map<std::string, LayerFacts>& facts,
                           bool memory_seen, Attribution& attribution) {
  Notes notes(attribution.notes);
  const Measurement& measurement = *attribution.profile.measurement;
  note_recorder(results, notes);
  note_warm_up(results, notes);
  note_overhead(results, measurement, notes);
  note_clock(results, measurement, notes);
  note_outside(measurement, notes);
  note_attribution(results, ledger, notes);
  note_losses(measurement, notes);
  note_sizes(facts, memory_seen, attribution, notes);
}

}  // namespace debubble::attribution
