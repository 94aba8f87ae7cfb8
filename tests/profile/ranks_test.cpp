// Several ranks of one training: replicas are one stage, stages are one model, `--rank` takes one of them alone.
// Through the real command, on fake_training, whose times are known.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "formats/profile/profile_json.hpp"
#include "tests/profile/fakes.hpp"

namespace debubble::testing {
namespace {

// `debubble profile OURS -- sh -c SCRIPT`; "$0" in the script is fake_training.
Outcome profile_of_script(const Folder& folder, const Words& ours, const std::string& script) {
  Words arguments = "profile -o p.json";
  arguments.insert(arguments.end(), ours.begin(), ours.end());
  arguments.insert(arguments.end(), {"--", "/bin/sh", "-c", script, DEBUBBLE_FAKE_TRAINING});
  return folder.run(arguments, fake_machine());
}

// "embedding, block.0, ..."
std::string layers_of(const Profile& profile) {
  std::string names;
  for (const ProfileLayer& layer : profile.layers) names += (names.empty() ? "" : ", ") + layer.name;
  return names;
}

const ProfileLayer& layer_named(const Profile& profile, std::string_view name) {
  const auto found = std::find_if(profile.layers.begin(), profile.layers.end(),
                                  [&](const ProfileLayer& layer) { return layer.name == name; });
  REQUIRE(found != profile.layers.end());
  return *found;
}

void check_sums(const Profile& profile) {
  REQUIRE(profile.measurement.has_value());
  Nanoseconds rest = 0;
  for (const RestItem& item : profile.measurement->rest) rest += item.total;
  CHECK(profile.measurement->layer_time + rest == profile.measurement->kernel_time);
}

// Ranks 2 and 10, for their files lie in the folder in the other order.
const std::string kTwoStages =
    "RANK=2 \"$0\" --embedding 4000 --head 700 & RANK=10 \"$0\" --first-layer 3 --embedding 500 --head 8000 & wait";

TEST_CASE("two stages of a pipeline are one model, its layers in their order") {
  const Folder folder;
  const Outcome outcome = profile_of_script(folder, {}, kTwoStages);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const Profile profile = read_profile(folder.read("p.json"), "p.json");
  CHECK(layers_of(profile) ==
        "embedding, block.0, block.1, block.2, head of rank 2, embedding of rank 10, block.3, block.4, block.5, head");
  CHECK(layer_named(profile, "embedding").forward.median == 4000);
  CHECK(layer_named(profile, "embedding").forward.n == 16);
  CHECK(layer_named(profile, "embedding of rank 10").forward.median == 500);
  CHECK(layer_named(profile, "head").forward.median == 8000);
  CHECK(layer_named(profile, "block.4").forward.median == 17'000);
  CHECK(contains(profile.origin.notes,
                 "2 stages of a pipeline as one model: rank 2 (block.0 to block.2), rank 10 (block.3 to block.5); "));
  check_sums(profile);
  CHECK(profile.measurement->steps == 20);
}

TEST_CASE("replicas of the stages of a pipeline are instances of their stage's layers") {
  const Folder folder;
  const Outcome outcome = profile_of_script(
      folder, {},
      "for r in 0 1; do RANK=$r \"$0\" & done; for r in 2 3; do RANK=$r \"$0\" --first-layer 3 & done; wait");
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const Profile profile = read_profile(folder.read("p.json"), "p.json");
  CHECK(layers_of(profile) == "block.0, block.1, block.2, block.3, block.4, block.5");
  CHECK(layer_named(profile, "block.5").forward.n == 32);
  CHECK(profile.measurement->kernels == 4 * 256);
  check_sums(profile);
}

TEST_CASE("a process without layers goes with the layers of its rank") {
  const Folder folder;
  const Outcome outcome = profile_of_script(
      folder, {}, "RANK=0 \"$0\" & RANK=1 \"$0\" --first-layer 3 & RANK=1 \"$0\" --layers 0 --outside 3000 & wait");
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const Profile profile = read_profile(folder.read("p.json"), "p.json");
  CHECK(contains(profile.origin.notes, "rank 0 (block.0 to block.2), rank 1 (block.3 to block.5); "));
  CHECK(profile.measurement->kernels == 2 * 256 + 8 * 3);  // a copy, two kernels in each of 8 recorded steps
  check_sums(profile);
}

const std::string kSizes = R"({"schema": "debubble.hooks/1", "schema_version": 1, "complete": true, "rank": RANK,
"pid": 9, "torch": "2.4.0", "model": "GPT", "dtype": "bf16", "microbatch_size": 4, "sequence_length": 128,
"input_shapes": [[4, 128]], "steps": 3, "outside_bytes": 0, "notes": [], "layers": [
{"name": "embedding", "kind": "embedding", "activation_bytes": BYTES, "weight_input_bytes": 0,
"weight_gradient_bytes": 0, "weight_grad_held_bytes": 0, "output_bytes": 10, "parameter_bytes": BYTES,
"workspace_bytes": 3, "checkpointed": false}]})";

std::string with_words(std::string text, const std::string& rank, const std::string& bytes) {
  for (const auto& [word, value] : {std::pair{std::string("RANK"), rank}, {std::string("BYTES"), bytes}}) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) text.replace(at, word.size(), value);
  }
  return text;
}

Words recordings_in(const std::string& folder) {
  Words files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".dbrec") files.push_back(entry.path());
  }
  return files;
}

TEST_CASE("sizes go with the layers of their rank") {
  const Folder folder;
  REQUIRE(profile_of_script(folder, "--keep-records kept", kTwoStages).status == 0);
  folder.write("h2.json", with_words(kSizes, "2", "2048"));
  folder.write("h10.json", with_words(kSizes, "10", "4096"));
  Words arguments = "import --from records -o i.json";
  for (const std::string& file : recordings_in(folder.path("kept"))) arguments.push_back(file);
  arguments.insert(arguments.end(), {"--hooks", "h2.json", "--hooks", "h10.json"});
  const Outcome outcome = folder.run(arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const Profile profile = read_profile(folder.read("i.json"), "i.json");
  CHECK(layer_named(profile, "embedding").parameters == 2048);
  CHECK(layer_named(profile, "embedding of rank 10").parameters == 4096);
}

TEST_CASE("blocks that no rank has are named") {
  const Folder folder;
  const Outcome outcome =
      profile_of_script(folder, {}, "RANK=1 \"$0\" --first-layer 2 & RANK=3 \"$0\" --first-layer 9 & wait");
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const std::string notes = read_profile(folder.read("p.json"), "p.json").origin.notes;
  CHECK(contains(notes, "not in the model, for no recording has them: block.0 to block.1, block.5 to block.8"));
}

TEST_CASE("layers of one name whose times differ between ranks are named") {
  const Folder folder;
  const Outcome outcome =
      profile_of_script(folder, {}, "RANK=0 \"$0\" --embedding 9000 & RANK=1 \"$0\" --embedding 40000 & wait");
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const std::string notes = read_profile(folder.read("p.json"), "p.json").origin.notes;
  CHECK(contains(notes, "2 ranks: layers of the same name were taken for replicas of one layer"));
  CHECK(contains(notes,
                 "layers of one name differ between ranks: \"embedding\" (forward 9.000 us on rank 0, 40.00 us on rank "
                 "1); if these are stages and no replicas, --rank N takes one alone"));
  const Outcome alike = profile_of_script(folder, {}, "RANK=0 \"$0\" & RANK=1 \"$0\" & wait");
  CHECK_FALSE(contains(alike.err, "differ between ranks"));
}

TEST_CASE("--rank takes one rank alone, of a program and of its recordings") {
  const Folder folder;
  const Outcome outcome = profile_of_script(folder, "--rank 10 --keep-records kept", kTwoStages);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const Profile profile = read_profile(folder.read("p.json"), "p.json");
  CHECK(layers_of(profile) == "embedding, block.3, block.4, block.5, head");
  CHECK(layer_named(profile, "head").forward.n == 16);
  CHECK(profile.measurement->kernels == 256 + 8 * 2 * 6);  // of 10 steps every 5th goes unrecorded
  CHECK(recordings_in(folder.path("kept")).size() == 1);   // the other rank is not recorded
  REQUIRE(profile_of_script(folder, "--keep-records all", kTwoStages).status == 0);
  Words arguments = "import --from records --rank 2 -o i.json";
  for (const std::string& file : recordings_in(folder.path("all"))) arguments.push_back(file);
  REQUIRE(arguments.size() == 9);
  REQUIRE(folder.run(arguments).status == 0);
  CHECK(layers_of(read_profile(folder.read("i.json"), "i.json")) == "embedding, block.0, block.1, block.2, head");
  arguments[4] = "5";
  const Outcome none = folder.run(arguments);
  CHECK(none.status == 2);
  CHECK(none.err.ends_with("error[C012]: no recording is of rank 5\n  --> --rank\n  = help: there are ranks 2, 10\n"));
  const Outcome absent = profile_of_script(folder, "--rank 5", kTwoStages);
  CHECK(absent.status == 2);
  CHECK(absent.err.ends_with(
      "error[C012]: no process of rank 5 was recorded\n  --> --rank\n  = help: ranks count from 0; "
      "leave --rank out to see which there are\n"));
}

TEST_CASE("profiles of single ranks are joined into one model") {
  const Folder folder;
  REQUIRE(profile_of_script(folder, "--keep-records kept", kTwoStages).status == 0);
  const std::string whole = folder.read("p.json");
  for (const std::string rank : {"2", "10"}) {
    REQUIRE(profile_of_script(folder, {"--rank", rank}, kTwoStages).status == 0);
    folder.write("r" + rank + ".json", folder.read("p.json"));
  }
  const Outcome outcome = folder.run("import --from profiles r10.json r2.json -o joined.json");
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  Profile joined = read_profile(folder.read("joined.json"), "joined.json");
  const Profile at_once = read_profile(whole, "p.json");
  CHECK(layers_of(joined) ==
        "embedding, block.0, block.1, block.2, head of r2.json, embedding of r10.json, block.3, "
        "block.4, block.5, head");
  REQUIRE(joined.layers.size() == at_once.layers.size());
  for (std::size_t k = 0; k < joined.layers.size(); ++k) {
    joined.layers[k].name = at_once.layers[k].name;
    CHECK(joined.layers[k] == at_once.layers[k]);
  }
  CHECK(joined.measurement->kernel_time == at_once.measurement->kernel_time);
  CHECK(joined.measurement->rest == at_once.measurement->rest);
  CHECK(folder.refusal("import --from profiles r2.json joined.json") ==
        "error[L020]: the layer \"block.0\" is in both r2.json and joined.json\n  --> FILE\n"
        "  = help: give one profile of each stage: replicas of a stage have the same layers\n");
}

TEST_CASE("a run whose GPU time lies mostly outside of layers is told so, with where it lies") {
  const Folder folder;
  const Outcome outcome = folder.run(profile_of_training({"-o", "p.json"}, {"--outside", "600000"}), fake_machine());
  CHECK(outcome.status == 0);
  const std::string notes = read_profile(folder.read("p.json"), "p.json").origin.notes;
  CAPTURE(notes);
  CHECK(contains(notes,
                 "% of the GPU time lies outside of layers, most of it in \"outside layers\": are the layers that "
                 "were named all there are?"));
  const Outcome usual = folder.run(profile_of_training({"-o", "p.json"}, {"--outside", "100000"}), fake_machine());
  CHECK_FALSE(contains(usual.err, "lies outside of layers"));
}

}  // namespace
}  // namespace debubble::testing
