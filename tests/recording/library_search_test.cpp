// Which libcupti is found and why: files in the places where toolkits and Python packages put it, and copies that the
// program has loaded.
#include <filesystem>
#include <fstream>

#include "profiler/cupti/library_search.hpp"
#include "tests/recording/recorded_run.hpp"
#include "tests/recording/scratch.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

namespace fs = std::filesystem;
using testing::RecordedRun;
using testing::run_training;
using testing::Scratch;

using Names = std::vector<std::string>;

// A libcupti at this place of the folder.
std::string put(const Scratch& folder, const std::string& place, const char* library = DEBUBBLE_FAKE_CUPTI) {
  const fs::path path = folder.path(place);
  fs::create_directories(path.parent_path());
  fs::copy_file(library, path);
  return path.string();
}

// Nothing is named; the driver supports this release of CUDA.
Names machine(const std::string& driver, const std::string& found_at, Names more = {}) {
  Names all = {"DEBUBBLE_CUPTI=",
               "CUDA_HOME=",
               "CUDA_PATH=",
               "VIRTUAL_ENV=",
               "CONDA_PREFIX=",
               "HOME=/none",
               std::string("DEBUBBLE_LIBCUDA=") + DEBUBBLE_FAKE_LIBCUDA,
               "FAKE_DRIVER_CUDA=" + driver,
               "FAKE_CUPTI_AT=" + found_at};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void check_found(const RecordedRun& run, const std::string& path, const std::string& why) {
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  REQUIRE(run.only().facts.count("cupti.path") == 1);
  CHECK(run.only().facts.at("cupti.path") == path);
  CHECK(run.only().facts.at("cupti.why").find(why) == 0);
  CHECK(run.only().works > 0);
}

TEST_CASE("sonames in the order that suits the driver") {
  CHECK(cupti_names(13000) == Names{"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so.11.7",
                                    "libcupti.so.11.6", "libcupti.so"});
  CHECK(cupti_names(0) == cupti_names(13020));
  CHECK(cupti_names(12040) == Names{"libcupti.so.12", "libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6",
                                    "libcupti.so.13", "libcupti.so"});
  CHECK(cupti_names(11070) == Names{"libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.8", "libcupti.so.12",
                                    "libcupti.so.13", "libcupti.so"});
}

TEST_CASE("loaded objects are listed with their paths") {
  bool libc = false;
  for (const std::string& path : loaded_objects()) libc = libc || contains(path, "/libc.so.6");
  CHECK(libc);
}

TEST_CASE("NVIDIA's Python package is found in the active virtual environment") {
  const Scratch venv;
  const std::string site = "lib/python3.11/site-packages/nvidia/";
  const std::string eleven = put(venv, site + "cuda_cupti/lib/libcupti.so.11.8");
  const std::string twelve = put(venv, site + "cu12/lib/libcupti.so.12");
  const std::string active = "VIRTUAL_ENV=" + venv.path();
  check_found(run_training("--steps 2", machine("11080", eleven, {active})), eleven, "found in " + venv.path());
  check_found(run_training("--steps 2", machine("12040", twelve, {active})), twelve, "found in " + venv.path());
}

TEST_CASE("every soname of CUDA 11 is known") {
  for (const char* const soname : {"libcupti.so.11.6", "libcupti.so.11.7", "libcupti.so.11.8"}) {
    CAPTURE(std::string(soname));
    const Scratch home;
    const std::string path = put(home, std::string("extras/CUPTI/lib64/") + soname, DEBUBBLE_FAKE_CUPTI_OLD);
    check_found(
        run_training("--steps 2", machine("11080", path, {"CUDA_HOME=" + home.path(), "FAKE_CUPTI=version=17"})), path,
        "found in " + home.path() + "/extras/CUPTI/lib64; the driver supports CUDA 11.8");
  }
}

TEST_CASE("conda's own package and Python's are found under its prefix") {
  for (const char* const place :
       {"lib/libcupti.so.11.7", "lib/python3.9/site-packages/nvidia/x/lib/libcupti.so.11.7"}) {
    const Scratch conda;
    const std::string path = put(conda, place);
    check_found(run_training("--steps 2", machine("11070", path, {"CONDA_PREFIX=" + conda.path()})), path, "found in ");
  }
}

TEST_CASE("an environment that is used by its path is found by its python3") {
  const Scratch venv;
  fs::create_directories(venv.path("bin"));
  std::ofstream(venv.path("bin/python3")) << "";
  const std::string path = put(venv, "lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.11.8");
  const Names surroundings = machine("11080", path, {"PATH=" + venv.path("bin") + ":/usr/bin:/bin"});
  check_found(run_training("--steps 2", surroundings), path, "found in ");
}

TEST_CASE("a copy that the program has loaded is taken, whatever its file is called") {
  const Scratch torch;
  const std::string loaded = put(torch, "torch/lib/libcupti-d02b1d63.so.12");
  const RecordedRun run = run_training("--steps 2 --load " + loaded, machine("12040", loaded));
  check_found(run, loaded, "loaded by this process already");
}

TEST_CASE("the package beside a framework that the program has loaded is found") {
  const Scratch site;
  const std::string framework = put(site, "lib/python3.10/site-packages/torch/lib/libtorch_fake.so");
  const std::string path = put(site, "lib/python3.10/site-packages/nvidia/cuda_cupti/lib/libcupti.so.11.8");
  check_found(run_training("--steps 2 --load " + framework, machine("11080", path)), path, "found in " + site.path());
}

TEST_CASE("what DEBUBBLE_CUPTI names is taken even where the program has loaded another") {
  const Scratch torch;
  const std::string loaded = put(torch, "torch/lib/libcupti.so.13", DEBUBBLE_FAKE_CUPTI_SCOPED);
  const RecordedRun run = run_training("--steps 2 --load " + loaded);
  check_found(run, DEBUBBLE_FAKE_CUPTI, "named by DEBUBBLE_CUPTI");
  CHECK(run.only().facts.at("cupti.note").find("this process has loaded another CUPTI too, which was not taken: ") ==
        0);
}

TEST_CASE("of several loaded copies the driver's version chooses") {
  const Scratch torch;
  const std::string newer = put(torch, "a/libcupti.so.13");
  const std::string older = put(torch, "b/libcupti.so.12", DEBUBBLE_FAKE_CUPTI_OLD);
  const std::string both = "--steps 2 --load " + newer + " --load " + older;
  struct Choice {
    std::string driver;
    std::string taken;
    std::string left;
  };
  for (const Choice& one : {Choice{"13000", newer, older}, Choice{"12090", older, newer}}) {
    CAPTURE(one.driver);
    const RecordedRun run = run_training(both, machine(one.driver, one.taken));
    check_found(run, one.taken, "loaded by this process already");
    CHECK(contains(run.only().facts.at("cupti.note"), one.left));
  }
}

TEST_CASE("what is named must load, and the remedy names the packages") {
  const RecordedRun named = run_training("--steps 2", machine("11080", "/none", {"DEBUBBLE_CUPTI=/none/libcupti.so"}));
  REQUIRE(named.troubles.size() == 1);
  CHECK(named.troubles[0].code == "U001");
  CHECK(contains(named.troubles[0].help, "pip install nvidia-cuda-cupti (nvidia-cuda-cupti-cu12 for CUDA 12)"));
}

}  // namespace
}  // namespace debubble
