#include "profiler/importers/whole_model.hpp"

#include <algorithm>

namespace debubble {
namespace {

// Ranges are numbered anew, the real ones evenly, so that a number is free after each.
std::uint64_t real_range(std::uint64_t range) { return 2 * range; }
std::uint64_t made(std::uint64_t range) { return 2 * range + 1; }

constexpr std::size_t kLongestName = 1000;  // std::regex recurses per character

}  // namespace

void RangeFinder::on(const RangePush& record) {
  if (found_ || record.name.size() > kLongestName || seen_.contains(record.name)) return;
  constexpr std::size_t kMostNames = std::size_t{1} << 20;
  if (seen_.size() < kMostNames) seen_.emplace(record.name);
  found_ = std::regex_search(record.name.begin(), record.name.end(), regex_);
}

WholeModel::WholeModel(const std::string& steps, RecordSink& next)
    : ForwardingSink(next), has_steps_(!steps.empty()), steps_(steps) {}

bool WholeModel::is_step(std::string_view name) {
  if (!has_steps_ || name.size() > kLongestName) return false;
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  const bool result = std::regex_search(name.begin(), name.end(), steps_);
  constexpr std::size_t kMostNames = std::size_t{1} << 20;
  if (known_.size() < kMostNames) known_.emplace(name, result);
  return result;
}

void WholeModel::open_layer(std::uint64_t range, const RangePush& record) {
  RangePush layer;
  layer.range = range;
  layer.thread = record.thread;
  layer.time = record.time;
  layer.name = "debubble.layer:model";
  next().on(layer);
}

void WholeModel::on(const RangePush& record) {
  newest_ = std::max(newest_, record.time);
  Thread& thread = threads_[record.thread];
  if (!has_steps_ && thread.steps.empty() && !thread.open && !record.name.starts_with("autograd::engine")) {
    open_layer(made(record.range - 1), record);
    thread.open = true;
  }
  RangePush moved = record;
  moved.range = real_range(record.range);
  next().on(moved);
  const bool step = is_step(record.name);
  thread.steps.push_back(step);
  if (!step) return;
  step_ranges_.insert(record.range);
  open_layer(made(record.range), record);
}

void WholeModel::on(const RangePop& record) {
  newest_ = std::max(newest_, record.time);
  Thread& thread = threads_[record.thread];
  if (!thread.steps.empty()) {
    if (thread.steps.back()) next().on(record);
    thread.steps.pop_back();
  }
  next().on(record);
}

void WholeModel::on(const LinkRecord& record) {
  const bool step = step_ranges_.contains(record.range);
  next().on(LinkRecord{record.correlation, step ? made(record.range) : real_range(record.range)});
}

void WholeModel::end_of_stream() {
  for (const auto& [number, thread] : threads_) {
    if (!thread.open) continue;
    for (std::size_t k = 0; k <= thread.steps.size(); ++k) next().on(RangePop{number, newest_});
  }
  threads_.clear();
  step_ranges_.clear();
}

}  // namespace debubble
