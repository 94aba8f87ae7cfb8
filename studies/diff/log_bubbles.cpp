#include <algorithm>
#include <map>
#include <vector>

#include "formats/megatron/log_bubble.hpp"
#include "sim/core/median.hpp"
#include "studies/diff/log_parts.hpp"

namespace debubble {
namespace {

// Shares of the longest forward-backward of all ranks: the mean over a device's ranks.
struct DeviceShares {
  double busy = 0, forward = 0, backward = 0, both = 0, end = 0;
};

std::vector<DeviceShares> device_shares(const LoggedRun& run, const LoggedInterval& line) {
  const std::map<std::int64_t, RankTimes> ranks = rank_times(line);
  Nanoseconds longest = 1;
  for (const auto& [rank, times] : ranks) longest = std::max(longest, *times.pipeline);
  std::vector<DeviceShares> shares(static_cast<std::size_t>(run.pipeline));
  const double all =
      static_cast<double>(longest) * static_cast<double>(ranks.size()) / static_cast<double>(run.pipeline);
  for (const auto& [rank, times] : ranks) {
    DeviceShares& device = shares.at(static_cast<std::size_t>(run.device_of(rank)));
    device.busy += static_cast<double>(*times.forward + *times.backward) / all;
    device.forward += static_cast<double>(times.forward_transfers) / all;
    device.backward += static_cast<double>(times.backward_transfers) / all;
    device.both += static_cast<double>(times.both_transfers) / all;
    device.end += static_cast<double>(longest - *times.pipeline) / all;
  }
  return shares;
}

// Of each device's time in the pipeline, until the last op of all has ended, what its ops take.
std::vector<double> predicted_busy(const Simulated& run) {
  std::vector<double> busy(static_cast<std::size_t>(run.job.schedule.devices), 0);
  Nanoseconds end = 1;
  for (const Span& span : run.result.timeline.spans) {
    busy.at(static_cast<std::size_t>(span.device)) += static_cast<double>(span.end - span.begin);
    end = std::max(end, span.end);
  }
  for (double& one : busy) one /= static_cast<double>(end);
  return busy;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double median_share(const std::vector<std::vector<DeviceShares>>& lines, std::size_t device,
                    double DeviceShares::*share) {
  std::vector<double> values;
  for (const std::vector<DeviceShares>& line : lines) values.push_back(line[device].*share);
  return tenths_percentile(std::move(values), 5);
}

Figure<double> figure_of(double predicted, const std::vector<double>& values) {
  return make_figure(predicted, tenths_percentile(values, 5), values);
}

}  // namespace

void add_bubbles(const LoggedRun& run, const Simulated& predicted, LogDiff& diff) {
  const std::optional<BubbleBounds> medians = median_bubble(run.measured.intervals, run.ranks());
  if (!medians) return;
  std::vector<double> exact;
  std::vector<std::vector<DeviceShares>> lines;  // with each rank
  for (const LoggedInterval& line : run.measured.intervals) {
    const std::optional<BubbleBounds> bounds = logged_bubble(line, run.ranks());
    if (!bounds || rank_times(line).empty()) continue;
    exact.push_back(bounds->least);
    lines.push_back(device_shares(run, line));
  }
  const std::vector<double> busy = predicted_busy(predicted);
  PipelineBubble bubble;
  bubble.predicted = 1 - mean_of(busy);
  bubble.measured = *medians;
  if (!lines.empty()) bubble.figure = figure_of(bubble.predicted, exact);
  diff.bubble = bubble;
  for (std::size_t d = 0; d < busy.size() && !lines.empty(); ++d) {
    std::vector<double> shares;
    for (const std::vector<DeviceShares>& line : lines) shares.push_back(1 - line[d].busy);
    diff.bubbles.push_back({static_cast<int>(d), figure_of(1 - busy[d], shares),
                            median_share(lines, d, &DeviceShares::forward),
                            median_share(lines, d, &DeviceShares::backward),
                            median_share(lines, d, &DeviceShares::both), median_share(lines, d, &DeviceShares::end)});
  }
}

}  // namespace debubble
