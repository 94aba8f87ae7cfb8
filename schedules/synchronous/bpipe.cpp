#include "schedules/synchronous/bpipe.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "schedules/synchronous/one_f_one_b.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

int bpipe_cap(int devices) { return devices / 2 + 1; }  // ceil((p + 2) / 2) of an even p

// Walks along the row of an evictor and keeps room for what comes next: one place, and one more for a copy that runs
// where the next forward follows at once.
class Evictor {
 public:
  Evictor(const std::vector<Op>& row, int device, int devices)
      : row_(row), device_(device), partner_(devices - 1 - device), cap_(bpipe_cap(devices)) {}

  std::vector<Copy> run() {
    for (std::size_t at = 0; at < row_.size(); ++at) {
      if (at + 1 < row_.size()) load_for(row_[at + 1], at);
      const std::int32_t microbatch = row_[at].microbatch;
      if (row_[at].kind == OpKind::kForward) {
        here_.push_back(microbatch);
        const bool forward_next = at + 1 < row_.size() && row_[at + 1].kind == OpKind::kForward;
        evict_down_to(forward_next ? cap_ - 2 : cap_ - 1);
      } else {
        here_.pop_front();
      }
    }
    return copies_;
  }

 private:
  // A load sets off one op before its backward.
  void load_for(const Op& next, std::size_t at) {
    if (next.kind != OpKind::kBackward || remote_.erase(next.microbatch) == 0) return;
    copies_.push_back({Copy::Way::kBack, device_, next.microbatch, partner_, static_cast<std::int32_t>(at)});
    // A load is of the oldest microbatch in flight but for one whose backward runs now.
    here_.insert(row_[at].kind == OpKind::kBackward ? here_.begin() + 1 : here_.begin(), next.microbatch);
  }

  // The newest is the one whose backward is furthest away.
  void evict_down_to(int most) {
    while (static_cast<int>(here_.size()) > most) {
      copies_.push_back({Copy::Way::kOut, device_, here_.back(), partner_, -1});
      remote_.insert(here_.back());
      here_.pop_back();
    }
  }

  const std::vector<Op>& row_;
  std::int32_t device_;
  std::int32_t partner_;
  int cap_;
  std::deque<std::int32_t> here_;  // microbatches whose activations are on the device, or arriving: oldest first
  std::set<std::int32_t> remote_;
  std::vector<Copy> copies_;
};

Schedule build_bpipe(const ScheduleRequest& request) {
  const int p = request.devices;
  require_one_chunk(request, "bpipe");
  if (p < 4 || p % 2 != 0) {
    fail("S011", "--devices",
         "bpipe pairs device d with p - 1 - d of an even p of at least 4; got " + std::to_string(p),
         nearest_legal("-p ", p < 4 ? "4" : std::to_string(p - 1) + " or " + std::to_string(p + 1)));
  }
  Schedule schedule = one_f_one_b_entry().build(request);
  schedule.name = "bpipe";
  schedule.copies.resize(schedule.rows.size());
  for (int device = 0; device < p / 2; ++device) {
    if (std::min(p - device, request.microbatches) <= bpipe_cap(p)) continue;  // 1F1B as it is fits
    const auto at = static_cast<std::size_t>(device);
    schedule.copies[at] = Evictor(schedule.rows[at], device, p).run();
  }
  return schedule;
}

// In a long run evictors fill up to the cap; what an acceptor holds at once depends on how the pair's ops meet.
std::optional<double> bpipe_peak(const FormCase& form) {
  if (form.device >= form.devices / 2) return std::nullopt;
  const int held = std::min(form.devices - form.device, form.microbatches);
  if (held <= bpipe_cap(form.devices)) return held;
  if (form.microbatches < 2 * form.devices) return std::nullopt;
  return bpipe_cap(form.devices);
}

}  // namespace

const ScheduleEntry& bpipe_entry() {
  static const ScheduleEntry entry{
      .name = "bpipe",
      .summary = "1f1b whose first devices keep activations on the last ones; at most p/2 + 1 on each",
      .citation = "Kim et al., BPipe, ICML 2023",
      .constraints = "p >= 4 and even, m >= 1",
      .needs = "a fast link between devices d and p - 1 - d, in addition to the pipeline's own",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {},
      .build = build_bpipe,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kDerived,
      .certainty_note =
          "the published rule of eviction; the bound p/2 + 1 is derived and tested on every device; the "
          "published placement of partners on one node is left to the topology",
      .makespan = {"(m + p - 1)(f + b) while copies overlap with compute", fill_and_drain},
      .peak = {"at most p/2 + 1; of d < p/2 exactly min(m, p/2 + 1), once m >= 2 p or m <= p/2 + 1", bpipe_peak},
      .frameworks = "",
      .advice =
          "Where the first device runs out of memory and the last has plenty, and partners share a fast link. It "
          "buys a larger microbatch, not a shorter schedule; a later study found no gain with flash attention.",
      .even_devices = true};
  return entry;
}

}  // namespace debubble
