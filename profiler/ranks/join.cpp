#include "profiler/ranks/join.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "formats/text/text.hpp"
#include "profiler/ranks/join_layers.hpp"
#include "profiler/ranks/rank_comparison.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

void require_one_model(const std::vector<StagePart>& parts) {
  const Profile& first = parts.front().found.profile;
  for (const StagePart& part : parts) {
    const Profile& other = part.found.profile;
    const char* differs = nullptr;
    if (other.microbatch_size != first.microbatch_size) differs = "microbatch sizes";
    if (other.sequence_length != first.sequence_length) differs = "sequence lengths";
    if (other.dtype != first.dtype) differs = "number formats";
    if (other.origin.times != first.origin.times) differs = "sources of their times";
    if (differs == nullptr) continue;
    throw InputError({"L020", "FILE",
                      "the " + std::string(differs) + " of " + parts.front().label + " and " + part.label + " differ",
                      "give profiles of one run: one model, size and number format"});
  }
}

// "A" or "A, B": each text once.
std::string each_once(const std::vector<StagePart>& parts, std::string ProfileOrigin::*field) {
  std::vector<std::string> texts;
  for (const StagePart& part : parts) {
    const std::string& text = part.found.profile.origin.*field;
    if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

ProfileOrigin joined_origin(const std::vector<StagePart>& parts) {
  ProfileOrigin origin = parts.front().found.profile.origin;
  for (std::string ProfileOrigin::*field : {&ProfileOrigin::device, &ProfileOrigin::driver, &ProfileOrigin::cuda,
                                            &ProfileOrigin::method, &ProfileOrigin::date, &ProfileOrigin::citation}) {
    origin.*field = each_once(parts, field);
  }
  for (const StagePart& part : parts) {
    const ProfileOrigin& other = part.found.profile.origin;
    if (other.memory != Source::kMeasured) origin.memory = other.memory;
    origin.repetitions = std::min(origin.repetitions, other.repetitions);
  }
  return origin;
}

template <typename Item, typename Add>
void add_items(const std::vector<Item>& from, std::vector<Item>& to, const Add& add) {
  for (const Item& item : from) {
    const auto known = std::find_if(to.begin(), to.end(), [&](const Item& other) { return other.what == item.what; });
    if (known == to.end()) {
      to.push_back(item);
    } else {
      add(item, *known);
    }
  }
}

void add_clock(const ClockState& from, ClockState& to) {
  if (from.samples > 0) {
    to.least_mhz = to.samples == 0 ? from.least_mhz : std::min(to.least_mhz, from.least_mhz);
    to.most_mhz = std::max(to.most_mhz, from.most_mhz);
  }
  to.samples += from.samples;
  to.slowed_samples += from.slowed_samples;
  to.power_capped_samples += from.power_capped_samples;
  to.throttled = to.throttled || from.throttled;
  const auto size = [](const std::optional<std::int64_t>& drift) { return drift ? std::abs(*drift) : -1; };
  if (size(from.drift_ppm) > size(to.drift_ppm)) to.drift_ppm = from.drift_ppm;
}

// Counts and times add up; of overhead and drift the largest counts. An overhead nobody measured is below any other.
void add_stage_measurement(const Measurement& from, Measurement& to) {
  to.on_cpu = to.on_cpu || from.on_cpu;
  to.kernels += from.kernels;
  to.kernel_time += from.kernel_time;
  to.layer_time += from.layer_time;
  add_items(from.rest, to.rest, [](const RestItem& item, RestItem& known) {
    known.count += item.count;
    known.total += item.total;
  });
  add_items(from.losses, to.losses, [](const LossItem& item, LossItem& known) { known.count += item.count; });
  to.steps += from.steps;
  to.warm_up_steps += from.warm_up_steps;
  to.overhead_ppm = std::max(from.overhead_ppm, to.overhead_ppm);
  to.overhead_run_ppm = std::max(from.overhead_run_ppm, to.overhead_run_ppm);
  add_clock(from.clock, to.clock);
}

std::optional<Measurement> joined_measurement(const std::vector<StagePart>& parts) {
  Measurement sum;
  for (const StagePart& part : parts) {
    if (!part.found.profile.measurement) return std::nullopt;
    add_stage_measurement(*part.found.profile.measurement, sum);
  }
  return sum;
}

// What every part says is said once, the rest with the part that says it.
void append_notes(const std::vector<StagePart>& parts, std::vector<std::string>& notes) {
  const auto says = [](const StagePart& part, const std::string& note) {
    return std::find(part.found.notes.begin(), part.found.notes.end(), note) != part.found.notes.end();
  };
  for (const StagePart& part : parts) {
    for (const std::string& note : part.found.notes) {
      const bool all = std::all_of(parts.begin(), parts.end(), [&](const StagePart& one) { return says(one, note); });
      if (!all) {
        notes.push_back(part.label + ": " + note);
      } else if (&part == &parts.front()) {
        notes.push_back(note);
      }
    }
  }
}

std::vector<Explanation> joined_explanations(const std::vector<StagePart>& parts) {
  std::vector<Explanation> lines;
  for (const StagePart& part : parts) {
    lines.insert(lines.end(), part.found.explanations.begin(), part.found.explanations.end());
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Explanation& left, const Explanation& right) { return left.total > right.total; });
  return lines;
}

}  // namespace

Attribution joined_stages(std::vector<StagePart> parts) {
  require_one_model(parts);
  Attribution joined;
  joined.profile = parts.front().found.profile;
  joined.profile.origin = joined_origin(parts);
  joined.profile.measurement = joined_measurement(parts);
  joined.any_backward =
      std::any_of(parts.begin(), parts.end(), [](const StagePart& part) { return part.found.any_backward; });
  joined.explanations = joined_explanations(parts);
  std::vector<StageLayers> stages;
  for (StagePart& part : parts) stages.push_back({part.label, std::move(part.found.profile.layers)});
  const RankComparison compared = compare_ranks(stages);
  JoinedLayers layers = join_layers(std::move(stages), joined.notes);
  joined.profile.layers = std::move(layers.layers);
  joined.profile.ranks.clear();
  if (compared.any_apart()) {
    for (std::size_t k = 0; k < parts.size(); ++k)
      joined.profile.ranks.push_back({parts[k].label, compared.ppm[k], {}});
    for (std::size_t k = 0; k < joined.profile.layers.size(); ++k) {
      joined.profile.ranks[layers.stage[k]].layers.push_back(joined.profile.layers[k].name);
    }
  }
  joined.notes.insert(joined.notes.end(), compared.notes.begin(), compared.notes.end());
  append_notes(parts, joined.notes);
  joined.profile.origin.notes.clear();
  for (const std::string& note : joined.notes) {
    joined.profile.origin.notes += (joined.profile.origin.notes.empty() ? "" : "; ") + note;
  }
  return joined;
}

}  // namespace debubble
