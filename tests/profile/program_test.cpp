// `debubble profile -- PROGRAM` through the real command: fake_training on the fake CUPTI, whose times are known.
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX

#include <filesystem>

#include "formats/profile/profile_json.hpp"
#include "tests/profile/fakes.hpp"

namespace debubble::testing {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a program is measured to the nanosecond, and its output is left untouched on stdout") {
  const Folder folder;
  const Outcome outcome = folder.run(profile_of_training({"-o", "p.json"}), fake_machine());
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "works 320 total 2470000\n");
  CHECK(folder.files() == "p.json");
  const Profile profile = read_profile(folder.read("p.json"), "p.json");
  CHECK(profile.model == "fake_training");
  CHECK(profile.origin.device == "Fake GPU");
  REQUIRE(profile.layers.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const ProfileLayer& layer = profile.layers[k];
    const auto extra = static_cast<Nanoseconds>(1000 * k);
    CHECK(layer.name == "block." + std::to_string(k));
    CHECK(layer.forward.median == 13'000 + extra);
    CHECK(layer.input_grad.value().median == 11'000 + extra);
    CHECK(layer.weight_grad.value().median == 13'000 + extra);
  }
  REQUIRE(profile.measurement.has_value());
  Nanoseconds rest = 0;
  for (const RestItem& item : profile.measurement->rest) rest += item.total;
  CHECK(profile.measurement->layer_time + rest == profile.measurement->kernel_time);
}

// fake_training, whose steps take 40 ms, and 40 ms longer where CUPTI is attached, recording or not.
Words slowed_by_cupti(const Words& ours, const std::string& before = "") {
  Words arguments{"profile"};
  arguments.insert(arguments.end(), ours.begin(), ours.end());
  arguments.insert(arguments.end(), {"--", "sh", "-c",
                                     before + "us=40000; test -z \"$CUDA_INJECTION64_PATH\" || us=80000; exec " +
                                         DEBUBBLE_FAKE_TRAINING + " --hooks --steps 15 --step-us $us"});
  return arguments;
}

TEST_CASE(
    "unrecorded steps have CUPTI attached, too: their difference is called the least, a run without is the whole") {
  const Folder folder;
  const Outcome least = folder.run(slowed_by_cupti("-o least.json"), fake_machine({"COLUMNS=200"}));
  CAPTURE(least.err);
  CHECK(least.status == 0);
  CHECK(contains(least.err, "at least"));
  const Measurement paused = read_profile(folder.read("least.json"), "least.json").measurement.value();
  REQUIRE(paused.overhead_ppm.has_value());
  CHECK(!paused.overhead_run_ppm.has_value());

  const Outcome whole = folder.run(slowed_by_cupti("--overhead run -o whole.json"), fake_machine({"COLUMNS=200"}));
  CAPTURE(whole.err);
  CHECK(whole.status == 0);
  CHECK(whole.out == least.out + least.out);  // the program ran twice
  CHECK(contains(whole.err, "longer than in a run without CUPTI"));
  const Measurement measured = read_profile(folder.read("whole.json"), "whole.json").measurement.value();
  REQUIRE(measured.overhead_run_ppm.has_value());
  CHECK(*measured.overhead_run_ppm > 300'000);  // 80 ms against 40 ms, on a machine with other work
  CHECK(measured.kernels == paused.kernels);    // the second run added nothing
}

TEST_CASE("a run without CUPTI that ends badly, or has too few steps, leaves the overhead unknown and says why") {
  const Folder folder;
  const Outcome broken =
      folder.run(slowed_by_cupti("--overhead run -o p.json", "test -n \"$CUDA_INJECTION64_PATH\" || exit 3; "),
                 fake_machine({"COLUMNS=200"}));
  CHECK(broken.status == 1);
  CHECK(contains(broken.err, "against a run without CUPTI is not known: the run without CUPTI ended with status 3"));
  CHECK(contains(folder.read("p.json"), "overhead_ppm"));
  CHECK(!contains(folder.read("p.json"), "overhead_run_ppm"));

  const Outcome few = folder.run(profile_of_training({"--overhead", "run", "-o", "few.json"}, {"--steps", "2"}),
                                 fake_machine({"COLUMNS=200"}));
  CHECK(few.status == 0);
  CHECK(contains(few.err, "it takes 3 steps of each run, there were"));
}

TEST_CASE("the built-in transformer is not run a second time for its overhead") {
  const Folder folder;
  const Outcome outcome = folder.run("profile --model tiny-gpt --overhead run", fake_machine());
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "error[C087]"));
}

TEST_CASE("the measured profile is one that the simulator takes") {
  const Folder folder;
  REQUIRE(folder.run(profile_of_training({"-o", "p.json"}), fake_machine()).status == 0);
  const Outcome outcome = folder.run("simulate --profile p.json -p 3 -m 6 --assumptions");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "measured"));
}

TEST_CASE("without -o the profile is profile.json, and that is said, with the command to go on with") {
  const Folder folder;
  const Outcome outcome = folder.run(profile_of_training({}), fake_machine());
  CHECK(outcome.status == 0);
  CHECK(folder.files() == "profile.json");
  CHECK(contains(outcome.err, "wrote  profile.json\nnext   debubble compare --profile profile.json -p 4 -m 8\n"));
}

TEST_CASE("the table of a measured program is 80 columns wide at most") {
  const Folder folder;
  const Outcome outcome = folder.run(profile_of_training({"--explain"}), fake_machine({"COLUMNS=80"}));
  std::size_t begin = 0;
  while (begin < outcome.err.size()) {
    const std::size_t end = std::min(outcome.err.find('\n', begin), outcome.err.size());
    CAPTURE(outcome.err.substr(begin, end - begin));
    CHECK(end - begin <= 80);
    begin = end + 1;
  }
  for (const char* part : {"block.2", "explicit", "GPU time", "rest", "losses", "overhead", "clock"}) {
    CHECK(contains(outcome.err, part));
  }
}

TEST_CASE("arguments behind -- are the program's, whatever they look like") {
  const Folder folder;
  const Outcome outcome = folder.run(
      {"profile", "--", "/bin/sh", "-c", "printf '[%s]' \"$@\"", "sh", "--config", "", "--help", "-o", "--", "a b"});
  CHECK(outcome.out == "[--config][][--help][-o][--][a b]");
  CHECK(outcome.status == 3);
  CHECK(folder.files().empty());
}

TEST_CASE("a program that fails is measured as far as it came: status 1, and how it ended") {
  const Folder folder;
  const Outcome failed = folder.run(profile_of_training({}, {"--exit", "7"}), fake_machine());
  CHECK(failed.status == 1);
  CHECK(contains(failed.err, "fake_training --exit 7 ended with status 7\n"));
  CHECK(folder.files() == "profile.json");
}

TEST_CASE("a program that is killed has left its records up to then") {
  const Folder folder;
  const Outcome killed = folder.run(profile_of_training({"-o", "p.json"}, {"--kill-at", "6"}), fake_machine());
  CAPTURE(killed.err);
  CHECK(killed.status == 1);
  CHECK(contains(killed.err, "was ended by signal 9 (Killed)"));
  const Profile profile = read_profile(folder.read("p.json"), "p.json");
  CHECK(profile.layers.size() == 3);
  CHECK(contains(folder.read("p.json"), "incomplete recordings"));
}

TEST_CASE("an interrupt reaches the program, and what was recorded is still read: status 130") {
  const Folder folder;
  Surroundings surroundings = fake_machine();
  surroundings.signal = SIGINT;
  surroundings.signal_when = [&folder] { return fs::exists(folder.path("ready")); };
  const std::string script = "trap 'echo caught; exit 0' INT; \"$0\"; touch ready; while :; do sleep 0.05; done";
  const Outcome outcome =
      folder.run({"profile", "-o", "p.json", "--", "/bin/sh", "-c", script, DEBUBBLE_FAKE_TRAINING}, surroundings);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 130);
  CHECK(contains(outcome.out, "caught\n"));
  CHECK(contains(folder.files(), "p.json"));
}

TEST_CASE("several ranks are one profile") {
  const Folder folder;
  const std::string script = "RANK=0 \"$0\" & RANK=1 \"$0\" & wait";
  const Outcome outcome =
      folder.run({"profile", "-o", "p.json", "--", "/bin/sh", "-c", script, DEBUBBLE_FAKE_TRAINING}, fake_machine());
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  const Profile profile = read_profile(folder.read("p.json"), "p.json");
  REQUIRE(profile.layers.size() == 3);
  CHECK(profile.layers[0].forward.n == 32);
  CHECK(profile.measurement.value().kernels == 512);
}

TEST_CASE("kept records stay in their folder, one file per process") {
  const Folder folder;
  const Outcome outcome = folder.run(profile_of_training({"--keep-records", "kept"}), fake_machine());
  CHECK(outcome.status == 0);
  int records = 0;
  for (const auto& entry : fs::directory_iterator(folder.path("kept"))) {
    if (entry.path().extension() == ".dbrec") ++records;
  }
  CHECK(records == 1);
  CHECK(folder.refusal(profile_of_training({"--keep-records", "kept"})) ==
        "error[C050]: the folder kept is not empty\n  --> --keep-records\n"
        "  = help: an older recording would be counted in: name a new folder\n");
}

TEST_CASE("a program without layer ranges is told how to get them") {
  const Folder folder;
  const Outcome outcome = folder.run(profile_of_training({"--layers", "^nothing (.+)$"}), fake_machine());
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "error[A002]: "));
  CHECK(contains(outcome.err, "-- python -m debubble_hooks train.py"));
  CHECK(folder.files().empty());
}

TEST_CASE("a program that uses no GPU leaves no profile: status 3, with the reason") {
  const Folder folder;
  const Outcome none = folder.run(profile_of_training({}, {"--no-driver"}), fake_machine());
  CHECK(none.status == 3);
  CHECK(contains(none.err, "error[U041]: nothing was recorded: "));
  CHECK(folder.files().empty());
}

// The error that `debubble profile` itself ends with; the program's own stderr is before it.
std::string last_error(const Outcome& outcome) {
  const std::size_t at = outcome.err.rfind("error[");
  return at == std::string::npos ? "" : outcome.err.substr(at);
}

TEST_CASE("another profiler in the way is named: status 3, with its own code and remedy") {
  const Folder folder;
  const Outcome outcome = folder.run(profile_of_training({}), fake_machine({"FAKE_CUPTI=subscribe=39:Some Tool"}));
  CAPTURE(outcome.err);
  CHECK(outcome.status == 3);
  const std::string error = last_error(outcome);
  CHECK(error.starts_with("error[U003]: another profiler is attached to this process: Some Tool (CUPTI allows one)\n"));
  CHECK(contains(error, "  = help: end Nsight Systems, "));
  CHECK_FALSE(contains(outcome.err, "U041"));
  CHECK(folder.files().empty());
}

TEST_CASE("a newer minor release of CUPTI is used, with a note in the profile") {
  const Folder folder;
  const Outcome outcome =
      folder.run(profile_of_training({"-o", "p.json"}), fake_machine({"FAKE_CUPTI=version=130200"}));
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.err, "CUPTI 130200 (CUDA 13.2) is not one that was tested"));
  CHECK(contains(folder.read("p.json"), "CUPTI 130200 (CUDA 13.2) is not one that was tested"));
}

TEST_CASE("doctor tells which CUPTI is taken, and why") {
  const Folder folder;
  const std::string place = folder.path("venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib");
  fs::create_directories(place);
  fs::copy_file(DEBUBBLE_FAKE_CUPTI, place + "/libcupti.so.11.8");
  const Words driver = {"DEBUBBLE_LIBCUDA=" DEBUBBLE_FAKE_LIBCUDA, "FAKE_DRIVER_CUDA=11080"};
  Surroundings found;
  found.environment = {driver[0], driver[1], "VIRTUAL_ENV=" + folder.path("venv")};
  const std::string machine = folder.run("doctor --format json", found).out;
  CHECK(
      contains(machine, place + "/libcupti.so.11.8, CUDA 13.0, found in " + place + "; the driver supports CUDA 11.8"));
  Surroundings named;
  named.environment = {driver[0], driver[1], "DEBUBBLE_CUPTI=" DEBUBBLE_FAKE_CUPTI, "FAKE_CUPTI=version=130200"};
  const std::string other = folder.run("doctor --format json", named).out;
  CHECK(contains(other, DEBUBBLE_FAKE_CUPTI ", CUDA 13.2, named by DEBUBBLE_CUPTI"));
  CHECK(contains(other, "CUPTI 130200 (CUDA 13.2) is not one that was tested"));
}

TEST_CASE("records that make no sense make no profile: status 3") {
  const Folder folder;
  const Outcome outcome =
      folder.run(profile_of_training({"-o", "p.json"}), fake_machine({"FAKE_CUPTI=version=130200,shifted"}));
  CAPTURE(outcome.err);
  CHECK(outcome.status == 3);
  CHECK(last_error(outcome).starts_with("error[U011]: the records of this CUPTI (CUPTI of CUDA 13.2, newer than 13.0"));
  CHECK(folder.files().empty());
}

TEST_CASE("a tool that is to be loaded into the program already is not replaced") {
  const Folder folder;
  const Outcome outcome = folder.run(profile_of_training({}), fake_machine({"CUDA_INJECTION64_PATH=/opt/other.so"}));
  CHECK(outcome.status == 3);
  CHECK(outcome.err ==
        "error[U003]: another tool is to be loaded into the program: /opt/other.so\n  --> CUDA_INJECTION64_PATH\n"
        "  = help: unset CUDA_INJECTION64_PATH, and run the two tools one after the other\n");
}

}  // namespace
}  // namespace debubble::testing
