#include "profiler/importers/kineto.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/text/text.hpp"
#include "profiler/importers/kineto_events.hpp"
#include "profiler/importers/kineto_nest.hpp"
#include "profiler/records/record.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

// The events of a Kineto file as a stream of records.

// "[[8, 512], []]" of whatever blanks and line ends the file has.
void normalise(std::string_view sizes, std::string& out) {
  out.clear();
  for (const char character : sizes) {
    if (static_cast<unsigned char>(character) <= ' ') continue;
    out += character;
    if (character == ',') out += ' ';
  }
}

// Files since 2024 count from a base time, older ones from 1970. Nothing when it is neither.
std::string date_of(const KinetoEvents& events) {
  if (events.work.empty()) return {};
  constexpr Nanoseconds kYear2015 = 1'420'070'400'000'000'000;
  const Nanoseconds time = events.work.front().record.begin;
  if (events.base_time < 0 || time < 0 || time > INT64_MAX - events.base_time) return {};
  const Nanoseconds since_1970 = events.base_time + time;
  if (since_1970 < kYear2015) return {};
  using namespace std::chrono;
  const year_month_day day(floor<days>(sys_time<nanoseconds>(nanoseconds(since_1970))));
  const auto two_digits = [](unsigned value) { return (value < 10 ? "-0" : "-") + std::to_string(value); };
  return std::to_string(static_cast<int>(day.year())) + two_digits(static_cast<unsigned>(day.month())) +
         two_digits(static_cast<unsigned>(day.day()));
}

class KinetoReplay {
 public:
  KinetoReplay(const KinetoEvents& events, const KinetoNest& nest, const std::vector<std::uint32_t>& forward_threads,
               RecordSink& sink)
      : events_(events), nest_(nest), forward_threads_(forward_threads), sink_(sink) {
    numbers_.assign(events.ranges.size(), 0);
  }

  void run() {
    for (const auto& [key, value] : events_.facts) sink_.on(FactRecord{key, value});
    const std::string date = date_of(events_);
    if (!date.empty()) sink_.on(FactRecord{"date", date});
    for (const KinetoStep& step : nest_.steps) apply(step);
    for (const auto& [what, count] : events_.losses) sink_.on(LossRecord{what, count});
  }

 private:
  void apply(const KinetoStep& step) {
    switch (step.kind) {
      case KinetoStepKind::kPush:
        push(step.index);
        break;
      case KinetoStepKind::kPop:
        sink_.on(RangePop{events_.ranges[step.index].thread, step.time});
        break;
      case KinetoStepKind::kLaunch:
        launch(step.index);
        break;
      case KinetoStepKind::kMemory:
        sink_.on(events_.memory[step.index]);
        break;
      case KinetoStepKind::kOverhead:
        sink_.on(events_.overheads[step.index]);
        break;
      case KinetoStepKind::kWork:
        work(step.index);
        break;
    }
  }

  void push(std::uint32_t index) {
    const KinetoRange& range = events_.ranges[index];
    numbers_[index] = ++pushed_;
    RangePush record;
    record.range = pushed_;
    record.thread = range.thread;
    record.time = range.begin;
    record.name = range.name;
    record.sequence = range.sequence;
    if (range.forward_number < forward_threads_.size()) record.forward_thread = forward_threads_[range.forward_number];
    if (!range.sizes.empty()) {
      normalise(range.sizes, sizes_);
      record.sizes = sizes_;
    }
    sink_.on(record);
  }

  void link(std::uint32_t index) {
    const std::uint32_t range = nest_.work_range[index];
    if (range == kNoIndex || numbers_[range] == 0) return;
    sink_.on(LinkRecord{events_.work[index].record.correlation, numbers_[range]});
  }

  void launch(std::uint32_t index) {
    const KinetoLaunch& launch = events_.launches[index];
    const std::uint32_t first = nest_.launch_work[index];
    link(nest_.work_order[first]);
    sink_.on(LaunchRecord{launch.correlation, launch.thread, launch.begin, launch.end});
    for (std::size_t k = first; k < nest_.work_order.size(); ++k) {
      const KernelRecord& record = events_.work[nest_.work_order[k]].record;
      if (record.correlation != launch.correlation) break;
      sink_.on(record);
    }
  }

  // Without a launch in the file.
  void work(std::uint32_t index) {
    link(index);
    sink_.on(events_.work[index].record);
  }

  const KinetoEvents& events_;
  const KinetoNest& nest_;
  const std::vector<std::uint32_t>& forward_threads_;
  RecordSink& sink_;
  std::vector<std::uint64_t> numbers_;  // of each range in the stream; 0: not pushed yet
  std::uint64_t pushed_ = 0;
  std::string sizes_;
};

// Facts first, then everything in the order of host time; GPU work follows its launch at once, so that a sink need not
// keep it. `forward_threads` gives the thread for a "Fwd thread id", 0 where it is not known. Losses come last.
void replay_kineto(const KinetoEvents& events, const KinetoNest& nest,
                   const std::vector<std::uint32_t>& forward_threads, RecordSink& sink) {
  KinetoReplay(events, nest, forward_threads, sink).run();
}

constexpr std::string_view kModulePrefix = "nn.Module: ";

bool is_backward_range(const KinetoRange& range) { return range.forward_number != 0 && range.sequence >= 0; }
bool is_forward_range(const KinetoRange& range) { return range.forward_number == 0 && range.sequence >= 0; }

// Ranges that a person made, not a framework.
bool is_persons(std::string_view name) {
  for (const char* prefix : {"ProfilerStep#", "nccl:", "Optimizer.", "enumerate(DataLoader)"}) {
    if (name.starts_with(prefix)) return false;
  }
  return true;
}

using FirstForward = std::tuple<std::int64_t, std::uint32_t, Nanoseconds>;  // sequence number, thread, earliest begin
using ForwardVotes = std::map<std::uint32_t, std::map<std::uint32_t, std::int64_t>>;  // number -> thread -> fitting ops

// Threads recompute with numbers that start at 0 again, so several may fit. Each thread has one number, and those with
// the least choice choose first; a number for which no thread is left (a tid used again) gets the one that fits best.
std::map<std::uint32_t, std::uint32_t> most_voted(const ForwardVotes& votes) {
  constexpr std::uint32_t kMostNumbers = 1U << 20;
  using Pair = std::tuple<std::int64_t, std::int64_t, std::uint32_t, std::uint32_t>;  // -votes, all, number, thread
  std::vector<Pair> pairs;
  for (const auto& [number, threads] : votes) {
    if (number >= kMostNumbers) continue;
    std::int64_t all = 0;
    for (const auto& [thread, count] : threads) all += count;
    for (const auto& [thread, count] : threads) pairs.emplace_back(-count, all, number, thread);
  }
  std::sort(pairs.begin(), pairs.end());
  std::map<std::uint32_t, std::uint32_t> chosen;
  std::set<std::uint32_t> taken;
  for (const auto& [count, all, number, thread] : pairs) {
    if (!chosen.contains(number) && taken.insert(thread).second) chosen.emplace(number, thread);
  }
  for (const auto& [count, all, number, thread] : pairs) chosen.try_emplace(number, thread);
  return chosen;
}

}  // namespace

KinetoTrace::KinetoTrace(std::string bytes, const std::string& name)
    : events_(read_kineto_events(std::move(bytes), name)), nest_(nest_kineto(events_)) {
  find_forward_threads();
}

// "Fwd thread id" is a number of PyTorch's own. It means the thread whose forward ops carry the sequence numbers of the
// backward ops with that number, and began before them.
void KinetoTrace::find_forward_threads() {
  std::vector<FirstForward> made;
  for (const KinetoRange& range : events_.ranges) {
    if (is_forward_range(range)) made.emplace_back(range.sequence, range.thread, range.begin);
  }
  std::sort(made.begin(), made.end());
  const auto same = [](const FirstForward& a, const FirstForward& b) {
    return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
  };
  made.erase(std::unique(made.begin(), made.end(), same), made.end());
  ForwardVotes votes;
  for (const KinetoRange& range : events_.ranges) {
    if (!is_backward_range(range)) continue;
    auto at = std::lower_bound(made.begin(), made.end(), FirstForward(range.sequence, 0, INT64_MIN));
    for (; at != made.end() && std::get<0>(*at) == range.sequence; ++at) {
      if (std::get<2>(*at) < range.begin) ++votes[range.forward_number][std::get<1>(*at)];
    }
  }
  for (const auto& [number, thread] : most_voted(votes)) {
    if (forward_threads_.size() <= number) forward_threads_.resize(number + 1, 0);
    forward_threads_[number] = thread;
  }
}

void KinetoTrace::replay(RecordSink& sink) const { replay_kineto(events_, nest_, forward_threads_, sink); }

std::vector<GuessRange> KinetoTrace::candidates(KinetoRangeKind kind) const {
  std::vector<Nanoseconds> gpu_time(events_.ranges.size(), 0);
  for (std::size_t k = 0; k < events_.work.size(); ++k) {
    const KernelRecord& record = events_.work[k].record;
    if (nest_.work_range[k] != kNoIndex) gpu_time[nest_.work_range[k]] += record.end - record.begin;
  }
  // NOLINTNEXTLINE(modernize-loop-convert): std::views::reverse needs clang 15
  for (auto range = nest_.order.rbegin(); range != nest_.order.rend(); ++range) {
    if (nest_.parent[*range] != kNoIndex) gpu_time[nest_.parent[*range]] += gpu_time[*range];
  }
  std::vector<GuessRange> result;
  std::vector<std::uint32_t> place(events_.ranges.size(), kNoIndex);  // in `result`, of the range or the one around it
  for (const std::uint32_t index : nest_.order) {
    const KinetoRange& range = events_.ranges[index];
    const std::uint32_t parent = nest_.parent[index] == kNoIndex ? kNoIndex : place[nest_.parent[index]];
    place[index] = parent;
    if (range.kind != kind || (kind == KinetoRangeKind::kAnnotation && !is_persons(range.name))) continue;
    place[index] = static_cast<std::uint32_t>(result.size());
    const std::string_view prefix = kind == KinetoRangeKind::kModule ? kModulePrefix : std::string_view{};
    result.push_back({range.name, prefix, parent, gpu_time[index]});
  }
  return result;
}

std::optional<LayerGuess> KinetoTrace::guess_layers() const {
  const std::optional<LayerGuess> modules = debubble::guess_layers(candidates(KinetoRangeKind::kModule));
  return modules ? modules : debubble::guess_layers(candidates(KinetoRangeKind::kAnnotation));
}

// A forward-backward arrow joins the starts of two ops; both must carry the same sequence number.
std::int64_t KinetoTrace::contradicting_arrows() const {
  using Start = std::tuple<std::uint32_t, Nanoseconds, std::int64_t>;  // thread, time, sequence number
  std::vector<Start> starts;
  for (const KinetoRange& range : events_.ranges) {
    if (range.sequence >= 0) starts.emplace_back(range.thread, range.begin, range.sequence);
  }
  std::sort(starts.begin(), starts.end());
  const auto numbers = [&](const KinetoArrowEnd& end) {
    std::set<std::int64_t> result;
    auto at = std::lower_bound(starts.begin(), starts.end(), Start(end.thread, end.time, -1));
    for (; at != starts.end() && std::get<0>(*at) == end.thread && std::get<1>(*at) == end.time; ++at) {
      result.insert(std::get<2>(*at));
    }
    return result;
  };
  std::map<std::uint64_t, const KinetoArrowEnd*> tails;
  for (const KinetoArrowEnd& end : events_.arrows) {
    if (end.forward) tails[end.id] = &end;
  }
  std::int64_t contradictions = 0;
  for (const KinetoArrowEnd& head : events_.arrows) {
    const auto tail = tails.find(head.id);
    if (head.forward || tail == tails.end()) continue;
    const std::set<std::int64_t> forward = numbers(*tail->second);
    const std::set<std::int64_t> backward = numbers(head);
    const bool agree =
        std::any_of(backward.begin(), backward.end(), [&](auto number) { return forward.contains(number); });
    if (!agree) ++contradictions;
  }
  return contradictions;
}

std::vector<std::string> KinetoTrace::notes() const {
  std::vector<std::string> notes;
  const auto note = [&](std::int64_t count, const std::string& noun, const std::string& rest) {
    if (count > 0) notes.push_back(counted(count, noun) + " " + rest);
  };
  note(nest_.by_time, "GPU event", "linked by the thread and time of the launch: the file names no op for them");
  note(nest_.contradictions, "GPU event", "named an op that was not running at the launch: linked by time instead");
  note(nest_.unlinked, "GPU event", "without a launch in the file, or launched outside of any range: not linked");
  note(nest_.overlaps, "host event", "overlapping without nesting: cut off where the event around it ends");
  note(contradicting_arrows(), "forward-backward arrow", "contradicting the sequence numbers, which were believed");
  for (const auto& [category, count] : events_.unknown) {
    note(count, "event", "of the unknown category " + in_quotes(category) + " left out");
  }
  if (events_.whole_microseconds) {
    notes.emplace_back("times are whole microseconds: a short kernel's may be off by as much as its length");
  }
  return notes;
}

}  // namespace debubble
