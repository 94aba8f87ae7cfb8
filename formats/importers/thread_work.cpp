#include "formats/importers/thread_work.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "sim/core/median.hpp"

namespace debubble {
namespace {

// What a function does before its first and behind its last event, at most, where no range bounds it.
constexpr Nanoseconds kLongestEdge = 50'000;
// The same where the next thing is the step's own: a thread that rests longer may do so behind the op.
constexpr Nanoseconds kLongestPause = 500'000;
// From the end of a wait to an op's first event, at most.
constexpr Nanoseconds kLongestStart = 200'000;
constexpr std::string_view kNodeAtWork = "autograd::engine::evaluate_function: ";
constexpr Nanoseconds kEndOfTime = std::numeric_limits<Nanoseconds>::max() / 2;
constexpr std::int64_t kAddsGradient = -2;  // in place of a sequence number
constexpr std::string_view kGradientAdded = "torch::autograd::AccumulateGrad";

bool range_begins_before(const TimeRange& range, Nanoseconds time) { return range.begin < time; }

Nanoseconds halfway(Nanoseconds from, Nanoseconds to) { return from + (to - from) / 2; }

}  // namespace

bool ThreadWork::wants(std::string_view name) {
  return !name.starts_with("PP:") && !name.starts_with("ProfilerStep#") && !name.starts_with("Forward ") &&
         !name.starts_with("Backward ");
}

void ThreadWork::add(std::string_view name, std::uint32_t lane, Nanoseconds begin, Nanoseconds end,
                     std::int64_t sequence) {
  if (name.starts_with("gloo:") || name.starts_with("mpi:")) {
    const std::string_view what = name.substr(name.find(':') + 1);
    const bool receives = what.starts_with("recv");
    if (receives) received_.push_back({begin, end});
    if (!receives && !what.starts_with("send")) collectives_.push_back({begin, end});
    done_.push_back(end);
    return;
  }
  events_.push_back({begin, end, sequence, lane, kind_of(name)});
  if (events_.back().kind != Kind::kNode) return;
  any_node_ = true;
  if (name.substr(kNodeAtWork.size()) == kGradientAdded) events_.back().sequence = kAddsGradient;
}

ThreadWork::Kind ThreadWork::kind_of(std::string_view name) {
  if (name.starts_with(kNodeAtWork)) return Kind::kNode;
  if (name.starts_with("c10d::send") || name.starts_with("c10d::recv") || name.starts_with("Optimizer.")) {
    return Kind::kCall;
  }
  if (name == "FSDP::all_gather_copy_out") return Kind::kUnshard;
  if (name == "aten::detach" || name == "detach") return Kind::kHandOver;
  const bool closing = name == "aten::detach_" || name == "detach_" || name.starts_with("torch.distributed.ddp.");
  return closing ? Kind::kClosing : Kind::kWork;
}

void ThreadWork::sort() {
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    if (a.lane != b.lane) return a.lane < b.lane;
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::sort(done_.begin(), done_.end());
  for (std::vector<TimeRange>* const ranges : {&received_, &collectives_}) {
    std::sort(ranges->begin(), ranges->end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  }
  find_parameters();
}

// A node that adds a gradient runs right behind the one that made the gradient.
void ThreadWork::find_parameters() {
  const Event* node = nullptr;
  for (const Event& event : events_) {
    if (event.kind != Kind::kNode) continue;
    const bool follows = node != nullptr && node->lane == event.lane && node->sequence >= 0;
    if (event.sequence == kAddsGradient && follows) with_parameters_.push_back(node->sequence);
    node = &event;
  }
  std::sort(with_parameters_.begin(), with_parameters_.end());
}

ThreadWork::EventPlace ThreadWork::first_from(std::uint32_t lane, Nanoseconds time) const {
  return std::lower_bound(events_.begin(), events_.end(), std::pair{lane, time},
                          [](const Event& event, const auto& key) {
                            return std::pair{event.lane, event.begin} < key;
                          });
}

std::optional<Nanoseconds> ThreadWork::last_done(Nanoseconds after, Nanoseconds until) const {
  const auto behind = std::upper_bound(done_.begin(), done_.end(), until);
  if (behind == done_.begin() || *std::prev(behind) <= after) return std::nullopt;
  return *std::prev(behind);
}

std::optional<Nanoseconds> ThreadWork::arrival(Nanoseconds begin, Nanoseconds end) const {
  std::optional<Nanoseconds> last;
  auto at = std::lower_bound(received_.begin(), received_.end(), begin, range_begins_before);
  for (; at != received_.end() && at->begin <= end; ++at) last = std::max(last.value_or(at->end), at->end);
  return last;
}

void ThreadWork::bound(std::vector<ThreadOp>& ops) const {
  const std::vector<ThreadOp> given = ops;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (ops[k].named) {
      bound_named(ops[k]);
      continue;
    }
    const Nanoseconds next = k + 1 == ops.size() ? kEndOfTime : given[k + 1].begin;
    begin_found(ops[k], k == 0 ? -kEndOfTime : given[k - 1].end, next);
    end_found(ops[k], next);
  }
  for (std::size_t k = 1; k < ops.size(); ++k) {
    if (!ops[k - 1].named) ops[k - 1].end = std::min(ops[k - 1].end, ops[k].begin);
  }
  end_at_loss(ops);
}

void ThreadWork::bound_named(ThreadOp& op) const {
  Nanoseconds before = op.begin;
  auto at = first_from(op.lane, op.begin);
  const auto within = [&] { return at != events_.end() && at->lane == op.lane && at->begin < op.end; };
  // First come receives that are posted in the range, and parameters that it waits for.
  for (; within(); ++at) {
    if (at->begin < before) continue;  // part of one
    if (at->kind != Kind::kCall && at->kind != Kind::kUnshard) break;
    before = std::min(at->end, op.end);
  }
  if (!within()) return;
  const Nanoseconds first = at->begin;
  Nanoseconds last = first;
  std::optional<Nanoseconds> handed_over;
  for (; within() && at->kind != Kind::kCall; ++at) {
    if (at->end <= last) continue;  // part of the one before
    const bool hands_over = op.forward && at->kind == Kind::kHandOver;
    if (hands_over && !handed_over) handed_over = at->begin;
    if (hands_over) continue;
    handed_over.reset();
    last = at->end;
  }
  const Nanoseconds end = within() ? at->begin : op.end;
  op.begin = last_done(before, first).value_or(halfway(before, first));
  op.end = handed_over.value_or(halfway(std::min(last, end), end));
}

// Before the first node there may be events of the op that make none: all of a backward, behind a forward those that
// hold its first one.
void ThreadWork::begin_found(ThreadOp& op, Nanoseconds before, Nanoseconds next) const {
  Nanoseconds first = op.begin;
  const Nanoseconds earliest = before;
  bool in_step = before != -kEndOfTime;  // what came before is an op or a transfer's call
  for (auto at = first_from(op.lane, op.begin); at != events_.begin(); --at) {
    const Event& event = *std::prev(at);
    if (event.lane != op.lane || event.begin < earliest) break;
    if (event.kind == Kind::kCall) {
      before = std::max(before, std::min(event.end, first));
      in_step = true;
      break;
    }
    const bool part = op.forward ? event.end >= first && event.end <= next : event.end <= next;
    if (part) {
      first = event.begin;
    } else if (event.end <= first) {
      before = std::max(before, event.end);
      in_step = false;
    }
  }
  const std::optional<Nanoseconds> done = last_done(before, first);
  if (done) {
    op.begin = std::max(*done, first - kLongestStart);  // a thread may be woken late
  } else {
    op.begin = std::max(halfway(before, first), in_step ? before : first - kLongestEdge);
  }
}

void ThreadWork::end_found(ThreadOp& op, Nanoseconds next) const {
  Nanoseconds last = op.end;
  auto at = first_from(op.lane, op.begin);
  for (; at != events_.end() && at->lane == op.lane && at->begin < last; ++at) {
    if (at->kind != Kind::kCall && at->end <= next) last = std::max(last, at->end);
  }
  if (!op.forward) last = closed(op, last, next, at);
  const bool more = at != events_.end() && at->lane == op.lane;
  const Nanoseconds until = std::min(more ? at->begin : last, next);
  op.end = last;
  if (until <= last) return;
  const bool in_step = until == next || at->kind == (op.forward ? Kind::kHandOver : Kind::kCall);
  const Nanoseconds longest = in_step ? kLongestPause : kLongestEdge;
  const Nanoseconds end = op.forward ? until : halfway(last, until);
  if (last_done(last, until)) {
    op.held_until = end;
  } else {
    op.end = std::min(end, last + longest);
  }
}

// A backward goes on, behind its last node, while collectives that it began run and the thread does nothing else, and
// to the last of its closing events. `at`: the first event behind the last node, and then behind all of it.
Nanoseconds ThreadWork::closed(const ThreadOp& op, Nanoseconds last, Nanoseconds next, EventPlace& at) const {
  const auto until = [&] { return at != events_.end() && at->lane == op.lane ? std::min(at->begin, next) : next; };
  auto done = std::lower_bound(collectives_.begin(), collectives_.end(), op.begin, range_begins_before);
  for (; done != collectives_.end() && done->begin <= last; ++done) {
    last = std::max(last, std::min(done->end, until()));
  }
  for (auto ahead = at; ahead != events_.end() && ahead->lane == op.lane && ahead->begin < next; ++ahead) {
    if (ahead->kind == Kind::kCall) break;
    if (ahead->kind != Kind::kClosing) continue;
    last = std::max(last, ahead->end);
    at = std::next(ahead);
  }
  while (at != events_.end() && at->lane == op.lane && at->begin < last) ++at;
  return last;
}

void ThreadWork::end_at_loss(std::vector<ThreadOp>& ops) const {
  std::vector<std::vector<TimeRange>> behind;
  std::vector<std::size_t> counts;
  for (const ThreadOp& op : ops) {
    behind.push_back(op.loss ? behind_parameters(op) : std::vector<TimeRange>{});
    if (op.loss) counts.push_back(behind.back().size());
  }
  const std::size_t count = counts.empty() ? 0 : lower_median(counts);
  Nanoseconds longest = 0;
  std::size_t loss = 0;  // the place of its first event
  for (std::size_t k = 1; k < count; ++k) {
    std::vector<Nanoseconds> pauses;
    for (const auto& events : behind) {
      if (events.size() == count) pauses.push_back(events[k].begin - events[k - 1].end);
    }
    if (lower_median(pauses) <= longest) continue;
    longest = lower_median(pauses);
    loss = k;
  }
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (loss > 0 && behind[k].size() == count) ops[k].end = behind[k][loss].begin;
  }
}

// The op's last event with a parameter, and those that follow it.
std::vector<TimeRange> ThreadWork::behind_parameters(const ThreadOp& op) const {
  std::vector<TimeRange> events;
  bool any = false;
  for (auto at = first_from(op.lane, op.begin); at != events_.end() && at->lane == op.lane && at->begin < op.end;
       ++at) {
    const bool part = !events.empty() && at->begin < events.back().end;
    if (!part) events.push_back({at->begin, at->end});
    if (!std::binary_search(with_parameters_.begin(), with_parameters_.end(), at->sequence)) continue;
    any = true;
    events.erase(events.begin(), std::prev(events.end()));
  }
  if (!any) events.clear();
  return events;
}

}  // namespace debubble
