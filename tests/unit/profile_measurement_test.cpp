#include "cost_models/partition/partition.hpp"
#include "cost_models/profiled.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

const std::string kGood = R"({
  "schema": "debubble.profile/1", "model": "tiny", "dtype": "bf16", "microbatch_size": 2, "sequence_length": 128,
  "origin": {"times": "measured", "memory": "measured", "device": "NVIDIA H200"},
  "measurement": {
    "kernels": 12, "kernel_time_ns": 100, "layer_time_ns": 60,
    "rest": [{"what": "optimizer", "count": 2, "total_ns": 30}, {"what": "copies", "count": 1, "total_ns": 10}],
    "losses": [{"what": "dropped records", "count": 7}],
    "steps": 20, "warm_up_steps": 3, "overhead_ppm": -1200,
    "clock": {"least_mhz": 1200, "most_mhz": 1980, "samples": 9, "slowed_samples": 1, "drift_ppm": 31000, "throttled": true}
  },
  "layers": [
    {"name": "a", "forward": {"median_ns": 1}, "backward": {"median_ns": 2}, "activation_bytes": 1, "output_bytes": 1,
     "parameter_bytes": 1, "grad_split": "range"}
  ]
}
)";

std::string complaint_after(const std::string& from, const std::string& to) {
  return problems_of([&] { (void)read_profile(replaced(kGood, from, to), "m.json"); });
}

TEST_CASE("every field of a measurement arrives") {
  const Profile profile = read_profile(kGood, "m.json");
  REQUIRE(profile.measurement);
  const Measurement& measurement = *profile.measurement;
  CHECK(measurement.kernels == 12);
  CHECK(measurement.kernel_time == 100);
  CHECK(measurement.layer_time == 60);
  CHECK(measurement.rest == std::vector<RestItem>{{"optimizer", 2, 30}, {"copies", 1, 10}});
  CHECK(measurement.losses == std::vector<LossItem>{{"dropped records", 7}});
  CHECK(measurement.steps == 20);
  CHECK(measurement.warm_up_steps == 3);
  CHECK(measurement.overhead_ppm == -1200);
  CHECK(measurement.clock == ClockState{1200, 1980, 9, 1, 31'000, true});
  CHECK(profile.layers[0].grad_split == GradSplit::kRange);
}

TEST_CASE("a profile from before there were measurements has none") {
  const std::size_t begin = kGood.find("  \"measurement\"");
  const std::size_t end = kGood.find("  \"layers\"");
  const std::string old = replaced(kGood.substr(0, begin) + kGood.substr(end), ", \"grad_split\": \"range\"", "");
  const Profile profile = read_profile(old, "m.json");
  CHECK_FALSE(profile.measurement);
  CHECK(profile.layers[0].grad_split == GradSplit::kNone);
}

TEST_CASE("layers and rest of a measurement must add up to the nanosecond") {
  CHECK(complaint_after("\"layer_time_ns\": 60", "\"layer_time_ns\": 61") ==
        "error[P012]: layers and rest must add up to all GPU time: kernel_time_ns is 100, layer_time_ns and rest are "
        "101\n"
        "  --> m.json#/measurement\n"
        "  = help: nothing is left out of a measurement: what belongs to no layer is in \"rest\"\n");
  CHECK(complaint_after("\"total_ns\": 30", "\"total_ns\": 29").find("error[P012]") == 0);
  CHECK(complaint_after("\"kernel_time_ns\": 100", "\"kernel_time_ns\": 99").find("error[P012]") == 0);
  CHECK(complaint_after("{\"what\": \"copies\", \"count\": 1, \"total_ns\": 10}",
                        "{\"what\": \"copies\", \"count\": 1, \"total_ns\": 9}, "
                        "{\"what\": \"sets\", \"count\": 1, \"total_ns\": 1}")
            .empty());
}

TEST_CASE("a measurement cannot discard more steps than it saw") {
  CHECK(complaint_after("\"warm_up_steps\": 3", "\"warm_up_steps\": 21") ==
        "error[P012]: more steps were discarded than seen\n"
        "  --> m.json#/measurement/warm_up_steps\n"
        "  = help: at most 20\n");
  CHECK(complaint_after("\"warm_up_steps\": 3", "\"warm_up_steps\": 20").empty());
}

TEST_CASE("the clock's numbers must agree") {
  const std::string expected =
      "error[P012]: the clock's numbers contradict one another\n"
      "  --> m.json#/measurement/clock\n"
      "  = help: least_mhz <= most_mhz; slowed_samples and power_capped_samples <= samples\n";
  CHECK(complaint_after("\"least_mhz\": 1200", "\"least_mhz\": 1981") == expected);
  CHECK(complaint_after("\"slowed_samples\": 1", "\"slowed_samples\": 10") == expected);
  CHECK(complaint_after("\"slowed_samples\": 1", "\"power_capped_samples\": 10") == expected);
  CHECK(complaint_after("\"least_mhz\": 1200", "\"least_mhz\": 1980").empty());
  CHECK(complaint_after("\"throttled\": true", "\"throttled\": 1") ==
        "error[P007]: \"throttled\" must be true or false; got 1\n"
        "  --> m.json#/measurement/clock/throttled\n"
        "  = help: leave the key out for false\n");
}

TEST_CASE("the division of a backward is one of its words") {
  CHECK(complaint_after("\"range\"", "\"guess\"") ==
        "error[P011]: \"grad_split\" must be \"none\", \"range\", \"shape\", \"name\" or \"order\"; got the string "
        "\"guess\"\n"
        "  --> m.json#/layers/0/grad_split\n"
        "  = help: it says by what the backward was divided into its halves\n");
  for (const char* word : {"none", "shape", "name", "order"}) {
    CHECK(complaint_after("\"range\"", "\"" + std::string(word) + "\"").empty());
  }
}

TEST_CASE("a measurement's members are read as strictly as all others") {
  CHECK(contains(complaint_after("\"kernels\": 12", "\"kernals\": 12"), "did you mean \"kernels\"?"));
  CHECK(complaint_after("\"overhead_ppm\": -1200", "\"overhead_ppm\": -1000001").find("error[P004]") == 0);
  CHECK(complaint_after("\"count\": 7", "\"count\": 0").find("error[P004]") == 0);
  CHECK(complaint_after("\"what\": \"dropped records\"", "\"what\": \"\"").find("error[P019]") == 0);
  CHECK(complaint_after("\"most_mhz\": 1980", "\"most_mhz\": 2147483648").find("error[P004]") == 0);
  CHECK(complaint_after("[{\"what\": \"dropped records\", \"count\": 7}]", "7").find("error[P007]") == 0);
  CHECK(contains(complaint_after("{\"what\": \"dropped records\", \"count\": 7}", "7"),
                 "m.json#/measurement/losses/0\n"));
}

// The profiles in traces/published give back the figures that were published.

Profile published(const std::string& name, std::string* text = nullptr) {
  const std::string path = debubble::testing::source_directory() + "/traces/published/" + name + ".json";
  const std::string found = contents_of(path);
  if (text != nullptr) *text = found;
  return read_profile(found, path);
}

// One row of the Zero Bubble paper's bubble-rate table, in microseconds, and M_W / M_B in units of 0.0001.
struct ZeroBubbleRow {
  const char* name;
  int stages;
  Nanoseconds forward;
  Nanoseconds input_grad;
  Nanoseconds weight_grad;
  Nanoseconds hop;
  std::int64_t held_ratio;
};

constexpr std::array kZeroBubble{
    ZeroBubbleRow{"zb-a100-1.5b-m24", 8, 18522, 18086, 9337, 601, 3664},
    ZeroBubbleRow{"zb-a100-1.5b-m32", 8, 18513, 18086, 9331, 626, 3664},
    ZeroBubbleRow{"zb-a100-1.5b-m64", 8, 18546, 18097, 9321, 762, 3664},
    ZeroBubbleRow{"zb-a100-6.2b-m24", 8, 29718, 29444, 19927, 527, 4324},
    ZeroBubbleRow{"zb-a100-6.2b-m32", 8, 29802, 29428, 19530, 577, 4324},
    ZeroBubbleRow{"zb-a100-6.2b-m64", 8, 29935, 29621, 19388, 535, 4324},
    ZeroBubbleRow{"zb-a100-14.6b-m48", 16, 11347, 11248, 8132, 377, 4324},
    ZeroBubbleRow{"zb-a100-14.6b-m64", 16, 11307, 11254, 8101, 379, 4324},
    ZeroBubbleRow{"zb-a100-14.6b-m128", 16, 11325, 11308, 8109, 378, 4324},
    ZeroBubbleRow{"zb-a100-28.3b-m96", 32, 10419, 10207, 7715, 408, 4324},
    ZeroBubbleRow{"zb-a100-28.3b-m128", 32, 10408, 10204, 7703, 408, 4324},
    ZeroBubbleRow{"zb-a100-28.3b-m256", 32, 10402, 10248, 7698, 460, 4324},
};

TEST_CASE("the Zero Bubble profiles give every stage exactly its published time") {
  for (const ZeroBubbleRow& row : kZeroBubble) {
    CAPTURE(row.name);
    const Profile profile = published(row.name);
    CHECK(profile.hop_latency == row.hop * 1000);
    const std::vector<int> partition = cut_layers({}, {&profile, row.stages}).layers;
    const std::vector<int> equal(static_cast<std::size_t>(row.stages),
                                 static_cast<int>(profile.layers.size()) / row.stages);
    CHECK(partition == equal);
    std::vector<Assumption> assumptions;
    for (const StageCost& stage : profiled_costs(profile, partition, {}, 1.0, assumptions).stages) {
      CHECK(stage.forward == row.forward * 1000);
      CHECK(stage.input_grad == row.input_grad * 1000);
      CHECK(stage.weight_grad == row.weight_grad * 1000);
      CHECK(stage.backward == (row.input_grad + row.weight_grad) * 1000);
      CHECK((stage.weight_grad_held * 10'000 + stage.activation / 2) / stage.activation == row.held_ratio);
    }
  }
}

TEST_CASE("the BERT profiles give the published block") {
  const Profile large = published("bert-large-p100");
  REQUIRE(large.layers.size() == 24);
  CHECK(large.layers[23].forward.median == 16'100'400);
  CHECK(large.layers[23].backward->median == 26'952'900);
  CHECK(large.layers[23].activation == 369'203'610);  // 352.1 MiB
  CHECK(large.origin.memory == Source::kPublished);
  const Profile base = published("bert-base-p100");
  REQUIRE(base.layers.size() == 12);
  CHECK(base.layers[0].forward.median == 9'748'100);
  CHECK(base.layers[0].backward->median == 16'450'200);
  CHECK(base.origin.memory == Source::kModelled);
}

TEST_CASE("the published profiles are written as our own writer writes them") {
  std::vector<std::string> names{"bert-large-p100", "bert-base-p100"};
  for (const ZeroBubbleRow& row : kZeroBubble) names.emplace_back(row.name);
  for (const std::string& name : names) {
    std::string text;
    const Profile profile = published(name, &text);
    CHECK(write_profile(profile) == text);
    CHECK(profile.origin.times == Source::kPublished);
  }
}

}  // namespace
}  // namespace debubble
