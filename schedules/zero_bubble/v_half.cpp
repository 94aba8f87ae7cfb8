#include "schedules/zero_bubble/v_half.hpp"

#include "schedules/zero_bubble/building_block.hpp"

namespace debubble {

namespace {

std::array<int, 4> v_half_block(int device, int devices) {
  const int gap = devices % 2 == 0 ? 3 : 0;  // without it two ops of the repeated block would meet
  return {2 * device, 3 * devices - 2 - device, 3 * devices + gap - 1 + 2 * device, 6 * devices + gap - 2 - device};
}

Schedule build_v_half(const ScheduleRequest& request) { return build_from_block(request, "v-half", v_half_block); }

// Where F, I and W take equal times, measured up to p = 25: the ramps cost the same for every m from 2p on.
std::optional<double> v_half_makespan(const FormCase& form) {
  const int p = form.devices;
  const bool equal = form.forward == form.input_grad && form.forward == form.weight_grad;
  if (!equal || form.microbatches < 2 * p || p == 2) return std::nullopt;
  const double passes = 6.0 * form.microbatches + 3 * p - (p % 2 == 0 ? 7 : 4);
  return passes * form.forward / 2;
}

std::optional<double> v_half_peak(const FormCase& form) {
  if (form.microbatches < 2 * form.devices || form.held != 1) return std::nullopt;
  return (form.devices + 2) / 2;
}

}  // namespace

const ScheduleEntry& v_half_entry() {
  static const ScheduleEntry entry{
      .name = "v-half",
      .summary =
          "two chunks in a V, split backward: half of 1f1b's memory; p/2 + 1 activations, near half of 1f1b's for "
          "large p",
      .citation = "Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024, arXiv 2405.15362",
      .constraints = "p >= 2, v = 2",
      .needs = "splits the backward; twice the messages",
      .splits_backward = true,
      .default_chunks = 2,
      .params = {},
      .build = build_v_half,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note = "the authors' published orders, spans and peaks, up to p = 32; the makespan formula is our own",
      .makespan = {"(6m + 3p - 7) f/2, for odd p (6m + 3p - 4) f/2; for f = i = w, m >= 2p, p > 2", v_half_makespan},
      .peak = {"(p + 2) div 2 on the fullest device, for m >= 2p and h = 1", v_half_peak},
      .frameworks = "the authors' fork of Megatron-LM (sail-sg/zero-bubble)",
      .advice =
          "Use it for p/2 + 1 activations at about half of 1f1b's bubble; give it 2p microbatches or more. "
          "Each microbatch crosses every boundary of devices twice.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
