#include "schedules/synchronous/hanayo.hpp"

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "schedules/synchronous/slots.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// The number of waves by `waves`, by the stages per device, or 1.
int waves_of(const ScheduleRequest& request) {
  constexpr int kMostWaves = 50'000'000;  // so that stages per device stay a number; the catalog refuses long before
  const int waves = int_param(request, "waves", request.chunks == 0 ? 1 : request.chunks / 2);
  if (request.chunks % 2 != 0) {
    const int below = request.chunks - 1;
    const bool given = request.params.contains("waves") && waves >= 1 && waves <= kMostWaves;
    fail("S005", "--chunks",
         "hanayo has two stages per device and wave; got " + std::to_string(request.chunks) + " per device",
         nearest_legal("-v ", given       ? std::to_string(2 * waves)
                              : below < 2 ? "2"
                                          : std::to_string(below) + " or " + std::to_string(below + 2)));
  }
  if (waves < 1 || waves > kMostWaves) {
    fail("S006", "--param waves", "hanayo needs at least 1 wave; got " + std::to_string(waves),
         "nearest legal value: --param waves=1");
  }
  if (request.chunks != 0 && request.chunks != 2 * waves) {
    fail("S075", "--param waves",
         std::to_string(waves) + (waves == 1 ? " wave makes " : " waves make ") + std::to_string(2 * waves) +
             " stages per device, but --chunks says " + std::to_string(request.chunks),
         "nearest legal value: --param waves=" + std::to_string(request.chunks / 2));
  }
  return waves;
}

Schedule build_hanayo(const ScheduleRequest& request) {
  const int p = request.devices;
  const int m = request.microbatches;
  if (p < 2) fail("S011", "--devices", "hanayo needs at least 2 devices; got 1", "nearest legal value: -p 2");
  const int waves = waves_of(request);
  if (2.0 * waves * p * m > kMostCells) {
    fail("S015", "--param waves", "stages x microbatches are beyond 20 million", "use fewer waves");
  }
  Schedule schedule = start_schedule(request, "hanayo", 2 * waves);
  schedule.params = {{"waves", std::to_string(waves)}};
  schedule.placement = zigzag_placement(p, schedule.stages);
  schedule.rows = slot_rows(schedule, SlotUnits(m, p, 1, {0}));
  if (m % p != 0) {
    schedule.notes.push_back(
        "the last unit of " + std::to_string(p) +
        " microbatches is incomplete, which costs a bubble as long as a whole one's; full units: -m " +
        (m > p ? std::to_string(m / p * p) + " or " : "") + std::to_string((m / p + 1) * p));
  }
  return schedule;
}

std::optional<double> hanayo_makespan(const FormCase& form) {
  const int p = form.devices;
  const auto waves = form_number(form, "waves");
  if (!waves || form.microbatches % p != 0 || form.backward < form.forward) return std::nullopt;
  const int units = form.microbatches / p;
  const double turn = static_cast<double>(p - 1) / *waves;
  return form.microbatches * (form.forward + form.backward) + turn * form.backward +
         (units - 1) * turn * (form.backward - form.forward);
}

std::optional<double> hanayo_peak(const FormCase& form) {
  const auto waves = form_number(form, "waves");
  if (!waves || form.microbatches < form.devices) return std::nullopt;
  return form.devices - (form.devices - 1 - form.device) / (2.0 * *waves);
}

}  // namespace

const ScheduleEntry& hanayo_entry() {
  static const ScheduleEntry entry{
      .name = "hanayo",
      .summary =
          "the model zig-zags over the devices in waves; near chimera's bubble at m = p with one copy of the weights",
      .citation = "Liu et al., Hanayo, SC 2023, arXiv 2308.15762",
      .constraints = "p >= 2, v = 2 waves, m >= 1",
      .needs = "more messages",
      .splits_backward = false,
      .default_chunks = 2,
      .params = {{"waves", "1..", "v/2, or 1", "waves; each adds two stages per device"}},
      .build = build_hanayo,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kDerived,
      .certainty_note =
          "one wave is Chimera folded in the middle, as the paper builds it; the authors' order for several "
          "waves or for m > p is not known to us, and a quoted bubble of (2p - 2) / (3 p waves + p - 1) is not "
          "what this order gives",
      .makespan = {"m(f + b) + ((p - 1) / waves)(b + (m/p - 1)(b - f)) where p divides m and b >= f", hanayo_makespan},
      .peak = {"p - (p - 1 - d) / (2 x waves) where m >= p", hanayo_peak},
      .frameworks = "",
      .advice =
          "For few microbatches per device on fast links: more waves shrink the bubble and lengthen every path "
          "through the network, so there is a best number of waves. Devices at the turns need no transfer.",
      .chunk_step = 2,
      .chunks_param = "waves"};
  return entry;
}

}  // namespace debubble
