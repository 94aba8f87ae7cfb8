#include "scenario/job/device_cut.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include "cost_models/partition.hpp"
#include "cost_models/staged_partition.hpp"
#include "scenario/job/links.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/request/slow.hpp"
#include "scenario/request/stage_list.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

constexpr std::size_t kMostLayersWithTransfers = 2000;  // every range of them is weighed

class DeviceCut {
 public:
  DeviceCut(const Scenario& scenario, const Schedule& schedule, const Profile& profile)
      : scenario_(scenario), schedule_(schedule), profile_(profile) {
    std::vector<Diagnostic> problems;  // said by make_variation
    of_device_ = slow_factors(scenario.variation.slow, SlowItem::What::kDevice, schedule.devices, problems);
    of_stage_ = slow_factors(scenario.variation.slow, SlowItem::What::kStage, schedule.stages, problems);
    if (scenario.cluster.graph != nullptr) placed_ = placed_layers(scenario, schedule.devices);
    if (placed_ != nullptr && placed_->distinct.size() < 2) placed_ = nullptr;
    if (scenario.partition.transfers_counted > 0) topology_ = make_topology(scenario, schedule.devices).value;
    if (scenario.transformer.recomputed != nullptr) {
      again_ = named_stages(scenario.transformer.recompute_stages, schedule.stages, "--recompute-stages");
    }
  }

  [[nodiscard]] bool all_alike() const {
    return of_device_.empty() && of_stage_.empty() && placed_ == nullptr && !topology_;
  }

  [[nodiscard]] std::vector<int> cut() const {
    std::vector<std::vector<Nanoseconds>> times;
    for (int stage = 0; stage < schedule_.stages; ++stage) times.push_back(times_on(stage));
    std::vector<const std::vector<Nanoseconds>*> by_stage;
    for (const auto& one : times) by_stage.push_back(&one);
    if (!topology_ || profile_.layers.size() > kMostLayersWithTransfers) return staged_partition(by_stage);
    return staged_partition(by_stage, [this](int stage, int end) { return boundary(stage, end); });
  }

 private:
  // Of all layers, if they lay on this stage; of a stage that lies on several devices the slowest counts.
  [[nodiscard]] std::vector<Nanoseconds> times_on(int stage) const {
    std::vector<Nanoseconds> most(profile_.layers.size(), 0);
    for (int replica = 0; replica < schedule_.placement.replicas(); ++replica) {
      const std::int32_t device = schedule_.placement.device_of(replica, stage);
      const Profile& layers = layers_on(device, stage);
      double factor = 1;
      if (!of_device_.empty()) factor *= at(of_device_, device);
      if (!of_stage_.empty()) factor *= at(of_stage_, stage);
      for (std::size_t k = 0; k < most.size(); ++k) {
        const double time = static_cast<double>(layer_time(layers.layers[k])) * factor;
        most[k] = std::max(most[k], static_cast<Nanoseconds>(std::llround(time)));
      }
    }
    return most;
  }

  // What counts of the transfers between `stage` and the next one, there and back, if the next one's first layer is
  // `end`.
  [[nodiscard]] Nanoseconds boundary(int stage, int end) const {
    Nanoseconds most = 0;
    for (int replica = 0; replica < schedule_.placement.replicas(); ++replica) {
      const int from = schedule_.placement.device_of(replica, stage);
      const int to = schedule_.placement.device_of(replica, stage + 1);
      if (from == to) continue;
      const Bytes bytes = at(profile_.layers, end - 1).output;
      most =
          std::max(most, topology_->transfer(from, to, bytes).total() + topology_->transfer(to, from, bytes).total());
    }
    return static_cast<Nanoseconds>(std::llround(static_cast<double>(most) * scenario_.partition.transfers_counted));
  }

  [[nodiscard]] const Profile& layers_on(std::int32_t device, int stage) const {
    const bool again = !again_.empty() && again_[static_cast<std::size_t>(stage)];
    if (placed_ == nullptr) return again ? *scenario_.transformer.recomputed : profile_;
    const ModelledLayers& there = placed_->distinct[at(placed_->of_device, device)];
    return again && there.recomputed != nullptr ? *there.recomputed : there.profile;
  }

  const Scenario& scenario_;
  const Schedule& schedule_;
  const Profile& profile_;
  std::vector<double> of_device_;  // factors; empty: all 1
  std::vector<double> of_stage_;
  std::vector<bool> again_;  // stages that recompute, where others do not
  std::shared_ptr<const PlacedLayers> placed_;
  std::optional<Topology> topology_;  // where transfers count
};

}  // namespace

std::optional<std::vector<int>> cut_for_devices(const Scenario& scenario, const Schedule& schedule,
                                                const Profile& profile) {
  const DeviceCut devices(scenario, schedule, profile);
  if (devices.all_alike()) return std::nullopt;
  return devices.cut();
}

}  // namespace debubble
