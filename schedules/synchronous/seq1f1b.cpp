#include "schedules/synchronous/seq1f1b.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/group_walk.hpp"
#include "schedules/common/request.hpp"
#include "schedules/synchronous/slices.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/check.hpp"

namespace debubble {

namespace {

// What the slices of a microbatch cost, and how the person said so.
struct SequenceCut {
  int slices = kDefaultSlices;
  std::vector<std::int64_t> shares;
  std::vector<std::pair<std::string, std::string>> params;
};

void refuse_beside(const ScheduleRequest& request, const std::string& name, const std::string& reason,
                   const std::string& help) {
  if (request.params.contains(name)) fail("S075", "--param " + name, reason, help);
}

// The slices' costs as given: their number is that of the slices.
SequenceCut given_costs(const ScheduleRequest& request) {
  SequenceCut cut;
  const std::vector<std::int64_t> costs = decimal_list_param(request, "slice_costs", 1000 * kMillionth);
  cut.slices = static_cast<int>(costs.size());
  for (const char* name : {"tokens", "attention"}) {
    refuse_beside(request, name, "slice_costs says what the slices cost", std::string("leave out --param ") + name);
  }
  if (int_param(request, "slices", cut.slices) != cut.slices) {
    fail("S075", "--param slices",
         "slice_costs has " + std::to_string(cut.slices) + " entries for slices=" + request.params.at("slices"),
         "leave out --param slices, or write --param slices=" + std::to_string(cut.slices));
  }
  cut.shares = as_shares(costs);
  cut.params = {{"slices", std::to_string(cut.slices)}};
  if (!cut.shares.empty()) cut.params.emplace_back("slice_costs", request.params.at("slice_costs"));
  return cut;
}

// Lengths of equal computation.
std::vector<int> lengths_of(int tokens, int slices, const SliceCost& cost) {
  std::vector<int> lengths = balanced_lengths(tokens, slices, cost);
  if (*std::min_element(lengths.begin(), lengths.end()) < 1) {
    fail("S073", "--param tokens",
         std::to_string(tokens) + " tokens do not make " + std::to_string(slices) + " slices of equal computation",
         "use fewer slices or more tokens");
  }
  return lengths;
}

// With `tokens` the slices are cut for equal computation, as far as whole tokens go; without, all cost the same.
SequenceCut cut_by_count(const ScheduleRequest& request) {
  SequenceCut cut;
  cut.slices = slice_count_param(request);
  cut.params = {{"slices", std::to_string(cut.slices)}};
  if (!request.params.contains("tokens")) {
    refuse_beside(request, "attention", "without tokens, all slices cost the same", "add --param tokens=2048");
    return cut;
  }
  const int tokens = token_count_param(request, cut.slices);
  if (cut.slices == 1) return cut;
  const SliceCost cost{0, decimal_param(request, "attention", kMillionth / 10, kMillionth)};
  cut.shares = as_shares(slice_costs(cost, lengths_of(tokens, cut.slices, cost)));
  cut.params.emplace_back("tokens", std::to_string(tokens));
  cut.params.emplace_back("attention", decimal_text(cost.attention));
  return cut;
}

// One device's units, forward and backward, in the order in which it meets them: without chunks one after another; with
// them, `group` of them pass a chunk before the next one's turn.
class Units {
 public:
  Units(const Schedule& schedule, int device, int group)
      : schedule_(schedule), device_(device), forwards_(group, schedule.chunks), backwards_(group, schedule.chunks) {}

  [[nodiscard]] std::int64_t count() const { return std::int64_t{schedule_.total_pieces()} * schedule_.chunks; }
  [[nodiscard]] Op next_forward() {
    const Op op{OpKind::kForward, false, forwards_.chunk() * schedule_.devices + device_, forwards_.microbatch()};
    forwards_.next();
    return op;
  }
  // The same units, chunks from the last to the first, and the slices of a microbatch from its end.
  [[nodiscard]] Op next_backward() {
    const std::int32_t unit = backwards_.microbatch();
    const std::int32_t from_end = schedule_.pieces - 1 - unit % schedule_.pieces;
    const Op op{OpKind::kBackward, false, (schedule_.chunks - 1 - backwards_.chunk()) * schedule_.devices + device_,
                unit - unit % schedule_.pieces + from_end};
    backwards_.next();
    return op;
  }

 private:
  const Schedule& schedule_;
  int device_;
  GroupWalk forwards_;
  GroupWalk backwards_;
};

std::int64_t seq1f1b_warmup(const Schedule& schedule, int device, bool slim, std::int64_t units) {
  const std::int64_t p = schedule.devices;
  const std::int64_t slices = schedule.pieces;
  if (slim) return std::min(schedule.chunks * slices - 1 + 2 * (p - 1 - device), units);
  if (schedule.chunks == 1) return std::min(p - 1 - device + slices - 1, units);
  if (schedule.microbatches == schedule.devices) return units;  // as the authors' research code: all forwards first
  return std::min((schedule.chunks - 1) * p + 2 * (p - 1 - device) + slices - 1, units);
}

std::vector<Op> seq1f1b_row(const Schedule& schedule, int device, bool slim) {
  Units units(schedule, device, slim ? schedule.pieces : schedule.devices);
  const std::int64_t count = units.count();
  const std::int64_t warmup = seq1f1b_warmup(schedule, device, slim, count);
  std::vector<Op> row;
  row.reserve(2 * static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < warmup; ++k) row.push_back(units.next_forward());
  for (std::int64_t k = 0; k < count; ++k) {
    if (warmup + k < count) row.push_back(units.next_forward());
    row.push_back(units.next_backward());
  }
  return row;
}

void check_interleaving(const ScheduleRequest& request, int chunks) {
  const int p = request.devices;
  const int m = request.microbatches;
  if (chunks < 2 || m % p == 0) return;
  fail("S009", "--microbatches",
       "with several stages per device m must be a multiple of p=" + std::to_string(p) + "; got " + std::to_string(m),
       nearest_legal("-m ", (m > p ? std::to_string(m / p * p) + " or " : "") + std::to_string((m / p + 1) * p)));
}

Schedule build_seq1f1b(const ScheduleRequest& request) {
  const int chunks = request.chunks == 0 ? 1 : request.chunks;
  const bool slim = choice_param(request, "slim", "false|true") == "true";
  if (!slim) check_interleaving(request, chunks);
  SequenceCut cut = request.params.contains("slice_costs") ? given_costs(request) : cut_by_count(request);
  Schedule schedule = start_schedule(request, "seq1f1b", chunks);
  cut_into_slices(schedule, cut.slices, std::move(cut.shares));
  schedule.params = std::move(cut.params);
  if (slim) schedule.params.emplace_back("slim", "true");
  if (cut.slices > 1 && schedule.piece_shares.empty()) note_equal_slices(schedule);
  for (int device = 0; device < request.devices; ++device) {
    at(schedule.rows, device) = seq1f1b_row(schedule, device, slim);
  }
  if (slim && chunks > 1 && cut.slices < request.devices) {
    fail("S016", "--param slices",
         std::to_string(cut.slices) + " slices deadlock on " + std::to_string(request.devices) +
             " devices with several stages each: a chunk would need its input before it can exist",
         "use --param slices=" + std::to_string(request.devices) + " or more");
  }
  // A group of p units must end with a whole microbatch, or its backward asks for slices that come too late.
  if (!slim && chunks > 1 && request.devices % cut.slices != 0 && find_deadlock(schedule)) {
    fail("S016", "--param slices",
         std::to_string(cut.slices) + " slices per microbatch deadlock with several stages per device: groups of p=" +
             std::to_string(request.devices) + " slices end within a microbatch",
         "use a number of slices that divides p");
  }
  return schedule;
}

bool is_uneven(const FormCase& form) { return form.params.contains("slice_costs") || form.params.contains("tokens"); }

// With several stages per device only where whole microbatches make a group: other numbers of slices run with m = p
// alone, all forwards first.
std::optional<double> seq1f1b_makespan(const FormCase& form) {
  const auto slices = form_number(form, "slices");
  const bool slim = form_word(form, "slim") == "true";
  if (!slices || is_uneven(form) || (!slim && form.chunks > 1 && form.devices % *slices != 0)) return std::nullopt;
  const double way = static_cast<double>(form.devices - 1) / (form.chunks * *slices);
  return (form.microbatches + way) * (form.forward + form.backward);
}

std::optional<double> seq1f1b_peak(const FormCase& form) {
  const auto slices = form_number(form, "slices");
  const bool slim = form_word(form, "slim") == "true";
  if (!slices || is_uneven(form) || (!slim && form.chunks > 1)) return std::nullopt;
  const std::int64_t units = std::int64_t{*slices} * form.chunks;
  const std::int64_t held = (slim ? 2 : 1) * (form.devices - 1 - form.device) + units;
  return static_cast<double>(std::min(held, form.microbatches * units)) / static_cast<double>(units);
}

}  // namespace

const ScheduleEntry& seq1f1b_entry() {
  static const ScheduleEntry entry{
      .name = "seq1f1b",
      .summary = "1f1b over slices of the sequence; bubble / k at (p - 1 + k) / k activations instead of p, k slices",
      .citation = "Sun et al., Seq1F1B, 2024, arXiv 2406.03488; Li et al., SlimPipe, 2025, arXiv 2504.14519",
      .constraints =
          "p >= 1, m >= 1, causal attention; with v > 1 also m a multiple of p and k a divisor of p, with slim only k "
          ">= p",
      .needs = "causal attention, keys and values of earlier slices, k times the messages",
      .splits_backward = false,
      .default_chunks = 1,
      .params =
          {{"slices", "1..", "4", "slices per sequence, the published k"},
           {"slice_costs", "a list, 0.5,1.5,2.5,3.5", "all alike",
            "what the slices cost, relative to each other, first tokens first"},
           {"tokens", "1..", "not known",
            "length of the sequence, in blocks at which it may be cut: slices of equal computation are found"},
           {"attention", "0..1", "0.1",
            "of tokens: what each earlier one adds to a token's cost; a Transformer has about 1 / (6 x hidden size)"},
           {"slim", "false|true", "false",
            "SlimPipe: all slices of a sequence pass a chunk before the next one's turn, and a device runs 2(p - 1 - "
            "d) "
            "more forwards before its first backward; its exchange of attention makes equal slices cost the same"}},
      .build = build_seq1f1b,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "the orders of the authors' research code; which numbers of slices deadlock with several stages per device "
          "is derived; slim: formed after the paper's memory, (1 + 2(p - 1) / "
          "(v k)) / p of all stages', without its rows",
      .makespan = {"m (f + b) + (p - 1)(f + b) / (v k), slices alike", seq1f1b_makespan},
      .peak = {"min(p - 1 - d + k, m k) / k, slices alike and v = 1; slim: min(2(p - 1 - d) / (v k) + 1, m)",
               seq1f1b_peak},
      .frameworks = "the authors' research code",
      .advice =
          "For long sequences: as little memory as fits a microbatch and a small bubble. Cut for equal computation "
          "(tokens): one slow slice sets the pace of all. Latency counts k times as often as in 1f1b."};
  return entry;
}

}  // namespace debubble
