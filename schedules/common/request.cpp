#include "schedules/common/request.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

// "4,tokens=16" of --param slices=4,tokens=16: several parameters in one.
std::string one_param_each(std::string_view name, std::string_view text, std::string otherwise) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.find('=', comma) == std::string_view::npos) return otherwise;
  std::string words = "one --param for each: --param " + std::string(name) + "=";
  for (const char c : text) words += c == ',' ? std::string(" --param ") : std::string(1, c);
  return words;
}

// "a, b or c"
std::string either(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t k = 1; k < names.size(); ++k) text += (k + 1 < names.size() ? ", " : " or ") + names[k];
  return text;
}

}  // namespace

int int_param(const ScheduleRequest& request, std::string_view name, int fallback) {
  const auto found = request.params.find(std::string(name));
  if (found == request.params.end()) return fallback;
  const std::string& text = found->second;
  const auto value = read_whole<int>(text);
  if (!value) {
    fail("S006", "--param " + std::string(name), "\"" + text + "\" is not a whole number",
         one_param_each(name, text, "write --param " + std::string(name) + "=" + std::to_string(fallback)));
  }
  return *value;
}

int extra_warmup(const ScheduleRequest& request) {
  const int extra = int_param(request, kExtraWarmup, 0);
  if (extra < 0 || extra > request.microbatches) {
    fail("S006", "--param extra_warmup",
         "no device has " + std::to_string(extra) + " more forward passes to begin with",
         "use 0 to the number of microbatches, " + std::to_string(request.microbatches));
  }
  return extra;
}

const ParamSpec& extra_warmup_param() {
  static const ParamSpec param{
      kExtraWarmup, "0..m", "0; 1 with --moe-overlap on",
      "more forward passes before each device's first backward pass; with 1 a forward pass never "
      "waits for the backward pass beside it (Megatron-LM's combined 1F1B)"};
  return param;
}

std::string choice_param(const ScheduleRequest& request, std::string_view name, std::string_view choices) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= choices.size();) {
    const std::size_t end = std::min(choices.find('|', begin), choices.size());
    names.emplace_back(choices.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto found = request.params.find(std::string(name));
  if (found == request.params.end()) return names.front();
  for (const std::string& known : names) {
    if (known == found->second) return known;
  }
  // Of one letter each, none is nearer than the others.
  const bool letters =
      std::all_of(names.begin(), names.end(), [](const std::string& word) { return word.size() == 1; });
  const std::string guess = letters ? "" : closest_name(found->second, names);
  fail("S007", "--param " + std::string(name), "\"" + found->second + "\" is not one of " + std::string(choices),
       !guess.empty() ? "did you mean " + guess + "?"
       : letters      ? "write " + either(names)
                      : "write --param " + std::string(name) + "=" + names.front());
}

std::string nearest_legal(const std::string& flag, const std::string& values, int devices) {
  const bool several = values.find(" or ") != std::string::npos;
  const std::string where = devices == 0 ? "" : " at p=" + std::to_string(devices);
  return (several ? "nearest legal values" : "nearest legal value") + where + ": " + flag + values;
}

void require_one_chunk(const ScheduleRequest& request, std::string_view schedule) {
  if (request.chunks == 0 || request.chunks == 1) return;
  fail("S005", "--chunks", std::string(schedule) + " has one stage per device; got " + std::to_string(request.chunks),
       "leave --chunks out, or use --schedule interleaved for several stages per device");
}

const char* to_string(ScheduleFamily family) {
  return at(std::array{"synchronous", "zero-bubble", "asynchronous"}, family);
}

const char* to_string(Certainty certainty) { return at(std::array{"reproduced", "derived", "proposal"}, certainty); }

Schedule start_schedule(const ScheduleRequest& request, std::string name, int chunks) {
  Schedule schedule;
  schedule.name = std::move(name);
  schedule.devices = request.devices;
  schedule.chunks = chunks;
  schedule.stages = request.devices * chunks;
  schedule.microbatches = request.microbatches;
  schedule.placement = loop_placement(schedule.devices, schedule.stages);
  schedule.replica_of.assign(static_cast<std::size_t>(request.microbatches), 0);
  schedule.rows.resize(static_cast<std::size_t>(request.devices));
  return schedule;
}

}  // namespace debubble
