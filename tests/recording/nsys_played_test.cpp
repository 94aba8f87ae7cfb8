// What Nsight Systems saw on a GPU, seen by us: the rows of an export become CUPTI's records again, by NVIDIA's
// structs, and go through the fake libcupti, the injected library and its record file. The profile must be the one that
// `import --from nsys` makes of the export itself, to the nanosecond.
#include "formats/files/plain_text.hpp"
#include "profiler/cupti/abi.hpp"
#include "tests/importers/database.hpp"
#include "tests/recording/fake_cupti_versions.hpp"
#include "tests/recording/recorded_run.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

constexpr const char* kBlocks = "^nn\\.Module: (Block_\\d+|Embedding_0|Linear_4)$";
constexpr const char* kOperators = "^(aten::copy_|FlashAttnFunc|AllToAll4D)$";

std::string source(const std::string& path) { return contents_of(source_directory() + "/" + path); }

std::string public_export(const std::string& name) {
  constexpr std::size_t kMost = std::size_t{1} << 28;
  return plain_text(source("traces/recordings/" + name + ".sqlite.gz"), name, kMost);
}

std::string made_up_export() { return Database(contents_of(DEBUBBLE_RECORDINGS_MADE "/training.sql")).image(); }

Json imported(const Folder& folder, const std::string& tool, const std::string& file, const std::string& layers) {
  const Outcome outcome =
      folder.run({"import", "--from", tool, file, "--layers", layers, "--model", "played", "--dtype", "bf16"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

// Of the export in this folder, played through a libcupti of this version; `how`: further words of $FAKE_CUPTI.
Json played(const Folder& folder, std::uint32_t version, const std::string& layers, const std::string& how = "") {
  const std::string number = std::to_string(version);
  const std::string record = number + how + ".dbrec";
  const RecordedRun run = run_recorded("'" DEBUBBLE_NSYS_PLAYER "' " + folder.path("export.sqlite") + " " + number,
                                       {"FAKE_CUPTI=version=" + number + how, "KEEP_RECORD=" + folder.path(record)});
  CAPTURE(run.err);
  REQUIRE(run.status == 0);
  CHECK(run.troubles.empty());
  CHECK(run.only().losses.empty());
  CHECK(run.only().end.complete);
  return imported(folder, "records", record, layers);
}

// Where and when it was recorded is of the machine that plays; all else is of the export.
std::string differences(Json exported, Json recorded) {
  CHECK(recorded["origin"]["device"] == "Fake GPU");
  for (Json* const profile : {&exported, &recorded}) {
    for (const char* const key : {"device", "date", "cuda"}) (*profile)["origin"].erase(key);
  }
  CHECK(exported["measurement"]["kernels"].get<int>() > 100);
  CHECK(exported["layers"].size() == 3);
  const Json difference = Json::diff(exported, recorded);
  return difference.empty() ? "" : difference.dump(1);
}

TEST_CASE("an export played through CUPTI gives the profile of the export itself, to the nanosecond") {
  struct Source {
    std::string image;
    const char* layers;
  };
  for (const Source& source :
       {Source{made_up_export(), kBlocks}, Source{public_export("nsys_h100_mfu_2gpu_before"), kOperators},
        Source{public_export("nsys_h100_mfu_2gpu_after"), kOperators}}) {
    const Folder folder;
    folder.write("export.sqlite", source.image);
    const Json exported = imported(folder, "nsys", "export.sqlite", source.layers);
    CHECK(differences(exported, played(folder, 130001, source.layers)) == "");
    CHECK(differences(exported, played(folder, 130001, source.layers, ",gpu-first,buffer=4096")) == "");
  }
}

TEST_CASE_IN_FOLDER("the structs of every release carry the same export") {
  folder.write("export.sqlite", made_up_export());
  const Json exported = imported(folder, "nsys", "export.sqlite", kBlocks);
  for (const FakeCuptiVersion& release : fake_cupti_versions()) {
    CAPTURE(release.cuda);
    Json recorded = played(folder, release.version, kBlocks);
    if (release.version > cupti_abi::kNewestVersion) {
      Json& notes = recorded["origin"]["notes"];
      const std::string text = notes;
      const std::string own = "and the first ones are judged before they are believed; ";
      REQUIRE(contains(text, own));
      notes = text.substr(text.find(own) + own.size());
    }
    CHECK(differences(exported, recorded) == "");
  }
}

}  // namespace
}  // namespace debubble::testing
