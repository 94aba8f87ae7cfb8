#include "formats/exporters/chrome_trace_facts.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "formats/json/json_text.hpp"
#include "formats/run/run_words.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "schedules/exchange/expressible.hpp"

namespace debubble {
namespace {

class FlatObject {
 public:
  void add(std::string_view key, std::string_view value) {
    add_key(key);
    append_json_string(text_, value);
  }
  void add(std::string_view key, std::int64_t value) {
    add_key(key);
    text_ += std::to_string(value);
  }
  void add(std::string_view key, double value) {
    add_key(key);
    append_json_number(text_, value);
  }
  [[nodiscard]] std::string text() const { return "{" + text_ + "}"; }

 private:
  void add_key(std::string_view key) {
    text_ += text_.empty() ? "\n  " : ",\n  ";
    append_json_string(text_, key);
    text_ += ": ";
  }

  std::string text_;
};

void add_schedule(FlatObject& facts, const Schedule& schedule) {
  facts.add("schedule", schedule.name);
  facts.add("devices", std::int64_t{schedule.devices});
  facts.add("stages", std::int64_t{schedule.stages});
  facts.add("microbatches", std::int64_t{schedule.microbatches});
  facts.add("pieces_per_microbatch", std::int64_t{schedule.pieces});
  facts.add("chunks", std::int64_t{schedule.chunks});
  facts.add("replicas", std::int64_t{schedule.placement.replicas()});
  for (const auto& [name, value] : schedule.params) facts.add("param " + name, value);
}

void add_result_facts(FlatObject& facts, const Timeline& timeline, const Report& report) {
  facts.add("makespan_ns", timeline.makespan);
  facts.add("span_ns", report.span);
  facts.add("ideal_ns", report.ideal);
  facts.add("bubble_ratio", report.bubble_ratio);
  facts.add("bubble_over_ideal", report.bubble_over_ideal);
  facts.add("span_bubble_ratio", report.span_bubble_ratio);
  Bytes peak = 0;
  for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_memory);
  facts.add("peak_memory_bytes", peak);
  facts.add("p2p_bytes", report.p2p_bytes);
  facts.add("p2p_messages", report.p2p_messages);
}

// One row for each stage: "forward_ns=1000000 backward_ns=2000000 ...".
std::string stage_cost_text(const StageCost& cost) {
  std::string text;
  for (const CostField& field : cost_fields()) {
    if (field.rare && field.of(cost) == 0) continue;
    text += (text.empty() ? "" : " ") + std::string(field.key) + "=" + std::to_string(field.of(cost));
  }
  return text;
}

std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
  return text;
}

// What was planned, in the words of a run file: the slices show only what ran. Rows that do not say all of the schedule
// are marked, so that nobody reads another schedule from them.
void add_rows(FlatObject& facts, const Schedule& schedule) {
  const std::string reason = not_expressible(schedule, ExchangeFormat::kPytorchTable);
  if (!reason.empty()) facts.add("rows_are_not_all", reason);
  const std::string table = write_compute_table(schedule);
  std::string_view rest = table;
  for (std::size_t row = 0; row < schedule.rows.size(); ++row) {
    const std::size_t end = rest.find('\n');
    facts.add("row of device " + std::to_string(row), rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
}

void add_origin(FlatObject& facts, const Timeline& timeline, const TraceInfo& info) {
  facts.add("backend", info.backend);
  facts.add("clock", info.clock);
  if (!info.peak_activation.empty()) facts.add("counted_activation_bytes", list_text(info.peak_activation));
  if (!info.peak_memory.empty()) facts.add("counted_memory_bytes", list_text(info.peak_memory));
  const auto assumed = std::count_if(timeline.transfers.begin(), timeline.transfers.end(),
                                     [](const Transfer& transfer) { return transfer.assumed; });
  if (assumed > 0) facts.add("transfers_not_seen", std::int64_t{assumed});
}

void add_costs(FlatObject& facts, const TraceInfo& info) {
  facts.add("p2p", to_word(info.p2p));
  facts.add("hop_latency_ns", info.hop_latency);
  facts.add("hop_bandwidth_bytes_per_s", info.hop_bandwidth);
  if (info.samples_per_microbatch != 0) facts.add("samples_per_microbatch", info.samples_per_microbatch);
  if (info.tokens_per_sample != 0) facts.add("tokens_per_sample", info.tokens_per_sample);
  if (info.costs->overlapped_pair) facts.add("overlapped_pair_ns", *info.costs->overlapped_pair);
  for (std::size_t s = 0; s < info.costs->stages.size(); ++s) {
    facts.add("costs of stage " + std::to_string(s), stage_cost_text(info.costs->stages[s]));
  }
  std::vector<std::int64_t> at_work;
  for (const TimesAtWork& times : info.costs->at_work) at_work.push_back(times.devices);
  if (!at_work.empty()) facts.add("at_work", list_text(at_work));
  for (const TimesAtWork& times : info.costs->at_work) {
    for (std::size_t s = 0; s < times.stages.size(); ++s) {
      facts.add(at_work_key(s, times.devices), stage_cost_text(times.stages[s]));
    }
  }
}

}  // namespace

std::string trace_facts(const Timeline& timeline, const Schedule& schedule, const Report& report, const TraceInfo& info,
                        TraceRows rows) {
  FlatObject facts;
  facts.add("tool", info.tool);
  facts.add("version", info.version);
  facts.add("command_line", info.command_line);
  facts.add("source", timeline.measured ? "measured" : "modelled");
  add_schedule(facts, schedule);
  add_result_facts(facts, timeline, report);
  if (!info.not_read_back.empty()) facts.add("run_is_not_all", info.not_read_back);
  if (info.costs != nullptr) {
    add_origin(facts, timeline, info);
    add_costs(facts, info);
    if (rows == TraceRows::kKeep) add_rows(facts, schedule);
  }
  for (const Assumption& assumption : report.assumptions) {
    facts.add("assumption " + label(assumption), full_text(assumption) + " (" + to_string(assumption.source) + ")");
  }
  return facts.text();
}

}  // namespace debubble
