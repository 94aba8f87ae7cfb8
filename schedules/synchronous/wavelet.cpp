#include "schedules/synchronous/wavelet.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// One device's row. In slots of one op, every wave is gpipe's, and sets off when the one before turns to its backwards:
// so a wave's backwards share their slots with nothing but the next wave's forwards.
std::vector<Op> wavelet_row(int stage, int stages, int waves, int size) {
  std::vector<Op> row;
  row.reserve(2 * static_cast<std::size_t>(waves) * static_cast<std::size_t>(size));
  const int last = stages - 1;
  for (int wave = -1; wave < waves; ++wave) {
    // Slots from the turn on. Of two ops in a slot the earlier wave's goes first. Inputs are in earlier slots, so
    // nothing can deadlock.
    for (int slot = std::min(stage, last - stage); slot < size + std::max(stage, last - stage); ++slot) {
      const int backward = slot - (last - stage);
      if (wave >= 0 && backward >= 0 && backward < size) {
        row.push_back({OpKind::kBackward, false, stage, wave * size + size - 1 - backward});
      }
      const int forward = slot - stage;
      if (wave + 1 < waves && forward >= 0 && forward < size) {
        row.push_back({OpKind::kForward, false, stage, (wave + 1) * size + forward});
      }
    }
  }
  return row;
}

int wave_size(const ScheduleRequest& request) {
  const int m = request.microbatches;
  if (m % 2 != 0) {
    fail("S009", "--microbatches", "two waves share the microbatches evenly; got " + std::to_string(m),
         nearest_legal("-m ", (m > 1 ? std::to_string(m - 1) + " or " : "") + std::to_string(m + 1)));
  }
  const int size = int_param(request, "wave", m / 2);
  if (size >= 1 && m / 2 % size == 0) return size;
  int legal = std::clamp(size, 1, m / 2);
  while (m / 2 % legal != 0) --legal;
  fail("S009", "--param wave",
       "waves of " + std::to_string(size) + " microbatches do not divide half of m=" + std::to_string(m),
       "nearest legal value: --param wave=" + std::to_string(legal));
}

Schedule build_wavelet(const ScheduleRequest& request) {
  require_one_chunk(request, "wavelet");
  const int size = wave_size(request);
  const int p = request.devices;
  Schedule schedule = start_schedule(request, "wavelet", 1);
  schedule.params = {{"wave", std::to_string(size)}};
  std::vector<std::int32_t> devices;
  for (int stage = 0; stage < 2 * p; ++stage) devices.push_back(stage % p);
  schedule.placement = Placement(2, p, devices);
  for (int i = 0; i < request.microbatches; ++i) at(schedule.replica_of, i) = i / size % 2;
  for (int device = 0; device < p; ++device) {
    at(schedule.rows, device) = wavelet_row(device, p, request.microbatches / size, size);
  }
  return schedule;
}

}  // namespace

const ScheduleEntry& wavelet_entry() {
  static const ScheduleEntry entry{
      .name = "wavelet",
      .summary =
          "tick-tock: two waves take turns in the same memory; a second wave's forwards where the first's backwards "
          "free it",
      .citation = "after the idea of Wang et al., Wavelet, MLSys 2021",
      .constraints = "p >= 1, m even, wave a divisor of m / 2",
      .needs = "two copies of the weights",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"wave", "1..m/2", "m/2", "microbatches of one wave; ticks and tocks alternate"}},
      .build = build_wavelet,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kProposal,
      .certainty_note =
          "the paper's order for model parallelism is unknown to us: two gpipe waves one forward phase "
          "apart; tested by what the idea promises about memory",
      .makespan = {},
      .peak = {},
      .frameworks = "",
      .advice =
          "To study the idea: two waves on one set of devices fill part of each other's bubbles and take turns at "
          "the memory. Both waves' weights need a place and an all-reduce of their own."};
  return entry;
}

}  // namespace debubble
