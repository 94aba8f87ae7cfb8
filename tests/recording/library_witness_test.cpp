// NVIDIA's own libcupti, of the newest release and the oldest that is promised, without a driver.
#include <dlfcn.h>

#include "profiler/cupti/abi.hpp"
#include "profiler/cupti/library_search.hpp"
#include "profiler/cupti/table.hpp"
#include "tests/recording/recorded_run.hpp"
#include "tests/support/command.hpp"
#include "tests/witness/witness.hpp"

namespace debubble {
namespace {

using testing::RecordedRun;

// What no environment variable of this machine changes: there is no driver.
const std::string kNoDriver = "DEBUBBLE_LIBCUDA=/none";

bool is_oldest(const std::string& library) { return contains(library, "libcupti.so.11."); }

TEST_CASE("the oldest CUPTI has every function that we need") {
  for (const std::string& library : testing::witnesses("libcupti.so.")) {
    if (!is_oldest(library)) continue;
    const CuptiTable table = load_cupti(library);
    CHECK(table.version == cupti_abi::kOldestVersion);
    CHECK_FALSE(table.has_scoped_calls);
  }
}

TEST_CASE("the newest CUPTI has every function that we know") {
  for (const std::string& library : testing::witnesses("libcupti.so.")) {
    if (is_oldest(library)) continue;
    ::setenv("DEBUBBLE_LIBCUDA", "/none", 1);
    // Looking for the functions comes first.
    CHECK_THROWS_WITH_AS((void)load_cupti(library), doctest::Contains("there is no NVIDIA driver"), UnavailableError);
    ::unsetenv("DEBUBBLE_LIBCUDA");
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    for (const char* const optional :
         {"cuptiGetTimestamp", "cuptiSubscribe_v2", "cuptiActivityEnableAndDump", "cuptiActivityEnableRuntimeApi",
          "cuptiActivityEnableDriverApi", "cuptiActivityEnable_v2"}) {
      CAPTURE(std::string(optional));
      CHECK(dlsym(handle, optional) != nullptr);
    }
  }
}

TEST_CASE("real CUPTI without a driver says so and harms nothing") {
  for (const std::string& library : testing::witnesses("libcupti.so.")) {
    CAPTURE(library);
    const RecordedRun run = testing::run_training("--steps 2", {"DEBUBBLE_CUPTI=" + library, kNoDriver});
    CHECK(run.status == 0);
    CHECK(run.only().pushes == 2 * (1 + 2 * 3 * 5));
    if (cuda_of_driver() > 0) continue;  // the library finds that of this machine all the same
    REQUIRE(run.troubles.size() == 1);
    CHECK(run.troubles[0].code == "U020");
  }
}

TEST_CASE("doctor tells of each CUPTI") {
  const testing::Folder folder;
  for (const std::string& library : testing::witnesses("libcupti.so.")) {
    testing::Surroundings machine;
    machine.environment = {"DEBUBBLE_CUPTI=" + library, kNoDriver};
    const std::string found = folder.run("doctor --format json", machine).out;
    CAPTURE(found);
    const std::string of_it = is_oldest(library) ? library + ", CUDA 11.6, named by DEBUBBLE_CUPTI"
                                                 : "this CUPTI cannot be used without one, " + library;
    CHECK(contains(found, of_it));
  }
}

}  // namespace
}  // namespace debubble
