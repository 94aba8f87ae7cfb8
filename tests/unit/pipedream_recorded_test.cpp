// The recorded graphs of PipeDream's repository, where $DEBUBBLE_RECORDINGS/pipedream holds its profiles: too large to
// keep here. Expected sums were added up independently.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "formats/importers/pipedream.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/unit/problems_of.hpp"

namespace debubble {
namespace {

struct Recorded {
  const char* model;
  int nodes;
  int placed;
  Nanoseconds forward;
  Nanoseconds backward;
  Bytes activation;
  Bytes parameters;
  std::int64_t microbatch;
};

const std::vector<Recorded> kRecorded{
    {"alexnet", 23, 22, 44801000, 40520000, 1124573188, 244403360, 256},
    {"gnmt", 48, 45, 33533000, 55883000, 409159680, 775063808, 0},
    {"inception_v3", 326, 325, 289269000, 399769000, 16549453832, 108645056, 128},
    {"resnet18", 71, 70, 107446000, 152296000, 8428429316, 46758048, 256},
    {"resnet50", 177, 176, 182488000, 260931000, 19231657988, 102228128, 128},
    {"squeezenet1_0", 68, 67, 113247000, 172119000, 12322177028, 4993696, 256},
    {"vgg16", 41, 40, 233902000, 438633000, 14682148868, 553430176, 128},
};

std::string graph_path(const std::string& model) {
  const char* folder = std::getenv("DEBUBBLE_RECORDINGS");
  return std::string(folder == nullptr ? "$DEBUBBLE_RECORDINGS" : folder) + "/pipedream/" + model + "/graph.txt";
}

TEST_CASE("the recorded PipeDream graphs are imported whole") {
  for (const Recorded& row : kRecorded) {
    const std::string text = test::contents_of(graph_path(row.model));
    if (text.empty()) {
      MESSAGE("SKIPPED: no recorded graph at " << graph_path(row.model));
      return;
    }
    CAPTURE(row.model);
    const PipedreamImport import = import_pipedream(text, graph_path(row.model));
    const Profile& profile = import.profile;
    CHECK(profile.model == row.model);
    CHECK(import.nodes_in_file == row.nodes);
    CHECK(import.nodes_placed == row.placed);
    CHECK(profile.microbatch_size == row.microbatch);
    ProfileLayer sum;
    sum.backward.emplace();
    for (const ProfileLayer& layer : profile.layers) {
      sum.forward.median += layer.forward.median;
      sum.backward->median += layer.backward->median;
      sum.activation += layer.activation;
      sum.parameters += layer.parameters;
    }
    CHECK(sum.forward.median == row.forward);
    CHECK(sum.backward->median == row.backward);
    CHECK(sum.activation == row.activation);
    CHECK(sum.parameters == row.parameters);
    CHECK(read_profile(write_profile(profile), "p") == profile);
  }
}

TEST_CASE("GNMT keeps a useful chain, and its missing backward is noted") {
  const std::string text = test::contents_of(graph_path("gnmt"));
  if (text.empty()) {
    MESSAGE("SKIPPED: no recorded graph at " << graph_path("gnmt"));
    return;
  }
  const PipedreamImport import = import_pipedream(text, graph_path("gnmt"));
  REQUIRE(import.profile.layers.size() == 17);
  const ProfileLayer& lstm = import.profile.layers[3];
  CHECK(lstm.name == "node7..node9");
  CHECK(lstm.output == 6291456);                          // one item of the tuple: the other is read by nobody
  CHECK(import.profile.layers[4].output == 2 * 6291456);  // the residual skips over the LSTM
  CHECK(
      import.notes.back() ==
      "node5 (EmuBidirLSTM, forward 5.247 ms, backward 0.016 ms) has parameters and hardly any backward: the profiler "
      "missed it");
}

}  // namespace
}  // namespace debubble
