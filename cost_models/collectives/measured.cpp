#include "cost_models/collectives/measured.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/nvlink_rates.hpp"

namespace debubble {

namespace {

constexpr std::size_t kSizes = 11;

struct CollectiveRow {
  MeasuredMachine machine;
  CollectiveKind kind;
  int ranks;
  Bytes first;
  std::array<Nanoseconds, kSizes> times;
};
// clang-format off
constexpr CollectiveRow kCollectiveRows[] = {
#include "cost_models/collectives/measured_collectives.inc"
};
// clang-format on

struct SizedTime {
  Bytes bytes;
  Nanoseconds time;
};
struct TransferRow {
  MeasuredMachine machine;
  TransferReach reach;
  int ranks;
  std::vector<SizedTime> times;
};
const std::vector<TransferRow>& transfer_rows() {
  // clang-format off
  static const std::vector<TransferRow> kRows{
#include "cost_models/collectives/measured_transfers.inc"
  };
  // clang-format on
  return kRows;
}

// On a straight line of the logarithms.
double log_between(double x, double x0, double y0, double x1, double y1) {
  if (x1 <= x0) return y0;
  return std::exp(std::log(y0) + (std::log(y1) - std::log(y0)) * std::log(x / x0) / std::log(x1 / x0));
}

double time_at_size(std::span<const SizedTime> points, Bytes bytes) {
  const auto x = static_cast<double>(bytes);
  const auto size = [&](std::size_t k) { return static_cast<double>(points[k].bytes); };
  const auto time = [&](std::size_t k) { return static_cast<double>(points[k].time); };
  if (bytes <= points.front().bytes) return time(0);
  const std::size_t last = points.size() - 1;
  if (bytes >= points[last].bytes) {
    const double per_byte = (time(last) - time(last - 1)) / (size(last) - size(last - 1));
    return time(last) + (x - size(last)) * per_byte;
  }
  std::size_t k = 1;
  while (points[k].bytes < bytes) ++k;
  return log_between(x, size(k - 1), time(k - 1), size(k), time(k));
}

// A row's time and its floor, of the ranks that were measured.
struct AtRanks {
  int ranks = 0;
  double total = 0;
  double floor = 0;
};

AtRanks at_ranks(int ranks, std::span<const SizedTime> points, Bytes bytes) {
  const auto least = std::min_element(points.begin(), points.end(),
                                      [](const SizedTime& a, const SizedTime& b) { return a.time < b.time; });
  return {ranks, time_at_size(points, bytes), static_cast<double>(least->time)};
}

// Rows come by rising number of ranks.
std::optional<AtRanks> among(const std::vector<AtRanks>& rows, int ranks) {
  if (rows.empty()) return std::nullopt;
  if (ranks <= rows.front().ranks) return rows.front();
  if (ranks >= rows.back().ranks) return rows.back();
  std::size_t k = 1;
  while (rows[k].ranks < ranks) ++k;
  const AtRanks& low = rows[k - 1];
  const AtRanks& high = rows[k];
  const auto mix = [&](double a, double b) { return log_between(ranks, low.ranks, a, high.ranks, b); };
  return AtRanks{ranks, mix(low.total, high.total), mix(low.floor, high.floor)};
}

// Bytes take at least what they take at the links' full rate.
MeasuredTime parted(const AtRanks& row, double wire_bytes, MeasuredMachine machine) {
  constexpr double kNanosecondsPerSecond = 1e9;
  const double wire = wire_bytes * kNanosecondsPerSecond / static_cast<double>(preset_bandwidth(machine));
  const double serial = std::min(row.total, std::max(row.total - row.floor, wire));
  return {std::llround(row.total), std::llround(row.total - serial)};
}

constexpr std::array<std::pair<std::string_view, MeasuredMachine>, 5> kPresets{
    {{"dgx-a100", MeasuredMachine::kA100},
     {"dgx-h100", MeasuredMachine::kH100},
     {"dgx-h200", MeasuredMachine::kH200},
     {"dgx-b200", MeasuredMachine::kB200},
     {"gb200-nvl72", MeasuredMachine::kGb200}}};

}  // namespace

std::optional<MeasuredMachine> measured_machine(std::string_view graph_name) {
  const std::string_view preset = graph_name.substr(0, graph_name.find_first_of(":,"));
  for (const auto& [name, machine] : kPresets) {
    if (preset == name) return machine;
  }
  return std::nullopt;
}

const char* to_string(MeasuredMachine machine) {
  constexpr std::array<const char*, 5> kNames{"A100", "H100", "H200", "B200", "GB200 NVL72"};
  return at(kNames, machine);
}

std::string measured_text(std::string_view graph_name) {
  const std::optional<MeasuredMachine> machine = measured_machine(graph_name);
  if (!machine) return {};
  const bool rack = *machine == MeasuredMachine::kGb200;
  return std::string(rack ? ", within a rack as measured on " : ", within a machine as measured on ") +
         to_string(*machine) + " (ai-dynamo/aiconfigurator" + (rack ? ", openxla/xla)" : ")");
}

std::int64_t preset_bandwidth(MeasuredMachine machine) {
  constexpr std::array<std::int64_t, 5> kRates{kNvlinkOfA100, kNvlinkOfH100, kNvlinkOfH100, kNvlinkOfB200,
                                               kNvlinkOfB200};
  return at(kRates, machine);
}

bool reduces_in_switches(MeasuredMachine machine, CollectiveKind kind, int ranks) {
  if (kind != CollectiveKind::kAllReduce || machine == MeasuredMachine::kA100) return false;
  const bool hopper = machine == MeasuredMachine::kH100 || machine == MeasuredMachine::kH200;
  return ranks >= (hopper ? 5 : 6);
}

double copies_on_wire(CollectiveKind kind, int ranks, bool in_switches) {
  if (in_switches) return 1;
  const double others = static_cast<double>(ranks - 1) / ranks;
  return kind == CollectiveKind::kAllReduce ? 2 * others : others;
}

std::optional<MeasuredTime> measured_collective(MeasuredMachine machine, CollectiveKind kind, int ranks, Bytes bytes) {
  std::vector<AtRanks> rows;
  for (const CollectiveRow& row : kCollectiveRows) {
    if (row.machine != machine || row.kind != kind) continue;
    std::array<SizedTime, kSizes> points{};
    for (std::size_t k = 0; k < kSizes; ++k) points[k] = {row.first << (2 * k), row.times[k]};
    rows.push_back(at_ranks(row.ranks, points, bytes));
  }
  const std::optional<AtRanks> row = among(rows, ranks);
  if (!row) return std::nullopt;
  const double copies = copies_on_wire(kind, ranks, reduces_in_switches(machine, kind, ranks));
  return parted(*row, copies * static_cast<double>(bytes), machine);
}

std::optional<MeasuredTime> measured_transfer(MeasuredMachine machine, TransferReach reach, int ranks, Bytes bytes) {
  // Cards and machines of these two are those of an H100's.
  const bool as_h100 =
      machine == MeasuredMachine::kH200 || (reach == TransferReach::kFar && machine != MeasuredMachine::kA100);
  const MeasuredMachine measured = as_h100 ? MeasuredMachine::kH100 : machine;
  std::vector<AtRanks> rows;
  for (const TransferRow& row : transfer_rows()) {
    if (row.machine == measured && row.reach == reach) rows.push_back(at_ranks(row.ranks, row.times, bytes));
  }
  // Fewer ranks than were measured have more channels each: how many faster that is, nobody measured.
  if (rows.empty() || ranks < rows.front().ranks) return std::nullopt;
  const std::optional<AtRanks> row = among(rows, ranks);
  return MeasuredTime{std::llround(row->total), std::llround(std::min(row->total * 0.5, row->floor))};
}

}  // namespace debubble
