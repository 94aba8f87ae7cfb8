#include "formats/importers/recovery/kineto_rank.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "formats/importers/kineto_json.hpp"
#include "formats/importers/kineto_times.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

enum class EventPlace : std::uint8_t { kHost, kLaunch, kKernel, kElsewhere };

struct PlaceOfCategory {
  std::string_view category;  // in lower case
  EventPlace place;
};
constexpr std::array kEventPlaces{
    PlaceOfCategory{"", EventPlace::kHost},
    PlaceOfCategory{"cpu_op", EventPlace::kHost},
    PlaceOfCategory{"operator", EventPlace::kHost},
    PlaceOfCategory{"user_annotation", EventPlace::kHost},
    PlaceOfCategory{"cuda_runtime", EventPlace::kLaunch},
    PlaceOfCategory{"cuda_driver", EventPlace::kLaunch},
    PlaceOfCategory{"runtime", EventPlace::kLaunch},
    PlaceOfCategory{"kernel", EventPlace::kKernel},
};

EventPlace place_of_category(std::string_view category) {
  std::string lower(category);
  std::transform(lower.begin(), lower.end(), lower.begin(), lower_case);
  const auto found = std::find_if(kEventPlaces.begin(), kEventPlaces.end(),
                                  [&](const PlaceOfCategory& row) { return row.category == lower; });
  return found == kEventPlaces.end() ? EventPlace::kElsewhere : found->place;
}

class RankReader : public KinetoVisitor {
 public:
  RankReader(RankEvents& events, ProblemList& problems) : events_(events), problems_(problems) {}

  void event(std::size_t index, const KinetoFields& fields) override {
    if (fields.ph != "\"X\"") return;
    switch (place_of_category(fields.cat)) {
      case EventPlace::kHost:
        host(index, fields);
        break;
      case EventPlace::kLaunch:
        launch(index, fields);
        break;
      case EventPlace::kKernel:
        kernel(index, fields);
        break;
      case EventPlace::kElsewhere:
        break;
    }
  }

  void fact(std::string_view key, std::string_view value) override {
    const std::string text = plain_value(value);
    if (key.starts_with("deviceProperties/") && key.ends_with("/name") && events_.device.empty()) events_.device = text;
    const auto number = whole_number(text);
    const bool rank = number && *number >= 0 && *number <= kMostRanksOfRun;
    if (rank && key == "distributedInfo/rank") events_.rank = number;
    if (rank && key == "distributedInfo/world_size") events_.world_size = number;
    if (key == "baseTimeNanoseconds") events_.base = whole_number(text).value_or(0);
  }

  // Joins kernels to their launches, which may come behind them in the file.
  void finish() {
    for (auto& [correlation, work] : kernels_) {
      const auto found = launches_.find(correlation);
      if (found == launches_.end()) {
        ++events_.losses["kernels without their launch"];
        continue;
      }
      work.launched = found->second;
      events_.work.push_back(work);
    }
    sort_events(events_);
  }

 private:
  void host(std::size_t index, const KinetoFields& fields) {
    const bool op = fields.name.starts_with("aten::");  // most events; their names mean nothing else
    const RangeMeaning meaning = op ? RangeMeaning{} : meaning_of(fields.name);
    const bool work = ThreadWork::wants(fields.name) && meaning.kind != RangeMeaning::Kind::kIteration;
    if (meaning.kind == RangeMeaning::Kind::kNone && !work) return;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    if (!read_event_times(index, fields, problems_, events_.losses, begin, end)) return;
    const std::int64_t sequence = whole_number(fields.sequence).value_or(-1);
    const std::uint32_t lane = lanes_.of(fields);
    if (work) events_.host.add(fields.name, lane, begin, end, sequence);
    if (op) {
      events_.ops.push_back({autograd_word(fields.name), begin, end, sequence, lane});
    } else if (meaning.kind == RangeMeaning::Kind::kNone) {
      return;
    } else if (meaning.kind == RangeMeaning::Kind::kIteration) {
      events_.steps.push_back({std::string(iteration_name(fields.name)), begin, end});
    } else {
      if (meaning.kind == RangeMeaning::Kind::kNode) events_.nodes.push_back(autograd_word(node_in(fields.name)));
      events_.ranges.push_back({meaning, begin, end, sequence, lane});
    }
  }

  void launch(std::size_t index, const KinetoFields& fields) {
    const auto correlation = whole_number(fields.correlation);
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    if (!correlation || !read_event_times(index, fields, problems_, events_.losses, begin, end)) return;
    launches_.try_emplace(*correlation, begin);
  }

  void kernel(std::size_t index, const KinetoFields& fields) {
    LaunchedWork work;
    const auto correlation = whole_number(fields.correlation);
    if (!correlation || !read_event_times(index, fields, problems_, events_.losses, work.begin, work.end)) return;
    work.kind = kernel_kind(fields.name);
    kernels_.emplace_back(*correlation, work);
  }

  RankEvents& events_;
  ProblemList& problems_;
  KinetoLanes lanes_;
  std::unordered_map<std::int64_t, Nanoseconds> launches_;  // by correlation
  std::vector<std::pair<std::int64_t, LaunchedWork>> kernels_;
};

}  // namespace

bool is_trace_without_names(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || (text[begin] != '{' && text[begin] != '[')) return false;
  if (text[begin] == '{' && !contains_text(text, "\"traceEvents\"")) return false;
  if (contains_text(text, "\"PP:")) return false;
  return contains_text(text, "\"cpu_op\"") || contains_text(text, "\"user_annotation\"") ||
         contains_text(text, "\"ProfilerStep#") || contains_text(text, "\"aten::") ||
         contains_text(text, "\"distributedInfo\"");
}

RankEvents read_kineto_rank(std::string text, const std::string& file) {
  RankEvents events;
  events.file = file;
  ProblemList problems(file);
  RankReader reader(events, problems);
  (void)walk_kineto(std::move(text), problems, reader);
  problems.throw_if_any();
  if (!events.rank) {
    events.rank = rank_in_file_name(file);
    events.rank_by_name = events.rank.has_value();
  }
  reader.finish();
  return events;
}

}  // namespace debubble
