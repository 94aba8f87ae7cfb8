// Steps: list the forwards and the backwards of each device; find the length of its warm-up; then, for each pass, post
// what the exchange after it receives, and have the next cell wait for all of it in warm-up and cool-down. Coupled: the
// exchange is behind the pass's slot, and what is posted before the user's own slot is early.
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

  CoupledReceives coupled(const ExchangeSlots& slots) {
    CoupledReceives found;
    found.is_early.assign(to_index(ops_.size()), false);
    found.apart.assign(to_index(devices_), -1);
    if (!is_interleaved() || !has_steady_phase() || !has_passes_alone()) return found;
    std::vector<std::int32_t> own;  // by op: the first id of its slot
    for (std::int32_t device = 0; device < devices_; ++device) {
      const std::int32_t row = ops_.row_begin(device);
      while (static_cast<std::int32_t>(own.size()) < ops_.row_begin(device + 1)) {
        const auto begin = static_cast<std::int32_t>(own.size());
        own.resize(to_index(row) + slots.end(to_index(device), to_index(begin - row)), begin);
      }
    }
    made_.posted = own;
    slots_ = &slots;
    post_all();
    for (std::int32_t id = 0; id < ops_.size(); ++id) {
      found.is_early[to_index(id)] = at(made_.posted, id) < at(own, id);
      if (found.is_early[to_index(id)]) found.early[at(made_.posted, id)].push_back(id);
    }
    for (std::int32_t device = 0; device + 1 < devices_; ++device) {
      const std::int32_t first = at(backwards_, device).front();
      const std::int32_t last = at(forwards_, device).back();
      const bool sends = ops_.user(ops_.op(last)) >= 0 && last < at(own, first);
      if (sends && warm_up_of(device) == size_of(forwards_, device) && !found.is_early[to_index(first)])
        at(found.apart, device) = first;
    }
    return found;
  }

  std::optional<Posting> run() {
    if (!is_interleaved()) return std::nullopt;
    post_all();
    return std::move(made_);
  }

 private:
  using Passes = std::vector<std::vector<std::int32_t>>;  // by device: ids

  void post_all() {
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
  }

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

  // Neither weight gradients of their own nor recomputation: Megatron-LM's function has none.
  [[nodiscard]] bool has_passes_alone() const {
    for (std::int32_t id = 0; id < ops_.size(); ++id) {
      const OpKind kind = ops_.op(id).kind;
      if (kind != OpKind::kForward && kind != OpKind::kBackward) return false;
    }
    return true;
  }

  // The last device has one, but for a single microbatch.
  [[nodiscard]] bool has_steady_phase() const {
    const std::int32_t passes = size_of(forwards_, 0);
    return leading(devices_ - 1) < passes || passes * devices_ == ops_.schedule().stages;
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

  [[nodiscard]] std::int32_t next_cell(std::int32_t id) const {
    if (slots_ == nullptr) return ops_.cell_end(id);
    const std::int32_t device = ops_.device(id);
    return ops_.row_begin(device) +
           static_cast<std::int32_t>(slots_->end(to_index(device), to_index(ops_.position(id))));
  }

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
  const ExchangeSlots* slots_ = nullptr;  // coupled: exchanges are behind these, not behind cells
  Posting made_;
};

}  // namespace

std::optional<Posting> joined_exchanges(const OpIndex& ops) { return Exchanges(ops).run(); }

CoupledReceives coupled_receives(const OpIndex& ops, const ExchangeSlots& slots) {
  return Exchanges(ops).coupled(slots);
}

std::vector<std::int32_t> CoupledReceives::users(std::int32_t slot_begin, std::int32_t slot_end) const {
  std::vector<std::int32_t> found;
  for (std::int32_t id = slot_begin; id < slot_end; ++id) {
    if (!is_early[to_index(id)]) found.push_back(id);
  }
  const auto more = early.find(slot_begin);
  if (more != early.end()) found.insert(found.end(), more->second.begin(), more->second.end());
  return found;
}

SpanSlots slots_of_spans(const Schedule& schedule, const Timeline& timeline,
                         const std::vector<std::vector<std::int32_t>>& rows) {
  Schedule run = schedule;
  std::vector<std::int32_t> span_of;  // by op of `run`
  for (std::size_t device = 0; device < rows.size(); ++device) {
    run.rows[device].clear();
    for (const std::int32_t number : rows[device]) {
      const Span& span = at(timeline.spans, number);
      const Op* const partner = timeline.partner(span);
      run.rows[device].push_back(span.op);
      run.rows[device].back().paired_with_next = partner != nullptr;
      span_of.push_back(number);
      if (partner == nullptr) continue;
      run.rows[device].push_back(*partner);
      run.rows[device].back().paired_with_next = false;
      span_of.push_back(number);
    }
  }
  const OpIndex ops(run);
  const ExchangeSlots slots(run);
  const CoupledReceives received = coupled_receives(ops, slots);
  SpanSlots found{std::vector<std::int32_t>(timeline.spans.size(), -1),
                  std::vector<std::int32_t>(timeline.spans.size(), -1), std::vector<bool>(timeline.spans.size())};
  for (std::int32_t device = 0; device < ops.rows(); ++device) {
    if (at(received.apart, device) >= 0) found.apart[to_index(at(span_of, at(received.apart, device)))] = true;
    const std::int32_t row = ops.row_begin(device);
    for (std::int32_t begin = row; begin < ops.row_begin(device + 1);) {
      const std::int32_t end = row + static_cast<std::int32_t>(slots.end(to_index(device), to_index(begin - row)));
      for (std::int32_t id = begin; id < end; ++id) at(found.last, at(span_of, id)) = at(span_of, end - 1);
      for (const std::int32_t user : received.users(begin, end)) {
        at(found.received, at(span_of, user)) = at(span_of, begin);
      }
      begin = end;
    }
  }
  return found;
}

}  // namespace debubble
