#include "schedules/zero_bubble/zb_v.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/planning.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

// A device's row while it grows: the `down` stage on the way from device 0, the `up` stage on the way back. An op of a
// microbatch beyond m counts and is not written.
class VRow {
 public:
  VRow(int device, int devices, int microbatches)
      : p_(devices), m_(microbatches), total_(std::max(2 * devices - 1, microbatches)), device_(device) {
    row_.reserve(6 * static_cast<std::size_t>(microbatches));
    down_.stage = device;
    up_.stage = 2 * devices - 1 - device;
  }

  // The hand-made order of the paper's section 6, which PyTorch's ScheduleZBVZeroBubble has, too. Its slots fit
  // together without gaps when F, I and W take the same time; it is made for at least 2p - 1 microbatches, as fewer
  // never reach the steady state.
  std::vector<Op> make() {
    // Down F until the first microbatch has gone from this device to the last one and come back.
    for (int k = 0; k < 2 * (p_ - device_) - 1; ++k) forward(down_);
    // Until the first gradient arrives: the first microbatches pass on the way up, new ones enter in between.
    for (int k = 0; k < device_; ++k) {
      forward(up_);
      forward(down_);
    }
    // No new microbatches: a whole backward of the up stage follows each of its F, which keeps memory at p activations.
    for (int k = 0; k < p_ - device_; ++k) {
      forward(up_);
      backward(up_);
    }
    while (up_.forwards < down_.forwards || down_.forwards < total_) {  // the steady state
      if (down_.forwards < total_) forward(down_);
      backward(down_);
      forward(up_);
      backward(up_);
    }
    drain();
    return std::move(row_);
  }

 private:
  struct Stage {
    int stage = 0;
    int forwards = 0;
    int input_grads = 0;
    int weight_grads = 0;
  };

  void put(OpKind kind, const Stage& stage, int microbatch) {
    if (microbatch < m_) row_.push_back({kind, false, stage.stage, microbatch});
  }
  void forward(Stage& stage) { put(OpKind::kForward, stage, stage.forwards++); }
  void input_grad(Stage& stage) { put(OpKind::kInputGrad, stage, stage.input_grads++); }
  void weight_grad(Stage& stage) { put(OpKind::kWeightGrad, stage, stage.weight_grads++); }
  void backward(Stage& stage) {
    input_grad(stage);
    weight_grad(stage);
  }

  // First the I alone, since the neighbours wait for their gradients; the W that were put off fill the end.
  void drain() {
    for (int k = 0; k < device_; ++k) {
      input_grad(down_);
      input_grad(up_);
    }
    for (int k = 0; k < p_ - device_; ++k) backward(down_);
    while (up_.weight_grads < total_) weight_grad(up_);
    while (down_.weight_grads < total_) weight_grad(down_);
  }

  int p_;
  int m_;
  int total_;
  int device_;
  Stage down_;
  Stage up_;
  std::vector<Op> row_;
};

Schedule build_zb_v(const ScheduleRequest& request) {
  require_two_chunks(request, "zb-v");
  const int p = request.devices;
  Schedule schedule = start_schedule(request, "zb-v", 2);
  schedule.placement = zigzag_placement(p, 2 * p);
  for (int device = 0; device < p; ++device) {
    at(schedule.rows, device) = VRow(device, p, request.microbatches).make();
  }
  if (request.microbatches < 2 * p - 1) {
    schedule.notes.push_back("below 2p-1 = " + std::to_string(2 * p - 1) +
                             " microbatches the pattern keeps gaps even for equal passes");
  }
  return schedule;
}

// (6m + p - 1) chunk passes, where all of them take the same time.
std::optional<double> zb_v_makespan(const FormCase& form) {
  const bool equal = form.forward == form.input_grad && form.forward == form.weight_grad;
  if (!equal || form.microbatches < 2 * form.devices - 1) return std::nullopt;
  return (6 * form.microbatches + form.devices - 1) * form.forward / 2;
}

std::optional<double> zb_v_peak(const FormCase& form) {
  if (form.microbatches < 2 * form.devices - 1) return std::nullopt;
  return form.devices;
}

}  // namespace

const ScheduleEntry& zb_v_entry() {
  static const ScheduleEntry entry{
      .name = "zb-v",
      .summary = "two chunks in a V: no bubble for equal passes, 1f1b's memory; the same on all devices",
      .citation = "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241v1, section 6",
      .constraints = "p >= 1, v = 2, m >= 1; m >= 2p - 1 for the full pattern",
      .needs = "splits the backward; twice the messages of 1f1b",
      .splits_backward = true,
      .default_chunks = 2,
      .params = {},
      .build = build_zb_v,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "the order of PyTorch's ScheduleZBVZeroBubble and of the authors' handcrafted table; spans and "
          "peaks by test",
      .makespan = {.text =
                       "(3m + (p - 1)/2) f for f = i = w and m >= 2p - 1; no device waits for longer than (p - 1)/2 f",
                   .value = zb_v_makespan},
      .peak = {.text = "p on every device, for m >= 2p - 1", .value = zb_v_peak},
      .frameworks = "PyTorch and torchtitan (ZBVZeroBubble); the authors' fork of Megatron-LM (sail-sg/zero-bubble)",
      .advice =
          "The zero-bubble order at 1f1b's memory, where half a stage is still enough work to keep a device busy: "
          "each microbatch crosses each hop twice, and its chunks must have equal depth. With slow links zb-auto at "
          "twice the memory is faster.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
