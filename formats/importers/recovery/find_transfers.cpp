#include "formats/importers/recovery/find_transfers.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace debubble {
namespace {

using Kind = RangeMeaning::Kind;

constexpr int kFarthest = 4096;  // ops between a transfer and the op that it is for

// A range or a kernel that may be an end of a transfer or two.
struct EndCandidate {
  std::uint8_t ends = 0;
  bool certain = true;
  bool completes = false;
  bool on_gpu = false;
  bool alone = false;     // a kernel without a range
  bool function = false;  // a range that names what it carries, without a send or receive seen in it
  bool shared = false;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Nanoseconds gpu_begin = 0;
  Nanoseconds gpu_end = 0;

  void add(const LaunchedWork& work) {
    gpu_begin = on_gpu ? std::min(gpu_begin, work.begin) : work.begin;
    gpu_end = on_gpu ? std::max(gpu_end, work.end) : work.end;
    on_gpu = true;
  }
};

bool begins_before(const EndCandidate& a, const EndCandidate& b) { return a.begin < b.begin; }

class EndFinder {
 public:
  EndFinder(const RankEvents& events, const std::vector<FoundOp>& ops, const std::optional<PipelineEnds>& place)
      : events_(events), ops_(ops), place_(place) {}

  FoundEnds find() {
    collect();
    add_kernels();
    for (auto at = candidates_.begin(); at != candidates_.end();) {
      if (!at->alone) {
        give(*at++);
        continue;
      }
      const auto from = at;
      const std::ptrdiff_t gap = behind(at->begin);
      while (at != candidates_.end() && at->alone && behind(at->begin) == gap) ++at;
      give_kernels(from, at, gap);
    }
    return std::move(found_);
  }

 private:
  // torch.distributed's call is around what its backend records: one of the two, and none within another.
  void collect() {
    std::array<bool, 2> backend{};  // receives, sends
    for (const MeantRange& range : events_.ranges) {
      if (range.meaning.kind != Kind::kTransfer || range.meaning.dispatched) continue;
      backend.at(range.meaning.ends == kSends ? 1 : 0) = true;
    }
    std::array<Nanoseconds, 2> until{-kLongestDuration, -kLongestDuration};
    for (const MeantRange& range : events_.ranges) {
      if (range.meaning.kind != Kind::kTransfer) continue;
      const std::size_t way = range.meaning.ends == kSends ? 1 : 0;
      if ((range.meaning.dispatched && backend.at(way)) || range.end <= until.at(way)) continue;
      if (!range.meaning.completes) until.at(way) = range.end;
      candidates_.push_back(
          {.ends = range.meaning.ends, .completes = range.meaning.completes, .begin = range.begin, .end = range.end});
    }
    begin_with_calls();
    const std::size_t own = candidates_.size();
    Nanoseconds directed_until = -kLongestDuration;  // a function within another is part of it
    for (const MeantRange& range : events_.ranges) {
      if (range.meaning.kind != Kind::kDirected || range.end <= directed_until) continue;
      directed_until = range.end;
      found_.directed = true;
      bool any = false;
      const auto from = std::lower_bound(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(own),
                                         range.begin, [](const EndCandidate& a, Nanoseconds t) { return a.begin < t; });
      for (auto at = from; at != candidates_.begin() + static_cast<std::ptrdiff_t>(own) && at->begin < range.end;
           ++at) {
        any = true;
        if ((at->ends & range.meaning.ends) != 0) at->ends &= range.meaning.ends;
      }
      if (any) continue;
      candidates_.push_back(
          {.ends = range.meaning.ends, .certain = false, .function = true, .begin = range.begin, .end = range.end});
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), begins_before);
  }

  // A backend's range begins when it has posted; torch.distributed's call before it, when the tensor may leave.
  void begin_with_calls() {
    for (const bool sends : {false, true}) {
      std::vector<Nanoseconds> calls;
      for (const MeantRange& range : events_.ranges) {
        if (range.meaning.kind == Kind::kTransfer && range.meaning.dispatched &&
            (range.meaning.ends == kSends) == sends) {
          calls.push_back(range.begin);
        }
      }
      Nanoseconds before = -kLongestDuration;
      for (EndCandidate& candidate : candidates_) {
        if ((candidate.ends == kSends) != sends) continue;
        const auto behind = std::upper_bound(calls.begin(), calls.end(), candidate.begin);
        const Nanoseconds own = candidate.begin;
        if (behind != calls.begin() && *std::prev(behind) > before) candidate.begin = *std::prev(behind);
        before = own;
      }
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), begins_before);
  }

  // A kernel belongs to the ranges in which, or since the last one before which, it was launched: a group of sends and
  // receives is launched behind their ranges.
  void add_kernels() {
    const bool ranges = !candidates_.empty();
    std::size_t next = 0;
    std::vector<EndCandidate> alone;
    for (const LaunchedWork& work : events_.work) {
      if (work.kind != LaunchedWork::Kind::kSendRecv) continue;
      std::vector<std::size_t> takers;
      std::uint8_t ends = 0;
      std::size_t last = next;
      for (; last < candidates_.size() && candidates_[last].begin <= work.launched; ++last) {
        EndCandidate& candidate = candidates_[last];
        const bool over = candidate.end < work.launched && (candidate.function || candidate.on_gpu);
        if (candidate.completes || over) continue;
        candidate.add(work);
        candidate.certain = true;
        ends |= candidate.ends;
        takers.push_back(last);
      }
      for (const std::size_t taker : takers) {
        candidates_[taker].shared = (ends & kSends) != 0 && (ends & kReceives) != 0;
      }
      // The range it was launched in may launch more.
      next = last > next && candidates_[last - 1].end >= work.launched ? last - 1 : last;
      if (!takers.empty()) continue;
      EndCandidate kernel{.ends = kSends | kReceives, .alone = true, .begin = work.launched, .end = work.launched};
      kernel.add(work);
      alone.push_back(kernel);
    }
    if (alone.empty()) return;
    found_.kernels_only = !ranges;
    candidates_.insert(candidates_.end(), alone.begin(), alone.end());
    std::stable_sort(candidates_.begin(), candidates_.end(), begins_before);
  }

  // The first op that begins after this time.
  [[nodiscard]] std::ptrdiff_t behind(Nanoseconds time) const {
    return std::upper_bound(ops_.begin(), ops_.end(), time,
                            [](Nanoseconds value, const FoundOp& op) { return value < op.begin; }) -
           ops_.begin();
  }

  [[nodiscard]] bool allows(std::uint8_t ends, std::ptrdiff_t op, bool sends) const {
    const bool forward = ops_[static_cast<std::size_t>(op)].kind == OpKind::kForward;
    const int wanted =
        sends ? (forward ? kSendsForward : kSendsBackward) : (forward ? kReceivesForward : kReceivesBackward);
    return (ends & wanted) != 0;
  }

  void give(const EndCandidate& candidate) {
    const auto count = static_cast<std::ptrdiff_t>(ops_.size());
    const std::ptrdiff_t next = behind(candidate.begin);
    const bool within = next > 0 && candidate.begin < ops_[static_cast<std::size_t>(next - 1)].end;
    bool placed = false;
    if ((candidate.ends & kSends) != 0) {
      std::ptrdiff_t op = next - 1;
      for (int k = 0; k < kFarthest && op >= 0 && !allows(candidate.ends, op, true); ++k) --op;
      if (op >= 0 && allows(candidate.ends, op, true)) add(candidate, op, true), placed = true;
    }
    if ((candidate.ends & kReceives) != 0) {
      std::ptrdiff_t op = within ? next - 1 : next;
      for (int k = 0; k < kFarthest && op < count && !allows(candidate.ends, op, false); ++k) ++op;
      if (op < count && allows(candidate.ends, op, false)) add(candidate, op, false), placed = true;
    }
    if (!placed) ++found_.unplaced;
  }

  using Candidates = std::vector<EndCandidate>::iterator;

  void give_kernels(Candidates from, Candidates to, std::ptrdiff_t next) {
    struct Need {
      std::ptrdiff_t op;
      bool sends;
    };
    std::vector<Need> needs;
    if (place_ && next > 0) {
      const bool forward = ops_[static_cast<std::size_t>(next - 1)].kind == OpKind::kForward;
      if (!(forward ? place_->last : place_->first)) needs.push_back({next - 1, true});
    }
    if (place_ && next < static_cast<std::ptrdiff_t>(ops_.size())) {
      const bool forward = ops_[static_cast<std::size_t>(next)].kind == OpKind::kForward;
      if (!(forward ? place_->first : place_->last)) needs.push_back({next, false});
    }
    const auto count = static_cast<std::size_t>(to - from);
    if (count == needs.size()) {
      for (std::size_t k = 0; k < count; ++k) add(from[static_cast<std::ptrdiff_t>(k)], needs[k].op, needs[k].sends);
    } else if (count == 1 && needs.size() == 2) {
      for (const Need& need : needs) add(*from, need.op, need.sends, true);
    } else {
      found_.unplaced += static_cast<std::int64_t>(count);
    }
  }

  void add(const EndCandidate& candidate, std::ptrdiff_t op, bool sends, bool shared = false) {
    FoundEnd end{.op = static_cast<std::int32_t>(op),
                 .sends = sends,
                 .certain = candidate.certain,
                 .shared = shared || candidate.shared,
                 .on_gpu = candidate.on_gpu,
                 .begin = candidate.begin,
                 .end = candidate.end,
                 .gpu_begin = candidate.gpu_begin,
                 .gpu_end = candidate.gpu_end};
    const std::ptrdiff_t next = behind(candidate.begin);
    const bool runs_on =
        next < static_cast<std::ptrdiff_t>(ops_.size()) && ops_[static_cast<std::size_t>(next)].begin < candidate.end;
    end.arrival = candidate.completes && !sends && !runs_on;
    found_.ends.push_back(end);
  }

  const RankEvents& events_;
  const std::vector<FoundOp>& ops_;
  const std::optional<PipelineEnds>& place_;
  std::vector<EndCandidate> candidates_;  // by begin
  FoundEnds found_;
};

}  // namespace

FoundEnds find_ends(const RankEvents& events, const std::vector<FoundOp>& ops,
                    const std::optional<PipelineEnds>& place) {
  return EndFinder(events, ops, place).find();
}

}  // namespace debubble
