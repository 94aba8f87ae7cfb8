// Our own traces, read back.
#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "formats/run/open_trace.hpp"
#include "formats/run/run_words.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr const char* kAgain = "write the trace again with this version of debubble, or save a run file: --save-run";

std::optional<std::int64_t> unsigned_number(std::string_view text) {
  return count_of(text, std::numeric_limits<std::int64_t>::max());
}

// The facts of a trace; what is wrong is collected and thrown together.
class TraceFacts {
 public:
  explicit TraceFacts(const PipelineTrace& trace) : trace_(trace) {}

  [[nodiscard]] const std::string* find(const std::string& key) const {
    const auto found = trace_.facts.find("metadata/" + key);
    return found == trace_.facts.end() ? nullptr : &found->second;
  }
  std::string text(const std::string& key) {
    if (const std::string* found = find(key)) return *found;
    complain(key, "this trace does not say its " + key);
    return "";
  }
  std::int64_t number(const std::string& key, std::int64_t most) {
    const std::string value = text(key);
    const auto found = unsigned_number(value);
    if (found && *found <= most) return *found;
    if (find(key) != nullptr) complain(key, "must be a whole number from 0 to " + std::to_string(most));
    return 0;
  }
  std::int64_t number_or_zero(const std::string& key) { return find(key) == nullptr ? 0 : number(key, kLargestSize); }

  void complain(const std::string& key, std::string message, const char* code = "P012") {
    problems_.push_back({code, trace_.file + "#/metadata/" + key, std::move(message), kAgain});
  }
  void finish() {
    if (!problems_.empty()) throw InputError(std::move(problems_));
  }

 private:
  const PipelineTrace& trace_;
  std::vector<Diagnostic> problems_;
};

// "forward_ns=1000000 backward_ns=2000000 ...", every field once, but rare ones.
StageCost read_cost(TraceFacts& facts, const std::string& key) {
  StageCost cost;
  std::set<std::string_view> seen;
  const std::string all = facts.text(key);
  std::istringstream words(all);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const auto value =
        equals == std::string::npos ? std::nullopt : unsigned_number(std::string_view(word).substr(equals + 1));
    for (const CostField& field : cost_fields()) {
      if (!value || std::string_view(word).substr(0, equals) != field.key) continue;
      const std::int64_t most = field.unit == CostField::Unit::kCount ? kMostCounted : kLargestSize;
      if (*value > most) facts.complain(key, std::string(field.key) + " is too large");
      field.set(cost, std::min(*value, most));
      seen.insert(field.key);
    }
  }
  for (const CostField& field : cost_fields()) {
    if (field.rare) seen.insert(field.key);
  }
  if (seen.size() != cost_fields().size()) facts.complain(key, "must hold every cost once: forward_ns=1000 ...");
  return cost;
}

// "1 4" under `key`; empty where it is absent.
std::vector<std::int64_t> read_number_list(TraceFacts& facts, const std::string& key) {
  std::vector<std::int64_t> numbers;
  const std::string* all = facts.find(key);
  std::istringstream words(all == nullptr ? "" : *all);
  for (std::string word; words >> word;) {
    const auto value = unsigned_number(word);
    if (value && *value <= kLargestSize) {
      numbers.push_back(*value);
    } else {
      facts.complain(key, "must hold whole numbers, with a blank between two");
    }
  }
  return numbers;
}

std::vector<TimesAtWork> read_traced_times(TraceFacts& facts, std::int64_t stages, std::int64_t devices) {
  std::vector<TimesAtWork> found;
  std::int64_t before = 0;
  for (const std::int64_t at_work : read_number_list(facts, "at_work")) {
    if (at_work <= before || at_work >= devices) facts.complain("at_work", "must ascend, to fewer than all devices");
    facts.finish();
    before = at_work;
    TimesAtWork& times = found.emplace_back();
    times.devices = static_cast<std::int32_t>(at_work);
    for (std::int64_t s = 0; s < stages; ++s) {
      times.stages.push_back(read_cost(facts, at_work_key(static_cast<std::size_t>(s), at_work)));
    }
  }
  facts.finish();
  return found;
}

P2p read_p2p(TraceFacts& facts) {
  const std::string word = facts.text("p2p");
  const auto found = std::find(kP2pWords.begin(), kP2pWords.end(), word);
  if (found == kP2pWords.end()) {
    facts.complain("p2p", "must be overlapped, blocking, coupled, late, rendezvous or joined", "P011");
    return P2p::kOverlapped;
  }
  return static_cast<P2p>(found - kP2pWords.begin());
}

constexpr std::int64_t kMostTraceDevices = 1'000'000;

// A trace is for people to look at. Its rows are in the words of PyTorch's table, which some schedules go beyond: a run
// put together from such rows would be of another schedule.
void require_whole_rows(const PipelineTrace& trace, const TraceFacts& facts) {
  const std::string* reason = facts.find("rows_are_not_all");
  if (reason == nullptr) return;
  throw InputError(Diagnostic{"T054", trace.file, "the schedule cannot be read back from this trace: " + *reason,
                              "simulate it again, with --save-run where a run file can hold it"});
}

// Nor can all that a run holds be put together again from its slices: tasks of a training step, a modelled network.
void require_whole_run(const PipelineTrace& trace, const TraceFacts& facts) {
  const std::string* reason = facts.find("run_is_not_all");
  if (reason == nullptr) return;
  throw InputError(Diagnostic{"T054", trace.file, "the run cannot be read back from this trace: " + *reason,
                              "simulate it again, without what a run file cannot hold"});
}

// The planned rows: what ran may have had another order.
Schedule read_schedule(const PipelineTrace& trace, TraceFacts& facts, std::int64_t devices) {
  std::string table;
  for (std::int64_t d = 0; d < devices; ++d) {
    table += facts.text("row of device " + std::to_string(d)) + "\n";
    facts.finish();
  }
  return read_compute_table(table, trace.file + "#/metadata/row of device 0 ...");
}

// Counted memory, one number for each device; empty where nobody counted.
std::vector<Bytes> read_traced_sizes(TraceFacts& facts, const std::string& key, std::int64_t devices) {
  std::vector<Bytes> sizes = read_number_list(facts, key);
  if (facts.find(key) != nullptr && static_cast<std::int64_t>(sizes.size()) != devices) {
    facts.complain(key, "must hold one size for each device");
    return {};
  }
  return sizes;
}

// Events as what somebody saw happen. The kind of a gradient that travels is that of the op which made it.
Observation observe(const PipelineTrace& trace, std::int64_t devices) {
  Observation observation;
  std::set<std::pair<std::int32_t, std::int32_t>> split;
  for (const PipelineEvent& event : trace.events) {
    if (event.process < 0 || event.process >= devices) {
      throw InputError(Diagnostic{"P012", trace.file, "process " + std::to_string(event.process) + " is not a device",
                                  "a merged trace holds two runs: give one of them"});
    }
    if (event.begin < 0 || event.end > kLongestDuration) {
      throw InputError(Diagnostic{"P012", trace.file, "its times do not begin at 0, or end beyond 52 days", kAgain});
    }
    if (event.name.kind != PipelineName::Kind::kOp) continue;
    observation.ops.push_back({event.name.op, event.name.partner, event.name.paired,
                               static_cast<std::int32_t>(event.process), event.begin, event.end});
    for (const Op& op : {event.name.op, event.name.partner}) {
      if (op.kind == OpKind::kInputGrad) split.emplace(op.stage, op.microbatch);
    }
  }
  std::map<std::pair<OpKind, std::pair<std::int32_t, std::int32_t>>, std::int32_t> receiver;
  for (const PipelineEvent& event : trace.events) {
    if (event.name.kind != PipelineName::Kind::kReceive) continue;
    receiver[{event.name.op.kind, {event.name.op.stage, event.name.op.microbatch}}] =
        static_cast<std::int32_t>(event.process);
  }
  for (const PipelineEvent& event : trace.events) {
    if (event.name.kind != PipelineName::Kind::kSend) continue;
    const Op& op = event.name.op;
    const auto to = receiver.find({op.kind, {op.stage, op.microbatch}});
    if (to == receiver.end()) continue;
    ObservedTransfer transfer{op,        static_cast<std::int32_t>(event.process),         to->second, event.begin,
                              event.end, std::min(event.latency, event.end - event.begin), event.bytes};
    if (op.kind == OpKind::kBackward && split.contains({op.stage, op.microbatch})) {
      transfer.op.kind = OpKind::kInputGrad;
    }
    observation.transfers.push_back(transfer);
  }
  return observation;
}

// "1 ms per device share (given)", as the facts hold it. In the order of their names: that of the run is lost.
void read_traced_assumptions(const PipelineTrace& trace, RunRecord& record) {
  constexpr std::string_view kPrefix = "metadata/assumption ";
  for (const auto& [key, text] : trace.facts) {
    if (!key.starts_with(kPrefix)) continue;
    Assumption assumption{key.substr(kPrefix.size()), text, Source::kGiven};
    for (const Source source :
         {Source::kMeasured, Source::kPublished, Source::kModelled, Source::kDefault, Source::kGiven}) {
      const std::string mark = " (" + std::string(to_string(source)) + ")";
      if (!text.ends_with(mark)) continue;
      assumption.amount = text.substr(0, text.size() - mark.size());
      assumption.source = source;
    }
    record.assumptions.push_back(std::move(assumption));
  }
}

void name_schedule(Schedule& schedule, TraceFacts& facts) {
  schedule.name = facts.text("schedule");
  const std::int64_t pieces = facts.number("pieces_per_microbatch", kMostTraceDevices);
  if (pieces < 1 || schedule.microbatches % pieces != 0) {
    facts.complain("pieces_per_microbatch", "does not divide the pieces that ran");
    return;
  }
  schedule.pieces = static_cast<int>(pieces);
  schedule.microbatches /= static_cast<int>(pieces);
}

// Transfers that took no time have no slice; their size follows from the costs. `all_seen`: they are no less real.
void fill_in_transfers(RunRecord& record, bool all_seen) {
  for (Transfer& transfer : record.iterations.front().timeline.transfers) {
    if (all_seen) transfer.assumed = false;
    const int stage = transfer.op.kind == OpKind::kForward ? transfer.op.stage : transfer.op.stage - 1;
    if (transfer.bytes != 0 || stage < 0) continue;
    transfer.bytes = piece_of(at(record.costs.stages, stage).output, record.schedule.pieces);
  }
}

}  // namespace

RunRecord open_own_trace(const PipelineTrace& trace) {
  RunRecord record;
  TraceFacts facts(trace);
  require_whole_rows(trace, facts);
  require_whole_run(trace, facts);
  const std::int64_t devices = facts.number("devices", kMostTraceDevices);
  const std::int64_t stages = facts.number("stages", kMostTraceDevices);
  record.p2p = read_p2p(facts);
  record.hop_latency = facts.number("hop_latency_ns", kLongestDuration);
  record.hop_bandwidth = facts.number("hop_bandwidth_bytes_per_s", std::int64_t{1} << 60);
  record.samples_per_microbatch = facts.number_or_zero("samples_per_microbatch");
  record.tokens_per_sample = facts.number_or_zero("tokens_per_sample");
  if (facts.find("overlapped_pair_ns") != nullptr) {
    record.costs.overlapped_pair = facts.number("overlapped_pair_ns", kLongestDuration);
  }
  facts.finish();
  for (std::int64_t s = 0; s < stages; ++s) {
    record.costs.stages.push_back(read_cost(facts, "costs of stage " + std::to_string(s)));
    facts.finish();
  }
  record.costs.at_work = read_traced_times(facts, stages, devices);
  Observation observation = observe(trace, devices);
  record.schedule = read_schedule(trace, facts, devices);
  if (record.schedule.stages != stages) facts.complain("stages", "is not the number of stages of the rows");
  name_schedule(record.schedule, facts);
  facts.finish();
  observation.p2p = record.p2p;
  const std::string source = facts.text("source");
  observation.measured = source == "measured";
  record.iterations.push_back({assemble_timeline_of(trace.file, record.schedule, observation),
                               read_traced_sizes(facts, "counted_activation_bytes", devices),
                               read_traced_sizes(facts, "counted_memory_bytes", devices)});
  fill_in_transfers(record, facts.find("transfers_not_seen") == nullptr);
  read_traced_assumptions(trace, record);
  record.origin = {.backend = facts.text("backend"),
                   .clock = facts.text("clock"),
                   .device = "",
                   .driver = "",
                   .cuda = "",
                   .libraries = "",
                   .method = "read from a trace",
                   .date = "",
                   .command_line = facts.text("command_line"),
                   .version = facts.text("version"),
                   .notes = {}};
  record.clocks.method = "one clock";
  facts.finish();
  return record;
}

Timeline assemble_timeline_of(const std::string& file, const Schedule& schedule, const Observation& observation) {
  try {
    return assemble_timeline(schedule, observation);
  } catch (const InputError& error) {
    std::vector<Diagnostic> problems = error.diagnostics();
    for (Diagnostic& problem : problems) problem.place = file;
    throw InputError(std::move(problems));
  }
}

Schedule schedule_of_ops(std::vector<ObservedOp> ops, int devices, const std::string& name) {
  std::stable_sort(ops.begin(), ops.end(), [](const ObservedOp& a, const ObservedOp& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::vector<std::string> rows(static_cast<std::size_t>(devices));
  for (const ObservedOp& one : ops) {
    std::string& row = at(rows, one.device);
    row += row.empty() ? "" : ",";
    row += one.paired ? "(" + to_string(one.op) + ";" + to_string(one.partner) + ")OVERLAP_F_B" : to_string(one.op);
  }
  std::string table;
  for (const std::string& row : rows) table += row + "\n";
  return read_compute_table(table, name);
}

}  // namespace debubble
