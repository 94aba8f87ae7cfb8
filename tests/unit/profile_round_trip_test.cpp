#include "formats/profile/layer_runs.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

Profile one_layer() {
  Profile profile;
  profile.model = "m";
  profile.dtype = "fp32";
  profile.origin.times = Source::kModelled;
  profile.origin.memory = Source::kModelled;
  ProfileLayer layer;
  layer.name = "a";
  layer.forward.median = 1;
  layer.backward = TimeStatistics{2, {}, {}, 0};
  profile.layers.push_back(layer);
  return profile;
}

Measurement measured() {
  Measurement measurement;
  measurement.kernels = 12;
  measurement.kernel_time = 100;
  measurement.layer_time = 60;
  measurement.rest = {{"optimizer", 2, 30}, {"copies", 1, 10}};
  measurement.losses = {{"dropped records", 7}};
  measurement.steps = 20;
  measurement.warm_up_steps = 3;
  measurement.overhead_ppm = -1200;
  measurement.overhead_run_ppm = 145'000;
  measurement.clock = {1200, 1980, 9, 1, -31'000, true, 7};
  return measurement;
}

TEST_CASE("the text of a measurement is fixed") {
  Profile profile = one_layer();
  profile.layers[0].grad_split = GradSplit::kShape;
  profile.measurement = measured();
  const std::string text = write_profile(profile);
  CHECK(contains(text, R"(
  "measurement": {
    "kernels": 12,
    "kernel_time_ns": 100,
    "layer_time_ns": 60,
    "rest": [
      {"what": "optimizer", "count": 2, "total_ns": 30},
      {"what": "copies", "count": 1, "total_ns": 10}
    ],
    "losses": [
      {"what": "dropped records", "count": 7}
    ],
    "steps": 20,
    "warm_up_steps": 3,
    "overhead_ppm": -1200,
    "overhead_run_ppm": 145000,
    "clock": {"least_mhz": 1200, "most_mhz": 1980, "samples": 9, "slowed_samples": 1, "power_capped_samples": 7, "drift_ppm": -31000, "throttled": true}
  },
  "layers": [)"));
  CHECK(contains(text, "\n      \"grad_split\": \"shape\"\n"));
}

TEST_CASE("the text of a transformer's sizes is fixed, and comes back") {
  Profile profile = one_layer();
  profile.transformer = ProfiledTransformer{4096, 32, 8, 128, 14'336, 128'256, true, false, 4};
  const std::string text = write_profile(profile);
  CHECK(contains(text, R"(
  "transformer": {"hidden": 4096, "heads": 32, "kv_heads": 8, "head_size": 128, "feed_forward": 14336, )"
                       R"("vocabulary": 128256, "gated": true, "flash_attention": false, "tensor_parallel": 4},
  "layers": [)"));
  CHECK(read_profile(text, "m.json") == profile);
}

TEST_CASE("layers whose gradients were told apart differently are no run") {
  Profile profile = one_layer();
  profile.layers[0].name = "b.0";
  profile.layers.push_back(profile.layers[0]);
  profile.layers[1].name = "b.1";
  profile.layers[1].grad_split = GradSplit::kName;
  const std::string text = write_profile(profile);
  CHECK_FALSE(contains(text, "\"count\""));
  CHECK(read_profile(text, "p") == profile);
}

TEST_CASE("the writer's text is fixed") {
  Profile profile = one_layer();
  profile.hop_latency = 7;
  CHECK(write_profile(profile) == R"({
  "schema": "debubble.profile/1",
  "model": "m",
  "dtype": "fp32",
  "microbatch_size": null,
  "sequence_length": null,
  "hop": {"latency_ns": 7},
  "origin": {
    "times": "modelled",
    "memory": "modelled"
  },
  "layers": [
    {
      "name": "a",
      "forward": {"median_ns": 1},
      "backward": {"median_ns": 2},
      "activation_bytes": 0,
      "output_bytes": 0,
      "parameter_bytes": 0
    }
  ]
}
)");
}

TEST_CASE("a profile that uses everything survives the round trip") {
  Profile profile = one_layer();
  profile.model =
      "quotes \" back\\slash \n\t\x01 Gr\xC3\xB6\xC3\x9F"
      "e";
  profile.microbatch_size = 3;
  profile.sequence_length = 4096;
  profile.hop_latency = 0;
  profile.hop_bandwidth = kLargestSize;
  profile.origin = {Source::kMeasured, Source::kPublished, "d", "570.1", "12.8", "cupti", "2026-01-01", 5, "c", "n"};
  ProfileLayer& layer = profile.layers[0];
  layer.kind = "k";
  layer.forward = {kLongestDuration, 0, kLongestDuration, 9};
  layer.input_grad = TimeStatistics{3, 3, 3, 1};
  layer.weight_grad = TimeStatistics{};
  layer.activation = kLargestSize;
  layer.weight_grad_held = 0;
  layer.output = 5;
  layer.parameters = 6;
  layer.workspace = 7;
  layer.grad_split = GradSplit::kOrder;
  layer.kernels = {{"gemm<float>", 2, 100}, {"add", 1, 0}};
  profile.measurement = Measurement{};
  CHECK(read_profile(write_profile(profile), "p") == profile);
  profile.measurement = measured();
  CHECK(read_profile(write_profile(profile), "p") == profile);
  profile.measurement->on_cpu = true;
  CHECK(read_profile(write_profile(profile), "p") == profile);
}

TEST_CASE("equal neighbours are written once and come back as themselves") {
  Profile profile = one_layer();
  const ProfileLayer layer = profile.layers[0];
  for (const char* name :
       {"b.0", "b.1", "b.2", "b.4", "b.5", "x", "x", "b.09", "b.10", "7", "8", "b999999999", "b1000000000"}) {
    profile.layers.push_back(layer);
    profile.layers.back().name = name;
  }
  profile.layers[2].output = 1;  // b.1 differs: b.0 | b.1 | b.2 | b.4, b.5 | ...
  const std::string text = write_profile(profile);
  CHECK(read_profile(text, "p") == profile);
  std::size_t runs = 0;
  for (std::size_t at = text.find("\"count\": 2"); at != std::string::npos; at = text.find("\"count\": 2", at + 1))
    ++runs;
  CHECK(runs == 3);
  CHECK_FALSE(contains(text, "\"count\": 1"));
}

TEST_CASE("a hundred thousand equal layers take one entry") {
  Profile profile = one_layer();
  profile.layers[0].name = "block.0";
  append_run({profile.layers[0], kMostLayers}, profile.layers);
  profile.layers.erase(profile.layers.begin());
  const std::string text = write_profile(profile);
  CHECK(text.size() < 600);
  CHECK(read_profile(text, "p") == profile);
}

TEST_CASE("only numbers that can be counted on end a run's name") {
  CHECK(trailing_number("block.12") == 12);
  CHECK(trailing_number("0") == 0);
  CHECK_FALSE(trailing_number(""));
  CHECK_FALSE(trailing_number("block"));
  CHECK_FALSE(trailing_number("block.012"));
  CHECK(trailing_number("b999999999") == 999'999'999);
  CHECK_FALSE(trailing_number("b1000000000"));
  CHECK(numbered_on("b9", 1) == "b10");
  CHECK(numbered_on("b", 0) == "b");
}

}  // namespace
}  // namespace debubble
