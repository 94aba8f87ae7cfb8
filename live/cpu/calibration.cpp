#include "live/cpu/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>

#include "sim/core/at.hpp"
#include "sim/core/median.hpp"

namespace debubble::live {

namespace {

constexpr Bytes kTokenBudget = Bytes{1} << 20;
constexpr Nanoseconds kShortOp = 100'000;        // below, small matrices keep the grain of one row small
constexpr Nanoseconds kTimePerOp = 50'000'000;   // to measure an op for, about
constexpr Nanoseconds kSample = kTimePerOp / 3;  // longer ops are measured by a part of their rows
constexpr int kCpuRounds = 3;                    // of sizing
constexpr int kMostRuns = 9;

// What a device holds at most: its state, the row's peak of activations, an op's workspace, tensors in both directions.
double most_bytes(const Job& job, std::int32_t device) {
  double activation = 0;
  double peak = 0;
  double around = 0;
  for (const Op& op : at(job.schedule().rows, device)) {
    const StageCost& cost = job.cost(op);
    const auto bytes = static_cast<double>(job.piece(cost.activation));
    const auto held = static_cast<double>(job.piece(cost.weight_grad_held));
    if (op.kind == OpKind::kForward) activation += bytes;
    peak = std::max(peak, activation);
    if (makes_input_gradient(op.kind)) activation -= bytes;
    if (op.kind == OpKind::kInputGrad) activation += held;
    if (op.kind == OpKind::kWeightGrad) activation -= held;
    around = std::max(
        around, static_cast<double>(job.piece(cost.workspace)) * 2 + static_cast<double>(job.piece(cost.output)) * 8);
  }
  double state = 0;
  for (const Job::Resident& each : job.residents(device)) state += static_cast<double>(each.bytes);
  return state + peak + around;
}

Nanoseconds shortest_op(const Job& job) {
  Nanoseconds shortest = std::numeric_limits<Nanoseconds>::max();
  for (const auto& row : job.schedule().rows) {
    for (const Op& op : row) {
      if (job.nominal(op) > 0) shortest = std::min(shortest, job.nominal(op));
    }
  }
  return shortest;
}

class Calibrating {
 public:
  Calibrating(const Job& job, std::int32_t device, CpuWorker& worker, const std::function<Nanoseconds()>& clock)
      : job_(job), worker_(worker), clock_(clock) {
    for (const Op& op : at(job.schedule().rows, device)) kinds_[op.stage].insert(op.kind);
  }

  // For each stage: first sizes from the rate of bare matmuls; for long ops a part of them to run instead; rounds in
  // which sizes are corrected by what they took; and, with the sizes fixed, the measurement that the prediction will
  // use.
  MeasuredTimes run() {
    worker_.start(ledger_);
    MeasuredTimes times;
    for (const auto& [stage, kinds] : kinds_) {
      sample_ = 1;
      start_sizes(stage, kinds);
      choose_sample(stage, kinds);
      for (int round = 0; round < kCpuRounds; ++round) refine(stage, measure(stage, kinds));
      for (const auto& [kind, all] : measure(stage, kinds)) times[{kind, stage}] = whole_time(kind, upper_median(all));
      sample_ = 1;
      for (const OpKind kind : kinds) set(kind, stage, sizes_[kind].first, sizes_[kind].second);
    }
    return times;
  }

 private:
  using ByKind = std::map<OpKind, std::vector<Nanoseconds>>;

  [[nodiscard]] Nanoseconds target(OpKind kind, std::int32_t stage) const {
    return job_.nominal({kind, false, stage, 0});
  }

  // Nanoseconds per row, from a few blocks.
  double rate(Matmul which, std::int32_t stage) {
    constexpr int kRows = 256;
    std::vector<Nanoseconds> times;
    for (int run = 0; run < 5; ++run) {
      const Nanoseconds begin = clock_();
      worker_.try_out(which, stage, kRows);
      times.push_back(clock_() - begin);
    }
    return std::max(1.0, static_cast<double>(upper_median(times))) / kRows;
  }

  void start_sizes(std::int32_t stage, const std::set<OpKind>& kinds) {
    const double forward = rate(Matmul::kForward, stage);
    const double input = rate(Matmul::kInputGrad, stage);
    const double weight = rate(Matmul::kWeightGrad, stage);
    for (const OpKind kind : kinds) {
      const auto time = static_cast<double>(target(kind, stage));
      switch (kind) {
        case OpKind::kForward:
          set(kind, stage, time / forward, 0);
          break;
        case OpKind::kBackward:
          set(kind, stage, time / 2 / input, time / 2 / weight);
          break;
        case OpKind::kInputGrad:
          set(kind, stage, time / input, 0);
          break;
        case OpKind::kWeightGrad:
          set(kind, stage, 0, time / weight);
          break;
        case OpKind::kRecompute:
        case OpKind::kVocabularyLogits:
        case OpKind::kVocabularyGradient:
          break;  // no plan holds them
      }
    }
  }

  // Long ops run a part of their rows. What an op takes without any (its buffers, its copies) does not shrink with
  // them, so it is measured too.
  void choose_sample(std::int32_t stage, const std::set<OpKind>& kinds) {
    const Nanoseconds longest = longest_of(stage, kinds);
    empty_.clear();
    if (longest <= kSample) return;
    const std::map<OpKind, std::pair<double, double>> sizes = sizes_;
    for (const OpKind kind : kinds) set(kind, stage, 0, 0);
    sample_ = static_cast<double>(kSample) / static_cast<double>(longest);
    for (const auto& [kind, all] : measure(stage, kinds)) empty_[kind] = *std::min_element(all.begin(), all.end());
    for (const auto& [kind, size] : sizes) {
      if (kinds.contains(kind)) set(kind, stage, size.first, size.second);
    }
  }

  // Of an op with all its rows, from the time with the sample's.
  [[nodiscard]] Nanoseconds whole_time(OpKind kind, Nanoseconds time) const {
    if (sample_ == 1) return time;
    const Nanoseconds empty = empty_.at(kind);
    const auto work = static_cast<double>(std::max(Nanoseconds{1}, time - empty));
    return empty + static_cast<Nanoseconds>(std::llround(work / sample_));
  }

  void set(OpKind kind, std::int32_t stage, double first, double second) {
    sizes_[kind] = {first, second};
    const auto whole = [&](double rows) { return std::llround(std::clamp(rows * sample_, 0.0, 1e15)); };
    worker_.set_rows(kind, target(kind, stage), {whole(first), whole(second)});
  }

  // By the shortest run: sizes must not follow what other programs did to the others.
  void refine(std::int32_t stage, const ByKind& measured) {
    for (const auto& [kind, all] : measured) {
      const Nanoseconds time = whole_time(kind, *std::min_element(all.begin(), all.end()));
      if (time <= 0) continue;
      const double factor = static_cast<double>(target(kind, stage)) / static_cast<double>(time);
      const auto [first, second] = sizes_[kind];
      set(kind, stage, first * factor, second * factor);
    }
  }

  [[nodiscard]] Nanoseconds longest_of(std::int32_t stage, const std::set<OpKind>& kinds) const {
    Nanoseconds longest = 1;
    for (const OpKind kind : kinds) longest = std::max(longest, target(kind, stage));
    return longest;
  }

  // One microbatch there and back, several times.
  ByKind measure(std::int32_t stage, const std::set<OpKind>& kinds) {
    const Nanoseconds longest = std::min(longest_of(stage, kinds), kSample);
    const auto runs = std::clamp(kTimePerOp / longest, Nanoseconds{1}, Nanoseconds{kMostRuns});
    ByKind times;
    for (Nanoseconds run = 0; run < runs; ++run) {
      if (kinds.contains(OpKind::kBackward)) chain({OpKind::kForward, OpKind::kBackward}, stage, times);
      if (kinds.contains(OpKind::kInputGrad)) {
        chain({OpKind::kForward, OpKind::kInputGrad, OpKind::kWeightGrad}, stage, times);
      }
    }
    return times;
  }

  void chain(const std::vector<OpKind>& kinds, std::int32_t stage, ByKind& times) {
    ledger_.start(0);
    for (const OpKind kind : kinds) {
      const Op op{kind, false, stage, -1};
      const bool forward = kind == OpKind::kForward;
      const bool takes = forward ? stage > 0 : kind != OpKind::kWeightGrad && stage + 1 < job_.schedule().stages;
      const Payload input = takes ? worker_.sample_output(forward ? stage - 1 : stage) : Payload{};
      ledger_.cell_begins(0);
      const Nanoseconds begin = clock_();
      worker_.begin(op);
      (void)worker_.work(op, input);
      times[kind].push_back(clock_() - begin);
      worker_.end(op);
    }
  }

  const Job& job_;
  CpuWorker& worker_;
  const std::function<Nanoseconds()>& clock_;
  Ledger ledger_;
  std::map<std::int32_t, std::set<OpKind>> kinds_;  // by stage
  // Of the stage at hand.
  std::map<OpKind, std::pair<double, double>> sizes_;  // rows of a whole op
  double sample_ = 1;                                  // the part of them that runs
  std::map<OpKind, Nanoseconds> empty_;                // what an op takes without rows, where only a part runs
};

}  // namespace

WorkShape choose_shape(const Job& job) {
  WorkShape shape;
  shape.token = job.request().clock == Clock::kLogicalGiven;
  if (shape.token) shape.hidden = shape.block_rows = 8;
  if (!shape.token && shortest_op(job) < kShortOp) shape.hidden = shape.block_rows = 64;
  double all = 0;
  for (std::int32_t device = 0; device < job.schedule().devices; ++device) all += most_bytes(job, device);
  const Bytes budget = std::max(
      Bytes{1}, shape.token ? std::min(kTokenBudget, job.request().buffer_budget) : job.request().buffer_budget);
  shape.divisor = std::max(Bytes{1}, static_cast<Bytes>(std::ceil(all / static_cast<double>(budget))));
  return shape;
}

MeasuredTimes calibrate(const Job& job, std::int32_t device, CpuWorker& worker,
                        const std::function<Nanoseconds()>& clock) {
  return Calibrating(job, device, worker, clock).run();
}

StageCosts measured_costs(const Job& job, const std::vector<MeasuredTimes>& devices) {
  std::map<std::pair<OpKind, std::int32_t>, std::vector<Nanoseconds>> all;
  for (const MeasuredTimes& times : devices) {
    for (const auto& [key, time] : times) all[key].push_back(time);
  }
  StageCosts costs = job.request().costs;
  costs.overlapped_pair.reset();
  for (const auto& [key, times] : all) {
    Nanoseconds sum = 0;
    for (const Nanoseconds time : times) sum += time;
    const auto count = static_cast<Nanoseconds>(times.size());
    duration_of(key.first, at(costs.stages, key.second)) = (sum + count / 2) / count * job.schedule().pieces;
  }
  return costs;
}

}  // namespace debubble::live
