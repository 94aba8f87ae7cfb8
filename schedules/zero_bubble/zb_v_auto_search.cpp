#include "schedules/zero_bubble/zb_v_auto_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>

namespace debubble {

namespace {

// A microbatch's four passes on a device, in the order in which they come: down and up forward, down and up backward.
enum VPass : std::size_t { kDown, kUp, kBackDown, kBackUp };
constexpr std::size_t kPasses = 4;

constexpr bool is_forward_pass(VPass pass) { return pass == kDown || pass == kUp; }
// The chunk that a pass works on: down forward and up backward are those of stage d.
constexpr std::size_t chunk_of_pass(VPass pass) { return pass == kDown || pass == kBackUp ? 0 : 1; }
// Whether its input comes from the device before; the others' comes from the device after.
constexpr bool comes_from_before(VPass pass) { return pass == kDown || pass == kBackDown; }

struct VLane {
  Nanoseconds now = 0;
  Nanoseconds idle = 0;  // since the device's first op
  Bytes memory = 0;
  std::array<std::int32_t, kPasses> done{};
  std::array<std::vector<Nanoseconds>, kPasses> ends;  // by microbatch, as far as done
  std::vector<VOp> due;                                // W whose I has run, in that order
  std::size_t weight_grads = 0;                        // how many of them have run
  std::vector<VOp> order;
};

struct VChoices {
  bool fill_before_backward = true;
  bool fill_before_forward = true;
  bool careful = false;  // a device starts a microbatch only when all of its passes fit
};

class VWalk {
 public:
  VWalk(const std::vector<VDevice>& devices, int microbatches, VChoices choices, std::vector<Nanoseconds> allowed)
      : devices_(devices),
        m_(microbatches),
        last_(devices.size() - 1),
        choices_(choices),
        allowed_(std::move(allowed)),
        most_allowed_(*std::max_element(allowed_.begin(), allowed_.end())),
        lanes_(devices.size()) {}

  // False when memory runs out. Where it suffices, 2m rounds are enough.
  bool run() {
    warm_up();
    while (!finished()) {
      const std::int64_t before = passes_;
      backward_round();
      for (std::size_t i = 0; i <= last_; ++i) forward_round(i);
      if (passes_ == before) return false;  // nothing has changed for the next round: memory is full
    }
    for (std::size_t i = 0; i <= last_; ++i) {
      while (pending(lanes_[i])) put_weight_grad(i);
    }
    return true;
  }

  [[nodiscard]] Nanoseconds span() const {
    Nanoseconds longest = 0;
    for (std::size_t i = 0; i <= last_; ++i) longest = std::max(longest, m_ * devices_[i].work() + lanes_[i].idle);
    return longest;
  }
  [[nodiscard]] std::vector<Nanoseconds> idle() const {
    std::vector<Nanoseconds> all;
    for (const VLane& lane : lanes_) all.push_back(lane.idle);
    return all;
  }
  [[nodiscard]] std::vector<std::vector<VOp>> orders() {
    std::vector<std::vector<VOp>> all;
    for (VLane& lane : lanes_) all.push_back(std::move(lane.order));
    return all;
  }

 private:
  [[nodiscard]] static bool pending(const VLane& lane) { return lane.weight_grads < lane.due.size(); }
  [[nodiscard]] static std::int32_t forwards(const VLane& lane) { return lane.done[kDown] + lane.done[kUp]; }
  [[nodiscard]] const VChunk& chunk(std::size_t i, VPass pass) const { return devices_[i].chunks[chunk_of_pass(pass)]; }

  // The device that the pass's input comes from, or nothing at the ends of the V.
  [[nodiscard]] std::optional<std::size_t> source(std::size_t i, VPass pass) const {
    if (comes_from_before(pass)) return i == 0 ? std::nullopt : std::optional(i - 1);
    return i == last_ ? std::nullopt : std::optional(i + 1);
  }
  // Whether the next pass of this kind has its input on the way or has none to wait for.
  [[nodiscard]] bool has_input(std::size_t i, VPass pass) const {
    const auto from = source(i, pass);
    return !from || lanes_[*from].done[pass] > lanes_[i].done[pass];
  }
  // Whether it could run next: its input is there, and so is what the device itself computes before it.
  [[nodiscard]] bool is_ready(std::size_t i, VPass pass) const {
    const auto& done = lanes_[i].done;
    const std::int32_t before = pass == kDown ? m_ : done[pass - 1];
    return done[pass] < before && has_input(i, pass);
  }
  [[nodiscard]] bool finished() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [&](const VLane& lane) { return lane.done[kBackUp] == m_; });
  }
  [[nodiscard]] Nanoseconds arrival(std::size_t i, VPass pass) const {
    const auto from = source(i, pass);
    if (!from) return 0;
    const auto next = static_cast<std::size_t>(lanes_[i].done[pass]);
    return lanes_[*from].ends[pass][next] + devices_[std::min(i, *from)].hops[chunk_of_pass(pass)];
  }
  // How much longer than so far this device may idle without harm: until it is as idle as the idlest one is now, or, in
  // a repeated walk, until it has made up for what it idled less than the idlest one in the walk before.
  [[nodiscard]] Nanoseconds slack(std::size_t i) const {
    return std::max(most_idle_, most_allowed_ - allowed_[i]) - lanes_[i].idle;
  }

  void put(std::size_t i, VPass pass) {
    VLane& lane = lanes_[i];
    const VChunk& cost = chunk(i, pass);
    const Nanoseconds start = std::max(lane.now, arrival(i, pass));
    if (!lane.order.empty()) lane.idle += start - lane.now;
    most_idle_ = std::max(most_idle_, lane.idle);
    const std::int32_t microbatch = lane.done[pass]++;
    const auto on = static_cast<std::int32_t>(chunk_of_pass(pass));
    lane.memory += growth(i, pass);
    if (is_forward_pass(pass)) {
      lane.now = start + cost.forward;
      lane.order.push_back({OpKind::kForward, on, microbatch});
    } else {
      lane.now = start + cost.input_grad;
      lane.order.push_back({OpKind::kInputGrad, on, microbatch});
      lane.due.push_back({OpKind::kWeightGrad, on, microbatch});
    }
    lane.ends[pass].push_back(lane.now);
    ++passes_;
  }

  [[nodiscard]] Bytes growth(std::size_t i, VPass pass) const {
    const VChunk& cost = chunk(i, pass);
    return is_forward_pass(pass) ? cost.activation : cost.held - cost.activation;
  }

  void put_weight_grad(std::size_t i) {
    VLane& lane = lanes_[i];
    const VOp& op = lane.due[lane.weight_grads++];
    const VChunk& cost = devices_[i].chunks[op.chunk];
    lane.now += cost.weight_grad;
    lane.memory -= cost.held;
    lane.order.push_back(op);
  }

  [[nodiscard]] Nanoseconds next_weight_grad(std::size_t i) const {
    const VLane& lane = lanes_[i];
    return devices_[i].chunks[lane.due[lane.weight_grads].chunk].weight_grad;
  }

  [[nodiscard]] bool has_room(std::size_t i, VPass pass) const {
    const VLane& lane = lanes_[i];
    const Bytes limit = devices_[i].limit;
    if (growth(i, pass) > 0 && lane.memory + growth(i, pass) > limit) return false;
    if (!choices_.careful || pass != kDown) return true;
    const std::int64_t in_flight = lane.done[kDown] - lane.done[kBackUp];
    return (in_flight + 1) * least_memory(devices_[i]) <= limit && (in_flight > 0 || !pending(lane));
  }

  // Runs W until the pass fits; false when it does not even then.
  bool make_room(std::size_t i, VPass pass) {
    while (pending(lanes_[i]) && !has_room(i, pass)) put_weight_grad(i);
    return has_room(i, pass);
  }

  // W while the pass's input is in transit; with `short_holes` also one that delays the pass, where waiting would cost
  // more idle time than this device has to spare.
  void fill(std::size_t i, VPass pass, bool short_holes) {
    if (!source(i, pass)) return;
    const VLane& lane = lanes_[i];
    const Nanoseconds at = arrival(i, pass);
    while (pending(lane) && at >= lane.now + next_weight_grad(i)) put_weight_grad(i);
    if (pending(lane) && short_holes && at - lane.now > slack(i)) put_weight_grad(i);
  }

  // Forwards only, in three phases: the first microbatch goes down the V; then, from the last device on, it comes up
  // again, and the devices it has not reached yet run more F of chunk 0 meanwhile; then devices that lag catch up, so
  // that each has run at least as many F as the one before it and has an output ready for it.
  void warm_up() {
    for (std::size_t i = 0; i <= last_; ++i) put(i, kDown);
    for (std::size_t i = last_ + 1; i-- > 0;) {
      if (i < last_) deepen(i);
      if (!has_room(i, kUp)) break;  // the rounds bring it, and what waits for it
      put(i, kUp);
    }
    VPass pass = kDown;
    const auto lags = [&](const VLane& before, const VLane& lane) {
      return forwards(lane) < forwards(before) || (lane.done[kUp] <= before.done[kUp] && before.done[kUp] < m_);
    };
    for (std::size_t i = 1; i <= last_; ++i) {
      int in_vain = 0;  // sweeps in a row that found nothing to run; two: neither chunk can
      while (in_vain < 2 && lags(lanes_[i - 1], lanes_[i])) {
        in_vain = sweep(i, pass) ? 0 : in_vain + 1;
        pass = pass == kDown ? kUp : kDown;
      }
    }
  }

  // One F of the chunk on each device from the last to device `first`, where it can run.
  bool sweep(std::size_t first, VPass pass) {
    const std::int64_t before = passes_;
    for (std::size_t i = last_ + 1; i-- > first;) {
      if (is_ready(i, pass) && has_room(i, pass)) put(i, pass);
    }
    return passes_ != before;
  }

  // More F of chunk 0 before the first F of chunk 1 comes back up, on this device and those before it.
  void deepen(std::size_t i) {
    const Nanoseconds at = arrival(i, kUp);
    const VChunk& cost = devices_[i].chunks[0];
    // Kept free for the passes to come before the first W frees anything: the number is that of the authors' scheduler.
    const Bytes reserve = cost.activation * static_cast<Bytes>(2 + 2 * i);
    const auto all_have_room = [&] {
      for (std::size_t j = 0; j <= i; ++j) {
        if (!has_room(j, kDown)) return false;
      }
      return true;
    };
    while (lanes_[i].memory + reserve <= devices_[i].limit && lanes_[i].now + cost.forward <= at &&
           lanes_[i].done[kDown] < m_ && all_have_room()) {
      for (std::size_t j = 0; j <= i; ++j) put(j, kDown);
    }
  }

  // kBackUp where its input is there or no kBackDown is left: it is the last pass of a microbatch on the device.
  [[nodiscard]] VPass next_backward(std::size_t i) const {
    const VLane& lane = lanes_[i];
    if (lane.done[kBackUp] >= lane.done[kBackDown]) return kBackDown;
    return has_input(i, kBackUp) || lane.done[kBackDown] >= m_ ? kBackUp : kBackDown;
  }

  // What each device runs is chosen before the round moves anything. The passes then run in the direction in which
  // their gradients travel, kBackUp from the last device on and kBackDown from the first, so that a device can use what
  // its neighbour computes in the same round.
  void backward_round() {
    std::vector<VPass> passes;
    for (std::size_t i = 0; i <= last_; ++i) passes.push_back(next_backward(i));
    for (std::size_t i = last_ + 1; i-- > 0;) {
      if (passes[i] == kBackUp) backward(i, kBackUp, true);
    }
    for (std::size_t i = 0; i <= last_; ++i) {
      if (passes[i] == kBackDown) backward(i, kBackDown, choices_.fill_before_backward);
    }
  }

  void backward(std::size_t i, VPass pass, bool short_holes) {
    if (!is_ready(i, pass) || !make_room(i, pass)) return;
    fill(i, pass, short_holes);
    put(i, pass);
  }

  void forward_round(std::size_t i) {
    const VLane& lane = lanes_[i];
    const VPass pass = lane.done[kUp] >= lane.done[kDown] || !has_input(i, kUp) ? kDown : kUp;
    if (!is_ready(i, pass) || !make_room(i, pass)) return;
    fill(i, pass, choices_.fill_before_forward);
    put(i, pass);
  }

  const std::vector<VDevice>& devices_;
  const std::int32_t m_;
  const std::size_t last_;
  const VChoices choices_;
  const std::vector<Nanoseconds> allowed_;  // idle time that each device may have
  const Nanoseconds most_allowed_;
  std::vector<VLane> lanes_;
  Nanoseconds most_idle_ = 0;
  std::int64_t passes_ = 0;
};

// Repeats the walk as long as what it idled, taken as allowed, gives a shorter one.
std::optional<VPlan> improve(const std::vector<VDevice>& devices, int microbatches, VChoices choices) {
  std::vector<Nanoseconds> allowed(devices.size(), -1);
  std::optional<VPlan> best;
  while (true) {
    VWalk walk(devices, microbatches, choices, allowed);
    if (!walk.run() || (best && walk.span() >= best->span)) return best;
    allowed = walk.idle();
    best = VPlan{walk.span(), walk.orders()};
  }
}

}  // namespace

Bytes least_memory(const VDevice& device) {
  const VChunk& first = device.chunks[0];
  const VChunk& second = device.chunks[1];
  return std::max({first.activation + second.activation, first.activation + second.held, first.held});
}

std::vector<VPlan> search_v_plans(const std::vector<VDevice>& devices, int microbatches) {
  std::vector<VPlan> plans;
  for (const bool careful : {false, true}) {
    for (const bool before_backward : {true, false}) {
      for (const bool before_forward : {true, false}) {
        auto plan = improve(devices, microbatches, {before_backward, before_forward, careful});
        if (plan) plans.push_back(std::move(*plan));
      }
    }
    std::stable_sort(plans.begin(), plans.end(), [](const VPlan& a, const VPlan& b) { return a.span < b.span; });
    if (!plans.empty()) return plans;
  }
  throw std::logic_error("no plan, although every device holds a microbatch");
}

}  // namespace debubble
