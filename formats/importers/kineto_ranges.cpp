#include "formats/importers/kineto_ranges.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace debubble {
namespace {

using EventList = std::vector<const PipelineEvent*>;

bool is_op(const PipelineEvent& event) { return event.name.kind == PipelineName::Kind::kOp; }

// By what they do, each list by begin.
std::map<RangeKey, EventList> by_key(const EventList& events) {
  std::map<RangeKey, EventList> lists;
  for (const PipelineEvent* event : events) lists[key_of(event->name)].push_back(event);
  for (auto& [key, list] : lists) {
    std::stable_sort(list.begin(), list.end(), [](const auto* a, const auto* b) { return a->begin < b->begin; });
  }
  return lists;
}

EventList select(const PipelineTrace& trace, bool ops, bool on_gpu) {
  EventList events;
  for (const PipelineEvent& event : trace.events) {
    if (is_op(event) == ops && event.on_gpu == on_gpu) events.push_back(&event);
  }
  return events;
}

// The stream on which ops spend most of their time; their ranges on others belong to collectives within them.
EventList on_main_stream(const EventList& events) {
  std::map<std::uint32_t, Nanoseconds> time;
  for (const PipelineEvent* event : events) time[event->lane] += event->end - event->begin;
  const auto longest =
      std::max_element(time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  EventList result;
  for (const PipelineEvent* event : events) {
    if (event->lane == longest->first) result.push_back(event);
  }
  return result;
}

// One range per name and launch: of a transfer on several streams the longest.
EventList transfers_of(const PipelineTrace& trace) {
  EventList events = select(trace, false, true);
  return events.empty() ? select(trace, false, false) : events;
}

class Sorter {
 public:
  Sorter(const PipelineTrace& trace, RankRanges& result, std::map<std::string, std::int64_t>& losses)
      : trace_(trace), result_(result), losses_(losses) {}

  // `host`: the host's ranges of the same names, which say to which step each belongs.
  void add(const std::map<RangeKey, EventList>& lists, const std::map<RangeKey, EventList>& host) {
    for (const auto& [key, list] : lists) {
      const auto found = host.find(key);
      const bool same = found != host.end() && found->second.size() == list.size();
      for (std::size_t i = 0; i < list.size(); ++i) place(key, *list[i], same ? *found->second[i] : *list[i], i);
    }
  }

 private:
  void place(const RangeKey& key, const PipelineEvent& event, const PipelineEvent& launched, std::size_t occurrence) {
    std::string name = std::to_string(occurrence + 1);
    if (event.step >= 0) {
      name = trace_.steps[static_cast<std::size_t>(event.step)].name;
    } else if (!trace_.steps.empty()) {
      const auto behind =
          std::upper_bound(trace_.steps.begin(), trace_.steps.end(), launched.begin,
                           [](Nanoseconds time, const PipelineStep& step) { return time < step.begin; });
      if (behind == trace_.steps.begin() || launched.begin >= std::prev(behind)->end) {
        ++losses_["ranges outside of all steps"];
        return;
      }
      name = std::prev(behind)->name;
    }
    RangesByKey& ranges = result_.iterations[{name.size(), name}];
    const auto [found, fresh] = ranges.try_emplace(
        key,
        NamedRange{event.name, {event.begin, event.end}, event.on_gpu, event.arrival, event.shared, event.held_until});
    if (!fresh) ++losses_["ranges that appear twice in a step"];
  }

  const PipelineTrace& trace_;
  RankRanges& result_;
  std::map<std::string, std::int64_t>& losses_;
};

}  // namespace

RangeKey key_of(const PipelineName& name) { return {name.kind, name.op.kind, name.op.stage, name.op.microbatch}; }

bool has_gpu_ops(const PipelineTrace& trace) {
  const EventList gpu = select(trace, true, true);
  if (gpu.empty()) return false;
  const auto on_gpu = by_key(on_main_stream(gpu));
  const auto on_host = by_key(select(trace, true, false));
  return std::all_of(on_host.begin(), on_host.end(), [&](const auto& entry) {
    const auto found = on_gpu.find(entry.first);
    return found != on_gpu.end() && found->second.size() == entry.second.size();
  });
}

RankRanges sort_ranges(const PipelineTrace& trace, bool on_gpu, std::map<std::string, std::int64_t>& losses) {
  RankRanges result;
  result.ops_on_gpu = on_gpu;
  Sorter sorter(trace, result, losses);
  const EventList ops = select(trace, true, on_gpu);
  sorter.add(by_key(on_gpu && !ops.empty() ? on_main_stream(ops) : ops), by_key(select(trace, true, false)));
  sorter.add(by_key(transfers_of(trace)), by_key(select(trace, false, false)));
  return result;
}

}  // namespace debubble
