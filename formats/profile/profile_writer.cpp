// Writes `debubble.profile/1`: two spaces per level, one key per line, small objects of numbers on one line.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/profile/layer_runs.hpp"
#include "formats/profile/profile_json.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

// The members of one object, already written; joined at the end so that no comma is ever one too many.
class Members {
 public:
  void add(std::string_view key, std::string value) { lines_.push_back(json_string(key) + ": " + std::move(value)); }
  void add_text(std::string_view key, const std::string& value) { add(key, json_string(value)); }
  void add_text_if_any(std::string_view key, const std::string& value) {
    if (!value.empty()) add_text(key, value);
  }
  void add_number(std::string_view key, std::int64_t value) { add(key, std::to_string(value)); }
  void add_number_if(std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) add_number(key, *value);
  }
  void add_number_if_any(std::string_view key, std::int64_t value) {
    if (value != 0) add_number(key, value);
  }
  void add_number_or_null(std::string_view key, std::int64_t value) {
    add(key, value == 0 ? "null" : std::to_string(value));
  }

  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::string on_one_line() const { return "{" + joined(", ") + "}"; }
  [[nodiscard]] std::string indented(std::size_t spaces) const {
    const std::string indent = "\n" + std::string(spaces, ' ');
    return "{" + indent + "  " + joined("," + indent + "  ") + indent + "}";
  }

 private:
  [[nodiscard]] std::string joined(const std::string& separator) const {
    std::string text;
    for (const std::string& line : lines_) text += (text.empty() ? "" : separator) + line;
    return text;
  }

  std::vector<std::string> lines_;
};

std::string written(const TimeStatistics& times) {
  Members members;
  members.add_number("median_ns", times.median);
  members.add_number_if("p10_ns", times.p10);
  members.add_number_if("p90_ns", times.p90);
  members.add_number_if_any("n", times.n);
  return members.on_one_line();
}

// Items of an array, one per line.
std::string json_list(const std::vector<std::string>& items, std::size_t spaces) {
  const std::string indent = "\n" + std::string(spaces, ' ');
  std::string text = "[";
  for (const std::string& item : items) text += (text.size() == 1 ? "" : ",") + indent + "  " + item;
  return text + indent + "]";
}

std::string written(const std::vector<KernelSummary>& kernels) {
  std::vector<std::string> items;
  for (const KernelSummary& kernel : kernels) {
    Members members;
    members.add_text("name", kernel.name);
    members.add_number("count", kernel.count);
    members.add_number("total_ns", kernel.total);
    items.push_back(members.on_one_line());
  }
  return json_list(items, 6);
}

std::string written(const LayerRun& run) {
  const ProfileLayer& layer = run.first;
  Members members;
  members.add_text("name", layer.name);
  members.add_text_if_any("kind", layer.kind);
  if (run.count > 1) members.add_number("count", static_cast<std::int64_t>(run.count));
  members.add("forward", written(layer.forward));
  if (layer.backward) members.add("backward", written(*layer.backward));
  if (layer.input_grad) members.add("input_grad", written(*layer.input_grad));
  if (layer.weight_grad) members.add("weight_grad", written(*layer.weight_grad));
  members.add_number("activation_bytes", layer.activation);
  members.add_number_if("weight_grad_held_bytes", layer.weight_grad_held);
  members.add_number("output_bytes", layer.output);
  members.add_number("parameter_bytes", layer.parameters);
  members.add_number_if_any("workspace_bytes", layer.workspace);
  if (layer.grad_split != GradSplit::kNone) members.add_text("grad_split", to_string(layer.grad_split));
  if (!layer.kernels.empty()) members.add("kernels", written(layer.kernels));
  return members.indented(4);
}

std::string written(const ProfileOrigin& origin) {
  Members members;
  members.add_text("times", to_string(origin.times));
  members.add_text("memory", to_string(origin.memory));
  members.add_text_if_any("device", origin.device);
  members.add_text_if_any("driver", origin.driver);
  members.add_text_if_any("cuda", origin.cuda);
  members.add_text_if_any("method", origin.method);
  members.add_text_if_any("date", origin.date);
  members.add_number_if_any("repetitions", origin.repetitions);
  members.add_text_if_any("citation", origin.citation);
  members.add_text_if_any("notes", origin.notes);
  return members.indented(2);
}

std::string written(const std::vector<RestItem>& rest) {
  std::vector<std::string> items;
  for (const RestItem& item : rest) {
    Members members;
    members.add_text("what", item.what);
    members.add_number("count", item.count);
    members.add_number("total_ns", item.total);
    items.push_back(members.on_one_line());
  }
  return json_list(items, 4);
}

std::string written(const std::vector<LossItem>& losses) {
  std::vector<std::string> items;
  for (const LossItem& loss : losses) {
    Members members;
    members.add_text("what", loss.what);
    members.add_number("count", loss.count);
    items.push_back(members.on_one_line());
  }
  return json_list(items, 4);
}

std::string written(const ClockState& clock) {
  Members members;
  members.add_number_if_any("least_mhz", clock.least_mhz);
  members.add_number_if_any("most_mhz", clock.most_mhz);
  members.add_number_if_any("samples", clock.samples);
  members.add_number_if_any("slowed_samples", clock.slowed_samples);
  members.add_number_if_any("power_capped_samples", clock.power_capped_samples);
  members.add_number_if("drift_ppm", clock.drift_ppm);
  if (clock.throttled) members.add("throttled", "true");
  return members.on_one_line();
}

std::string written(const Measurement& measurement) {
  Members members;
  if (measurement.on_cpu) members.add_text("processor", "cpu");
  members.add_number("kernels", measurement.kernels);
  members.add_number("kernel_time_ns", measurement.kernel_time);
  members.add_number("layer_time_ns", measurement.layer_time);
  if (!measurement.rest.empty()) members.add("rest", written(measurement.rest));
  if (!measurement.losses.empty()) members.add("losses", written(measurement.losses));
  members.add_number_if_any("steps", measurement.steps);
  members.add_number_if_any("warm_up_steps", measurement.warm_up_steps);
  members.add_number_if("overhead_ppm", measurement.overhead_ppm);
  members.add_number_if("overhead_run_ppm", measurement.overhead_run_ppm);
  if (measurement.clock != ClockState{}) members.add("clock", written(measurement.clock));
  return members.indented(2);
}

std::string written(const ProfiledTransformer& transformer) {
  Members members;
  members.add_number("hidden", transformer.hidden);
  members.add_number("heads", transformer.heads);
  members.add_number("kv_heads", transformer.kv_heads);
  members.add_number("head_size", transformer.head_size);
  members.add_number("feed_forward", transformer.feed_forward);
  members.add_number("vocabulary", transformer.vocabulary);
  members.add("gated", transformer.gated ? "true" : "false");
  members.add("flash_attention", transformer.flash_attention ? "true" : "false");
  members.add_number("tensor_parallel", transformer.tensor_parallel);
  return members.on_one_line();
}

std::string written(const std::vector<RankSpeed>& ranks) {
  std::vector<std::string> items;
  for (const RankSpeed& rank : ranks) {
    std::string layers;
    for (const std::string& layer : rank.layers) layers += (layers.empty() ? "" : ", ") + json_string(layer);
    Members members;
    members.add_text("rank", rank.rank);
    members.add_number_if_any("slowdown_ppm", rank.slowdown_ppm);
    members.add("layers", "[" + layers + "]");
    items.push_back(members.on_one_line());
  }
  return json_list(items, 2);
}

std::string written_layers(const std::vector<ProfileLayer>& layers) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin < layers.size();) {
    const LayerRun run = run_at(layers, begin);
    items.push_back(written(run));
    begin += run.count;
  }
  return json_list(items, 2);
}

}  // namespace

std::string write_profile(const Profile& profile) {
  Members members;
  members.add_text("schema", "debubble.profile/1");
  members.add_text("model", profile.model);
  members.add_text("dtype", profile.dtype);
  members.add_number_or_null("microbatch_size", profile.microbatch_size);
  members.add_number_or_null("sequence_length", profile.sequence_length);
  Members hop;
  hop.add_number_if("latency_ns", profile.hop_latency);
  hop.add_number_if("bandwidth_bytes_per_s", profile.hop_bandwidth);
  if (!hop.empty()) members.add("hop", hop.on_one_line());
  members.add("origin", written(profile.origin));
  if (profile.measurement) members.add("measurement", written(*profile.measurement));
  if (profile.transformer) members.add("transformer", written(*profile.transformer));
  if (!profile.ranks.empty()) members.add("ranks", written(profile.ranks));
  members.add("layers", written_layers(profile.layers));
  return members.indented(0) + "\n";
}

}  // namespace debubble
