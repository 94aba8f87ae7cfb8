// The profiles in traces/published give back the figures that were published.
#include "cost_models/partition/partition.hpp"
#include "cost_models/profiled.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

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
