#include "sim/rows/weight_versions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <numbers>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

// What one device knows of one microbatch on one stage.
struct WeightReading {
  std::int64_t batch = 0;     // the update that takes its gradient: updates done before it
  std::int64_t forward = 0;   // updates done in the weights that its F read
  std::int64_t backward = 0;  // the same for its B
};

// One stage on one device, in the order of the device's row.
class StageOnDevice {
 public:
  StageOnDevice(const Asynchrony& policy, std::size_t stage, std::size_t pieces)
      : policy_(policy), stage_(stage), number_of_(pieces, -1) {}

  // First pass: gradients are complete in this order, and every `update_every` of them make an update.
  void complete(std::int32_t microbatch) {
    at(number_of_, microbatch) = static_cast<std::int64_t>(readings_.size());
    WeightReading reading;
    reading.batch = static_cast<std::int64_t>(readings_.size()) / policy_.update_every;
    readings_.push_back(reading);
  }

  // Second pass, over microbatches with a complete gradient. All that a cell reads is read before anything in it ends.
  [[nodiscard]] bool knows(std::int32_t microbatch) const { return at(number_of_, microbatch) >= 0; }
  void begin(const Op& op) {
    if (op.kind == OpKind::kForward) begin_forward(op.microbatch);
    if (makes_input_gradient(op.kind)) begin_backward(op.microbatch);
  }

  void end(const Op& op) {
    if (makes_input_gradient(op.kind)) {
      --in_flight_;
      const auto kept = kept_.find(of(op.microbatch).forward);
      if (kept != kept_.end() && --kept->second == 0) kept_.erase(kept);
    }
    if (makes_weight_gradient(op.kind) && ++gradients_ % policy_.update_every == 0) {
      ++updates_;
      count_versions();
    }
  }

  [[nodiscard]] int live_versions() const { return live_versions_; }
  [[nodiscard]] int most_in_flight() const { return most_in_flight_; }

  // The readings of the steady part, or all of them where there is none.
  [[nodiscard]] std::vector<WeightReading> steady() const {
    const std::int64_t batch = policy_.update_every;
    // The last F before the first B already reads as late as all that follow.
    std::int64_t first = std::max<std::int64_t>(forwards_before_backward_ - 1, 0);
    // A double buffer reads the version before the last one from the second update on.
    if (policy_.versions == Asynchrony::Versions::kPerBatch) first = std::max(first, batch);
    first = (first + batch - 1) / batch * batch;
    const std::int64_t last = static_cast<std::int64_t>(readings_.size()) / batch * batch;
    if (first >= last) return readings_;
    return {readings_.begin() + first, readings_.begin() + last};
  }

  [[nodiscard]] std::int64_t forward_ahead(const WeightReading& reading) const {
    return ahead(policy_.forward_ahead, reading.batch - reading.forward);
  }
  [[nodiscard]] std::int64_t backward_ahead(const WeightReading& reading) const {
    if (policy_.stash_predicted) return forward_ahead(reading);
    return ahead(policy_.backward_ahead, reading.batch - reading.backward);
  }

 private:
  WeightReading& of(std::int32_t microbatch) { return at(readings_, at(number_of_, microbatch)); }

  [[nodiscard]] std::int64_t ahead(const std::vector<std::int32_t>& given, std::int64_t to_the_update) const {
    if (policy_.versions != Asynchrony::Versions::kPredicted) return 0;
    return stage_ < given.size() ? given[stage_] : to_the_update;
  }

  void begin_forward(std::int32_t microbatch) {
    WeightReading& reading = of(microbatch);
    switch (policy_.versions) {
      case Asynchrony::Versions::kLatest:
      case Asynchrony::Versions::kStashed:
        reading.forward = updates_;
        break;
      case Asynchrony::Versions::kPerBatch:
        reading.forward = std::max<std::int64_t>(reading.batch - 1, 0);
        break;
      case Asynchrony::Versions::kPredicted:  // the first microbatch of an update predicts for all of them
        reading.forward = forward_of_batch_.try_emplace(reading.batch, updates_).first->second;
        break;
    }
    most_in_flight_ = std::max(most_in_flight_, ++in_flight_);
    if (gradients_ == 0 && !backward_begun_) ++forwards_before_backward_;
    ++kept_[reading.forward];
    count_versions();
  }

  void begin_backward(std::int32_t microbatch) {
    backward_begun_ = true;
    WeightReading& reading = of(microbatch);
    switch (policy_.versions) {
      case Asynchrony::Versions::kLatest:
        reading.backward = updates_;
        break;
      case Asynchrony::Versions::kStashed:
      case Asynchrony::Versions::kPerBatch:
        reading.backward = reading.forward;
        break;
      case Asynchrony::Versions::kPredicted:
        reading.backward = policy_.stash_predicted
                               ? reading.forward
                               : backward_of_batch_.try_emplace(reading.batch, updates_).first->second;
        break;
    }
  }

  // Only what a B will read again is kept in addition to the newest version.
  void count_versions() {
    const bool stashes = policy_.versions == Asynchrony::Versions::kStashed ||
                         policy_.versions == Asynchrony::Versions::kPerBatch || policy_.stash_predicted;
    if (!stashes) return;
    const int live = static_cast<int>(kept_.size()) + (kept_.contains(updates_) ? 0 : 1);
    live_versions_ = std::max(live_versions_, live);
  }

  const Asynchrony& policy_;
  std::size_t stage_;
  std::vector<std::int64_t> number_of_;  // by microbatch: index in readings_, or -1
  std::vector<WeightReading> readings_;  // in the order in which gradients are complete
  std::map<std::int64_t, std::int64_t> forward_of_batch_;
  std::map<std::int64_t, std::int64_t> backward_of_batch_;
  std::map<std::int64_t, int> kept_;  // version -> microbatches in flight that read it
  std::int64_t gradients_ = 0;
  std::int64_t updates_ = 0;
  std::int64_t forwards_before_backward_ = 0;
  bool backward_begun_ = false;
  int in_flight_ = 0;
  int most_in_flight_ = 0;
  int live_versions_ = 1;
};

using Stages = std::map<std::int32_t, StageOnDevice>;

// Rows that are not complete count as far as they go: whoever lowers them says what is wrong.
Stages replay_row(const Schedule& schedule, std::size_t device) {
  const std::vector<Op>& row = schedule.rows[device];
  const auto pieces = static_cast<std::size_t>(schedule.total_pieces());
  Stages stages;
  const auto stage_of = [&](const Op& op) -> StageOnDevice* {
    const bool known = !is_vocabulary(op.kind) && op.stage >= 0 && op.stage < schedule.stages && op.microbatch >= 0 &&
                       static_cast<std::size_t>(op.microbatch) < pieces;
    if (!known) return nullptr;
    const auto number = static_cast<std::size_t>(op.stage);
    return &stages.try_emplace(op.stage, *schedule.asynchrony, number, pieces).first->second;
  };
  for (const Op& op : row) {
    StageOnDevice* stage = stage_of(op);
    if (makes_weight_gradient(op.kind) && stage != nullptr && !stage->knows(op.microbatch))
      stage->complete(op.microbatch);
  }
  for (std::size_t k = 0; k < row.size(); ++k) {
    const std::size_t first = k;
    if (row[k].paired_with_next && k + 1 < row.size()) ++k;
    for (const bool ends : {false, true}) {
      for (std::size_t i = first; i <= k; ++i) {
        StageOnDevice* stage = stage_of(row[i]);
        if (stage == nullptr || !stage->knows(row[i].microbatch)) continue;
        ends ? stage->end(row[i]) : stage->begin(row[i]);
      }
    }
  }
  return stages;
}

// Adds up the readings of all devices of a stage.
class Counting {
 public:
  void add(std::int64_t value) {
    const int count = static_cast<int>(value);
    result_.least = readings_ == 0 ? count : std::min(result_.least, count);
    result_.most = readings_ == 0 ? count : std::max(result_.most, count);
    sum_ += value;
    ++readings_;
  }
  [[nodiscard]] UpdateCount result() const {
    UpdateCount result = result_;
    result.mean = readings_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(readings_);
    return result;
  }

 private:
  UpdateCount result_;
  std::int64_t sum_ = 0;
  std::int64_t readings_ = 0;
};

struct StageTally {
  Counting forward_late;
  Counting backward_late;
  Counting inconsistent;
};

void add(const StageOnDevice& stage, StageTally& tally, StageVersions& result) {
  for (const WeightReading& reading : stage.steady()) {
    const std::int64_t forward_ahead = stage.forward_ahead(reading);
    const std::int64_t backward_ahead = stage.backward_ahead(reading);
    tally.forward_late.add(reading.batch - reading.forward);
    tally.backward_late.add(reading.batch - reading.backward);
    tally.inconsistent.add(std::abs(reading.backward + backward_ahead - reading.forward - forward_ahead));
    result.forward_ahead = std::max(result.forward_ahead, static_cast<int>(forward_ahead));
    result.backward_ahead = std::max(result.backward_ahead, static_cast<int>(backward_ahead));
  }
  result.live_versions = std::max(result.live_versions, stage.live_versions());
  result.in_flight = std::max(result.in_flight, stage.most_in_flight());
}

}  // namespace

std::vector<StageVersions> weight_versions(const Schedule& schedule) {
  if (!schedule.asynchrony) return {};
  std::vector<StageVersions> versions(static_cast<std::size_t>(schedule.stages));
  std::vector<StageTally> tallies(versions.size());
  for (std::size_t s = 0; s < versions.size(); ++s) {
    versions[s].stage = static_cast<int>(s);
    versions[s].devices = 0;
    versions[s].extra_copies = schedule.asynchrony->extra_copies;
  }
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    for (const auto& [stage, on_device] : replay_row(schedule, device)) {
      const auto s = static_cast<std::size_t>(stage);
      ++versions[s].devices;
      add(on_device, tallies[s], versions[s]);
    }
  }
  for (std::size_t s = 0; s < versions.size(); ++s) {
    versions[s].forward_late = tallies[s].forward_late.result();
    versions[s].backward_late = tallies[s].backward_late.result();
    versions[s].inconsistent = tallies[s].inconsistent.result();
  }
  return versions;
}

std::vector<std::int32_t> extra_weight_copies(const Schedule& schedule) {
  if (!schedule.asynchrony) return {};
  const int replicas = schedule.placement.replicas();
  std::vector<std::int32_t> copies(static_cast<std::size_t>(replicas) * static_cast<std::size_t>(schedule.stages), 0);
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    for (const auto& [stage, on_device] : replay_row(schedule, device)) {
      for (int replica = 0; replica < replicas; ++replica) {
        if (schedule.placement.device_of(replica, stage) != static_cast<std::int32_t>(device)) continue;
        const std::size_t place = static_cast<std::size_t>(replica) * static_cast<std::size_t>(schedule.stages) +
                                  static_cast<std::size_t>(stage);
        copies[place] = on_device.live_versions() - 1 + schedule.asynchrony->extra_copies;
      }
    }
  }
  return copies;
}

double largest_stable_step(double late) { return 2 * std::sin(std::numbers::pi / (4 * late + 2)); }

double stable_step_ratio(const StageVersions& stage) {
  return largest_stable_step(std::max(stage.forward_late.most, 0)) / largest_stable_step(0);
}

}  // namespace debubble
