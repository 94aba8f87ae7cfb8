#include "schedules/synchronous/interleaved.hpp"

#include <algorithm>
#include <vector>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/check.hpp"

namespace debubble {

namespace {

constexpr const char* kRoundings = "megatron|pytorch|mindspore";
constexpr const char* kWarmups = "full|short";

struct Step {
  int microbatch;
  int chunk;
};

struct GroupSizes {
  int size;
  int larger;  // so many groups have that size, later ones one microbatch less; the last one what is left
};

// The order in which a device meets (microbatch, chunk): group by group, within a group chunk by chunk.
std::vector<Step> step_table(int m, int chunks, const GroupSizes& groups) {
  std::vector<Step> table;
  table.reserve(static_cast<std::size_t>(m) * static_cast<std::size_t>(chunks));
  for (int base = 0, k = 0; base < m; ++k) {
    const int end = base + std::min(k < groups.larger ? groups.size : groups.size - 1, m - base);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int i = base; i < end; ++i) table.push_back({i, chunk});
    }
    base = end;
  }
  return table;
}

std::vector<Op> interleaved_row(const std::vector<Step>& table, int device, int devices, int chunks,
                                std::int64_t ahead) {
  const auto total = static_cast<std::int64_t>(table.size());
  const std::int64_t warmup = std::min(ahead, total);
  std::vector<Op> row;
  row.reserve(2 * table.size());
  const auto forward = [&](std::int64_t k) {
    const Step& step = at(table, k);
    row.push_back({OpKind::kForward, false, step.chunk * devices + device, step.microbatch});
  };
  const auto backward = [&](std::int64_t k) {  // same microbatches, chunks from the last to the first
    const Step& step = at(table, k);
    row.push_back({OpKind::kBackward, false, (chunks - 1 - step.chunk) * devices + device, step.microbatch});
  };
  for (std::int64_t k = 0; k < warmup; ++k) forward(k);
  for (std::int64_t k = 0; k < total; ++k) {
    if (warmup + k < total) forward(warmup + k);
    backward(k);
  }
  return row;
}

// The nearest m below and above that `is_legal` accepts, as text.
template <typename IsLegal>
std::string nearest_microbatches(int m, IsLegal is_legal) {
  std::string text;
  for (int below = m - 1; below > 0; --below) {
    if (is_legal(below)) {
      text = std::to_string(below) + " or ";
      break;
    }
  }
  int above = m + 1;
  while (!is_legal(above)) ++above;
  return text + std::to_string(above);
}

bool pytorch_rounds_evenly(int m, int devices) { return m % std::max(1, m / devices) == 0; }

// max(1, m div p) rounds: PyTorch refuses uneven ones, MindSpore gives the first ones the microbatches that are left.
GroupSizes rounds_of(const ScheduleRequest& request, const std::string& rounding) {
  const int m = request.microbatches;
  const int rounds = std::max(1, m / request.devices);
  if (request.params.contains("group")) {
    fail("S075", "--param group", "rounding=" + rounding + " derives the group size itself", "leave out --param group");
  }
  if (m % rounds != 0 && rounding == "mindspore") return {m / rounds + 1, m % rounds};
  if (!pytorch_rounds_evenly(m, request.devices)) {
    const auto legal = [&](int other) { return pytorch_rounds_evenly(other, request.devices); };
    fail("S009", "--microbatches",
         "PyTorch makes max(1, m div p) = " + std::to_string(rounds) +
             " rounds, which do not divide m=" + std::to_string(m),
         nearest_legal("-m ", nearest_microbatches(m, legal), request.devices));
  }
  return {m / rounds, rounds};
}

int megatron_group(const ScheduleRequest& request) {
  const int group = int_param(request, "group", request.devices);
  const int p = request.devices;
  const int m = request.microbatches;
  // A group smaller than p asks for chunk 1 before the pipeline can have brought its input around. A single group of
  // all m microbatches is fine however small: nothing follows it.
  if (group < 1 || (group < p && group < m)) {
    fail("S016", "--param group",
         "a group of " + std::to_string(group) + " microbatches deadlocks on " + std::to_string(p) +
             " devices: chunk 1 would need its input before it can exist",
         "nearest legal value: --param group=" + std::to_string(std::min(p, m)));
  }
  return group;
}

bool megatron_accepts(int m, int group, int p) { return m >= group && (m % group == 0 || m % group >= p); }

// What Megatron Core refuses although the order runs.
void note_megatron_limits(Schedule& schedule, int group, int p) {
  const int m = schedule.microbatches;
  if (m < p) {
    schedule.notes.push_back("Megatron Core refuses this: it needs at least as many microbatches as devices, and m=" +
                             std::to_string(m) + " < p=" + std::to_string(p));
    return;
  }
  if (group > m || group < p) {
    schedule.notes.push_back("Megatron Core refuses this: the group size " + std::to_string(group) +
                             " must lie between p=" + std::to_string(p) + " and m=" + std::to_string(m));
    return;
  }
  const int remainder = m % group;
  if (remainder == 0 || remainder >= p) return;
  const auto legal = [&](int other) { return megatron_accepts(other, group, p); };
  schedule.notes.push_back("Megatron Core refuses this: m=" + std::to_string(m) + " leaves " +
                           std::to_string(remainder) + (remainder == 1 ? " microbatch" : " microbatches") +
                           " in the last group of " + std::to_string(group) + ", fewer than p=" + std::to_string(p) +
                           ", which adds dependency bubbles; it accepts -m " + nearest_microbatches(m, legal));
}

// A last group of fewer than p microbatches mostly just adds bubbles, but with three chunks or more it may deadlock.
void refuse_deadlocked_groups(const ScheduleRequest& request, const Schedule& schedule, int group) {
  const int m = request.microbatches;
  if (m % group == 0 || m % group >= request.devices || !find_deadlock(schedule)) return;
  const auto legal = [&](int other) { return megatron_accepts(other, group, request.devices); };
  fail("S016", "--microbatches",
       "m=" + std::to_string(m) + " leaves " + std::to_string(m % group) +
           (m % group == 1 ? " microbatch" : " microbatches") + " in the last group of " + std::to_string(group) +
           ", fewer than p=" + std::to_string(request.devices) + "; with this many chunks that deadlocks",
       nearest_legal("-m ", nearest_microbatches(m, legal)));
}

Schedule build_as_interleaved(const ScheduleRequest& request) { return build_interleaved(request, "interleaved"); }

}  // namespace

Schedule build_interleaved(const ScheduleRequest& request, const std::string& name) {
  const int chunks = request.chunks == 0 ? 2 : request.chunks;
  const int p = request.devices;
  if (p < 2) fail("S011", "--devices", name + " needs at least 2 devices", "use -p 2 or more");
  if (chunks < 2) {
    fail("S005", "--chunks", name + " needs at least 2 stages per device; got " + std::to_string(chunks),
         "use -v 2 or more, or --schedule 1f1b for one stage per device");
  }
  const std::string rounding = choice_param(request, "rounding", kRoundings);
  const GroupSizes groups =
      rounding == "megatron" ? GroupSizes{megatron_group(request), request.microbatches} : rounds_of(request, rounding);
  const int group = groups.size;
  Schedule schedule = start_schedule(request, name, chunks);
  const int extra = extra_warmup(request);
  const bool brief = choice_param(request, "warmup", kWarmups) == "short";
  schedule.params = {{"group", std::to_string(group)}, {"rounding", rounding}};
  if (brief) schedule.params.emplace_back("warmup", "short");
  if (extra > 0) schedule.params.emplace_back(kExtraWarmup, std::to_string(extra));
  const std::vector<Step> table = step_table(request.microbatches, chunks, groups);
  for (int device = 0; device < p; ++device) {
    const std::int64_t ahead =
        std::int64_t{chunks - 1} * group + (brief ? 1 : 2) * std::int64_t{p - 1 - device} + extra;
    at(schedule.rows, device) = interleaved_row(table, device, p, chunks, ahead);
  }
  if (rounding == "megatron") {
    refuse_deadlocked_groups(request, schedule, group);
    note_megatron_limits(schedule, group, p);
  }
  return schedule;
}

// Not where a last group smaller than p adds bubbles, nor with fewer microbatches than devices.
std::optional<double> interleaved_makespan(const FormCase& form) {
  const auto group = form_number(form, "group");
  const bool fits = group && form.microbatches >= form.devices && *group >= form.devices &&
                    (form_word(form, "rounding") == "mindspore" ||
                     megatron_accepts(form.microbatches, std::min(*group, form.microbatches), form.devices));
  if (!fits) return std::nullopt;
  return (form.microbatches + static_cast<double>(form.devices - 1) / form.chunks) * (form.forward + form.backward);
}

std::optional<double> interleaved_peak(const FormCase& form) {
  const auto group = form_number(form, "group");
  if (!group) return std::nullopt;
  const int way = form_word(form, "warmup") == "short" ? 1 : 2;
  const int warmup =
      way * (form.devices - 1 - form.device) + (form.chunks - 1) * *group + form_number(form, kExtraWarmup).value_or(0);
  return static_cast<double>(std::min(warmup + 1, form.microbatches * form.chunks)) / form.chunks;
}

const ScheduleEntry& interleaved_entry() {
  static const ScheduleEntry entry{
      .name = "interleaved",
      .summary = "1f1b over v chunks per device: a v-th of the bubble; more messages and activations",
      .citation = "Narayanan et al., Megatron-LM, SC 2021, arXiv 2104.04473",
      .constraints =
          "p >= 2, v >= 2, group >= p (or one group of all m); a last group below p, which Megatron refuses, runs here "
          "unless it deadlocks (S016)",
      .needs = "more messages and activations",
      .splits_backward = false,
      .default_chunks = 2,
      .params = {{"group", "p..m", "p", "microbatches that pass through one chunk before the next chunk's turn"},
                 {"rounding", kRoundings, "megatron",
                  "how groups are found: as given, by PyTorch's max(1, m div p) equal rounds, or by MindSpore's "
                  "(seqpipe), of which the first take what is left"},
                 {"warmup", kWarmups, "full",
                  "short: p - 1 - d forward passes less before a device's first backward pass, as MindSpore's "
                  "seqsmartvpp, which has rounding=mindspore"},
                 extra_warmup_param()},
      .build = build_as_interleaved,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "Megatron-LM's table of microbatches and chunks, and PyTorch's rounds; MindSpore's: its rules, read and not "
          "run; PaddlePaddle's VPP at m = p is breadth-first with backward=ascending",
      .makespan = {"(m + (p - 1) / v)(f + b) where m >= p and the last group is whole or has p microbatches or more",
                   interleaved_makespan},
      .peak = {"min(2(p - 1 - d) + (v - 1) group + 1 + extra_warmup, m v) / v; p - 1 - d less in it with warmup=short",
               interleaved_peak},
      .frameworks =
          "Megatron-LM, PyTorch and torchtitan (Interleaved1F1B), Primus, MindSpeed, PaddlePaddle (VPP), MindSpore "
          "(pipeline_interleave), ColossalAI (interleaved)",
      .advice =
          "Where 1f1b's bubble is large, m is a multiple of p, and the links can carry v times as many messages. "
          "Device 0 "
          "holds up "
          "to p - 1 more chunks' activations than 1f1b."};
  return entry;
}

}  // namespace debubble
