#include "formats/importers/pipeline_trace.hpp"

#include <algorithm>
#include <utility>

#include "formats/files/plain_text.hpp"
#include "formats/importers/kineto_json.hpp"
#include "formats/importers/kineto_times.hpp"
#include "formats/problems/problem_list.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

class PipelineTraceReader : public KinetoVisitor {
 public:
  PipelineTraceReader(PipelineTrace& trace, ProblemList& problems) : trace_(trace), problems_(problems) {}

  void event(std::size_t index, const KinetoFields& fields) override {
    if (fields.ph != "\"X\"") return;
    if (fields.cat == "critical path") return;  // of our own traces: ops and transfers that are events already
    const bool on_gpu = fields.cat == "gpu_user_annotation";
    const bool step = fields.name.starts_with("ProfilerStep#") && !on_gpu;
    PipelineEvent event;
    event.name = parse_pipeline_name(fields.name);
    if (event.name.kind == PipelineName::Kind::kOther) ++trace_.losses["PP: ranges that are neither op nor transfer"];
    const bool wanted = event.name.kind != PipelineName::Kind::kNone && event.name.kind != PipelineName::Kind::kOther;
    if (!wanted && !step) return;
    if (!read_event_times(index, fields, problems_, trace_.losses, event.begin, event.end)) return;
    if (step) {
      trace_.steps.push_back({std::string(fields.name), event.begin, event.end});
      return;
    }
    event.on_gpu = on_gpu;
    event.process = whole_number(fields.pid).value_or(-1);
    event.lane = lane(fields);
    event.bytes = std::clamp<Bytes>(whole_number(fields.bytes).value_or(0), 0, kLargestSize);
    event.latency = std::clamp<Nanoseconds>(nanoseconds_of_micros(fields.latency).value_or(0), 0, kLongestDuration);
    trace_.events.push_back(event);
  }

  void fact(std::string_view key, std::string_view value) override {
    const std::string text = plain_value(value);
    if (key.starts_with("deviceProperties/") && key.ends_with("/name") && trace_.device.empty()) trace_.device = text;
    trace_.facts.emplace(key, text);
  }

 private:
  std::uint32_t lane(const KinetoFields& fields) {
    const auto next = static_cast<std::uint32_t>(lanes_.size());
    return lanes_.try_emplace({std::string(fields.pid), std::string(fields.tid)}, next).first->second;
  }

  PipelineTrace& trace_;
  ProblemList& problems_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> lanes_;
};

}  // namespace

PipelineTrace read_pipeline_trace(std::string bytes, const std::string& file) {
  std::string text = plain_text(std::move(bytes), file, kLongestKineto);
  PipelineTrace trace;
  trace.file = file;
  ProblemList problems(file);
  PipelineTraceReader reader(trace, problems);
  (void)walk_kineto(std::move(text), problems, reader);
  problems.throw_if_any();
  std::sort(trace.steps.begin(), trace.steps.end(),
            [](const PipelineStep& a, const PipelineStep& b) { return a.begin < b.begin; });
  return trace;
}

}  // namespace debubble
