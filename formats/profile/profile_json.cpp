#include "formats/profile/profile_json.hpp"

#include <array>
#include <limits>
#include <map>
#include <utility>

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/profile/layer_runs.hpp"
#include "formats/profile/measurement_json.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

constexpr std::string_view kProfileSchema = "debubble.profile/1";
constexpr std::int64_t kMostInProfile = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kWidestProfile = 10'000'000;
constexpr std::int64_t kMostProfileRanks = 1'000'000;
constexpr IntegerRule kDuration{"nanoseconds", 0, kLongestDuration,
                                "durations are integers in nanoseconds: 1.5 ms is 1500000"};
constexpr IntegerRule kProfileSize{"bytes", 0, kLargestSize, "sizes are integers in bytes: 1.5 MiB is 1572864"};
constexpr IntegerRule kProfileBandwidth{"bytes per second", 1, kLargestSize, "12.5 GB/s is 12500000000"};
constexpr IntegerRule kProfileSamples{"samples", 1, kMostInProfile, "null means an unknown microbatch size"};
constexpr IntegerRule kProfileTokens{"tokens", 1, kMostInProfile, "null means a model without sequences"};
constexpr IntegerRule kDimension{"numbers", 1, kWidestProfile, "the whole model's size, before it is split over ranks"};
constexpr IntegerRule kRanks{"ranks", 1, kMostProfileRanks, "1 where the model was not split"};
constexpr IntegerRule kRepetitions{"repetitions", 0, kMostInProfile, "leave the key out when it is unknown"};
constexpr IntegerRule kCalls{"calls", 1, kMostInProfile, "leave out kernels that never ran"};
constexpr IntegerRule kSlowdown{"millionths", -900'000, 99'000'000, "250000 is a quarter longer than the other ranks"};
constexpr IntegerRule kLayerRule{"layers", 1, static_cast<std::int64_t>(kMostLayers),
                                 "count says how many equal layers follow one another"};

TimeStatistics read_times(const JsonValue& value, std::string pointer, ProblemList& problems) {
  JsonObjectReader reader(value, std::move(pointer), problems);
  TimeStatistics times;
  if (!reader.is_object()) return times;
  times.median = reader.integer("median_ns", kDuration);
  times.p10 = reader.optional_integer("p10_ns", kDuration);
  times.p90 = reader.optional_integer("p90_ns", kDuration);
  times.n = reader.optional_integer("n", kRepetitions).value_or(0);
  reader.finish();
  if (times.p10.value_or(times.median) > times.median || times.p90.value_or(times.median) < times.median) {
    reader.complain("P012", "", "the percentiles must be in order: p10_ns <= median_ns <= p90_ns",
                    "leave out percentiles that were not measured");
  }
  return times;
}

std::optional<TimeStatistics> read_optional_times(JsonObjectReader& layer, std::string_view key,
                                                  ProblemList& problems) {
  const JsonValue* value = layer.member(key, false);
  if (value == nullptr) return std::nullopt;
  return read_times(*value, layer.pointer_to(key), problems);
}

std::vector<KernelSummary> read_kernels(JsonObjectReader& layer, ProblemList& problems) {
  std::vector<KernelSummary> kernels;
  const JsonValue* list = layer.optional_array("kernels");
  if (list == nullptr) return kernels;
  for (const JsonValue& item : list->children) {
    JsonObjectReader reader(item, layer.pointer_to("kernels/" + std::to_string(kernels.size())), problems);
    KernelSummary& kernel = kernels.emplace_back();
    if (!reader.is_object()) continue;
    kernel.name = reader.text("name");
    kernel.count = reader.integer("count", kCalls);
    kernel.total = reader.integer("total_ns", kDuration);
    reader.finish();
  }
  return kernels;
}

GradSplit read_grad_split(JsonObjectReader& layer) {
  constexpr std::array kAll{GradSplit::kNone, GradSplit::kRange, GradSplit::kShape, GradSplit::kName,
                            GradSplit::kOrder};
  const JsonValue* value = layer.member("grad_split", false);
  if (value == nullptr) return GradSplit::kNone;
  for (const GradSplit split : kAll) {
    if (value->kind == JsonValue::Kind::kString && value->text == to_string(split)) return split;
  }
  layer.complain(
      "P011", "grad_split",
      "\"grad_split\" must be \"none\", \"range\", \"shape\", \"name\" or \"order\"; got " + describe(*value),
      "it says by what the backward was divided into its halves");
  return GradSplit::kNone;
}

// A layer has its whole backward, or both halves, or all three.
void check_backward(const ProfileLayer& layer, JsonObjectReader& reader) {
  const bool input = layer.input_grad.has_value();
  const bool weight = layer.weight_grad.has_value();
  if (input != weight) {
    const char* missing = input ? "\"weight_grad\"" : "\"input_grad\"";
    reader.complain("P012", "", std::string("one half of the backward has no time: ") + missing + " is missing",
                    "give both halves, or only \"backward\", their sum");
  } else if (!input && !layer.backward) {
    reader.complain("P006", "", "the layer has no backward time",
                    "give \"backward\", or both \"input_grad\" and \"weight_grad\"");
  }
}

LayerRun read_profile_layer(const JsonValue& value, std::string pointer, ProblemList& problems) {
  JsonObjectReader reader(value, std::move(pointer), problems);
  LayerRun run;
  ProfileLayer& layer = run.first;
  if (!reader.is_object()) return run;
  layer.name = reader.text("name");
  layer.kind = reader.optional_text("kind");
  run.count = static_cast<std::size_t>(reader.optional_integer("count", kLayerRule).value_or(1));
  if (const JsonValue* forward = reader.member("forward", true)) {
    layer.forward = read_times(*forward, reader.pointer_to("forward"), problems);
  }
  layer.backward = read_optional_times(reader, "backward", problems);
  layer.input_grad = read_optional_times(reader, "input_grad", problems);
  layer.weight_grad = read_optional_times(reader, "weight_grad", problems);
  layer.activation = reader.integer("activation_bytes", kProfileSize);
  layer.weight_grad_held = reader.optional_integer("weight_grad_held_bytes", kProfileSize);
  layer.output = reader.integer("output_bytes", kProfileSize);
  layer.parameters = reader.integer("parameter_bytes", kProfileSize);
  layer.workspace = reader.optional_integer("workspace_bytes", kProfileSize).value_or(0);
  layer.grad_split = read_grad_split(reader);
  layer.kernels = read_kernels(reader, problems);
  reader.finish();
  check_backward(layer, reader);
  if (run.count > 1 && !trailing_number(layer.name)) {
    reader.complain("P012", "name", "a name with \"count\" must end in a number; got " + in_quotes(layer.name),
                    "the layers of a run are numbered on: \"block.0\" with count 2 is block.0 and block.1");
  }
  return run;
}

std::vector<ProfileLayer> read_layers(JsonObjectReader& top, ProblemList& problems) {
  std::vector<ProfileLayer> layers;
  const JsonValue* list = top.array("layers");
  if (list == nullptr) return layers;
  if (list->children.empty()) {
    top.complain("P016", "layers", "a profile has at least one layer",
                 "docs/profile.schema.json shows how to describe one");
  }
  std::size_t index = 0;
  bool fits = true;
  for (const JsonValue& item : list->children) {
    const LayerRun run = read_profile_layer(item, top.pointer_to("layers/" + std::to_string(index++)), problems);
    fits = fits && run.count <= kMostLayers - layers.size();
    if (fits) append_run(run, layers);
  }
  if (!fits) {
    top.complain("P017", "layers", "more than " + std::to_string(kMostLayers) + " layers",
                 "merge layers that no partition will ever separate");
  }
  return layers;
}

Source read_time_source(JsonObjectReader& reader, std::string_view key) {
  constexpr std::array kAllowed{Source::kMeasured, Source::kPublished, Source::kModelled};
  const JsonValue* value = reader.member(key, true);
  if (value == nullptr) return Source::kModelled;
  for (const Source source : kAllowed) {
    if (value->kind == JsonValue::Kind::kString && value->text == to_string(source)) return source;
  }
  reader.complain("P011", key,
                  in_quotes(key) + " must be \"measured\", \"published\" or \"modelled\"; got " + describe(*value),
                  "it says how far the numbers can be trusted");
  return Source::kModelled;
}

ProfileOrigin read_profile_origin(const JsonValue& value, ProblemList& problems) {
  JsonObjectReader reader(value, "/origin", problems);
  ProfileOrigin origin;
  if (!reader.is_object()) return origin;
  origin.times = read_time_source(reader, "times");
  origin.memory = read_time_source(reader, "memory");
  origin.device = reader.optional_text("device");
  origin.driver = reader.optional_text("driver");
  origin.cuda = reader.optional_text("cuda");
  origin.method = reader.optional_text("method");
  origin.date = reader.optional_text("date");
  origin.repetitions = reader.optional_integer("repetitions", kRepetitions).value_or(0);
  origin.citation = reader.optional_text("citation");
  origin.notes = reader.optional_text("notes");
  reader.finish();
  const auto any = [&](Source source) { return origin.times == source || origin.memory == source; };
  if (any(Source::kMeasured) && origin.device.empty()) {
    reader.complain("P006", "", "measured numbers need the \"device\" they were measured on",
                    "for example \"device\": \"NVIDIA H200\"");
  }
  if (any(Source::kPublished) && origin.citation.empty()) {
    reader.complain("P006", "", "published numbers need a \"citation\"", "authors, title, venue, table or file");
  }
  return origin;
}

void read_hop(JsonObjectReader& top, Profile& profile, ProblemList& problems) {
  const JsonValue* value = top.member("hop", false);
  if (value == nullptr) return;
  JsonObjectReader reader(*value, "/hop", problems);
  profile.hop_latency = reader.optional_integer("latency_ns", kDuration);
  profile.hop_bandwidth = reader.optional_integer("bandwidth_bytes_per_s", kProfileBandwidth);
  reader.finish();
}

void read_transformer(JsonObjectReader& top, Profile& profile, ProblemList& problems) {
  const JsonValue* value = top.member("transformer", false);
  if (value == nullptr) return;
  JsonObjectReader reader(*value, "/transformer", problems);
  if (!reader.is_object()) return;
  ProfiledTransformer& transformer = profile.transformer.emplace();
  transformer.hidden = reader.integer("hidden", kDimension);
  transformer.heads = reader.integer("heads", kDimension);
  transformer.kv_heads = reader.integer("kv_heads", kDimension);
  transformer.head_size = reader.integer("head_size", kDimension);
  transformer.feed_forward = reader.integer("feed_forward", kDimension);
  transformer.vocabulary = reader.integer("vocabulary", kDimension);
  transformer.gated = reader.flag("gated", "without quotes");
  transformer.flash_attention = reader.flag("flash_attention", "without quotes");
  transformer.tensor_parallel = reader.integer("tensor_parallel", kRanks);
  reader.finish();
}

bool has_profile_schema(JsonObjectReader& top) {
  return top.has_format("schema", kProfileSchema,
                        "debubble reads profiles of this version only; `debubble import` converts other formats");
}

// Names of layers that the profile has, each of one rank.
std::vector<std::string> read_rank_layers(JsonObjectReader& rank, const std::string& pointer,
                                          std::map<std::string, bool>& taken, ProblemList& problems) {
  std::vector<std::string> names;
  const JsonValue* list = rank.array("layers");
  if (list == nullptr) return names;
  for (const JsonValue& item : list->children) {
    const std::string at = "layers/" + std::to_string(names.size());
    names.push_back(item.text);
    const auto layer = taken.find(item.text);
    if (item.kind != JsonValue::Kind::kString || layer == taken.end()) {
      problems.add_at_pointer(
          "P012", pointer + "/" + at,
          "no layer has the name " + (item.kind == JsonValue::Kind::kString ? in_quotes(item.text) : describe(item)),
          "a rank lists its layers by their names in \"layers\", each of a run: \"block.4\", \"block.5\"");
    } else if (std::exchange(layer->second, true)) {
      problems.add_at_pointer("P012", pointer + "/" + at,
                              "the layer " + in_quotes(item.text) + " is given to two ranks",
                              "each layer was measured on one");
    }
  }
  return names;
}

void read_ranks(JsonObjectReader& top, Profile& profile, ProblemList& problems) {
  const JsonValue* list = top.optional_array("ranks");
  if (list == nullptr) return;
  std::map<std::string, bool> taken;
  for (const ProfileLayer& layer : profile.layers) taken.emplace(layer.name, false);
  for (const JsonValue& item : list->children) {
    const std::string pointer = top.pointer_to("ranks/" + std::to_string(profile.ranks.size()));
    JsonObjectReader reader(item, pointer, problems);
    RankSpeed& rank = profile.ranks.emplace_back();
    if (!reader.is_object()) continue;
    rank.rank = reader.text("rank");
    rank.slowdown_ppm = reader.optional_integer("slowdown_ppm", kSlowdown).value_or(0);
    rank.layers = read_rank_layers(reader, pointer, taken, problems);
    reader.finish();
  }
}

Profile read_profile_top(JsonObjectReader& top, ProblemList& problems) {
  Profile profile;
  profile.model = top.text("model");
  profile.dtype = top.text("dtype");
  profile.microbatch_size = top.integer_or_null("microbatch_size", kProfileSamples);
  profile.sequence_length = top.integer_or_null("sequence_length", kProfileTokens);
  read_hop(top, profile, problems);
  if (const JsonValue* origin = top.member("origin", true)) profile.origin = read_profile_origin(*origin, problems);
  if (const JsonValue* measurement = top.member("measurement", false)) {
    profile.measurement = read_measurement(*measurement, problems);
  }
  read_transformer(top, profile, problems);
  profile.layers = read_layers(top, problems);
  read_ranks(top, profile, problems);
  top.finish();
  return profile;
}

}  // namespace

Profile read_profile(std::string_view text, const std::string& name) {
  ProblemList problems(name);
  Profile profile;
  if (const std::optional<JsonValue> root = parse_json(text, problems)) {
    JsonObjectReader top(*root, "", problems);
    if (has_profile_schema(top)) profile = read_profile_top(top, problems);
  }
  problems.throw_if_any();
  return profile;
}

}  // namespace debubble
