#include "studies/measure/step_times.hpp"

#include <algorithm>
#include <string_view>

#include "profiler/attribution/range_names.hpp"
#include "profiler/attribution/statistics.hpp"
#include "profiler/attribution/steps.hpp"
#include "profiler/attribution/stream_selection.hpp"
#include "profiler/records/record_file.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// A step ends with its range, or where the next one begins on its thread: programs leak ranges.
class StepClock : public RecordSink {
 public:
  explicit StepClock(const AttributionRules& rules) : names_(rules) {}

  using RecordSink::on;
  void on(const RangePush& record) override {
    const bool is_step = names_.classify(record.name).kind == attribution::RangeKind::kStep;
    if (step_ != attribution::kNoStep && record.thread != thread_) return;
    if (is_step && (step_ == attribution::kNoStep || kind_ == kind_of(record.name))) {
      end(record.time);
      step_ = steps_.begin(record.time);
      thread_ = record.thread;
      kind_ = kind_of(record.name);
      open_ = 0;
    }
    if (step_ != attribution::kNoStep) ++open_;
  }
  void on(const RangePop& record) override {
    if (step_ == attribution::kNoStep || record.thread != thread_) return;
    if (--open_ == 0) end(record.time);
  }
  void on(const SwitchRecord& record) override { steps_.on(record); }
  void on(const OverheadRecord& record) override { steps_.on(record); }

  [[nodiscard]] std::vector<Nanoseconds> settled(std::int64_t fixed_warm_up) {
    steps_.settle();
    std::vector<Nanoseconds> times;
    std::vector<bool> loading;
    for (const attribution::Step& step : steps_.all()) {
      if (!step.end || !steps_.recorded(step.begin, *step.end)) continue;
      times.push_back(*step.end - step.begin);
      loading.push_back(fixed_warm_up < 0 && steps_.loading(step.begin, *step.end));
    }
    const std::size_t warm = fixed_warm_up < 0 ? attribution::warm_up_length(times, loading)
                                               : std::min(times.size(), static_cast<std::size_t>(fixed_warm_up));
    std::vector<Nanoseconds> kept;
    for (std::size_t k = warm; k < times.size(); ++k) {
      if (!loading[k]) kept.push_back(times[k]);
    }
    return kept;
  }

 private:
  // "debubble.step:" of "debubble.step:7".
  static std::string kind_of(std::string_view name) {
    return std::string(name.substr(0, name.find_last_not_of("0123456789") + 1));
  }
  void end(Nanoseconds time) {
    if (step_ != attribution::kNoStep) steps_.end(step_, time);
    step_ = attribution::kNoStep;
  }

  attribution::RangeNames names_;
  attribution::Steps steps_;
  std::int32_t step_ = attribution::kNoStep;  // the open one
  std::uint32_t thread_ = 0;                  // its thread
  std::string kind_;
  std::int64_t open_ = 0;  // ranges of its thread since it began, itself included
};

}  // namespace

std::vector<Nanoseconds> settled_step_times(const std::vector<std::filesystem::path>& records,
                                            const AttributionRules& rules) {
  std::vector<Nanoseconds> all;
  for (const std::filesystem::path& path : records) {
    StepClock clock(rules);
    try {
      static_cast<void>(read_record_file(path.string(), clock));
    } catch (const InputError&) {  // what can be read of it counts; the attribution has said so
    }
    const std::vector<Nanoseconds> times = clock.settled(rules.warm_up_steps);
    all.insert(all.end(), times.begin(), times.end());
  }
  return all;
}

RunOverhead run_overhead(const std::vector<Nanoseconds>& with, const std::vector<Nanoseconds>& without) {
  if (std::min(with.size(), without.size()) < attribution::kLeastToCompare) {
    return {std::nullopt, "it takes " + std::to_string(attribution::kLeastToCompare) +
                              " steps of each run, there were " + std::to_string(with.size()) + " recorded and " +
                              std::to_string(without.size()) + " in the other"};
  }
  return {attribution::change_ppm(attribution::median_of(without), attribution::median_of(with)), ""};
}

}  // namespace debubble
