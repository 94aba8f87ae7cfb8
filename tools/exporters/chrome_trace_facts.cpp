#include "tools/exporters/chrome_trace_facts.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tools/exporters/json_text.hpp"

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

void add_results(FlatObject& facts, const Timeline& timeline, const Report& report) {
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

}  // namespace

std::string trace_facts(const Timeline& timeline, const Schedule& schedule, const Report& report,
                        const TraceInfo& info) {
  FlatObject facts;
  facts.add("tool", info.tool);
  facts.add("version", info.version);
  facts.add("command_line", info.command_line);
  facts.add("source", timeline.measured ? "measured" : "modelled");
  add_schedule(facts, schedule);
  add_results(facts, timeline, report);
  for (const Assumption& assumption : report.assumptions) {
    facts.add("assumption " + assumption.what, assumption.value + " (" + to_string(assumption.source) + ")");
  }
  return facts.text();
}

}  // namespace debubble
