// simulate: the walk with every span and transfer recorded, and with what each waited for.
#include "sim/engine/simulate.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/core/at.hpp"
#include "sim/engine/span_recorder.hpp"
#include "sim/engine/tables.hpp"
#include "sim/engine/walk.hpp"

namespace debubble {

namespace {

// Everything takes what the tables say.
struct WalkTimes {
  const Tables& tables;
  const Walk& walk;

  [[nodiscard]] Nanoseconds end(std::int32_t node) const { return walk.end(node); }
  [[nodiscard]] Nanoseconds arrival(const Input& input) const { return walk.arrival(input.maker, input.channel); }
  [[nodiscard]] TransferTime alone(std::int32_t channel) const { return at(tables.channels, channel); }
  static bool copy_engines() { return false; }
  static void add_parts(std::size_t, const Span&) {}
  static void add_gate(std::size_t, Nanoseconds, const Gate&, Nanoseconds) {}
};

Timeline simulate_tables(const Program& program, const Schedule& schedule, const Tables& tables) {
  Timeline timeline;
  timeline.devices = program.devices;
  timeline.transfers_hold_lanes = holds_both_lanes(program.p2p);
  Walk walk(program, tables, Ends::kAll);
  const WalkTimes times{tables, walk};
  SpanRecorder<WalkTimes> recorder(program, schedule, tables, times, timeline);
  walk.run(recorder);
  for (const Span& span : timeline.spans) timeline.makespan = std::max(timeline.makespan, span.end);
  check_device_time(timeline.makespan, program.devices);
  return timeline;
}

}  // namespace

Timeline simulate(const Program& program, const Schedule& schedule, const StageCosts& costs, const Topology& topology) {
  return simulate_tables(program, schedule, make_tables(program, costs, topology));
}

Timeline simulate(const Program& program, const Schedule& schedule, const StageCosts& costs,
                  const TransferTimes& transfers) {
  return simulate_tables(program, schedule, make_tables(program, costs, transfers));
}

}  // namespace debubble
