#include "schedules/synchronous/chimera.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "schedules/synchronous/slots.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

Placement chimera_placement(int devices, int pairs) {
  std::vector<std::int32_t> device;
  for (int replica = 0; replica < 2 * pairs; ++replica) {
    const bool down = replica < pairs;
    const int first = (replica % pairs) * (devices / pairs);
    for (int s = 0; s < devices; ++s) device.push_back((first + (down ? s : devices - 1 - s)) % devices);
  }
  return {2 * pairs, devices, std::move(device)};
}

// Doubling and halving on one device, block by block as in the authors' program. "Main" is the replica whose pipeline
// enters on this half of the devices, "other" the one that leaves here.
class DoubledRow {
 public:
  DoubledRow(const SlotUnits& units, int device, int devices, bool fused)
      : units_(units), devices_(devices), fused_(fused) {
    const bool first_half = device < devices / 2;
    main_ = first_half ? 0 : 1;
    main_stage_ = first_half ? device : devices - 1 - device;
    ramp_ = first_half ? devices / 2 - device : device - devices / 2 + 1;
  }

  std::vector<Op> build() {
    const int other = 1 - main_;
    const int middle = devices_ / 2 - ramp_;
    const int rest = devices_ - ramp_;
    for (int unit = 0; unit < units_.size(); ++unit) {
      for (int k = 0; k < ramp_; ++k) {
        if (unit > 0) backward(unit - 1, main_, rest + k);
        forward_two(unit, main_, k);
      }
      for (int k = 0; k < middle; ++k) {
        forward_two(unit, other, k);
        forward_two(unit, main_, ramp_ + k);
      }
      for (int k = 0; k < ramp_; ++k) {
        forward_two(unit, other, middle + k);
        backward(unit, other, k);
      }
      for (int k = 0; k < rest; ++k) {
        backward(unit, main_, k);
        backward(unit, other, ramp_ + k);
      }
    }
    for (int k = 0; k < ramp_; ++k) backward(units_.size() - 1, main_, rest + k);
    return std::move(row_);
  }

 private:
  [[nodiscard]] int stage(int replica) const { return replica == main_ ? main_stage_ : devices_ - 1 - main_stage_; }

  void forward_two(int unit, int replica, int step) {
    const int present = std::min(2, units_.count(unit, replica) - 2 * step);
    for (int k = 0; k < present; ++k) {
      const int piece = units_.number(unit, replica, 2 * step + k);
      row_.push_back({OpKind::kForward, fused_ && present == 2 && k == 0, stage(replica), piece});
    }
  }

  void backward(int unit, int replica, int k) {
    if (k >= units_.count(unit, replica)) return;
    row_.push_back({OpKind::kBackward, false, stage(replica), units_.number(unit, replica, k)});
  }

  const SlotUnits& units_;
  int devices_;
  bool fused_;
  int main_;
  int main_stage_;
  int ramp_;  // steps before the other direction arrives
  std::vector<Op> row_;
};

void check_chimera(const ScheduleRequest& request, int pairs, const std::string& mode) {
  const int d = request.devices;
  require_one_chunk(request, "chimera");
  if (d < 2 || d % 2 != 0) {
    fail("S011", "--devices", "chimera needs an even number of devices; got " + std::to_string(d),
         nearest_legal("-p ", d < 2 ? "2" : std::to_string(d - 1) + " or " + std::to_string(d + 1)));
  }
  if (pairs < 1 || (d / 2) % pairs != 0) {
    std::string legal;
    for (int f = 1; f <= d / 2; ++f) {
      if ((d / 2) % f == 0) legal += (legal.empty() ? "" : ", ") + std::to_string(f);
    }
    fail("S011", "--param pairs",
         "the number of pairs must divide p/2 = " + std::to_string(d / 2) + "; got " + std::to_string(pairs),
         "legal values at p=" + std::to_string(d) + ": " + legal);
  }
  constexpr double kMostPlaces = 100'000'000;
  if (2.0 * pairs * d > kMostPlaces) {
    fail("S015", "--param pairs", "replicas x stages are beyond 100 million", "use fewer pairs or devices");
  }
  if (mode != "direct" && pairs != 1) {
    fail("S075", "--param mode",
         "mode=" + mode + " is defined for one pair of pipelines only; got pairs=" + std::to_string(pairs),
         "use --param pairs=1, or --param mode=direct");
  }
}

void note_reference_limits(Schedule& schedule, int unit, const std::string& mode) {
  if (schedule.microbatches % unit == 0) return;
  const int below = schedule.microbatches / unit * unit;
  schedule.notes.push_back("Chimera's own code refuses mode=" + mode + " unless m is a multiple of " +
                           std::to_string(unit) + "; here the last unit is incomplete; nearest full values: -m " +
                           (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + unit));
}

Schedule build_chimera(const ScheduleRequest& request) {
  const int pairs = int_param(request, "pairs", 1);
  const std::string mode = choice_param(request, "mode", "direct|doubling|halving");
  const std::string fused = choice_param(request, "fused", "false|true");
  check_chimera(request, pairs, mode);
  if (fused == "true" && mode != "doubling") {
    fail("S075", "--param fused", "fused=true belongs to mode=doubling; got mode=" + mode,
         "leave out --param fused: halving always runs the halves of a forward as one");
  }
  Schedule schedule = start_schedule(request, "chimera", 1);
  schedule.params = {{"pairs", std::to_string(pairs)}, {"mode", mode}};
  if (mode == "doubling") schedule.params.emplace_back("fused", fused);
  schedule.pieces = mode == "halving" ? 2 : 1;
  schedule.placement = chimera_placement(request.devices, pairs);
  std::vector<int> order;  // odd microbatches go to down 0, up 0, down 1, up 1, ...
  for (int j = 0; j < pairs; ++j) order.insert(order.end(), {j, pairs + j});
  const int unit = mode == "doubling" ? 2 * request.devices : request.devices;
  const SlotUnits units(request.microbatches, unit, schedule.pieces, order);
  schedule.replica_of = units.replica_of();
  if (mode == "direct") {
    schedule.rows = slot_rows(schedule, units);
  } else {
    for (int device = 0; device < request.devices; ++device) {
      DoubledRow row(units, device, request.devices, mode == "halving" || fused == "true");
      at(schedule.rows, device) = row.build();
    }
  }
  note_reference_limits(schedule, unit, mode);
  return schedule;
}

// Whole units of p microbatches, or one unit of fewer, even and of one pair.
std::optional<double> direct_makespan(const FormCase& form, int pairs) {
  const int d = form.devices;
  const int m = form.microbatches;
  const double f = form.forward;
  const double b = form.backward;
  if (b < f) return std::nullopt;
  if (m < d && m % 2 == 0 && pairs == 1) return d * f + (d + m - 2) * b;
  if (m % d != 0) return std::nullopt;
  const double ramp = static_cast<double>(d) / pairs - 2;
  return m * (f + b) + ramp * b + (m / d - 1) * ramp * (b - f);
}

std::optional<double> chimera_makespan(const FormCase& form) {
  const auto pairs = form_number(form, "pairs");
  const std::string mode = form_word(form, "mode");
  if (!pairs) return std::nullopt;
  if (mode == "direct") return direct_makespan(form, *pairs);
  const int d = form.devices;
  if (form.backward != 2 * form.forward || form.microbatches % (mode == "doubling" ? 2 * d : d) != 0) {
    return std::nullopt;
  }
  const double ramp = mode == "halving" ? 1 : form_word(form, "fused") == "true" ? 2 : 1.5;
  return form.forward * (3.0 * form.microbatches + ramp * (d - 2));
}

std::optional<double> chimera_peak(const FormCase& form) {
  const auto pairs = form_number(form, "pairs");
  const std::string mode = form_word(form, "mode");
  const int d = form.devices;
  if (!pairs || form.microbatches % (mode == "doubling" ? 2 * d : d) != 0) return std::nullopt;
  const int ring = d / *pairs;  // from one pipeline's first device to the next one's
  const int from_the_edge = std::min(form.device % ring, ring - 1 - form.device % ring);
  const int doubled = 2 * d - d / 2 + 1 + from_the_edge;
  if (mode == "doubling") return doubled;
  return mode == "halving" ? doubled / 2.0 : d - d / (2 * *pairs) + 1 + from_the_edge;
}

}  // namespace

const ScheduleEntry& chimera_entry() {
  static const ScheduleEntry entry{
      .name = "chimera",
      .summary = "replicas in opposite directions fill each other's bubbles; 2 x pairs copies of the model",
      .citation = "Li & Hoefler, Chimera, SC 2021, arXiv 2107.06925",
      .constraints = "p even, pairs divides p/2, m >= 1",
      .needs = "several copies of the weights",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"pairs", "divisors of p/2", "1", "pairs of opposite pipelines; the model is held 2 x pairs times"},
                 {"mode", "direct|doubling|halving", "direct",
                  "basic units one after another, two microbatches per forward step, or two halves per backward step"},
                 {"fused", "false|true", "false",
                  "with mode=doubling: run the two microbatches of a forward step as one op"}},
      .build = build_chimera,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "the paper's figures, bubbles and activations; how doubling ends is inferred, with the bubble that "
          "the paper gives",
      .makespan =
          {"direct: m(f + b) + (p/pairs - 2)(b + (m/p - 1)(b - f)) where p divides m and b >= f, and p f + (p + m - 2) "
           "b "
           "for an even m < p with pairs=1; doubling at b = 2 f where 2p divides m: (3 m + 1.5(p - 2)) f, fused "
           "(3 m + 2(p - 2)) f; halving at b = 2 f where p divides m: (3 m + p - 2) f",
           chimera_makespan},
      .peak = {"where p divides m: p - p / (2 x pairs) + 1 + min(j, p/pairs - 1 - j), j = d mod (p/pairs); doubling, "
               "where 2p divides m: p more; halving: half of doubling's",
               chimera_peak},
      .frameworks = "the authors' research code",
      .advice =
          "For few microbatches (m = p) where the model fits 2 x pairs times. Beyond m = p use doubling or "
          "halving: with direct, every basic unit adds its own bubble where a backward is longer than a forward.",
      .even_devices = true};
  return entry;
}

}  // namespace debubble
