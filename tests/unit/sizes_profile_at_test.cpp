// Profiles of one model at several sizes make a profile of another size, or are refused with the reason.
#include "cost_models/sizes/profile_at.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

double tiles_of(const RunSize& size) {
  return std::ceil(static_cast<double>(size.microbatch * size.sequence) * 3 / 10'000);
}

// The truth: waves of tiles, a factor for each phase, a fixed part.
Nanoseconds time_of(CostPhase phase, const RunSize& size) {
  const double factor = phase == CostPhase::kForward ? 1'000 : phase == CostPhase::kInputGrad ? 1'100 : 900;
  return std::llround(tiles_of(size) * factor + 500);
}

TimeStatistics measured(Nanoseconds median) { return {median, median - 10, median + 10, 20}; }

NamedProfile profile_of(std::int64_t microbatch, std::int64_t sequence) {
  const RunSize size{microbatch, sequence};
  Profile profile;
  profile.model = "stairs";
  profile.dtype = "bf16";
  profile.microbatch_size = microbatch;
  profile.sequence_length = sequence;
  profile.origin.device = "NVIDIA H100";
  profile.measurement.emplace();
  ProfileLayer layer;
  layer.name = "block.0";
  layer.kind = "transformer";
  layer.forward = measured(time_of(CostPhase::kForward, size));
  layer.input_grad = measured(time_of(CostPhase::kInputGrad, size));
  layer.weight_grad = measured(time_of(CostPhase::kWeightGrad, size));
  layer.activation = microbatch * (34 * 1024 * sequence + 80 * sequence * sequence);
  layer.weight_grad_held = microbatch * sequence * 2048;
  layer.output = microbatch * sequence * 2048;
  layer.parameters = 25'000'000;
  layer.workspace = 4096 + microbatch * sequence * 8;
  layer.kernels = {{"gemm", 4, 1000}};
  profile.layers = {layer};
  return {"b" + std::to_string(microbatch) + "-s" + std::to_string(sequence) + ".json", profile};
}

double known_waves(std::size_t /*layer*/, CostPhase /*phase*/, const RunSize& size) { return tiles_of(size); }

std::vector<NamedProfile> grid() {
  std::vector<NamedProfile> profiles;
  for (const std::int64_t sequence : {1000, 2000, 8000}) {
    for (const std::int64_t microbatch : {1, 2, 6}) profiles.push_back(profile_of(microbatch, sequence));
  }
  return profiles;
}

std::string refusal(const std::vector<NamedProfile>& profiles) {
  return problems_of([&] { check_one_model(profiles); });
}

std::string no_way(const std::vector<NamedProfile>& profiles, const RunSize& wanted) {
  return problems_of([&] { (void)profile_at(profiles, wanted, {}); });
}

TEST_CASE("profile at a size: a measured one is taken exactly as it is") {
  const std::vector<NamedProfile> profiles = grid();
  CHECK(refusal(profiles).empty());
  for (const NamedProfile& one : profiles) {
    const Profile found = profile_at(profiles, {one.profile.microbatch_size, one.profile.sequence_length}, known_waves);
    CHECK(found == one.profile);
    CHECK_FALSE(found.derived.has_value());
  }
}

TEST_CASE("profile at a size: every size of a staircase of waves is found again to the nanosecond and byte") {
  const std::vector<NamedProfile> profiles = grid();
  for (const std::int64_t sequence : {1000, 1500, 2000, 3072, 4096, 7999, 8000}) {
    for (const std::int64_t microbatch : {1, 2, 3, 4, 5, 6}) {
      CAPTURE(sequence);
      CAPTURE(microbatch);
      const RunSize size{microbatch, sequence};
      const Profile found = profile_at(profiles, size, known_waves);
      const Profile truth = profile_of(microbatch, sequence).profile;
      const ProfileLayer& layer = found.layers.at(0);
      const ProfileLayer& real = truth.layers.at(0);
      CHECK(layer.forward.median == real.forward.median);
      CHECK(layer.input_grad->median == real.input_grad->median);
      CHECK(layer.weight_grad->median == real.weight_grad->median);
      CHECK_FALSE(layer.backward.has_value());
      CHECK(layer.activation == real.activation);
      CHECK(layer.weight_grad_held == real.weight_grad_held);
      CHECK(layer.output == real.output);
      CHECK(layer.workspace == real.workspace);
      CHECK(layer.parameters == real.parameters);
      CHECK(found.microbatch_size == microbatch);
      CHECK(found.sequence_length == sequence);
      CHECK(found.model == "stairs");
    }
  }
}

TEST_CASE("profile at a size: what was not measured there is not claimed") {
  const Profile found = profile_at(grid(), {3, 3072}, known_waves);
  REQUIRE(found.derived.has_value());
  CHECK_FALSE(found.measurement.has_value());
  const ProfileLayer& layer = found.layers.at(0);
  CHECK_FALSE(layer.forward.p10.has_value());
  CHECK_FALSE(layer.forward.p90.has_value());
  CHECK(layer.forward.n == 0);
  CHECK(layer.kernels.empty());
}

TEST_CASE("profile at a size: which sizes it is made of, and by which rule") {
  const std::vector<NamedProfile> profiles = grid();
  const auto times = [&](const RunSize& size, const LayerWaves& waves) {
    return profile_at(profiles, size, waves).derived->times;
  };
  CHECK(times({3, 2000}, known_waves) == "interpolated from microbatch 2 and 6, by waves");
  CHECK(times({2, 3000}, known_waves) == "interpolated from 2000 and 8000 tokens, by waves");
  CHECK(times({3, 3000}, known_waves) == "interpolated from 2 x 2000, 6 x 2000, 2 x 8000 and 6 x 8000, by waves");
  CHECK(times({8, 2000}, known_waves) == "extrapolated from microbatch 2 and 6, by waves");
  CHECK(times({2, 500}, known_waves) == "extrapolated from 1000 and 2000 tokens, by waves");
  CHECK(times({3, 2000}, {}) == "interpolated from microbatch 2 and 6, by the achieved rate");
  CHECK(profile_at(profiles, {3, 2000}, {}).derived->sizes ==
        "interpolated from microbatch 2 and 6, polynomials through the measured sizes");
}

TEST_CASE("profile at a size: the rule is told apart layer by layer") {
  std::vector<NamedProfile> profiles{profile_of(1, 1000), profile_of(2, 1000), profile_of(6, 1000)};
  for (NamedProfile& one : profiles) {
    one.profile.layers.push_back(one.profile.layers.front());
    one.profile.layers.back().name = "loss";
    one.profile.layers.back().workspace = one.profile.microbatch_size < 6 ? 10 : 1000;
  }
  const LayerWaves first_only = [](std::size_t layer, CostPhase phase, const RunSize& size) {
    return layer == 0 ? known_waves(layer, phase, size) : 0;
  };
  const Profile found = profile_at(profiles, {4, 1000}, first_only);
  CHECK(found.derived->times ==
        "interpolated from microbatch 2 and 6, by waves in 1 of 2 layers, by the achieved rate in the others");
  CHECK(found.derived->sizes ==
        "interpolated from microbatch 2 and 6, polynomials through the measured sizes, but straight lines between "
        "neighbours in 1 of 2 layers");
  CHECK(found.layers.at(1).workspace == 505);
}

TEST_CASE("profile at a size: models without sequences know the microbatch alone") {
  std::vector<NamedProfile> profiles{profile_of(8, 1000), profile_of(32, 1000)};
  for (NamedProfile& one : profiles) one.profile.sequence_length = 0;
  CHECK(refusal(profiles).empty());
  const Profile found = profile_at(profiles, {16, 0}, {});
  CHECK(found.sequence_length == 0);
  CHECK(found.derived->times == "interpolated from microbatch 8 and 32, by the achieved rate");
  CHECK(found.layers.at(0).output == 16'000 * 2048);
}

TEST_CASE("profile at a size: without two sizes along a dimension there is no way") {
  CHECK(no_way({profile_of(2, 1000)}, {3, 1000}) ==
        "error[L025]: there are no times for 3 x 1000: one size was measured (2 x 1000)\n"
        "  = help: measure a second microbatch at that sequence; or take a measured size\n");
  const std::vector<NamedProfile> microbatches{profile_of(1, 1000), profile_of(2, 1000)};
  CHECK(no_way(microbatches, {2, 2000}) ==
        "error[L025]: there are no times for 2 x 2000: 2 sizes were measured (1 x 1000, 2 x 1000)\n"
        "  = help: measure a second sequence at that microbatch; or take a measured size\n");
  CHECK(contains(no_way(microbatches, {3, 2000}), "measure two microbatches at each of two sequences; or"));
  // An L: the corner is on no line of two.
  CHECK(contains(no_way({profile_of(1, 1000), profile_of(2, 1000), profile_of(1, 2000)}, {2, 2000}), "L025"));
  // A cross is enough: each sequence is reached by itself.
  const std::vector<NamedProfile> cross{profile_of(1, 1000), profile_of(2, 1000), profile_of(4, 2000),
                                        profile_of(8, 2000)};
  CHECK(no_way(cross, {3, 1500}).empty());
}

TEST_CASE("profile at a size: beyond what can be counted is refused") {
  std::vector<NamedProfile> profiles{profile_of(1, 1000), profile_of(2, 1000)};
  for (NamedProfile& one : profiles) one.profile.layers.at(0).forward.median = kLongestDuration / 4;
  CHECK(no_way(profiles, {100, 1000}) ==
        "error[L025]: a layer's time at 100 x 1000 is beyond what can be counted\n"
        "  = help: ask for a size nearer to those that were measured\n");
}

TEST_CASE("profiles of several models, devices or formats are refused, with every difference") {
  std::vector<NamedProfile> profiles{profile_of(1, 1000), profile_of(2, 1000)};
  Profile& other = profiles[1].profile;
  other.model = "steps";
  other.dtype = "fp16";
  other.origin.device = "NVIDIA A100";
  other.hop_latency = 5;
  const std::string text = refusal(profiles);
  CHECK(text.find("error[L020]: the profiles are not of one model: \"steps\" here, \"stairs\" in b1-s1000.json\n"
                  "  --> b2-s1000.json\n"
                  "  = help: only sizes of one measured model can be combined: leave one of the two out\n") == 0);
  CHECK(contains(text, "not of one number format: \"fp16\" here, \"bf16\" in b1-s1000.json"));
  CHECK(contains(text, "not of one device: \"NVIDIA A100\" here, \"NVIDIA H100\" in"));
  CHECK(contains(text, "not of one hop: 5 ns here, none in b1-s1000.json"));
  other = profile_of(2, 1000).profile;
  other.origin.times = Source::kModelled;
  CHECK(contains(refusal(profiles), "not of one source of times: modelled here, measured in"));
  other = profile_of(2, 1000).profile;
  other.transformer.emplace().hidden = 4096;
  CHECK(contains(refusal(profiles), "not of one transformer: hidden 4096, heads 0"));
}

TEST_CASE("profiles with other layers are refused, at the first that differs") {
  std::vector<NamedProfile> profiles{profile_of(1, 1000), profile_of(2, 1000)};
  const ProfileLayer good = profiles[1].profile.layers.at(0);
  ProfileLayer layer = good;
  const auto message = [&] {
    profiles[1].profile.layers.at(0) = layer;
    layer = good;
    const std::string text = refusal(profiles);
    return text.substr(0, text.find('\n'));
  };
  layer.parameters = 1;
  CHECK(message() == "error[L020]: layer 0, \"block.0\": its parameters take 1 bytes here, 25000000 in b1-s1000.json");
  layer.name = "block.1";
  CHECK(message() == "error[L020]: layer 0, \"block.1\": its name is \"block.0\" in b1-s1000.json");
  layer.kind = "head";
  CHECK(message() == "error[L020]: layer 0, \"block.0\": its kind is \"head\" here, \"transformer\" in b1-s1000.json");
  layer.weight_grad_held.reset();
  CHECK(message() ==
        "error[L020]: layer 0, \"block.0\": it knows input_grad weight_grad here, input_grad weight_grad "
        "weight_grad_held_bytes in b1-s1000.json");
  profiles[1].profile.layers.push_back(good);
  CHECK(message() == "error[L020]: 2 layers here, 1 in b1-s1000.json");
}

TEST_CASE("profiles of unknown sizes, or of one size twice, are refused") {
  CHECK(refusal({profile_of(1, 1000), profile_of(1, 1000)}) ==
        "error[L020]: the size 1 x 1000 was measured twice: b1-s1000.json is of it, too\n"
        "  --> b1-s1000.json\n"
        "  = help: leave one of the two out\n");
  NamedProfile unknown = profile_of(2, 1000);
  unknown.profile.microbatch_size = 0;
  CHECK(refusal({profile_of(1, 1000), unknown}) ==
        "error[L020]: \"microbatch_size\" is null: which size this is of is not known\n"
        "  --> b2-s1000.json\n"
        "  = help: write the number there; `debubble import --microbatch-size N --sequence N` sets both\n");
  unknown = profile_of(2, 1000);
  unknown.profile.sequence_length = 0;
  CHECK(contains(refusal({profile_of(1, 1000), unknown}), "\"sequence_length\" is null"));
  CHECK(refusal({unknown}).empty());  // one alone may be of any size
}

}  // namespace
}  // namespace debubble
