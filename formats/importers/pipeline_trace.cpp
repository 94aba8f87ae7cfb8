#include "formats/importers/pipeline_trace.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/files/plain_text.hpp"
#include "formats/importers/kineto_json.hpp"
#include "formats/importers/kineto_times.hpp"
#include "formats/importers/thread_work.hpp"
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
    if (fields.cat == "cpu_op" || fields.cat == "user_annotation") work(index, fields);
    const bool on_gpu = fields.cat == "gpu_user_annotation";
    const bool step = fields.name.starts_with("ProfilerStep#") && !on_gpu;
    PipelineEvent event;
    event.name = parse_pipeline_name(fields.name);
    if (event.name.kind == PipelineName::Kind::kOther) ++trace_.losses["PP: ranges that are neither op nor transfer"];
    const bool wanted = event.name.kind == PipelineName::Kind::kOp || is_end(event.name);
    if (!wanted && !step) return;
    if (!read_event_times(index, fields, problems_, trace_.losses, event.begin, event.end)) return;
    if (step) {
      trace_.steps.push_back({std::string(fields.name), event.begin, event.end});
      return;
    }
    event.on_gpu = on_gpu;
    event.process = whole_number(fields.pid).value_or(-1);
    event.lane = lanes_.of(fields);
    event.bytes = std::clamp<Bytes>(whole_number(fields.bytes).value_or(0), 0, kLargestSize);
    event.latency = std::clamp<Nanoseconds>(nanoseconds_of_micros(fields.latency).value_or(0), 0, kLongestDuration);
    trace_.events.push_back(event);
  }

  void fact(std::string_view key, std::string_view value) override {
    const std::string text = plain_value(value);
    if (key.starts_with("deviceProperties/") && key.ends_with("/name") && trace_.device.empty()) trace_.device = text;
    trace_.facts.emplace(key, text);
  }

  // Behind the last event.
  void bound_host_ops() {
    const auto on_gpu = [](const PipelineEvent& event) { return event.on_gpu; };
    if (std::any_of(trace_.events.begin(), trace_.events.end(), on_gpu)) return;
    host_.sort();
    trace_.evaluation = host_.any_work() && !host_.any_node();
    const std::int32_t last = stage_without_sends();
    std::vector<PipelineEvent*> events;
    std::vector<ThreadOp> ops;
    for (PipelineEvent& event : trace_.events) {
      if (event.name.kind == PipelineName::Kind::kOp) {
        const bool forward = !event.name.paired && event.name.op.kind == OpKind::kForward;
        events.push_back(&event);
        ops.push_back({event.begin, event.end, event.lane, forward, true, forward && event.name.op.stage == last});
      } else if (event.name.kind == PipelineName::Kind::kReceive) {
        const std::optional<Nanoseconds> arrival = host_.arrival(event.begin, event.end);
        event.arrival = arrival.has_value();
        event.end = arrival.value_or(event.end);
      }
    }
    host_.bound(ops);
    for (std::size_t k = 0; k < ops.size(); ++k) events[k]->begin = ops[k].begin, events[k]->end = ops[k].end;
  }

 private:
  static bool is_end(const PipelineName& name) {
    return name.kind == PipelineName::Kind::kSend || name.kind == PipelineName::Kind::kReceive;
  }

  void work(std::size_t index, const KinetoFields& fields) {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    if (!ThreadWork::wants(fields.name)) return;
    if (!read_event_times(index, fields, problems_, trace_.losses, begin, end)) return;
    host_.add(fields.name, lanes_.of(fields), begin, end, whole_number(fields.sequence).value_or(-1));
  }

  // The highest stage, if it sends no activations: the loss follows it. -1: none.
  [[nodiscard]] std::int32_t stage_without_sends() const {
    std::int32_t highest = -1;
    for (const PipelineEvent& event : trace_.events) {
      if (event.name.kind == PipelineName::Kind::kOp) highest = std::max(highest, event.name.op.stage);
    }
    const bool sends = std::any_of(trace_.events.begin(), trace_.events.end(), [&](const PipelineEvent& event) {
      return event.name.kind == PipelineName::Kind::kSend && event.name.op.kind == OpKind::kForward &&
             event.name.op.stage == highest;
    });
    return sends ? -1 : highest;
  }

  PipelineTrace& trace_;
  ProblemList& problems_;
  ThreadWork host_;
  KinetoLanes lanes_;
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
  reader.bound_host_ops();
  std::sort(trace.steps.begin(), trace.steps.end(),
            [](const PipelineStep& a, const PipelineStep& b) { return a.begin < b.begin; });
  return trace;
}

}  // namespace debubble
