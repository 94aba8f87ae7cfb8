// Steps: list the forwards and the backwards of each device; find the length of its warm-up; then, for each pass, post
// what the exchange after it receives, and have the next cell wait for all of it in warm-up and cool-down.
// Invariant: the k-th exchange after forwards of a device d > 0 receives the input of its forward k + 1, and that of
// device 0 the output of the last device's forward k - (p - 1), because all devices run virtual microbatches in one
// order; backwards are the same from the last device on.
#include "sim/rows/joined_exchanges.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

class Exchanges {
 public:
  explicit Exchanges(const OpIndex& ops) : ops_(ops), devices_(ops.rows()) {
    for (std::int32_t id = 0; id < ops.size();) {
      const std::int32_t begin = id;
      for (const std::int32_t end = ops.cell_end(begin); id < end; ++id) made_.posted.push_back(begin);
    }
    made_.awaited.resize(to_index(ops.size()));
    forwards_.resize(to_index(devices_));
    backwards_.resize(to_index(devices_));
    for (std::int32_t id = 0; id < ops.size(); ++id) {
      const OpKind kind = ops.op(id).kind;
      if (kind == OpKind::kForward) at(forwards_, ops.device(id)).push_back(id);
      if (makes_input_gradient(kind)) at(backwards_, ops.device(id)).push_back(id);
    }
  }

  std::optional<Posting> run() {
    if (!is_interleaved()) return std::nullopt;
    for (std::int32_t device = 0; device < devices_; ++device) {
      const std::int32_t passes = size_of(forwards_, 0);
      const std::int32_t warm_up = warm_up_of(device);
      if (device > 0) post(at(forwards_, device).front(), ops_.row_begin(device));
      if (device + 1 < devices_ && warm_up > 0) {
        post(at(backwards_, device).front(), next_cell(at(forwards_, device)[to_index(warm_up - 1)]));
      }
      for (std::int32_t k = 0; k < passes; ++k) {
        exchange(forwards_, device, k, device > 0, devices_ - 1, k < warm_up);
        exchange(backwards_, device, k, device + 1 < devices_, 0, k >= passes - warm_up);
      }
    }
    return std::move(made_);
  }

 private:
  using Passes = std::vector<std::vector<std::int32_t>>;  // by device: ids

  [[nodiscard]] static std::int32_t size_of(const Passes& passes, std::int32_t device) {
    return static_cast<std::int32_t>(at(passes, device).size());
  }

  [[nodiscard]] bool is_interleaved() const {
    const Schedule& schedule = ops_.schedule();
    const bool loop = schedule.placement.replicas() == 1 && schedule.stages > schedule.devices &&
                      schedule.placement == loop_placement(schedule.devices, schedule.stages);
    if (!loop || devices_ < 2 || size_of(forwards_, 0) == 0) return false;
    for (std::int32_t device = 0; device < devices_; ++device) {
      if (size_of(forwards_, device) != size_of(forwards_, 0)) return false;
      if (size_of(backwards_, device) != size_of(forwards_, 0)) return false;
    }
    return true;
  }

  [[nodiscard]] std::int32_t leading(std::int32_t device) const {
    const std::int32_t first = at(backwards_, device).front();
    const auto& forwards = at(forwards_, device);
    return static_cast<std::int32_t>(std::lower_bound(forwards.begin(), forwards.end(), first) - forwards.begin());
  }

  // The forwards before the steady phase, which begins with one more. A steady phase of a single pair looks like all
  // forwards first; the next device, which warms up with two less, tells them apart.
  [[nodiscard]] std::int32_t warm_up_of(std::int32_t device) const {
    const std::int32_t passes = size_of(forwards_, 0);
    const std::int32_t first = leading(device);
    if (first < passes) return first - 1;
    const bool one_pair = device + 1 < devices_ && leading(device + 1) == passes - 2;
    return one_pair ? passes - 1 : passes;
  }

  [[nodiscard]] std::int32_t next_cell(std::int32_t id) const { return ops_.cell_end(id); }

  void post(std::int32_t user, std::int32_t before) {
    at(made_.posted, user) = std::min(at(made_.posted, user), before);
  }

  // After pass `k`. `neighbour`: the input of pass k + 1 comes from the device next to it, else from `other`.
  void exchange(const Passes& passes, std::int32_t device, std::int32_t k, bool neighbour, std::int32_t other,
                bool waits) {
    const auto& own = at(passes, device);
    const std::int32_t here = own[to_index(k)];
    const std::int32_t after = next_cell(here);
    const std::int32_t end = ops_.row_begin(device + 1);
    std::int32_t received = -1;  // the op that makes it
    if (neighbour && k + 1 < static_cast<std::int32_t>(own.size())) {
      received = ops_.feeder(ops_.op(own[to_index(k + 1)]));
    } else if (!neighbour && k >= devices_ - 1) {
      received = at(passes, other)[to_index(k - (devices_ - 1))];
    }
    const std::int32_t user = received < 0 ? -1 : ops_.user(ops_.op(received));
    if (user >= 0 && ops_.device(user) == device && ops_.device(received) != device) {
      post(user, after);
      if (waits && after < end) at(made_.awaited, after).push_back(received);
    }
    const std::int32_t sent_to = ops_.user(ops_.op(here));
    if (waits && after < end && sent_to >= 0 && ops_.device(sent_to) != device)
      at(made_.awaited, after).push_back(here);
  }

  const OpIndex& ops_;
  std::int32_t devices_;
  Passes forwards_;
  Passes backwards_;
  Posting made_;
};

}  // namespace

std::optional<Posting> joined_exchanges(const OpIndex& ops) { return Exchanges(ops).run(); }

}  // namespace debubble
