#include "profiler/importers/kineto.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "formats/text/text.hpp"
#include "profiler/importers/kineto_replay.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";

bool is_backward_range(const KinetoRange& range) { return range.forward_number != 0 && range.sequence >= 0; }
bool is_forward_range(const KinetoRange& range) { return range.forward_number == 0 && range.sequence >= 0; }

// Ranges that a person made, not a framework.
bool is_persons(std::string_view name) {
  for (const char* prefix : {"ProfilerStep#", "nccl:", "Optimizer.", "enumerate(DataLoader)"}) {
    if (name.starts_with(prefix)) return false;
  }
  return true;
}

using FirstForward = std::tuple<std::int64_t, std::uint32_t, Nanoseconds>;  // sequence number, thread, earliest begin
using ForwardVotes = std::map<std::uint32_t, std::map<std::uint32_t, std::int64_t>>;  // number -> thread -> fitting ops

// Threads recompute with numbers that start at 0 again, so several may fit. Each thread has one number, and those with
// the least choice choose first; a number for which no thread is left (a tid used again) gets the one that fits best.
std::map<std::uint32_t, std::uint32_t> most_voted(const ForwardVotes& votes) {
  constexpr std::uint32_t kMostNumbers = 1U << 20;
  using Pair = std::tuple<std::int64_t, std::int64_t, std::uint32_t, std::uint32_t>;  // -votes, all, number, thread
  std::vector<Pair> pairs;
  for (const auto& [number, threads] : votes) {
    if (number >= kMostNumbers) continue;
    std::int64_t all = 0;
    for (const auto& [thread, count] : threads) all += count;
    for (const auto& [thread, count] : threads) pairs.emplace_back(-count, all, number, thread);
  }
  std::sort(pairs.begin(), pairs.end());
  std::map<std::uint32_t, std::uint32_t> chosen;
  std::set<std::uint32_t> taken;
  for (const auto& [count, all, number, thread] : pairs) {
    if (!chosen.contains(number) && taken.insert(thread).second) chosen.emplace(number, thread);
  }
  for (const auto& [count, all, number, thread] : pairs) chosen.try_emplace(number, thread);
  return chosen;
}

}  // namespace

KinetoTrace::KinetoTrace(std::string bytes, const std::string& name)
    : events_(read_kineto_events(std::move(bytes), name)), nest_(nest_kineto(events_)) {
  find_forward_threads();
}

// "Fwd thread id" is a number of PyTorch's own. It means the thread whose forward ops carry the sequence numbers of the
// backward ops with that number, and began before them.
void KinetoTrace::find_forward_threads() {
  std::vector<FirstForward> made;
  for (const KinetoRange& range : events_.ranges) {
    if (is_forward_range(range)) made.emplace_back(range.sequence, range.thread, range.begin);
  }
  std::sort(made.begin(), made.end());
  const auto same = [](const FirstForward& a, const FirstForward& b) {
    return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
  };
  made.erase(std::unique(made.begin(), made.end(), same), made.end());
  ForwardVotes votes;
  for (const KinetoRange& range : events_.ranges) {
    if (!is_backward_range(range)) continue;
    auto at = std::lower_bound(made.begin(), made.end(), FirstForward(range.sequence, 0, INT64_MIN));
    for (; at != made.end() && std::get<0>(*at) == range.sequence; ++at) {
      if (std::get<2>(*at) < range.begin) ++votes[range.forward_number][std::get<1>(*at)];
    }
  }
  for (const auto& [number, thread] : most_voted(votes)) {
    if (forward_threads_.size() <= number) forward_threads_.resize(number + 1, 0);
    forward_threads_[number] = thread;
  }
}

void KinetoTrace::replay(RecordSink& sink) const { replay_kineto(events_, nest_, forward_threads_, sink); }

std::vector<GuessRange> KinetoTrace::candidates(KinetoRangeKind kind) const {
  std::vector<Nanoseconds> gpu_time(events_.ranges.size(), 0);
  for (std::size_t k = 0; k < events_.work.size(); ++k) {
    const KernelRecord& record = events_.work[k].record;
    if (nest_.work_range[k] != kNoIndex) gpu_time[nest_.work_range[k]] += record.end - record.begin;
  }
  // NOLINTNEXTLINE(modernize-loop-convert): std::views::reverse needs clang 15
  for (auto range = nest_.order.rbegin(); range != nest_.order.rend(); ++range) {
    if (nest_.parent[*range] != kNoIndex) gpu_time[nest_.parent[*range]] += gpu_time[*range];
  }
  std::vector<GuessRange> result;
  std::vector<std::uint32_t> place(events_.ranges.size(), kNoIndex);  // in `result`, of the range or the one around it
  for (const std::uint32_t index : nest_.order) {
    const KinetoRange& range = events_.ranges[index];
    const std::uint32_t parent = nest_.parent[index] == kNoIndex ? kNoIndex : place[nest_.parent[index]];
    place[index] = parent;
    if (range.kind != kind || (kind == KinetoRangeKind::kAnnotation && !is_persons(range.name))) continue;
    place[index] = static_cast<std::uint32_t>(result.size());
    const std::string_view prefix = kind == KinetoRangeKind::kModule ? kModulePrefix : std::string_view{};
    result.push_back({range.name, prefix, parent, gpu_time[index]});
  }
  return result;
}

std::optional<LayerGuess> KinetoTrace::guess_layers() const {
  const std::optional<LayerGuess> modules = debubble::guess_layers(candidates(KinetoRangeKind::kModule));
  return modules ? modules : debubble::guess_layers(candidates(KinetoRangeKind::kAnnotation));
}

// A forward-backward arrow joins the starts of two ops; both must carry the same sequence number.
std::int64_t KinetoTrace::contradicting_arrows() const {
  using Start = std::tuple<std::uint32_t, Nanoseconds, std::int64_t>;  // thread, time, sequence number
  std::vector<Start> starts;
  for (const KinetoRange& range : events_.ranges) {
    if (range.sequence >= 0) starts.emplace_back(range.thread, range.begin, range.sequence);
  }
  std::sort(starts.begin(), starts.end());
  const auto numbers = [&](const KinetoArrowEnd& end) {
    std::set<std::int64_t> result;
    auto at = std::lower_bound(starts.begin(), starts.end(), Start(end.thread, end.time, -1));
    for (; at != starts.end() && std::get<0>(*at) == end.thread && std::get<1>(*at) == end.time; ++at) {
      result.insert(std::get<2>(*at));
    }
    return result;
  };
  std::map<std::uint64_t, const KinetoArrowEnd*> tails;
  for (const KinetoArrowEnd& end : events_.arrows) {
    if (end.forward) tails[end.id] = &end;
  }
  std::int64_t contradictions = 0;
  for (const KinetoArrowEnd& head : events_.arrows) {
    const auto tail = tails.find(head.id);
    if (head.forward || tail == tails.end()) continue;
    const std::set<std::int64_t> forward = numbers(*tail->second);
    const std::set<std::int64_t> backward = numbers(head);
    const bool agree =
        std::any_of(backward.begin(), backward.end(), [&](auto number) { return forward.contains(number); });
    if (!agree) ++contradictions;
  }
  return contradictions;
}

std::vector<std::string> KinetoTrace::notes() const {
  std::vector<std::string> notes;
  const auto note = [&](std::int64_t count, const std::string& noun, const std::string& rest) {
    if (count > 0) notes.push_back(counted(count, noun) + " " + rest);
  };
  note(nest_.by_time, "GPU event", "linked by the thread and time of the launch: the file names no op for them");
  note(nest_.contradictions, "GPU event", "named an op that was not running at the launch: linked by time instead");
  note(nest_.unlinked, "GPU event", "without a launch in the file, or launched outside of any range: not linked");
  note(nest_.overlaps, "host event", "overlapping without nesting: cut off where the event around it ends");
  note(contradicting_arrows(), "forward-backward arrow", "contradicting the sequence numbers, which were believed");
  for (const auto& [category, count] : events_.unknown) {
    note(count, "event", "of the unknown category " + in_quotes(category) + " left out");
  }
  if (events_.whole_microseconds) {
    notes.emplace_back("times are whole microseconds: a short kernel's may be off by as much as its length");
  }
  return notes;
}

}  // namespace debubble
