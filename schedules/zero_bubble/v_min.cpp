#include "schedules/zero_bubble/v_min.hpp"

#include "schedules/zero_bubble/building_block.hpp"

namespace debubble {

namespace {

std::array<int, 4> v_min_block(int device, int devices) {
  const int gap = devices % 3 == 0 ? 2 : 0;  // without it two ops of the repeated block would meet
  return {device, 2 * devices - 1 - device, 2 * devices + gap + device, 4 * devices + gap - 1 - device};
}

Schedule build_v_min(const ScheduleRequest& request) { return build_from_block(request, "v-min", v_min_block); }

// Where F, I and W take equal times, measured up to p = 25: the ramps cost the same for every m from 2p on.
std::optional<double> v_min_makespan(const FormCase& form) {
  const int p = form.devices;
  const bool equal = form.forward == form.input_grad && form.forward == form.weight_grad;
  if (!equal || form.microbatches < 2 * p) return std::nullopt;
  const double passes = 6.0 * form.microbatches + 4 * p - (p % 3 == 0 ? 7 : 5);
  return passes * form.forward / 2;
}

std::optional<double> v_min_peak(const FormCase& form) {
  const int p = form.devices;
  if (form.microbatches < 2 * p || form.held != 1) return std::nullopt;
  if (form.device == 0 && p % 3 == 2) return std::nullopt;  // from p = 14 on it holds one chunk less
  return (p + 4) / 3;
}

}  // namespace

const ScheduleEntry& v_min_entry() {
  static const ScheduleEntry entry{
      .name = "v-min",
      .summary =
          "two chunks in a V, split backward: a third of 1f1b's memory; (p + 4) div 3 activations: half at p=4 and 8, "
          "near a third for large p",
      .citation = "Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024, arXiv 2405.15362",
      .constraints = "p >= 2, v = 2",
      .needs = "splits the backward; twice the messages",
      .splits_backward = true,
      .default_chunks = 2,
      .params = {},
      .build = build_v_min,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note = "the authors' published orders, spans and peaks, up to p = 16; the makespan formula is our own",
      .makespan = {"(6m + 4p - 5) f/2, where 3 divides p (6m + 4p - 7) f/2; for f = i = w, m >= 2p", v_min_makespan},
      .peak = {"(p + 4) div 3 on the fullest device, for m >= 2p and h = 1", v_min_peak},
      .frameworks = "the authors' fork of Megatron-LM (sail-sg/zero-bubble)",
      .advice =
          "Use it when activations are what does not fit: near a third of 1f1b's for large p. Unequal times of F, I "
          "and W leave bubbles in every period, more of them than with v-half.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
