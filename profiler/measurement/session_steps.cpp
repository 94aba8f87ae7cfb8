#include "profiler/measurement/session_steps.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <string>

#include "sim/core/at.hpp"

namespace debubble {
namespace {

constexpr int kRecordedWarmUp = 3;
constexpr Nanoseconds kBusy = 1'000'000'000;
constexpr Nanoseconds kBusyAtMost = 3 * kBusy;
constexpr std::size_t kMostWarmUpSteps = 20'000;  // of a step so short that a busy second never comes
constexpr int kGroup = 5;
constexpr int kTimedSteps = 11;
constexpr int kFirstMark = 0;
constexpr int kLastMark = 1;

class Range {
 public:
  Range(Recorder& recorder, const std::string& text) : recorder_(recorder) { recorder_.push(text); }
  ~Range() { recorder_.pop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  Recorder& recorder_;
};

const char* letter(Pass pass) { return at(std::array{"F", "I", "W"}, pass); }

Nanoseconds steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool agree(const std::vector<Nanoseconds>& times) {
  if (times.size() < 3) return false;
  const auto [least, most] = std::minmax_element(times.end() - 3, times.end());
  return (*most - *least) * 100 <= *least * 3;
}

}  // namespace

StepRunner::StepRunner(CudaDevice& device, TransformerModel& model, Recorder& recorder)
    : device_(device),
      recorder_(recorder),
      passes_{{{&model.embedding(), Pass::kForward},
               {&model.block(), Pass::kForward},
               {&model.head(), Pass::kForward},
               {&model.head(), Pass::kInputGrad},
               {&model.head(), Pass::kWeightGrad},
               {&model.block(), Pass::kInputGrad},
               {&model.block(), Pass::kWeightGrad},
               {&model.embedding(), Pass::kInputGrad},
               {&model.embedding(), Pass::kWeightGrad}}} {}

template <typename RunPass>
Nanoseconds StepRunner::run_step(const RunPass& run_pass) {
  const Nanoseconds begin = steady_now();
  device_.mark(kFirstMark);
  for (const StepPass& pass : passes_) run_pass(pass);
  device_.mark(kLastMark);
  issuing_ = steady_now() - begin;
  device_.synchronise();
  return device_.elapsed(kFirstMark, kLastMark);
}

Nanoseconds StepRunner::step() {
  const Range step(recorder_, "debubble.step:" + std::to_string(steps_++));
  return run_step([this](const StepPass& pass) {
    const Range layer(recorder_, "debubble.layer:" + pass.layer->name());
    const Range phase(recorder_, std::string("debubble.phase:") + letter(pass.pass));
    pass.layer->run(pass.pass);
  });
}

Nanoseconds StepRunner::plain_step() {
  return run_step([](const StepPass& pass) { pass.layer->run(pass.pass); });
}

PassTimes StepRunner::timed_passes() {
  constexpr Nanoseconds kLongestHold = 200'000'000;
  device_.hold(std::min(2 * issuing_, kLongestHold));
  device_.mark(0);
  for (std::size_t k = 0; k < kStepPasses; ++k) {
    passes_[k].layer->run(passes_[k].pass);
    device_.mark(static_cast<int>(k) + 1);
  }
  device_.synchronise();
  PassTimes times{};
  for (std::size_t k = 0; k < kStepPasses; ++k) {
    times[k] = device_.elapsed(static_cast<int>(k), static_cast<int>(k) + 1);
  }
  return times;
}

WarmUp warm_up(StepRunner& runner, Recorder& recorder) {
  WarmUp done;
  std::vector<Nanoseconds> times;
  for (; done.recorded < kRecordedWarmUp; ++done.recorded) times.push_back(runner.step());
  Nanoseconds busy = std::accumulate(times.begin(), times.end(), Nanoseconds{0});
  recorder.pause();
  done.settled = agree(times);
  while (times.size() < kMostWarmUpSteps && busy < kBusyAtMost && !(done.settled && busy >= kBusy)) {
    times.push_back(runner.plain_step());
    busy += times.back();
    done.settled = agree(times);
  }
  recorder.resume();
  done.steps = static_cast<int>(times.size());
  return done;
}

std::vector<PassTimes> record_steps(StepRunner& runner, Recorder& recorder, int steps,
                                    const std::function<void(int)>& recorded) {
  const int groups = (steps + kGroup - 1) / kGroup;
  const int timed_each = (kTimedSteps + groups - 1) / groups;
  std::vector<PassTimes> timed;
  for (int done = 0; done < steps;) {
    const int group = std::min(kGroup, steps - done);
    for (int k = 0; k < group; ++k) {
      runner.step();
      recorded(++done);
    }
    recorder.pause();
    for (int k = 0; k < group; ++k) runner.step();
    for (int k = 0; k < timed_each; ++k) timed.push_back(runner.timed_passes());
    if (done < steps) recorder.resume();
  }
  return timed;
}

}  // namespace debubble
