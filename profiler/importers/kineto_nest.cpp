#include "profiler/importers/kineto_nest.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace debubble {
namespace {

// A range, or a moment (begin == end, not a range), of one thread.
struct NestItem {
  std::uint32_t thread;
  std::uint32_t index;
  Nanoseconds begin;
  Nanoseconds end;
  KinetoStepKind kind;
};

bool earlier(const NestItem& a, const NestItem& b) {
  if (a.thread != b.thread) return a.thread < b.thread;
  if (a.begin != b.begin) return a.begin < b.begin;
  const bool a_range = a.kind == KinetoStepKind::kPush;
  if (a_range != (b.kind == KinetoStepKind::kPush)) return a_range;
  if (a.end != b.end) return a.end > b.end;
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.index < b.index;
}

class Nester {
 public:
  Nester(const KinetoEvents& events, KinetoNest& nest) : events_(events), nest_(nest) {}

  void run() {
    join_work();
    nest_.parent.assign(events_.ranges.size(), kNoIndex);
    nest_.launch_range.assign(events_.launches.size(), kNoIndex);
    std::vector<NestItem> items = collect();
    std::sort(items.begin(), items.end(), earlier);
    nest_.steps.reserve(items.size() + events_.ranges.size() + events_.work.size());
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (k > 0 && items[k].thread != items[k - 1].thread) leave_all();
      enter(items[k]);
    }
    leave_all();
    add_unlaunched();
    const auto by_time = [](const KinetoStep& a, const KinetoStep& b) { return a.time < b.time; };
    std::stable_sort(nest_.steps.begin(), nest_.steps.end(), by_time);
    sort_order();
    link();
  }

 private:
  struct Open {
    std::uint32_t range;
    Nanoseconds end;
  };

  // GPU events side by side with others of their correlation, and the launch of each.
  void join_work() {
    const std::vector<KinetoWork>& work = events_.work;
    nest_.work_order.resize(work.size());
    std::iota(nest_.work_order.begin(), nest_.work_order.end(), 0U);
    const auto by_correlation = [&](std::uint32_t a, std::uint32_t b) {
      return work[a].record.correlation < work[b].record.correlation;
    };
    std::stable_sort(nest_.work_order.begin(), nest_.work_order.end(), by_correlation);
    nest_.work_launch.assign(work.size(), kNoIndex);
    nest_.launch_work.assign(events_.launches.size(), kNoIndex);
    std::unordered_map<std::uint32_t, std::uint32_t> launches;
    for (std::uint32_t k = 0; k < events_.launches.size(); ++k)
      launches.try_emplace(events_.launches[k].correlation, k);
    for (std::uint32_t k = 0; k < work.size(); ++k) {
      const std::uint32_t index = nest_.work_order[k];
      const auto launch = launches.find(work[index].record.correlation);
      if (launch == launches.end() || launch->first == 0) continue;
      nest_.work_launch[index] = launch->second;
      std::uint32_t& first = nest_.launch_work[launch->second];
      first = std::min(first, k);
    }
  }

  [[nodiscard]] std::vector<NestItem> collect() const {
    std::vector<NestItem> items;
    items.reserve(events_.ranges.size() + events_.work.size() + events_.memory.size());
    const auto size = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    for (std::uint32_t k = 0; k < size(events_.ranges); ++k) {
      const KinetoRange& range = events_.ranges[k];
      items.push_back({range.thread, k, range.begin, range.end, KinetoStepKind::kPush});
    }
    for (std::uint32_t k = 0; k < size(events_.launches); ++k) {
      const KinetoLaunch& launch = events_.launches[k];
      if (nest_.launch_work[k] == kNoIndex) continue;  // it launched nothing: a query, a synchronisation
      items.push_back({launch.thread, k, launch.begin, launch.begin, KinetoStepKind::kLaunch});
    }
    for (std::uint32_t k = 0; k < size(events_.memory); ++k) {
      const MemoryRecord& record = events_.memory[k];
      items.push_back({record.thread, k, record.time, record.time, KinetoStepKind::kMemory});
    }
    return items;
  }

  void leave() {
    nest_.steps.push_back({stack_.back().end, stack_.back().range, KinetoStepKind::kPop});
    stack_.pop_back();
  }
  void leave_all() {
    while (!stack_.empty()) leave();
  }

  void enter(const NestItem& item) {
    const bool is_range = item.kind == KinetoStepKind::kPush;
    // A range that begins as another ends is after it; a moment then is still in it.
    while (!stack_.empty() && (stack_.back().end < item.begin || (is_range && stack_.back().end == item.begin)))
      leave();
    const std::uint32_t around = stack_.empty() ? kNoIndex : stack_.back().range;
    nest_.steps.push_back({item.begin, item.index, item.kind});
    if (item.kind == KinetoStepKind::kLaunch) nest_.launch_range[item.index] = around;
    if (!is_range) return;
    nest_.parent[item.index] = around;
    Nanoseconds end = item.end;
    if (!stack_.empty() && end > stack_.back().end) {
      // Rounded to microseconds, an event may seem to end one later than the event around it.
      const Nanoseconds slack = events_.whole_microseconds ? 1000 : 0;
      if (end > stack_.back().end + slack) ++nest_.overlaps;
      end = stack_.back().end;
    }
    stack_.push_back({item.index, end});
  }

  // What has no launch in the file appears when it ran.
  void add_unlaunched() {
    for (std::uint32_t k = 0; k < events_.work.size(); ++k) {
      if (nest_.work_launch[k] != kNoIndex) continue;
      nest_.steps.push_back({events_.work[k].record.begin, k, KinetoStepKind::kWork});
    }
    for (std::uint32_t k = 0; k < events_.overheads.size(); ++k) {
      nest_.steps.push_back({events_.overheads[k].begin, k, KinetoStepKind::kOverhead});
    }
  }

  void sort_order() {
    nest_.order.reserve(events_.ranges.size());
    for (const KinetoStep& step : nest_.steps) {
      if (step.kind == KinetoStepKind::kPush) nest_.order.push_back(step.index);
    }
  }

  [[nodiscard]] bool is_inside(std::uint32_t range, std::uint32_t outer) const {
    while (range != outer && range != kNoIndex) range = nest_.parent[range];
    return range == outer;
  }

  // Whether `op` may have made this launch; files rounded to microseconds blur the ends.
  [[nodiscard]] bool runs_at(const KinetoRange& op, const KinetoLaunch& launch) const {
    const Nanoseconds slack = events_.whole_microseconds ? 1000 : 0;
    return op.thread == launch.thread && op.begin - slack <= launch.begin && launch.begin <= op.end + slack;
  }

  void link() {
    std::unordered_map<std::uint64_t, std::uint32_t> by_external;
    by_external.reserve(events_.ranges.size());
    for (std::uint32_t k = 0; k < events_.ranges.size(); ++k) {
      if (events_.ranges[k].external != 0) by_external.try_emplace(events_.ranges[k].external, k);
    }
    nest_.work_range.assign(events_.work.size(), kNoIndex);
    for (std::uint32_t k = 0; k < events_.work.size(); ++k) {
      const auto found = by_external.find(events_.work[k].external);
      const bool known = events_.work[k].external != 0 && found != by_external.end();
      nest_.work_range[k] = link(k, known ? found->second : kNoIndex);
    }
  }

  // The range named by the External id; a range inside of it that ran at the launch says more; when the named one did
  // not run then, the file numbers something else by that name.
  std::uint32_t link(std::uint32_t work, std::uint32_t named) {
    const std::uint32_t launch = nest_.work_launch[work];
    const std::uint32_t timed = launch == kNoIndex ? kNoIndex : nest_.launch_range[launch];
    if (named != kNoIndex && launch != kNoIndex && !runs_at(events_.ranges[named], events_.launches[launch])) {
      ++nest_.contradictions;
      named = kNoIndex;
    }
    if (named != kNoIndex) {
      ++nest_.by_id;
      return timed != kNoIndex && is_inside(timed, named) ? timed : named;
    }
    ++(timed == kNoIndex ? nest_.unlinked : nest_.by_time);
    return timed;
  }

  const KinetoEvents& events_;
  KinetoNest& nest_;
  std::vector<Open> stack_;
};

}  // namespace

KinetoNest nest_kineto(const KinetoEvents& events) {
  KinetoNest nest;
  Nester(events, nest).run();
  return nest;
}

}  // namespace debubble
