// "iterations" of a run file: the times of every cell and transfer, put together by assemble_timeline, which adds
// order, ready times and what each thing waited for.
#include <algorithm>
#include <utility>

#include "formats/run/run_parts.hpp"
#include "schedules/exchange/compute_table_cells.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/observed.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {
namespace {

// Where an op's output goes: the device of the next stage, or of the one before. -1: nowhere else.
std::int32_t receiver(const Schedule& schedule, const Op& op) {
  const int next = op.kind == OpKind::kForward ? op.stage + 1 : op.stage - 1;
  if (!is_pipelined(op.kind) || next < 0 || next >= schedule.stages) return -1;
  const std::int32_t replica = at(schedule.replica_of, op.microbatch);
  const std::int32_t to = schedule.placement.device_of(replica, next);
  return to == schedule.placement.device_of(replica, op.stage) ? -1 : to;
}

class IterationReader {
 public:
  IterationReader(const JsonValue& value, std::string pointer, const RunRecord& record, const OpIndex& ops,
                  ProblemList& problems)
      : reader_(value, std::move(pointer), problems),
        record_(record),
        schedule_(record.schedule),
        ops_(ops),
        problems_(problems),
        moment_{"nanoseconds", 0, kRoom / std::max(record.schedule.devices, 1), "times count from the run's begin"} {}

  RunIteration read(bool measured) {
    RunIteration iteration;
    if (!reader_.is_object()) return iteration;
    observation_.p2p = record_.p2p;
    observation_.measured = measured;
    const bool complete = read_ops();
    read_transfers();
    iteration.peak_activation = read_peaks("peak_activation_bytes");
    iteration.peak_memory = read_peaks("peak_memory_bytes");
    reader_.finish();
    if (complete && problems_.empty()) assemble(iteration.timeline);
    return iteration;
  }

 private:
  bool read_ops() {
    const std::vector<JsonValue>* begins = read_items(reader_, "begin_ns", true, problems_);
    const std::vector<JsonValue>* ends = read_items(reader_, "end_ns", true, problems_);
    if (begins == nullptr || ends == nullptr) return false;
    bool complete = fits("begin_ns", begins->size());
    complete = fits("end_ns", ends->size()) && complete;
    for (std::size_t d = 0; complete && d < schedule_.rows.size(); ++d) {
      const std::size_t ops = schedule_.rows[d].size();
      const std::string device = "/" + std::to_string(d);
      const auto begin = integers_of((*begins)[d], reader_.pointer_to("begin_ns") + device, moment_, ops, problems_);
      const auto end = integers_of((*ends)[d], reader_.pointer_to("end_ns") + device, moment_, ops, problems_);
      if (begin.size() == ops && end.size() == ops) add_ops(d, begin, end);
    }
    return complete;
  }

  bool fits(std::string_view key, std::size_t found) {
    if (found == schedule_.rows.size()) return true;
    report_count(problems_, reader_.pointer_to(key), found, schedule_.rows.size(), "one for each device");
    return false;
  }

  // The members of an overlapped pair have equal times; with others they ran one after the other.
  void add_ops(std::size_t device, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) {
    const std::vector<Op>& row = schedule_.rows[device];
    for (std::size_t k = 0; k < row.size(); ++k) {
      ObservedOp& op = observation_.ops.emplace_back();
      op.op = row[k];
      op.device = static_cast<std::int32_t>(device);
      op.begin = begin[k];
      op.end = end[k];
      op.paired = row[k].paired_with_next && begin[k] == begin[k + 1] && end[k] == end[k + 1];
      if (op.paired) op.partner = row[++k];
    }
  }

  void read_transfers() {
    const JsonValue* value = reader_.member("transfers", true);
    if (value == nullptr) return;
    JsonObjectReader transfers(*value, reader_.pointer_to("transfers"), problems_);
    if (!transfers.is_object()) return;
    const JsonValue* text = transfers.member("ops", true);
    if (text != nullptr && text->kind != JsonValue::Kind::kString) {
      transfers.complain("P007", "ops", "\"ops\" must be a string; got " + describe(*text),
                         "write the ops whose outputs travel like \"0F0,0F1,1B0\"");
      text = nullptr;
    }
    const bool known = text != nullptr && read_makers(text->text, transfers.pointer_to("ops"));
    const std::size_t count = observation_.transfers.size();
    if (known) {
      read_column(transfers, "begin_ns", moment_, count, &ObservedTransfer::begin);
      read_column(transfers, "end_ns", moment_, count, &ObservedTransfer::end);
      read_column(transfers, "latency_ns", kRunTime, count, &ObservedTransfer::latency);
      read_column(transfers, "bytes", kRunSize, count, &ObservedTransfer::bytes);
      check_latencies(transfers);
      check_volume(transfers);
      transfers.finish();
    }
  }

  void read_column(JsonObjectReader& transfers, std::string_view key, const IntegerRule& rule, std::size_t count,
                   std::int64_t ObservedTransfer::*value) {
    const auto column = read_integers(transfers, key, rule, count, problems_);
    for (std::size_t k = 0; k < column.size(); ++k) observation_.transfers[k].*value = column[k];
  }

  void check_latencies(JsonObjectReader& transfers) {
    if (!problems_.empty()) return;
    for (std::size_t k = 0; k < observation_.transfers.size(); ++k) {
      const ObservedTransfer& transfer = observation_.transfers[k];
      if (transfer.latency <= std::max<Nanoseconds>(transfer.end - transfer.begin, 0)) continue;
      problems_.add_at_pointer("P012", transfers.pointer_to("latency_ns/" + std::to_string(k)),
                               "the transfer of " + to_string(transfer.op) + " has more latency than time",
                               "begin_ns + latency_ns <= end_ns");
    }
  }

  void check_volume(JsonObjectReader& transfers) {
    double sum = 0;
    for (const ObservedTransfer& transfer : observation_.transfers) sum += static_cast<double>(transfer.bytes);
    if (sum >= static_cast<double>(kRoom)) report_too_much(problems_, transfers.pointer_to("bytes"));
  }

  // The op whose output travels says from where to where.
  bool read_makers(std::string_view text, const std::string& pointer) {
    bool fine = true;
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t comma = text.find(',');
      const Cell cell = read_cell(text.substr(0, comma));
      const std::string where = "transfer " + std::to_string(number) + ": ";
      if (!cell.fault.code.empty()) {
        problems_.add_at_pointer(cell.fault.code, pointer, where + cell.fault.message, cell.fault.help);
        fine = false;
      } else {
        fine = add_transfer(cell, where, pointer) && fine;
      }
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 1);
    }
    return fine;
  }

  bool add_transfer(const Cell& cell, const std::string& where, const std::string& pointer) {
    const Op& op = cell.ops[0];
    const std::int32_t id = cell.count == 1 ? ops_.find(op.kind, op.stage, op.microbatch) : -1;
    const std::int32_t to = id < 0 ? -1 : receiver(schedule_, op);
    if (to < 0) {
      problems_.add_at_pointer("V020", pointer,
                               where + (cell.count == 1 ? to_string(op) + " hands nothing to another device"
                                                        : std::string("one op is expected here")),
                               "name the ops whose output another device uses");
      return false;
    }
    ObservedTransfer& transfer = observation_.transfers.emplace_back();
    transfer.op = op;
    transfer.from_device = ops_.device(id);
    transfer.to_device = to;
    return true;
  }

  std::vector<Bytes> read_peaks(std::string_view key) {
    const JsonValue* value = reader_.member(key, false);
    if (value == nullptr) return {};
    return integers_of(*value, reader_.pointer_to(key), kRunSize, schedule_.rows.size(), problems_);
  }

  // Its problems name ops, not places in this file: they get the iteration's.
  void assemble(Timeline& timeline) {
    try {
      timeline = assemble_timeline(schedule_, observation_);
    } catch (const InputError& error) {
      for (const Diagnostic& problem : error.diagnostics()) {
        problems_.add_at_pointer(
            problem.code, reader_.pointer(), problem.message,
            problem.help.empty() ? "each op of the schedule runs once, on its device" : problem.help);
      }
    }
  }

  JsonObjectReader reader_;
  const RunRecord& record_;
  const Schedule& schedule_;
  const OpIndex& ops_;
  ProblemList& problems_;
  IntegerRule moment_;  // so that the idle times of all devices can be added up
  Observation observation_;
};

}  // namespace

std::vector<RunIteration> read_run_iterations(const std::vector<JsonValue>& list, const RunRecord& record,
                                              bool measured, ProblemList& problems) {
  const OpIndex ops(record.schedule);
  std::vector<RunIteration> iterations;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const std::string pointer = "/iterations/" + std::to_string(k);
    iterations.push_back(IterationReader(list[k], pointer, record, ops, problems).read(measured));
  }
  return iterations;
}

}  // namespace debubble
