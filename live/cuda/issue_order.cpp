#include "live/cuda/issue_order.hpp"

#include <set>

#include "live/stall.hpp"

namespace debubble::live {
namespace {

// What is under way: overlapped tensors once made; a blocking transfer once both ends are next in their rows.
class IssueWalk {
 public:
  explicit IssueWalk(const Plan& plan) : plan_(plan), next_(plan.devices.size(), 0) {}

  // One action of each device in turn, until no device can go on. What remains then waits in a circle, or for one: a
  // deadlock, found without launching anything.
  std::vector<IssueStep> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t device = 0; device < next_.size(); ++device) {
        if (!can_go(device)) continue;
        go(device);
        moved = true;
      }
    }
    return std::move(steps_);
  }

  [[nodiscard]] const Action* stuck_at(std::size_t device) const { return action(device); }

 private:
  [[nodiscard]] const Action* action(std::size_t device) const {
    const std::vector<Action>& actions = plan_.devices[device];
    return next_[device] < actions.size() ? &actions[next_[device]] : nullptr;
  }

  // A receive needs its sender to have come to the send; the sender goes on alone, for the stream waits, not the host.
  [[nodiscard]] bool can_go(std::size_t device) const {
    const Action* const next = action(device);
    if (next == nullptr) return false;
    for (const Hop& hop : next->receives) {
      if (!sent_.contains(hop.tensor)) return false;
    }
    if (next->kind != Action::Kind::kSend) return true;
    const Hop& hop = next->sends.front();
    const Action* const peer = action(static_cast<std::size_t>(hop.peer));
    return peer != nullptr && peer->kind == Action::Kind::kReceive && peer->receives.front().tensor == hop.tensor;
  }

  void go(std::size_t device) {
    for (const Hop& hop : action(device)->sends) sent_.insert(hop.tensor);
    steps_.push_back({static_cast<std::int32_t>(device), static_cast<std::int32_t>(next_[device]++)});
  }

  const Plan& plan_;
  std::vector<std::size_t> next_;
  std::set<Tensor> sent_;
  std::vector<IssueStep> steps_;
};

DeviceStatus status_of(const Action* action) {
  DeviceStatus status;
  status.position = -1;
  if (action == nullptr) return status;
  status.position = action->position;
  if (action->kind != Action::Kind::kCompute) ++status.position;  // a transfer comes before the next cell
  const std::vector<Hop>& hops = action->receives.empty() ? action->sends : action->receives;
  status.waits = !hops.empty();
  if (!status.waits) return status;
  status.kind = action->receives.empty() ? Message::Kind::kReady : Message::Kind::kPayload;
  status.tensor = hops.front().tensor;
  status.from = hops.front().peer;
  return status;
}

}  // namespace

IssueOrder issue_order(const Job& job) {
  const Plan& plan = job.plan();
  IssueWalk walk(plan);
  IssueOrder order{walk.run(), std::nullopt};
  std::vector<DeviceStatus> statuses;
  bool stuck = false;
  for (std::size_t device = 0; device < plan.devices.size(); ++device) {
    const Action* const action = walk.stuck_at(device);
    stuck = stuck || action != nullptr;
    statuses.push_back(status_of(action));
  }
  if (stuck) order.stall = explain_stall(job, statuses);
  return order;
}

}  // namespace debubble::live
