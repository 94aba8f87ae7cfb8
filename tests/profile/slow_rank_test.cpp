// A rank of a pipeline that is slower than the others: told from slow layers when recordings are joined, and a device's
// in every simulation. Through the real command.
#include "formats/profile/profile_json.hpp"
#include "profiler/ranks/rank_comparison.hpp"
#include "tests/profile/fakes.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

// Blocks first .. first + count - 1, each of `time` forward and twice that backward, in a stage's own profile.
ProfileLayer block_of(int number, Nanoseconds time, Bytes parameters = 1'000'000) {
  ProfileLayer layer;
  layer.name = "layers." + std::to_string(number);
  layer.kind = "transformer";
  layer.forward = {time, time, time, 8};
  layer.backward = TimeStatistics{2 * time, 2 * time, 2 * time, 8};
  layer.output = 4096;
  layer.activation = 100'000;
  layer.parameters = parameters;
  return layer;
}

StageLayers stage(const std::string& label, int first, int count, Nanoseconds time, Bytes parameters = 1'000'000) {
  StageLayers made{label, {}};
  for (int k = 0; k < count; ++k) made.layers.push_back(block_of(first + k, time, parameters));
  return made;
}

void write_stage(const Folder& folder, const std::string& name, const StageLayers& made) {
  Profile profile;
  profile.model = "tiny";
  profile.dtype = "bf16";
  profile.microbatch_size = 1;
  profile.origin.device = "NVIDIA H100";
  profile.layers = made.layers;
  folder.write(name, write_profile(profile));
}

// Four ranks of six equal blocks each; rank 2 takes `slow` for one, the others 100 us.
Profile joined_with(const Folder& folder, Nanoseconds slow, std::string* notes = nullptr) {
  Words command = "import --from profiles";
  for (int rank = 0; rank < 4; ++rank) {
    const std::string name = "rank" + std::to_string(rank) + ".json";
    write_stage(folder, name, stage(name, 6 * rank, 6, rank == 2 ? slow : 100'000));
    command.push_back(name);
  }
  command.insert(command.end(), {"-o", "model.json"});
  const Outcome outcome = folder.run(command);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  if (notes != nullptr) *notes = outcome.err;
  return read_profile(folder.read("model.json"), "model.json");
}

TEST_CASE("a rank that takes longer for the same layers is named, and its times stay as measured") {
  const Folder folder;
  std::string notes;
  const Profile profile = joined_with(folder, 150'000, &notes);
  CHECK(contains(notes,
                 "note: rank2.json takes 1.50 times as long as other ranks for layers of the same kind: 450.0 us a "
                 "layer, not 300.0 us"));
  CHECK(contains(profile.origin.notes, "rank2.json takes 1.50 times"));
  REQUIRE(profile.ranks.size() == 4);
  CHECK(profile.ranks[0].slowdown_ppm == 0);
  CHECK(profile.ranks[2].slowdown_ppm == 500'000);
  CHECK(profile.ranks[2].layers.front() == "layers.12");
  CHECK(profile.layers[12].forward.median == 150'000);
  CHECK(as_of_equal_ranks(profile).layers[12].forward.median == 100'000);
  CHECK(as_of_equal_ranks(profile).layers[11].forward.median == 100'000);
  CHECK(read_profile(write_profile(profile), "again") == profile);
}

TEST_CASE("ranks within a tenth are alike") {
  const Folder folder;
  std::string notes;
  CHECK(joined_with(folder, 110'000, &notes).ranks.empty());
  CHECK_FALSE(contains(notes, "times as long"));
  CHECK(joined_with(folder, 111'000).ranks.at(2).slowdown_ppm == 110'000);
  CHECK(joined_with(folder, 80'000).ranks.at(2).slowdown_ppm == -200'000);  // a faster one
}

TEST_CASE("a slow rank is a slow device of the simulation, and explain step moves layers off it") {
  const Folder folder;
  static_cast<void>(joined_with(folder, 150'000));
  const Words job = "--profile model.json --schedule 1f1b -p 4 -m 16";
  const auto with = [&](Words verb, const Words& more = {}) {
    verb.insert(verb.end(), job.begin(), job.end());
    verb.insert(verb.end(), more.begin(), more.end());
    const Outcome outcome = folder.run(verb);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome.out;
  };
  const std::string simulated = with("simulate --assumptions");
  CHECK(contains(simulated, "devices=1,1,1.5,1, as the ranks of model.json"));
  const std::string explained = with("explain step", "--width 200");
  CHECK(contains(explained, "layers moved from slow to fast stages (--partition auto): 7,7,3,7"));
  // As if the same were given by hand, of layers that are alike.
  const Profile alike = [&] {
    Profile profile = as_of_equal_ranks(read_profile(folder.read("model.json"), "model.json"));
    profile.ranks.clear();
    return profile;
  }();
  folder.write("alike.json", write_profile(alike));
  const auto step = [&](const std::string& profile, const Words& more) {
    Words command{"simulate", "--profile", profile, "-p", "4", "-m", "16", "--format", "json"};
    command.insert(command.end(), more.begin(), more.end());
    const std::string json = folder.run(command).out;
    const std::size_t at = json.find("\"makespan_ns\": ");
    REQUIRE(at != std::string::npos);
    return json.substr(at, json.find(',', at) - at);
  };
  CHECK(step("model.json", {}) == step("alike.json", "--slow devices=1,1,1.5,1"));
  CHECK(step("model.json", "--partition auto") == step("alike.json", "--slow devices=1,1,1.5,1 --partition auto"));
  CHECK(step("model.json", "--slow device=2:0.5") == step("alike.json", "--slow device=2:0.75"));
}

TEST_CASE("on another number of devices nobody knows which would be slow: all layers count alike, and that is said") {
  const Folder folder;
  static_cast<void>(joined_with(folder, 150'000));
  const Outcome outcome = folder.run("simulate --profile model.json -p 3 -m 6 --assumptions --width 300");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "not the ranks of model.json (devices=1,1,1.5,1), which are 4 and not 3"));
  const Outcome live = folder.run("live --profile model.json -p 4 -m 4 --clock logical");
  CAPTURE(live.err);
  CHECK(live.status == 0);  // no flag asked for slow devices
  const Outcome plan = folder.run("plan --profile model.json --gpus 4 --global-batch 8");
  CHECK(plan.status == 0);
  CHECK(contains(plan.out, "ranks"));
}

TEST_CASE("whatif keeps the slow rank in both runs") {
  const Folder folder;
  static_cast<void>(joined_with(folder, 150'000));
  const Outcome outcome = folder.run("whatif --profile model.json -p 4 -m 8 --slow device=1:1.2 --width 200");
  CAPTURE(outcome.out);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "device 1 takes 1.2 times as long"));
  CHECK_FALSE(contains(outcome.out, "devices take 1,1,1.5,1"));
}

TEST_CASE("what cannot be compared is said") {
  const RankComparison other_sizes =
      compare_ranks({stage("rank 0", 0, 2, 100'000), stage("rank 1", 2, 2, 200'000, 9'000'000)});
  CHECK_FALSE(other_sizes.any_apart());
  REQUIRE(other_sizes.notes.size() == 1);
  CHECK(other_sizes.notes[0] ==
        "no layer is like one of another rank (name but for its number, kind, sizes): a slow rank cannot be told from "
        "slow layers");
  StageLayers head{"rank 2", {block_of(0, 500'000)}};
  head.layers[0].name = "head";
  const RankComparison alone = compare_ranks({stage("rank 0", 0, 2, 100'000), stage("rank 1", 2, 2, 130'000), head});
  CHECK(alone.ppm == std::vector<std::int64_t>{0, 300'000, 0});
  REQUIRE(alone.notes.size() == 2);
  CHECK(alone.notes[1] ==
        "no layer like those of rank 2 is on another rank: whether it is slow, or its layers are, cannot be told");
  // One that keeps less for the backward recomputes, and takes longer for it.
  StageLayers recomputes = stage("rank 1", 2, 2, 130'000);
  for (ProfileLayer& layer : recomputes.layers) layer.activation /= 10;
  CHECK_FALSE(compare_ranks({stage("rank 0", 0, 2, 100'000), recomputes}).any_apart());
  const RankComparison unknown = compare_ranks({stage("a", 0, 2, 100'000, 0), stage("b", 2, 2, 130'000, 0)});
  CHECK(unknown.notes.back() == "the layers' sizes are not known: which of them are alike follows from their names");
  CHECK_FALSE(compare_ranks({stage("a", 0, 2, 1'000), stage("b", 2, 2, 2'000)}).any_apart());  // 3 us a layer apart
}

TEST_CASE("ranks of a profile must have its layers, each once") {
  const Folder folder;
  static_cast<void>(joined_with(folder, 150'000));
  const std::string good = folder.read("model.json");
  const auto refused = [&](const std::string& from, const std::string& to) {
    const std::size_t at = good.rfind(from, good.find("\"layers\": [\n"));
    REQUIRE(at != std::string::npos);
    folder.write("bad.json", std::string(good).replace(at, from.size(), to));
    return folder.refusal("simulate --profile bad.json -p 4 -m 4");
  };
  CHECK(contains(refused("\"layers.12\"", "\"layers.99\""), "error[P012]: no layer has the name \"layers.99\""));
  CHECK(
      contains(refused("\"layers.12\"", "\"layers.0\""), "error[P012]: the layer \"layers.0\" is given to two ranks"));
  CHECK(contains(refused("500000", "-1000000"), "error[P0"));
}

}  // namespace
}  // namespace debubble::testing
