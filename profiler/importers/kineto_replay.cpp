#include "profiler/importers/kineto_replay.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace debubble {
namespace {

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

}  // namespace

void replay_kineto(const KinetoEvents& events, const KinetoNest& nest,
                   const std::vector<std::uint32_t>& forward_threads, RecordSink& sink) {
  KinetoReplay(events, nest, forward_threads, sink).run();
}

}  // namespace debubble
