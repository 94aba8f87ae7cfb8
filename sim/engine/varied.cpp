// Runs whose ops vary: what each takes, and the walk over such durations.
#include <algorithm>
#include <cstddef>

#include "sim/engine/activities.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/tables.hpp"
#include "sim/engine/walk.hpp"

namespace debubble {

namespace {

// What the walk takes instead of the tables' durations.
struct GivenDurations {
  const std::vector<Nanoseconds>& durations;

  [[nodiscard]] Nanoseconds of(std::size_t node, const CellCost&) const { return durations[node]; }
};

Nanoseconds varied_pair(const Program& program, const Program::Cell& cell, const CellCost& cost,
                        const MemberDurations& members, Nanoseconds first, Nanoseconds second) {
  if (members.first + members.second == 0) return cost.duration;
  if (program.pairs_run_side_by_side && !cell.in_sequence && cost.duration == std::max(members.first, members.second)) {
    return std::max(first, second);
  }
  // A duration of the pair's own, or the sum: it varies as the members do together.
  __extension__ using Wide = __int128;
  const Wide apart = members.first + members.second;
  const Wide varied = static_cast<Wide>(cost.duration) * (first + second);
  return static_cast<Nanoseconds>((2 * varied + apart) / (2 * apart));
}

}  // namespace

std::vector<Nanoseconds> varied_durations(const Program& program, const Schedule& schedule, const StageCosts& costs,
                                          const Variation& variation, int pipeline_replica) {
  const std::vector<CellCost> cells = cell_costs(program, costs);
  const std::vector<MemberDurations> members = member_durations(program, costs);
  std::vector<Nanoseconds> durations(program.nodes.size(), 0);
  for (const Program::CopyNode& copy : program.copies) {
    const auto node = static_cast<std::size_t>(copy.node);
    durations[node] = cells[program.nodes[node].cell()].duration;  // copies do not vary: no kernel of theirs runs
  }
  double sum = 0;
  for_each_cell(program, schedule, [&](std::size_t k, const Op& first, const Op* second) {
    const std::size_t number = program.nodes[k].cell();
    const Program::Cell& cell = program.cells[number];
    const MemberDurations& member = members[number];
    durations[k] = variation.apply(member.first, pipeline_replica, cell.device, first);
    if (second != nullptr) {
      const Nanoseconds other = variation.apply(member.second, pipeline_replica, cell.device, *second);
      durations[k] = varied_pair(program, cell, cells[number], member, durations[k], other);
    }
    sum += static_cast<double>(durations[k]);
  });
  check_total_time(sum);
  return durations;
}

Nanoseconds simulate_varied(const Program& program, const StageCosts& costs, const Topology& topology,
                            const std::vector<Nanoseconds>& durations) {
  const Tables tables = make_tables(program, costs, topology);
  BasicWalk<GivenDurations> walk(program, tables, Ends::kInReach, GivenDurations{durations});
  NoRecorder no_recorder;
  walk.run(no_recorder);
  Nanoseconds makespan = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(program.devices); ++d) {
    makespan = std::max(makespan, walk.lanes()[d].posted);
  }
  return makespan;
}

}  // namespace debubble
