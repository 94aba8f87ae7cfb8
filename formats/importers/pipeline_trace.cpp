#include "formats/importers/pipeline_trace.hpp"

#include <algorithm>
#include <utility>

#include "formats/files/plain_text.hpp"
#include "formats/importers/kineto_json.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/micros.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

constexpr Nanoseconds kLatest = Nanoseconds{1} << 61;  // in 2043, in ns since 1970

class PipelineTraceReader : public KinetoVisitor {
 public:
  PipelineTraceReader(PipelineTrace& trace, ProblemList& problems) : trace_(trace), problems_(problems) {}

  void event(std::size_t index, const KinetoFields& fields) override {
    if (fields.ph != "\"X\"") return;
    index_ = index;
    const bool on_gpu = fields.cat == "gpu_user_annotation";
    const bool step = fields.name.starts_with("ProfilerStep#") && !on_gpu;
    PipelineEvent event;
    event.name = parse_pipeline_name(fields.name);
    if (event.name.kind == PipelineName::Kind::kOther) ++trace_.losses["PP: ranges that are neither op nor transfer"];
    const bool wanted = event.name.kind != PipelineName::Kind::kNone && event.name.kind != PipelineName::Kind::kOther;
    if (!wanted && !step) return;
    if (!read_times(fields, event)) return;
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
    const std::string text = plain(value);
    if (key.starts_with("deviceProperties/") && key.ends_with("/name") && trace_.device.empty()) trace_.device = text;
    trace_.facts.emplace(key, text);
  }

 private:
  // A JSON string's text; other values verbatim.
  static std::string plain(std::string_view value) {
    if (value.size() < 2 || value.front() != '"') return std::string(value);
    if (value.find('\\') == std::string_view::npos) return std::string(value.substr(1, value.size() - 2));
    ProblemList ignored("");
    const auto parsed = parse_json(value, ignored);
    return parsed ? parsed->text : std::string(value.substr(1, value.size() - 2));
  }

  bool read_times(const KinetoFields& fields, PipelineEvent& event) {
    const auto begin = time(fields.ts, "ts");
    const auto duration = time(fields.dur, "dur");
    if (!begin || !duration) return false;
    if (*duration > kLongestDuration || *begin > kLatest || *begin < -kLongestDuration) {
      wrong("P004", *duration > kLongestDuration ? "dur" : "ts", "this time is too large",
            "no event takes longer than 52 days");
      return false;
    }
    if (*duration < 0) {
      ++trace_.losses["ranges that end before they begin"];
      return false;
    }
    event.begin = *begin;
    event.end = *begin + *duration;
    return true;
  }

  std::optional<Nanoseconds> time(std::string_view token, const char* field) {
    if (token.empty()) {
      wrong("P006", field, std::string("an event of this kind needs \"") + field + "\"", "");
      return std::nullopt;
    }
    const auto value = nanoseconds_of_micros(token);
    if (!value) {
      wrong("P007", field, std::string("\"") + field + "\" must be a number of microseconds; got " + in_quotes(token),
            "times are decimal microseconds, such as 12.345");
    }
    return value;
  }

  void wrong(const char* code, const char* field, std::string message, const char* help) {
    problems_.add_at_pointer(code, "/traceEvents/" + std::to_string(index_) + "/" + field, std::move(message), help);
  }

  std::uint32_t lane(const KinetoFields& fields) {
    const auto next = static_cast<std::uint32_t>(lanes_.size());
    return lanes_.try_emplace({std::string(fields.pid), std::string(fields.tid)}, next).first->second;
  }

  PipelineTrace& trace_;
  ProblemList& problems_;
  std::size_t index_ = 0;
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
