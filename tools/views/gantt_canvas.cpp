#include "tools/views/gantt_canvas.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble::gantt_detail {
namespace {

__extension__ using Wide = unsigned __int128;

// Which member of a cell is in the lighter shade, and so in lower case.
struct Lighter {
  bool op = false;
  bool partner = false;
};

// "F12", or "F3b1" for an overlapped pair; with `last_digit_only` one digit of each number.
std::string label_of(const Span& span, const Timeline& timeline, Lighter lighter, bool last_digit_only) {
  const auto one = [&](const Op& op, bool lower) {
    const int number = last_digit_only ? op.microbatch % 10 : op.microbatch;
    const char capital = letter(op.kind);
    return (lower ? static_cast<char>(capital - 'A' + 'a') : capital) + std::to_string(number);
  };
  const Op* const partner = timeline.partner(span);
  return one(span.op, lighter.op) + (partner != nullptr ? one(*partner, lighter.partner) : "");
}

// Common unit of all begins and ends that are drawn; 0 when there are none.
Nanoseconds common_unit(const Timeline& timeline) {
  Nanoseconds unit = timeline.makespan;
  for (const Span& span : timeline.spans) unit = std::gcd(std::gcd(unit, span.begin), span.end);
  for (const CopySpan& copy : timeline.copies) unit = std::gcd(std::gcd(unit, copy.begin), copy.end);
  for (const StepSpan& step : timeline.steps) unit = std::gcd(std::gcd(unit, step.begin), step.end);
  if (!timeline.transfers_hold_lanes) return unit;
  for (const Transfer& transfer : timeline.transfers) unit = std::gcd(std::gcd(unit, transfer.begin), transfer.end);
  return unit;
}

// The stages of each device, sorted: their order gives upper and lower case.
std::vector<std::vector<std::int32_t>> stages_by_device(const Timeline& timeline) {
  std::vector<std::vector<std::int32_t>> stages(static_cast<std::size_t>(timeline.devices));
  for (const Span& span : timeline.spans) {
    if (is_vocabulary(span.op.kind)) continue;  // a shard belongs to the device, not to a stage
    auto& known = stages[to_index(span.device)];
    const auto place = std::lower_bound(known.begin(), known.end(), span.op.stage);
    if (place == known.end() || *place != span.op.stage) known.insert(place, span.op.stage);
  }
  return stages;
}

std::size_t index_in(const std::vector<std::int32_t>& sorted, std::int32_t stage) {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), stage) - sorted.begin());
}

// Whether the label fits into every cell that has room for more than its letter.
bool labels_fit(const Timeline& timeline, const Grid& grid) {
  return std::all_of(timeline.spans.begin(), timeline.spans.end(), [&](const Span& span) {
    const std::size_t room = grid.column_of(span.end) - grid.column_of(span.begin);
    return room < 2 || label_of(span, timeline, {}, false).size() <= room;
  });
}

// Columns per unit that would let every cell show its whole label.
std::size_t wanted_per_unit(const Timeline& timeline, Nanoseconds unit) {
  std::size_t wanted = 1;
  for (const Span& span : timeline.spans) {
    const auto units = static_cast<std::size_t>((span.end - span.begin) / unit);
    if (units > 0) wanted = std::max(wanted, (label_of(span, timeline, {}, false).size() + units - 1) / units);
  }
  return wanted;
}

void draw_exact(const Span& span, const Timeline& timeline, Lighter lighter, const Grid& grid, Row& row) {
  const std::size_t begin = grid.column_of(span.begin);
  const std::size_t room = grid.column_of(span.end) - begin;
  const Ink ink = ink_of(span, timeline, lighter.op);
  std::string text = label_of(span, timeline, lighter, grid.last_digit_only);
  if (text.size() > room) text = std::string(1, letter_of(ink));
  for (std::size_t i = 0; i < room; ++i) row[begin + i] = {i < text.size() ? text[i] : '-', ink};
}

void draw_exact(const Transfer& transfer, const Grid& grid, std::vector<Row>& rows) {
  for (const std::int32_t device : {transfer.from_device, transfer.to_device}) {
    Row& row = rows[to_index(device)];
    for (std::size_t i = grid.column_of(transfer.begin); i < grid.column_of(transfer.end); ++i) {
      row[i] = {'~', Ink::kTransfer};
    }
  }
}

// How long each ink fills each column of one row.
using Shares = std::vector<std::array<Nanoseconds, kInks>>;

void add_share(Shares& shares, const Grid& grid, Nanoseconds begin, Nanoseconds end, Ink ink) {
  for (std::size_t c = grid.column_of(begin); c < grid.columns && grid.bounds[c] < end; ++c) {
    const Nanoseconds overlap = std::min(end, grid.bounds[c + 1]) - std::max(begin, grid.bounds[c]);
    shares[c][to_index(ink)] += std::max<Nanoseconds>(0, overlap);
  }
}

// Gives every column one ink, so that along the row letters and dots are in proportion to time: what a column could
// not show is carried into the next one, as long as the same ink goes on there.
void draw_shares(const Shares& shares, const Grid& grid, Row& row) {
  std::array<Nanoseconds, kInks> carried{};
  for (std::size_t c = 0; c < grid.columns; ++c) {
    const Nanoseconds length = grid.bounds[c + 1] - grid.bounds[c];
    std::array<Nanoseconds, kInks> share = shares[c];
    share[0] = length - std::accumulate(share.begin() + 1, share.end(), Nanoseconds{0});
    std::size_t best = kInks;
    for (std::size_t ink = 0; ink < kInks; ++ink) {
      carried[ink] = share[ink] > 0 ? carried[ink] + share[ink] : 0;
      if (share[ink] > 0 && (best == kInks || carried[ink] > carried[best])) best = ink;
    }
    carried[best] -= length;
    row[c] = {letter_of(static_cast<Ink>(best)), static_cast<Ink>(best)};
  }
}

// The tasks of the step as the chart shows them: those that hold the compute lane whole, of the others those that
// overlap with nothing on the device.
std::vector<StepSpan> shown_steps(const Timeline& timeline) {
  std::vector<std::vector<std::pair<Nanoseconds, Nanoseconds>>> busy(static_cast<std::size_t>(timeline.devices));
  const auto add = [&](const auto& thing) { busy[to_index(thing.device)].emplace_back(thing.begin, thing.end); };
  std::vector<StepSpan> shown;
  if (!timeline.steps.empty()) std::for_each(timeline.spans.begin(), timeline.spans.end(), add);
  for (const StepSpan& step : timeline.steps) {
    if (step.lane != StepTask::Lane::kCompute) continue;
    add(step);
    shown.push_back(step);
  }
  for (auto& lane : busy) std::sort(lane.begin(), lane.end());
  for (StepSpan step : timeline.steps) {
    if (step.lane == StepTask::Lane::kCompute) continue;
    const auto& lane = busy[to_index(step.device)];
    const Nanoseconds end = step.end;
    auto next =
        std::partition_point(lane.begin(), lane.end(), [&](const auto& one) { return one.second <= step.begin; });
    for (; next != lane.end() && next->first < end; ++next) {
      step.end = next->first;
      if (step.begin < step.end) shown.push_back(step);
      step.begin = std::max(step.begin, next->second);
    }
    step.end = end;
    if (step.begin < step.end) shown.push_back(step);
  }
  return shown;
}

}  // namespace

const char* ansi_codes(Ink ink) {
  static constexpr std::array<const char*, kInks> kCodes = {
      "38;5;244",                                // idle: grey dots
      "48;5;25;38;5;231",  "48;5;74;38;5;16",    // forward: blue
      "48;5;214;38;5;16",  "48;5;222;38;5;16",   // backward: orange
      "48;5;37;38;5;16",   "48;5;116;38;5;16",   // input gradient: teal
      "48;5;70;38;5;16",   "48;5;149;38;5;16",   // weight gradient: green
      "48;5;61;38;5;231",  "48;5;104;38;5;16",   // recompute: violet
      "48;5;227;38;5;16",  "48;5;227;38;5;16",   // vocabulary logits: yellow
      "48;5;166;38;5;231", "48;5;166;38;5;231",  // vocabulary gradient: red
      "48;5;133;38;5;231", "48;5;175;38;5;16",   // overlapped pair: purple
      "48;5;240;38;5;255",                       // transfer: grey
      "48;5;250;38;5;16",                        // copy out: light grey
      "48;5;245;38;5;16",                        // copy back: grey
      "48;5;246;38;5;16",                        // optimizer: grey
      "48;5;117;38;5;16"};                       // collective: sky blue
  return kCodes[to_index(ink)];
}

std::size_t most_stages_on_a_device(const Timeline& timeline) {
  std::size_t most = 0;
  for (const auto& stages : stages_by_device(timeline)) most = std::max(most, stages.size());
  return most;
}

char letter_of(Ink ink) { return ".FfBbIiWwRrSsTtXx~><O="[static_cast<std::size_t>(ink)]; }

Ink ink_of(const Span& span, const Timeline& timeline, bool lighter) {
  // A pair of one kind (Chimera's fused forwards) looks like that kind.
  const Op* const partner = timeline.partner(span);
  const bool mixed = partner != nullptr && partner->kind != span.op.kind;
  const std::size_t kind = mixed ? kOpKinds : static_cast<std::size_t>(span.op.kind);
  return static_cast<Ink>(1 + 2 * kind + (lighter ? 1 : 0));
}

bool shades_replicas(const Schedule* schedule) {
  return schedule != nullptr && schedule->placement.replicas() > 1 && !schedule->replicas_share_weights;
}

bool is_late_recompute(const Span& span, const Timeline& timeline) {
  const Op* const partner = timeline.partner(span);
  return partner != nullptr && span.op.kind == OpKind::kRecompute && partner->stage == span.op.stage &&
         partner->microbatch == span.op.microbatch;
}

Timeline with_members_apart(const Timeline& timeline, const StageCosts* costs) {
  Timeline apart = timeline;
  apart.spans.clear();
  apart.partners.clear();
  for (const Span& span : timeline.spans) {
    const Op* const partner = timeline.partner(span);
    apart.spans.push_back(span);
    apart.partners.push_back(partner != nullptr ? *partner : kNoPartner);
    if (!is_late_recompute(span, timeline)) continue;
    const auto stage = static_cast<std::size_t>(span.op.stage);
    Nanoseconds first = 1;
    Nanoseconds second = 1;
    if (costs != nullptr && stage < costs->stages.size()) {
      first = duration_of(span.op.kind, costs->stages[stage]);
      second = duration_of(partner->kind, costs->stages[stage]);
    }
    if (first + second == 0) first = second = 1;
    const auto part = static_cast<Wide>(span.end - span.begin) * static_cast<Wide>(first);
    Span& recompute = apart.spans.back();
    recompute.end = span.begin + static_cast<Nanoseconds>(part / static_cast<Wide>(first + second));
    apart.partners.back() = kNoPartner;
    Span backward = recompute;
    backward.op = *partner;
    backward.begin = recompute.end;
    backward.end = span.end;
    apart.spans.push_back(backward);
    apart.partners.push_back(kNoPartner);
  }
  apart.straggled_times.clear();
  apart.slowed_times.clear();
  return apart;
}

std::size_t Grid::column_of(Nanoseconds at) const {
  if (exact) return static_cast<std::size_t>(at / unit) * per_unit;
  const auto after = std::upper_bound(bounds.begin(), bounds.end(), at);
  return after == bounds.begin() ? 0 : static_cast<std::size_t>(after - bounds.begin() - 1);
}

Grid choose_grid(const Timeline& timeline, std::size_t available) {
  Grid grid;
  grid.unit = common_unit(timeline);
  const auto units = static_cast<std::size_t>(timeline.makespan / grid.unit);
  if (units <= available) {
    grid.exact = true;
    grid.per_unit = std::min(available / units, wanted_per_unit(timeline, grid.unit));
    grid.columns = units * grid.per_unit;
    grid.last_digit_only = !labels_fit(timeline, grid);
    return grid;
  }
  grid.columns = available;
  for (std::size_t c = 0; c <= available; ++c) {
    grid.bounds.push_back(static_cast<Nanoseconds>(static_cast<Wide>(timeline.makespan) * c / available));
  }
  return grid;
}

std::vector<Row> draw_copies(const Timeline& timeline, const Grid& grid) {
  if (timeline.copies.empty()) return {};
  const auto devices = static_cast<std::size_t>(timeline.devices);
  std::vector<Row> rows(devices, Row(grid.columns));
  std::vector<Shares> shares(grid.exact ? 0 : devices, Shares(grid.columns));
  for (const CopySpan& copy : timeline.copies) {
    const auto device = static_cast<std::size_t>(copy.device);
    const Ink ink = copy.way == Copy::Way::kOut ? Ink::kOut : Ink::kBack;
    if (!grid.exact) {
      add_share(shares[device], grid, copy.begin, copy.end, ink);
      continue;
    }
    for (std::size_t c = grid.column_of(copy.begin); c < grid.column_of(copy.end); ++c) {
      rows[device][c] = {letter_of(ink), ink};
    }
  }
  for (std::size_t d = 0; d < shares.size(); ++d) draw_shares(shares[d], grid, rows[d]);
  std::vector<bool> copies(devices, false);
  for (const CopySpan& copy : timeline.copies) copies[to_index(copy.device)] = true;
  for (std::size_t d = 0; d < devices; ++d) {
    if (!copies[d]) rows[d].clear();
  }
  return rows;
}

std::vector<Row> draw(const Timeline& timeline, const Grid& grid, const Schedule* schedule) {
  const auto devices = static_cast<std::size_t>(timeline.devices);
  const auto stages = stages_by_device(timeline);
  const bool replicas = shades_replicas(schedule);
  const auto lighter = [&](const Op& op, std::size_t device) {
    if (is_vocabulary(op.kind)) return false;
    if (replicas) return schedule->replica_of[to_index(op.microbatch)] % 2 == 1;
    return index_in(stages[device], op.stage) % 2 == 1;
  };
  std::vector<Row> rows(devices, Row(grid.columns));
  std::vector<Shares> shares(grid.exact ? 0 : devices, Shares(grid.columns));
  if (timeline.transfers_hold_lanes) {
    for (const Transfer& transfer : timeline.transfers) {
      if (grid.exact) {
        draw_exact(transfer, grid, rows);
        continue;
      }
      for (const std::int32_t device : {transfer.from_device, transfer.to_device}) {
        add_share(shares[to_index(device)], grid, transfer.begin, transfer.end, Ink::kTransfer);
      }
    }
  }
  for (const Span& span : timeline.spans) {
    const auto device = static_cast<std::size_t>(span.device);
    const bool light = lighter(span.op, device);
    if (grid.exact) {
      const Op* const partner = timeline.partner(span);
      draw_exact(span, timeline, {light, partner != nullptr && lighter(*partner, device)}, grid, rows[device]);
    } else {
      add_share(shares[device], grid, span.begin, span.end, ink_of(span, timeline, light));
    }
  }
  for (const StepSpan& step : shown_steps(timeline)) {
    const auto device = static_cast<std::size_t>(step.device);
    const Ink ink = step.lane == StepTask::Lane::kCompute ? Ink::kStep : Ink::kCollective;
    if (!grid.exact) {
      add_share(shares[device], grid, step.begin, step.end, ink);
      continue;
    }
    for (std::size_t c = grid.column_of(step.begin); c < grid.column_of(step.end); ++c) {
      rows[device][c] = {letter_of(ink), ink};
    }
  }
  for (std::size_t d = 0; d < shares.size(); ++d) draw_shares(shares[d], grid, rows[d]);
  return rows;
}

}  // namespace debubble::gantt_detail
