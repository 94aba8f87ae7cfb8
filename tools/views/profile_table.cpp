#include "tools/views/profile_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "formats/profile/layer_runs.hpp"
#include "sim/core/median.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/share.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/summary.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using LayerSpan = std::span<const ProfileLayer>;

std::string layer_stem(const std::string& name) {
  const auto number = trailing_number(name);
  return number ? name.substr(0, name.size() - std::to_string(*number).size()) : name;
}

bool alike_layers(const ProfileLayer& first, const ProfileLayer& later, std::size_t steps) {
  return trailing_number(first.name) && later.name == numbered_on(first.name, steps) && first.kind == later.kind &&
         first.activation == later.activation && first.parameters == later.parameters && first.output == later.output &&
         first.workspace == later.workspace && first.weight_grad_held == later.weight_grad_held &&
         first.input_grad.has_value() == later.input_grad.has_value();
}

std::vector<LayerSpan> layer_groups(const std::vector<ProfileLayer>& layers) {
  std::vector<LayerSpan> groups;
  for (std::size_t begin = 0; begin < layers.size();) {
    std::size_t end = begin + 1;
    while (end < layers.size() && alike_layers(layers[begin], layers[end], end - begin)) ++end;
    groups.emplace_back(layers.data() + begin, end - begin);
    begin = end;
  }
  return groups;
}

std::string group_name(LayerSpan group) {
  if (group.size() == 1) return group.front().name;
  return fmt::format("{}{}-{} ({})", layer_stem(group.front().name), *trailing_number(group.front().name),
                     *trailing_number(group.back().name), group.size());
}

enum class Part { kForward, kInput, kWeight, kWhole };

const TimeStatistics* part_times(const ProfileLayer& layer, Part part) {
  const auto pointer = [](const std::optional<TimeStatistics>& times) { return times ? &*times : nullptr; };
  switch (part) {
    case Part::kForward:
      return &layer.forward;
    case Part::kInput:
      return pointer(layer.input_grad);
    case Part::kWeight:
      return pointer(layer.weight_grad);
    case Part::kWhole:
      return layer.input_grad ? nullptr : pointer(layer.backward);
  }
  return nullptr;
}

// One phase of layers alike; nothing when they do not have it.
std::optional<TimeStatistics> joined_times(LayerSpan group, Part part) {
  std::vector<Nanoseconds> medians;
  TimeStatistics all;
  all.p10 = std::numeric_limits<Nanoseconds>::max();
  all.p90 = 0;
  for (const ProfileLayer& layer : group) {
    const TimeStatistics* times = part_times(layer, part);
    if (times == nullptr) return std::nullopt;
    medians.push_back(times->median);
    all.p10 = std::min(*all.p10, times->p10.value_or(times->median));
    all.p90 = std::max(*all.p90, times->p90.value_or(times->median));
    all.n += times->n;
  }
  all.median = upper_median(std::move(medians));
  return all;
}

Nanoseconds longest(const std::vector<ProfileLayer>& layers) {
  Nanoseconds most = 1;
  for (const ProfileLayer& layer : layers) {
    for (const Part part : {Part::kForward, Part::kInput, Part::kWeight, Part::kWhole}) {
      if (const TimeStatistics* times = part_times(layer, part))
        most = std::max(most, times->p90.value_or(times->median));
    }
  }
  return most;
}

std::string times_table(const Profile& profile, std::size_t width) {
  const Scale scale = duration_scale(longest(profile.layers));
  Table table({{"layer", Table::Side::kLeft},
               {"phase", Table::Side::kLeft},
               {fmt::format("median\n{}", scale.unit), Table::Side::kRight},
               {"p10", Table::Side::kRight},
               {"p90", Table::Side::kRight},
               {"n", Table::Side::kRight}});
  for (const LayerSpan group : layer_groups(profile.layers)) {
    std::string name = shorten(group_name(group), 32);
    for (const auto& [part, letter] :
         {std::pair{Part::kForward, "F"}, {Part::kInput, "I"}, {Part::kWeight, "W"}, {Part::kWhole, "B"}}) {
      const std::optional<TimeStatistics> times = joined_times(group, part);
      if (!times) continue;
      table.add_row({name, letter, format_scaled(times->median, scale), format_scaled(*times->p10, scale),
                     format_scaled(*times->p90, scale), std::to_string(times->n)});
      name.clear();
    }
  }
  return table.text(width);
}

Bytes largest_size(const std::vector<ProfileLayer>& layers) {
  Bytes most = 1;
  for (const ProfileLayer& layer : layers) {
    most = std::max({most, layer.activation, layer.parameters, layer.output, layer.workspace});
  }
  return most;
}

std::string memory_table(const Profile& profile, std::size_t width) {
  const Scale scale = size_scale(largest_size(profile.layers));
  Table table({{"layer", Table::Side::kLeft},
               {fmt::format("kept for B\n{}", scale.unit), Table::Side::kRight},
               {"I to W", Table::Side::kRight},
               {"output", Table::Side::kRight},
               {"parameters", Table::Side::kRight},
               {"workspace", Table::Side::kRight}});
  for (const LayerSpan group : layer_groups(profile.layers)) {
    const ProfileLayer& layer = group.front();
    table.add_row({shorten(group_name(group), 24), format_scaled(layer.activation, scale),
                   layer.weight_grad_held ? format_scaled(*layer.weight_grad_held, scale) : "-",
                   format_scaled(layer.output, scale), format_scaled(layer.parameters, scale),
                   format_scaled(layer.workspace, scale)});
  }
  return table.text(width);
}

std::string profile_title(const Profile& profile) {
  std::string text = profile.model + ", " + profile.dtype;
  if (profile.microbatch_size > 0) text += fmt::format(", microbatch {}", profile.microbatch_size);
  if (profile.microbatch_size > 0 && profile.sequence_length > 0) text += fmt::format(" x {}", profile.sequence_length);
  if (!profile.origin.device.empty()) text += ", on " + profile.origin.device;
  return text;
}

std::string overhead_text(const Measurement& measured) {
  const auto percent = [](std::int64_t ppm) { return format_percent(static_cast<double>(std::abs(ppm)) / 1e6); };
  const std::string without = measured.on_cpu ? "without the profiler" : "without CUPTI";
  if (measured.overhead_run_ppm) {
    const std::string whole = percent(*measured.overhead_run_ppm);
    return *measured.overhead_run_ppm < 0 ? "lost in the noise: recorded steps took " + whole + " less than " + without
                                          : "a step takes " + whole + " longer than in a run " + without;
  }
  if (!measured.overhead_ppm) return "not measured";
  const std::string least = percent(*measured.overhead_ppm);
  if (*measured.overhead_ppm < 0) {
    return (measured.on_cpu ? "" : "at least 0; ") + ("lost in the noise: recorded steps took " + least) +
           " less than others";
  }
  return measured.on_cpu
             ? "a step takes " + least + " longer while it is recorded; layer times include it"
             : "a step takes at least " + least + " longer while it is recorded: CUPTI stays attached in others";
}

std::string gpu_clock_text(const ClockState& clock, bool on_cpu) {
  std::string text = !clock.throttled ? "steady"
                     : on_cpu         ? "the CPU slowed down, or others used it: measure again"
                                      : "the GPU slowed down: measure again when it is cool";
  if (clock.samples > 0) {
    text += fmt::format("; SM clock {} to {} MHz in {} samples, {} of them slowed", clock.least_mhz, clock.most_mhz,
                        clock.samples, clock.slowed_samples);
    if (clock.power_capped_samples > 0) text += fmt::format(", {} at the power cap", clock.power_capped_samples);
  } else {
    text = clock.throttled ? text : "not sampled";
  }
  if (clock.drift_ppm) {
    text += "; last steps against first " + format_change(static_cast<double>(*clock.drift_ppm) / 1e6);
  }
  return text;
}

void add_measurement(const Measurement& measured, Table& table) {
  table.add_row({measured.on_cpu ? "CPU time" : "GPU time",
                 fmt::format("{} in {} {}; layers {}", format_duration(measured.kernel_time), measured.kernels,
                             measured.on_cpu ? "pieces of operators" : "kernels and copies",
                             format_percent(share(measured.layer_time, measured.kernel_time)))});
  std::string rest;
  for (const RestItem& item : measured.rest) {
    rest += fmt::format("{}{} {}", rest.empty() ? "" : "; ", item.what,
                        format_percent(share(item.total, measured.kernel_time)));
  }
  table.add_row({"rest", rest.empty() ? "none" : rest});
  std::string losses;
  for (const LossItem& item : measured.losses) {
    losses += fmt::format("{}{} {}", losses.empty() ? "" : "; ", item.count, item.what);
  }
  table.add_row({"losses", losses.empty() ? "none" : losses});
  table.add_row(
      {"steps", fmt::format("{}, the first {} of them discarded as warm-up", measured.steps, measured.warm_up_steps)});
  table.add_row({"overhead", overhead_text(measured)});
  table.add_row({"clock", gpu_clock_text(measured.clock, measured.on_cpu)});
}

}  // namespace

std::string profile_view(const Profile& profile, std::span<const std::string> notes, const ViewStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = title_lines(profile_title(profile), style);
  text += "\n" + times_table(profile, width) + "\n" + memory_table(profile, width) + "\n";
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  if (profile.measurement) add_measurement(*profile.measurement, table);
  for (const std::string& note : notes) table.add_row({"note", note});
  return text + table.text(width);
}

std::string sweep_view(std::span<const SweepRow> rows, const ViewStyle& style) {
  Table table({{"microbatch", Table::Side::kRight},
               {"seq", Table::Side::kRight},
               {"forward", Table::Side::kRight},
               {"backward", Table::Side::kRight},
               {"kept for B", Table::Side::kRight},
               {"profile", Table::Side::kLeft}});
  for (const SweepRow& row : rows) {
    Nanoseconds forward = 0;
    Nanoseconds backward = 0;
    Bytes kept = 0;
    for (const ProfileLayer& layer : row.profile.layers) {
      forward += layer.forward.median;
      backward += layer.backward ? layer.backward->median
                                 : layer.input_grad.value_or(TimeStatistics{}).median +
                                       layer.weight_grad.value_or(TimeStatistics{}).median;
      kept += layer.activation;
    }
    const bool failed = !row.failure.empty();
    table.add_row({std::to_string(row.microbatch), std::to_string(row.sequence),
                   failed ? "-" : format_duration(forward), failed ? "-" : format_duration(backward),
                   failed ? "-" : format_size(kept), failed ? row.failure : row.file.substr(row.file.rfind('/') + 1)});
  }
  return table.text(static_cast<std::size_t>(style.width));
}

}  // namespace debubble
