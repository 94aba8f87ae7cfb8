// V-Half and V-Min against a plain retelling of how the authors' scheduler makes them: sets of ops, every candidate
// slot tried, every peak counted anew. Slow, and shares nothing with the generator.
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// kind: 0 and 1 forwards, 2 and 3 input gradients, 4 and 5 weight gradients of the late and of the early stage.
using PassId = std::tuple<int, int, int>;  // device, kind, microbatch
using Slots = std::map<PassId, int>;
using Listed = std::vector<std::tuple<int, int, int, int>>;  // slot, device, kind, microbatch

Listed by_slot(const Slots& slots) {
  Listed listed;
  for (const auto& [pass, slot] : slots) {
    const auto& [device, kind, number] = pass;
    listed.emplace_back(slot, device, kind, number);
  }
  std::sort(listed.begin(), listed.end());
  return listed;
}

std::map<int, int> kinds_by_slot(const Slots& slots, int device) {
  std::map<int, int> kinds;
  for (const auto& [pass, slot] : slots) {
    if (std::get<0>(pass) == device) kinds[slot] = std::get<1>(pass);
  }
  return kinds;
}

Slots without_weights(const Slots& slots) {
  Slots result;
  for (const auto& [pass, slot] : slots) {
    if (std::get<1>(pass) < 4) result[pass] = slot;
  }
  return result;
}

Slots with_weights(const Slots& slots, int devices, int m, bool split) {
  Slots result = slots;
  for (int device = 0; device < devices; ++device) {
    const std::map<int, int> kinds = kinds_by_slot(slots, device);
    int due[2] = {0, 0};
    int done[2] = {0, 0};
    for (int slot = 0; done[0] + done[1] < 2 * m; ++slot) {
      const auto found = kinds.find(slot);
      if (found != kinds.end()) {
        if (found->second >= 2) ++due[split ? found->second - 2 : 0];
        continue;
      }
      for (const int chunk : {0, 1}) {
        if (done[chunk] == due[chunk]) continue;
        result[{device, 4 + chunk, done[chunk]++}] = slot;
        break;
      }
    }
  }
  return result;
}

int peak_of(const Slots& slots, int device, bool explicit_weights) {
  const std::map<int, int> kinds = kinds_by_slot(slots, device);
  int held = 0;
  int due = 0;
  int peak = 0;
  for (int slot = 0; !kinds.empty() && slot <= kinds.rbegin()->first; ++slot) {
    const auto found = kinds.find(slot);
    if (found == kinds.end()) {
      if (!explicit_weights && due > 0) {
        --due;
        --held;
      }
    } else if (found->second < 2) {
      ++held;
    } else if (found->second < 4) {
      ++due;
    } else {
      --held;
    }
    peak = std::max(peak, held);
  }
  return peak;
}

// The last slot of all that the pass waits for.
int last_needed(const Slots& slots, const PassId& pass) {
  const auto& [device, kind, number] = pass;
  int last = -1;
  const auto wait_for = [&](int other_device, int other_kind, int other_number) {
    const auto found = slots.find({other_device, other_kind, other_number});
    if (found != slots.end()) last = std::max(last, found->second);
  };
  wait_for(device, kind, number - 1);
  if (kind < 4) {
    if (kind > 0) wait_for(device, kind - 1, number);
    wait_for(kind % 2 == 0 ? device - 1 : device + 1, kind, number);
    return last;
  }
  std::vector<int> input_grads;
  for (const auto& [other, slot] : slots) {
    const int other_kind = std::get<1>(other);
    if (std::get<0>(other) == device && (other_kind == 2 || other_kind == 3)) input_grads.push_back(slot);
  }
  std::sort(input_grads.begin(), input_grads.end());
  return std::max(last, input_grads.at(static_cast<std::size_t>(number)));
}

Slots squeezed(const Slots& slots, int devices) {
  Slots result;
  std::vector<int> next(static_cast<std::size_t>(devices), 0);
  for (const auto& [slot, device, kind, number] : by_slot(slots)) {
    int start = next[static_cast<std::size_t>(device)];
    if (kind < 4) start = std::max(start, last_needed(result, {device, kind, number}) + 1);
    result[{device, kind, number}] = start;
    next[static_cast<std::size_t>(device)] = start + 1;
  }
  return result;
}

Slots compacted(Slots slots, int devices, int m, bool explicit_weights) {
  if (explicit_weights) slots = with_weights(slots, devices, m, false);
  int cap = 0;
  for (int device = 0; device < devices; ++device) cap = std::max(cap, peak_of(slots, device, explicit_weights));
  int phase = 0;
  for (const auto& [slot, device, kind, number] : by_slot(slots)) {
    if (phase == 0 && kind == 3 && device == 0) phase = 1;
    if (phase == 1) {
      if (kind == 0 && number == m - 1) phase = 2;
      continue;
    }
    if (phase == 0 && !explicit_weights) continue;
    const PassId pass{device, kind, number};
    const std::map<int, int> taken = kinds_by_slot(slots, device);
    for (int to = last_needed(slots, pass) + 1; to < slot; ++to) {
      if (taken.contains(to)) continue;
      Slots moved = slots;
      moved[pass] = to;
      if (peak_of(moved, device, explicit_weights) > cap) continue;
      slots = moved;
      break;
    }
  }
  if (!explicit_weights) slots = with_weights(slots, devices, m, false);
  return squeezed(slots, devices);
}

std::vector<std::vector<Op>> plain_rows(int p, int m, const std::function<std::vector<int>(int)>& block) {
  Slots slots;
  for (int device = 0; device < p; ++device) {
    const std::vector<int> first = block(device);
    for (int kind = 0; kind < 4; ++kind) {
      for (int i = 0; i < m; ++i) slots[{device, kind, i}] = first[static_cast<std::size_t>(kind)] + 6 * i;
    }
  }
  slots = without_weights(compacted(slots, p, m, true));
  slots = without_weights(compacted(slots, p, m, false));
  std::vector<std::vector<Op>> rows(static_cast<std::size_t>(p));
  for (const auto& [slot, device, kind, number] : by_slot(with_weights(slots, p, m, true))) {
    const OpKind op = kind < 2 ? OpKind::kForward : kind < 4 ? OpKind::kInputGrad : OpKind::kWeightGrad;
    const bool late = kind == 1 || kind == 2 || kind == 4;
    rows[static_cast<std::size_t>(device)].push_back({op, false, late ? 2 * p - 1 - device : device, number});
  }
  return rows;
}

}  // namespace

TEST_CASE("property: V-Half and V-Min are what the plain retelling of their construction gives") {
  for (int p = 2; p <= 7; ++p) {
    for (const int m : {1, 2, 3, 4, 6, 9, 13, 20}) {
      CAPTURE(p);
      CAPTURE(m);
      const int half_gap = p % 2 == 0 ? 3 : 0;
      CHECK(build("v-half", p, m).rows == plain_rows(p, m, [&](int d) {
              return std::vector<int>{2 * d, 3 * p - 2 - d, 3 * p + half_gap - 1 + 2 * d, 6 * p + half_gap - 2 - d};
            }));
      const int min_gap = p % 3 == 0 ? 2 : 0;
      CHECK(build("v-min", p, m).rows == plain_rows(p, m, [&](int d) {
              return std::vector<int>{d, 2 * p - 1 - d, 2 * p + min_gap + d, 4 * p + min_gap - 1 - d};
            }));
    }
  }
}
