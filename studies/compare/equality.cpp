#include "studies/compare/equality.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "formats/text/choice.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/request/profile_files.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {

namespace {

void halve_times(TimeStatistics& time) {
  time.median = piece_of(time.median, 2);
  if (time.p10) time.p10 = piece_of(*time.p10, 2);
  if (time.p90) time.p90 = piece_of(*time.p90, 2);
}

void halve_times(std::optional<TimeStatistics>& time) {
  if (time) halve_times(*time);
}

void halve_profile(Profile& profile) {
  profile.microbatch_size /= 2;
  for (ProfileLayer& layer : profile.layers) {
    halve_times(layer.forward);
    halve_times(layer.backward);
    halve_times(layer.input_grad);
    halve_times(layer.weight_grad);
    layer.activation = piece_of(layer.activation, 2);
    if (layer.weight_grad_held) layer.weight_grad_held = piece_of(*layer.weight_grad_held, 2);
    layer.output = piece_of(layer.output, 2);
    layer.workspace = piece_of(layer.workspace, 2);
    if (layer.checkpoint) layer.checkpoint = piece_of(*layer.checkpoint, 2);
    layer.forward_collective = piece_of(layer.forward_collective, 2);
    layer.backward_collective = piece_of(layer.backward_collective, 2);
    layer.forward_flops /= 2;
    layer.model_flops /= 2;
  }
}

void say_samples(std::int64_t samples, std::vector<Assumption>& assumptions) {
  for (Assumption& assumption : assumptions) {
    if (assumption.key != assumption_key::kMicrobatch) continue;
    assumption.amount = std::to_string(samples) + (samples == 1 ? " sample" : " samples");
  }
}

std::int64_t scaled_exactly(std::int64_t value, int n, int d) {
  if (value > std::numeric_limits<std::int64_t>::max() / 4 / n) {
    throw InputError(Diagnostic{"C012", "--equal",
                                "the times of a device with several stages are beyond what can be added up",
                                "check the units of --times"});
  }
  return piece_of(value * n, d);
}

// Times and activation of one device share, times n / d.
void scale(UniformTimes& times, int n, int d) {
  for (Nanoseconds* time : {&times.forward, &times.input_grad, &times.weight_grad, &times.copy}) {
    *time = scaled_exactly(*time, n, d);
  }
  for (std::optional<Nanoseconds>* time :
       {&times.backward, &times.overlapped_pair, &times.recompute, &times.logits, &times.gradient}) {
    if (*time) *time = scaled_exactly(**time, n, d);
  }
  times.activation = scaled_exactly(times.activation, n, d);
}

bool takes_memory_limit(const ScheduleEntry& entry) { return has_param(entry, "memory_limit"); }

}  // namespace

Equal parse_equal(const std::string& text) { return static_cast<Equal>(choice_of(text, kEqualWords, "--equal")); }

Bytes parse_memory_limit(const std::string& text, bool has_profile) {
  return parse_size(text, "--memory-limit", has_profile ? BareNumber::kRefused : BareNumber::kToyUnits);
}

Scenario with_equal_stages(const Scenario& scenario, const ScheduleEntry* entry) {
  Scenario own = scenario;
  const int stages = scenario.devices.value_or(kDefaultDevices);
  const int chunks = entry == nullptr ? 1 : scenario.chunks != 0 ? scenario.chunks : entry->default_chunks;
  if (chunks == 1) return own;
  if (stages % chunks != 0 || stages < chunks) {
    throw InputError(
        Diagnostic{"S011", "--equal stages",
                   std::to_string(stages) + " stages cannot be " + std::to_string(chunks) + " on each device",
                   "use a multiple of " + std::to_string(chunks) + " for -p"});
  }
  own.devices = stages / chunks;
  own.chunks = chunks;
  scale(own.times, chunks, 1);  // a device now holds as many of the stages
  return own;
}

std::optional<Scenario> with_half_microbatches(const Scenario& scenario, int microbatches) {
  Scenario half = scenario;
  half.microbatches = 2 * microbatches;
  if (!half.profile) {
    scale(half.times, 1, 2);
    return half;
  }
  if (half.profile->microbatch_size % 2 != 0) return std::nullopt;
  const std::int64_t samples = half.profile->microbatch_size / 2;
  say_samples(samples, half.profile_size);
  say_samples(samples, half.transformer.assumptions);
  if (half.transformer.setup) {
    half.transformer.setup->microbatch_size = samples;
    set_modelled_profile(half);
  } else if (half.profile_family) {
    const RunSize size{samples, half.profile->sequence_length};
    half.profile = profile_at(half.profile_family->profiles, size, half.profile_family->waves);
  } else {
    halve_profile(*half.profile);
  }
  return half;
}

Scenario with_memory_limit(Scenario scenario, const ScheduleEntry* entry, const std::string& limit) {
  if (entry != nullptr && takes_memory_limit(*entry)) {
    scenario.params.try_emplace("memory_limit", limit);
  }
  return scenario;
}

}  // namespace debubble
