#include "profiler/importers/kineto_events.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "formats/files/plain_text.hpp"
#include "formats/importers/kineto_json.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "profiler/importers/kineto_names.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

std::string_view unquoted(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"') return token.substr(1, token.size() - 2);
  return token;
}

class KinetoEventReader : public KinetoVisitor {
 public:
  KinetoEventReader(KinetoEvents& events, ProblemList& problems) : events_(events), problems_(problems) {}

  void event(std::size_t index, const KinetoFields& fields) override {
    index_ = index;
    fields_ = &fields;
    if (fields.ph == "\"X\"") {
      complete();
    } else if (fields.ph == "\"i\"" && fields.name == "[memory]") {
      memory();
    } else if ((fields.ph == "\"s\"" || fields.ph == "\"f\"") && category_of(fields.cat) == KinetoCategory::kArrow) {
      arrow();
    }
  }

  void fact(std::string_view key, std::string_view value) override {
    const std::string text(unquoted(value));
    if (key == "cupti_version") {
      events_.facts.emplace_back("cupti", text);
    } else if (key == "cuda_runtime_version" || key == "cuda_driver_version") {
      events_.facts.emplace_back(key == "cuda_runtime_version" ? "cuda" : "driver.cuda", version(text));
    } else if (key == "distributedInfo/rank" || key == "distributedInfo/world_size") {
      events_.facts.emplace_back(key.substr(key.find('/') + 1), text);
    } else if (key == "baseTimeNanoseconds") {
      events_.base_time = whole_number(text).value_or(0);
    } else if (key.starts_with("deviceProperties/") && key.ends_with("/id")) {
      device_ = text;
    } else if (key.starts_with("deviceProperties/") && key.ends_with("/name")) {
      events_.facts.emplace_back("device." + device_ + ".name", text);
    }
  }

 private:
  // "12.4" of 12040.
  static std::string version(const std::string& text) {
    const std::int64_t number = whole_number(text).value_or(0);
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  }

  void complete() {
    switch (category_of(fields_->cat)) {
      case KinetoCategory::kOp:
        range(KinetoRangeKind::kOp);
        break;
      case KinetoCategory::kAnnotation:
        range(KinetoRangeKind::kAnnotation);
        break;
      case KinetoCategory::kPython:
        if (fields_->name.starts_with("nn.Module: ")) range(KinetoRangeKind::kModule);
        break;
      case KinetoCategory::kLaunch:
        launch();
        break;
      case KinetoCategory::kKernel:
      case KinetoCategory::kCopy:
      case KinetoCategory::kSet:
        work(category_of(fields_->cat));
        break;
      case KinetoCategory::kOverhead:
        overhead();
        break;
      case KinetoCategory::kNone:
        ++events_.unknown[std::string(fields_->cat)];
        break;
      case KinetoCategory::kArrow:
      case KinetoCategory::kMemory:
      case KinetoCategory::kIgnored:
        break;
    }
  }

  void wrong(const char* code, const char* field, std::string message, const char* help) {
    problems_.add_at_pointer(code, "/traceEvents/" + std::to_string(index_) + "/" + field, std::move(message), help);
  }

  // Whole microseconds are counted out: such a file knows a short kernel's time to half its length only.
  Nanoseconds time(std::string_view token, const char* field) {
    if (token.empty()) {
      wrong("P006", field, std::string("an event of this kind needs \"") + field + "\"", "");
      return 0;
    }
    const std::optional<Nanoseconds> value = nanoseconds_of_micros(token);
    if (value) {
      if (*value % 1000 != 0) events_.whole_microseconds = false;
      return *value;
    }
    wrong("P007", field, std::string("\"") + field + "\" must be a number of microseconds; got " + shown(token),
          "times are decimal microseconds, such as 12.345");
    return 0;
  }

  static std::string shown(std::string_view token) {
    return token.front() == '"' ? in_quotes(unquoted(token)) : shortened(printable(token));
  }
  static std::string printable(std::string_view token) {
    std::string text(token);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
  }

  struct Span {
    Nanoseconds begin;
    Nanoseconds end;
  };
  Span span() {
    const Nanoseconds begin = time(fields_->ts, "ts");
    const Nanoseconds duration = time(fields_->dur, "dur");
    if (duration > kLongestDuration || begin > std::numeric_limits<Nanoseconds>::max() - kLongestDuration) {
      wrong("P004", duration > kLongestDuration ? "dur" : "ts", "this time is too large",
            "no event takes longer than 52 days");
      return {0, 0};
    }
    return {begin, begin + duration};
  }

  // A number as such, or as the text of one, as files of 2021 have it. Empty and null: `none`.
  template <typename Number>
  Number number(std::string_view token, const char* field, Number none) {
    token = unquoted(token);
    if (token.empty() || token == "null") return none;
    if (const auto value = read_whole<Number>(token)) return *value;
    wrong("P007", field,
          std::string("this must be a whole number from ") + std::to_string(std::numeric_limits<Number>::min()) +
              " to " + std::to_string(std::numeric_limits<Number>::max()) + "; got " + shown(token),
          "");
    return none;
  }

  std::uint32_t thread() {
    if (fields_->tid.empty()) {
      wrong("P006", "tid", "an event of this kind needs \"tid\"", "");
      return 0;
    }
    if (fields_->pid == last_pid_ && fields_->tid == last_tid_) return last_thread_;
    last_pid_ = fields_->pid;
    last_tid_ = fields_->tid;
    const auto [found, fresh] = threads_.try_emplace({unquoted(last_pid_), unquoted(last_tid_)}, events_.threads + 1);
    if (fresh) ++events_.threads;
    last_thread_ = found->second;
    return last_thread_;
  }

  void range(KinetoRangeKind kind) {
    KinetoRange range;
    const Span times = span();
    if (times.end < times.begin) {
      ++events_.losses["host events that end before they begin"];
      return;
    }
    range.name = fields_->name;
    range.sizes = fields_->sizes.starts_with("[") ? fields_->sizes : std::string_view{};
    range.begin = times.begin;
    range.end = times.end;
    range.sequence = number<std::int64_t>(fields_->sequence, "args/Sequence number", -1);
    range.external = number<std::uint64_t>(fields_->external, "args/External id", 0);
    range.forward_number = number<std::uint32_t>(fields_->forward, "args/Fwd thread id", 0);
    range.thread = thread();
    range.kind = kind;
    events_.ranges.push_back(range);
  }

  void launch() {
    if (fields_->correlation.empty()) return;
    KinetoLaunch launch;
    const Span times = span();
    launch.correlation = number<std::uint32_t>(fields_->correlation, "args/correlation", 0);
    launch.begin = times.begin;
    launch.end = std::max(times.begin, times.end);
    launch.thread = thread();
    events_.launches.push_back(launch);
  }

  // Of old files the tid says it: "stream 7".
  std::uint32_t stream() {
    if (!fields_->stream.empty() && !fields_->stream.starts_with("-")) {
      return number<std::uint32_t>(fields_->stream, "args/stream", 0);
    }
    std::string_view tid = unquoted(fields_->tid);
    if (tid.starts_with("stream ")) tid.remove_prefix(7);
    return take_whole<std::uint32_t>(tid).value_or(0);
  }

  void work(KinetoCategory category) {
    KinetoWork work;
    const Span times = span();
    KernelRecord& record = work.record;
    if (times.begin != 0 && times.end > times.begin) {
      record.begin = times.begin;
      record.end = times.end;
    }
    record.work = category == KinetoCategory::kKernel ? GpuWork::kKernel : GpuWork::kSet;
    record.name = category == KinetoCategory::kSet ? "set" : fields_->name;
    if (category == KinetoCategory::kCopy) {
      const KinetoCopy copy = copy_named(fields_->name);
      record.name = copy.name;
      record.work = copy.work;
    }
    record.correlation = number<std::uint32_t>(fields_->correlation, "args/correlation", 0);
    record.device = number<std::uint32_t>(fields_->device, "args/device", 0);
    record.context = number<std::uint32_t>(fields_->context, "args/context", 0);
    record.stream = stream();
    record.graph_node = number<std::uint64_t>(fields_->graph_node, "args/graph node id", 0);
    record.bytes = number<std::int64_t>(fields_->bytes, "args/bytes", 0);
    work.external = number<std::uint64_t>(fields_->external, "args/External id", 0);
    if (work.external == record.correlation) work.external = 0;
    events_.work.push_back(work);
  }

  void memory() {
    constexpr std::int64_t kCuda = 1;
    if (number<std::int64_t>(fields_->device_type, "args/Device Type", kCuda) != kCuda) return;
    MemoryRecord record;
    record.time = time(fields_->ts, "ts");
    record.device = number<std::uint32_t>(fields_->device_id, "args/Device Id", 0);
    record.bytes = number<std::int64_t>(fields_->bytes, "args/Bytes", 0);
    record.address = number<std::uint64_t>(fields_->address, "args/Addr", 0);
    record.thread = thread();
    if (record.bytes != 0) events_.memory.push_back(record);
  }

  void overhead() {
    OverheadRecord record;
    const Span times = span();
    record.begin = times.begin;
    record.end = std::max(times.begin, times.end);
    record.kind = overhead_named(fields_->name);
    events_.overheads.push_back(record);
  }

  void arrow() {
    KinetoArrowEnd end;
    end.id = number<std::uint64_t>(fields_->id, "id", 0);
    end.time = time(fields_->ts, "ts");
    end.thread = thread();
    end.forward = fields_->ph == "\"s\"";
    events_.arrows.push_back(end);
  }

  KinetoEvents& events_;
  ProblemList& problems_;
  std::size_t index_ = 0;
  const KinetoFields* fields_ = nullptr;
  std::string device_;
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> threads_;
  std::string_view last_pid_;
  std::string_view last_tid_;
  std::uint32_t last_thread_ = 0;
};

}  // namespace

KinetoEvents read_kineto_events(std::string bytes, const std::string& name) {
  std::string text = plain_text(std::move(bytes), name, kLongestKineto);
  KinetoEvents events;
  ProblemList problems(name);
  KinetoEventReader reader(events, problems);
  events.text = walk_kineto(std::move(text), problems, reader);
  problems.throw_if_any();
  if (events.work.empty()) {
    throw InputError(Diagnostic{"A003", name, "no kernel, copy or memset: nothing ran on a GPU while this was recorded",
                                "give torch.profiler ProfilerActivity.CUDA among its activities"});
  }
  return events;
}

}  // namespace debubble
