#include "studies/runs/imported_record.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "formats/importers/kineto_run.hpp"
#include "formats/run/open_trace.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "studies/runs/levels.hpp"
#include "studies/runs/open_run.hpp"
#include "studies/runs/recognise.hpp"

namespace debubble {
namespace {

// The median of every kind of op on every stage, and of the transfers.
void costs_of_ops(const ImportedRun& run, RunRecord& record) {
  MedianCosts medians;
  for (const ImportedIteration& iteration : run.iterations) {
    for (const ObservedOp& op : iteration.observation.ops) medians.add_op(op.op, op.paired, op.end - op.begin);
    for (const ObservedTransfer& transfer : iteration.observation.transfers) {
      medians.add_transfer(transfer.end - transfer.begin);
    }
  }
  record.costs.stages.resize(static_cast<std::size_t>(record.schedule.stages));
  medians.set(record);
  const std::string latency = format_duration_exact(record.hop_latency);
  Assumption hop{"hop latency", latency + ", the median of this trace", Source::kMeasured};
  if (!medians.has_transfers()) {
    hop = {"hop latency", "0 ns: no transfer was timed in this trace", Source::kDefault};
  }
  record.assumptions = {{"op times", "medians of this trace, by stage and kind", Source::kMeasured},
                        hop,
                        {"memory", "not in the trace", Source::kDefault}};
}

std::string kineto_cell(const ObservedOp& op) {
  return op.paired ? "(" + to_string(op.op) + ";" + to_string(op.partner) + ")OVERLAP_F_B" : to_string(op.op);
}

// The ops of a schedule, each with its device, in one text per cell.
std::set<std::pair<std::int32_t, std::string>> cells_of(const Schedule& schedule) {
  std::set<std::pair<std::int32_t, std::string>> cells;
  for (std::int32_t d = 0; d < static_cast<std::int32_t>(schedule.rows.size()); ++d) {
    const auto& row = at(schedule.rows, d);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const bool paired = row[k].paired_with_next;
      cells.emplace(d, kineto_cell({row[k], paired ? row[k + 1] : Op{}, paired, d, 0, 0}));
      if (paired) ++k;
    }
  }
  return cells;
}

// Throws D010 with the first ops that only one of the two has.
void check_against(const Schedule& schedule, const ImportedIteration& iteration, std::size_t ranks,
                   const std::string& file) {
  const auto refuse = [&](const std::string& message, const std::string& help) {
    throw InputError(Diagnostic{"D010", file, message, help});
  };
  if (ranks != static_cast<std::size_t>(schedule.devices)) {
    refuse(std::to_string(ranks) + (ranks == 1 ? " rank is" : " ranks are") + " given, but the predicted run has " +
               std::to_string(schedule.devices) + " devices",
           "give one trace for each rank of one pipeline");
  }
  std::set<std::pair<std::int32_t, std::string>> wanted = cells_of(schedule);
  for (const ObservedOp& op : iteration.observation.ops) {
    if (wanted.erase({op.device, kineto_cell(op)}) > 0) continue;
    refuse("device " + std::to_string(op.device) + " ran " + kineto_cell(op) + ", which device " +
               std::to_string(op.device) + " of the predicted schedule does not have",
           "predict the schedule that ran: --schedule, -p, -m and -v of the run, or its .csv");
  }
  if (!wanted.empty()) {
    refuse("device " + std::to_string(wanted.begin()->first) + " should run " + wanted.begin()->second +
               ", which the trace does not show",
           "predict the schedule that ran: --schedule, -p, -m and -v of the run, or its .csv");
  }
}

// By the catalog's row of this order, if there is one.
void name_by_order(Schedule& schedule, std::vector<std::string>& notes) {
  const Recognition found = recognise(schedule);
  schedule.name = "of the trace";
  if (found.schedule) {
    schedule.name = found.schedule->name;
    schedule.params = {found.schedule->params.begin(), found.schedule->params.end()};
    notes.insert(notes.begin(), "the order of the ops is that of " + found.schedule->name);
    for (const auto& [key, value] : schedule.params) notes.front() += " " + key + "=" + value;
  } else if (!found.nearest.empty()) {
    notes.insert(notes.begin(), "no schedule of the catalog has this order of ops; against the nearest, " +
                                    found.nearest + ": " + found.difference);
  }
}

}  // namespace

RunRecord record_of_imported(ImportedRun run, const std::string& file, const RunRecord* schedule_of) {
  RunRecord record;
  if (schedule_of != nullptr) {
    check_against(schedule_of->schedule, run.iterations.front(), static_cast<std::size_t>(run.devices), file);
    record = *schedule_of;
    record.iterations.clear();
    record.tensors_checked = 0;
  } else {
    record.schedule = schedule_of_ops(run.iterations.front().observation.ops, run.devices, file);
    name_by_order(record.schedule, run.notes);
    costs_of_ops(run, record);
  }
  record.origin = RunOrigin{};
  record.origin.backend = "import";
  record.origin.clock = run.on_gpu ? "gpu" : "wall";
  record.origin.device = run.device;
  record.origin.method = run.method;
  record.origin.notes = run.notes;
  record.clocks = run.clocks;
  record.losses = run.losses;
  for (ImportedIteration& iteration : run.iterations) {
    iteration.observation.p2p = record.p2p;
    for (ObservedTransfer& transfer : iteration.observation.transfers) {
      const int stage = transfer.op.kind == OpKind::kForward ? transfer.op.stage : transfer.op.stage - 1;
      if (stage < 0 || stage >= record.schedule.stages) continue;
      transfer.bytes = piece_of(at(record.costs.stages, stage).output, record.schedule.pieces);
    }
    record.iterations.push_back({assemble_timeline_of(file, record.schedule, iteration.observation), {}, {}});
  }
  return record;
}

RunRecord open_kineto_run(std::vector<PipelineTrace> ranks, const RunRecord* schedule_of, int replica) {
  std::vector<std::string> files;
  for (const PipelineTrace& rank : ranks) files.push_back(rank.file);
  return record_of_imported(import_kineto_run(std::move(ranks), replica), names_of(files), schedule_of);
}

}  // namespace debubble
