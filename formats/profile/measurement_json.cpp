#include "formats/profile/measurement_json.hpp"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_reader.hpp"
#include "formats/text/text.hpp"
#include "sim/core/units.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostRecords = std::numeric_limits<std::int64_t>::max();
constexpr IntegerRule kMeasuredTime{"nanoseconds", 0, kLongestDuration,
                                    "durations are integers in nanoseconds: 1.5 ms is 1500000"};
constexpr IntegerRule kRecordCount{"records", 0, kMostRecords, "counts are whole numbers"};
constexpr IntegerRule kSomething{"records", 1, kMostRecords, "leave out what never happened"};
constexpr IntegerRule kSteps{"steps", 0, kMostRecords, "leave the key out when there were none"};
constexpr IntegerRule kPpm{"parts per million", -1'000'000, kLongestDuration, "1 % is 10000"};
constexpr IntegerRule kMegahertz{"megahertz", 0, std::numeric_limits<std::int32_t>::max(),
                                 "leave the clock out when it was not sampled"};

// Calls `read` with a reader for every object of an optional array.
template <typename Read>
void for_each_record(JsonObjectReader& parent, std::string_view key, ProblemList& problems, const Read& read) {
  const JsonValue* list = parent.optional_array(key);
  if (list == nullptr) return;
  std::size_t index = 0;
  for (const JsonValue& item : list->children) {
    JsonObjectReader reader(item, parent.pointer_to(key) + "/" + std::to_string(index++), problems);
    if (!reader.is_object()) continue;
    read(reader);
    reader.finish();
  }
}

ClockState read_clock(const JsonValue& value, ProblemList& problems) {
  JsonObjectReader reader(value, "/measurement/clock", problems);
  ClockState clock;
  if (!reader.is_object()) return clock;
  clock.least_mhz = static_cast<std::int32_t>(reader.optional_integer("least_mhz", kMegahertz).value_or(0));
  clock.most_mhz = static_cast<std::int32_t>(reader.optional_integer("most_mhz", kMegahertz).value_or(0));
  clock.samples = reader.optional_integer("samples", kRecordCount).value_or(0);
  clock.slowed_samples = reader.optional_integer("slowed_samples", kRecordCount).value_or(0);
  clock.power_capped_samples = reader.optional_integer("power_capped_samples", kRecordCount).value_or(0);
  clock.drift_ppm = reader.optional_integer("drift_ppm", kPpm);
  clock.throttled = reader.optional_flag("throttled", "leave the key out for false");
  reader.finish();
  if (clock.least_mhz > clock.most_mhz || clock.slowed_samples > clock.samples ||
      clock.power_capped_samples > clock.samples) {
    reader.complain("P012", "", "the clock's numbers contradict one another",
                    "least_mhz <= most_mhz; slowed_samples and power_capped_samples <= samples");
  }
  return clock;
}

void check_sum(const Measurement& measurement, JsonObjectReader& reader) {
  Nanoseconds sum = measurement.layer_time;
  bool fits = true;
  for (const RestItem& item : measurement.rest) fits = fits && !__builtin_add_overflow(sum, item.total, &sum);
  if (fits && sum == measurement.kernel_time) return;
  reader.complain("P012", "",
                  "layers and rest must add up to all GPU time: kernel_time_ns is " +
                      std::to_string(measurement.kernel_time) + ", layer_time_ns and rest are " +
                      (fits ? std::to_string(sum) : std::string("more than 64 bits hold")),
                  "nothing is left out of a measurement: what belongs to no layer is in \"rest\"");
}

}  // namespace

Measurement read_measurement(const JsonValue& value, ProblemList& problems) {
  JsonObjectReader reader(value, "/measurement", problems);
  Measurement measurement;
  if (!reader.is_object()) return measurement;
  const std::string processor = reader.optional_text("processor");
  measurement.on_cpu = processor == "cpu";
  if (!processor.empty() && !measurement.on_cpu) {
    reader.complain("P007", "processor", in_quotes(processor) + " is not a processor whose work is measured",
                    "\"cpu\"; leave the key out for a GPU");
  }
  measurement.kernels = reader.integer("kernels", kRecordCount);
  measurement.kernel_time = reader.integer("kernel_time_ns", kMeasuredTime);
  measurement.layer_time = reader.integer("layer_time_ns", kMeasuredTime);
  for_each_record(reader, "rest", problems, [&](JsonObjectReader& item) {
    RestItem& rest = measurement.rest.emplace_back();
    rest.what = item.text("what");
    rest.count = item.integer("count", kSomething);
    rest.total = item.integer("total_ns", kMeasuredTime);
  });
  for_each_record(reader, "losses", problems, [&](JsonObjectReader& item) {
    LossItem& loss = measurement.losses.emplace_back();
    loss.what = item.text("what");
    loss.count = item.integer("count", kSomething);
  });
  measurement.steps = reader.optional_integer("steps", kSteps).value_or(0);
  measurement.warm_up_steps = reader.optional_integer("warm_up_steps", kSteps).value_or(0);
  measurement.overhead_ppm = reader.optional_integer("overhead_ppm", kPpm);
  measurement.overhead_run_ppm = reader.optional_integer("overhead_run_ppm", kPpm);
  if (const JsonValue* clock = reader.member("clock", false)) measurement.clock = read_clock(*clock, problems);
  reader.finish();
  check_sum(measurement, reader);
  if (measurement.warm_up_steps > measurement.steps) {
    reader.complain("P012", "warm_up_steps", "more steps were discarded than seen",
                    "at most " + std::to_string(measurement.steps));
  }
  return measurement;
}

}  // namespace debubble
