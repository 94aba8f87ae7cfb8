#include "live/cuda/calibration.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "live/cuda/hops.hpp"
#include "sim/core/at.hpp"
#include "sim/core/median.hpp"
#include "sim/core/quantities.hpp"

namespace debubble::live {
namespace {

constexpr int kRoundsAlone = 7;   // odd: a median is one of the samples
constexpr int kBlocks = 5;        // of rounds, while several devices work; each after an iteration
constexpr int kMostRounds = 400;  // of a device with short ops next to one with long ones
constexpr std::array<OpKind, 5> kSequence{OpKind::kForward, OpKind::kInputGrad, OpKind::kWeightGrad, OpKind::kForward,
                                          OpKind::kBackward};

struct Sample {
  std::int32_t device = 0;
  Op op;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

std::string decimals(std::int64_t thousandths) { return format_scaled(thousandths, {"", 1000, 3}); }

class Calibrator {
 public:
  Calibrator(const Job& job, const Lanes& lanes, const Works& works, Executor& executor, Bench& bench)
      : job_(job), lanes_(lanes), works_(works), executor_(executor), bench_(bench) {
    for (std::int32_t device = 0; device < job.schedule().devices; ++device) sequences_.push_back(sequence_of(device));
  }

  // Nothing when an iteration got stuck.
  std::optional<Calibration> run(Nanoseconds iteration, const std::function<bool()>& iterate) {
    Calibration result;
    result.clock_step = clock_step();
    measure_alone();
    const std::int32_t all = job_.schedule().devices;
    std::vector<std::int32_t> sizes;
    if (const std::int32_t half = (all + 1) / 2; half > 1 && half < all) sizes.push_back(half);
    if (all > 1) sizes.push_back(all);
    result.busy = result.alone = alone_;
    if (all > 1) result.at_work.push_back({1, alone_.stages});
    for (const std::int32_t size : sizes) {
      const std::optional<StageCosts> times = measure_together(size, iteration, iterate, result.all_at_work);
      if (!times) return std::nullopt;
      if (size < all) {
        result.at_work.push_back({size, times->stages});
      } else {
        result.busy = *times;
      }
    }
    return result;
  }

  [[nodiscard]] const std::vector<std::vector<Op>>& sequences() const { return sequences_; }

 private:
  static std::size_t index(std::int32_t device) { return static_cast<std::size_t>(device); }

  // All kinds of every stage of the device, on the first microbatch that the stage gets there.
  [[nodiscard]] std::vector<Op> sequence_of(std::int32_t device) const {
    std::vector<Op> ops;
    std::set<std::int32_t> stages;
    for (const Op& op : job_.schedule().rows[index(device)]) {
      if (op.kind != OpKind::kForward || !stages.insert(op.stage).second) continue;
      for (const OpKind kind : kSequence) ops.push_back({kind, false, op.stage, op.microbatch});
    }
    return ops;
  }

  void measure_alone() {
    std::vector<Sample> samples;
    for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
      std::vector<int> rounds(lanes_.size(), 0);
      rounds[index(device)] = kRoundsAlone;
      const std::vector<Sample> own = measure(rounds);
      const Nanoseconds length = own.empty() ? 0 : own.back().end - own.front().begin;
      round_lengths_.push_back(std::max<Nanoseconds>(1, length / kRoundsAlone));
      samples.insert(samples.end(), own.begin(), own.end());
    }
    alone_ = costs_of(samples);
  }

  // Of so many devices at once, each in its turn. A block lasts as long as an iteration, and comes after one: the GPU
  // is as warm and its clock as fast as in the iterations that this is to predict. Busy for longer, both would differ.
  std::optional<StageCosts> measure_together(std::int32_t size, Nanoseconds iteration,
                                             const std::function<bool()>& iterate, bool& all_at_work) {
    std::vector<Sample> samples;
    std::vector<Sample> inside;
    for (int block = 0; block < kBlocks; ++block) {
      for (std::int32_t first = 0; first < job_.schedule().devices; first += size) {
        if (!iterate()) return std::nullopt;
        const std::vector<Sample> together = measure(rounds_of(first, size, iteration));
        const std::vector<Sample> busy = while_all_work(together);
        samples.insert(samples.end(), together.begin(), together.end());
        inside.insert(inside.end(), busy.begin(), busy.end());
      }
    }
    const bool complete = kinds_of(inside) == kinds_of(samples);
    all_at_work = all_at_work && complete;
    return costs_of(complete ? inside : samples);
  }

  // Of `size` devices from `first` on, as many rounds as take at least an iteration, and two of the longest.
  [[nodiscard]] std::vector<int> rounds_of(std::int32_t first, std::int32_t size, Nanoseconds iteration) const {
    const Nanoseconds longest = *std::max_element(round_lengths_.begin(), round_lengths_.end());
    const Nanoseconds wanted = std::max(iteration, 2 * longest);
    std::vector<int> rounds(lanes_.size(), 0);
    for (std::int32_t k = 0; k < size; ++k) {
      const std::size_t device = index((first + k) % job_.schedule().devices);
      const Nanoseconds length = round_lengths_[device];
      rounds[device] = static_cast<int>(std::min<Nanoseconds>(kMostRounds, (wanted + length - 1) / length));
    }
    return rounds;
  }

  // Each device runs its sequence so many times, all at once; in the order of devices, then time.
  std::vector<Sample> measure(const std::vector<int>& rounds) {
    std::vector<std::vector<Op>> planned(lanes_.size());
    for (std::size_t device = 0; device < lanes_.size(); ++device) {
      for (int round = 0; round < rounds[device]; ++round) {
        if (2 * (planned[device].size() + sequences_[device].size()) > Bench::kSlots) break;
        planned[device].insert(planned[device].end(), sequences_[device].begin(), sequences_[device].end());
      }
    }
    bench_.run([&] { issue(planned); });
    std::vector<Sample> samples;
    for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
      const std::vector<Nanoseconds> times = bench_.read(device);
      for (std::size_t k = 0; k < planned[index(device)].size(); ++k) {
        samples.push_back({device, planned[index(device)][k], times[2 * k], times[2 * k + 1]});
      }
    }
    return samples;
  }

  // What an op takes alone; 1 while that is not known.
  [[nodiscard]] Nanoseconds expected(const Op& op) {
    if (alone_.stages.empty()) return 1;
    return std::max<Nanoseconds>(1, duration_of(op.kind, alone_.stages[index(op.stage)]));
  }

  // Always next to the device that has got the least work, so that none runs dry before the others.
  void issue(const std::vector<std::vector<Op>>& planned) {
    std::vector<Nanoseconds> given(planned.size(), 0);
    std::vector<std::size_t> next(planned.size(), 0);
    for (;;) {
      std::size_t least = planned.size();
      for (std::size_t device = 0; device < planned.size(); ++device) {
        if (next[device] == planned[device].size()) continue;
        if (least == planned.size() || given[device] < given[least]) least = device;
      }
      if (least == planned.size()) return;
      const Op& op = planned[least][next[least]++];
      given[least] += expected(op);
      time_op(static_cast<std::int32_t>(least), op);
    }
  }

  // As a run does it, but for the places of the stamps.
  void time_op(std::int32_t device, const Op& op) {
    LaneDevice& lane = *lanes_[index(device)];
    lane.enter();
    executor_.stamp(device, lane.stream(), bench_.next(device));
    works_[index(device)]->run(op);
    executor_.end_stamp(device, bench_.next(device));
  }

  // The samples while no device had yet to start, and none was through.
  [[nodiscard]] static std::vector<Sample> while_all_work(const std::vector<Sample>& samples) {
    std::map<std::int32_t, std::pair<Nanoseconds, Nanoseconds>> spans;
    for (const Sample& sample : samples) {
      auto [span, first] = spans.try_emplace(sample.device, sample.begin, sample.end);
      if (!first) span->second.second = sample.end;
    }
    Nanoseconds begin = 0;
    Nanoseconds end = spans.empty() ? 0 : spans.begin()->second.second;
    for (const auto& [device, span] : spans) {
      begin = std::max(begin, span.first);
      end = std::min(end, span.second);
    }
    std::vector<Sample> inside;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(inside),
                 [&](const Sample& sample) { return sample.begin >= begin && sample.end <= end; });
    return inside;
  }

  [[nodiscard]] static std::set<std::pair<std::int32_t, OpKind>> kinds_of(const std::vector<Sample>& samples) {
    std::set<std::pair<std::int32_t, OpKind>> kinds;
    for (const Sample& sample : samples) kinds.emplace(sample.op.stage, sample.op.kind);
    return kinds;
  }

  [[nodiscard]] StageCosts costs_of(const std::vector<Sample>& samples) const {
    std::map<std::pair<std::int32_t, OpKind>, std::vector<Nanoseconds>> times;
    for (const Sample& sample : samples) {
      times[{sample.op.stage, sample.op.kind}].push_back(sample.end - sample.begin);
    }
    StageCosts costs;
    costs.stages.resize(static_cast<std::size_t>(job_.schedule().stages));
    for (const auto& [key, values] : times) {
      duration_of(key.second, at(costs.stages, key.first)) = upper_median(values) * job_.schedule().pieces;
    }
    return costs;
  }

  Nanoseconds clock_step() {
    bench_.run([this] {
      LaneDevice& lane = *lanes_.front();
      lane.enter();
      DeviceAddress out = bench_.next(0);
      long long readings = 100'000;
      const std::array<void*, 2> arguments{&out, &readings};
      lane.launch({"debubble_live_resolution", 1, 1, 0, arguments});
    });
    return bench_.read(0).front();
  }

  const Job& job_;
  const Lanes& lanes_;
  const Works& works_;
  Executor& executor_;
  Bench& bench_;
  std::vector<std::vector<Op>> sequences_;
  StageCosts alone_;
  std::vector<Nanoseconds> round_lengths_;  // of each device alone
};

}  // namespace

std::optional<Calibration> calibrate(const Job& job, const GpuParts& parts, const Lanes& lanes, const Works& works,
                                     Executor& executor, Bench& bench, Nanoseconds iteration,
                                     const std::function<bool()>& iterate) {
  Calibrator calibrator(job, lanes, works, executor, bench);
  std::optional<Calibration> result = calibrator.run(iteration, iterate);
  if (result) measure_hops(job, parts, lanes, works, executor, bench, calibrator.sequences(), *result);
  return result;
}

std::string interference_text(const Calibration& calibration) {
  std::string text;
  for (std::size_t stage = 0; stage < calibration.busy.stages.size(); ++stage) {
    const StageCost& busy = calibration.busy.stages[stage];
    const StageCost& alone = calibration.alone.stages[stage];
    text += (stage == 0 ? "stage " : "; stage ") + std::to_string(stage) + ":";
    for (const OpKind kind : {OpKind::kForward, OpKind::kInputGrad, OpKind::kWeightGrad, OpKind::kBackward}) {
      const Nanoseconds base = std::max<Nanoseconds>(1, duration_of(kind, alone));
      text += std::string(" ") + letter(kind) + " " + decimals(duration_of(kind, busy) * 1000 / base);
    }
  }
  return text;
}

std::string costs_text(const StageCosts& costs) {
  std::string text;
  for (std::size_t stage = 0; stage < costs.stages.size(); ++stage) {
    const StageCost& cost = costs.stages[stage];
    text += (stage == 0 ? "stage " : "; stage ") + std::to_string(stage) + ":";
    for (const OpKind kind : {OpKind::kForward, OpKind::kInputGrad, OpKind::kWeightGrad, OpKind::kBackward}) {
      text += std::string(" ") + letter(kind) + " " + decimals(duration_of(kind, cost) / 1000);
    }
  }
  return text + " ms";
}

}  // namespace debubble::live
