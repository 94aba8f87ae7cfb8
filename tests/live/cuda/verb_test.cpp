// `debubble live --backend cuda`, the real command, on a machine with the fake GPU.
#include "tests/support/command.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

Surroundings gpu(const std::string& behaviour = "idle,processors=132") {
  Surroundings surroundings;
  surroundings.environment = {"DEBUBBLE_LIBCUDA=" DEBUBBLE_FAKE_CUDA, "DEBUBBLE_CUBLASLT=" DEBUBBLE_FAKE_CUDA,
                              "DEBUBBLE_NVRTC=" DEBUBBLE_FAKE_CUDA, "FAKE_CUDA=" + behaviour};
  return surroundings;
}

Words live(const Words& more) {
  Words arguments = "live --backend cuda --model tiny-gpt --schedule 1f1b -p 2 -m 4 --seq 16";
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE_IN_FOLDER("a schedule runs on parts of a GPU and its run file is compared with its prediction") {
  for (const std::string launch : {"eager", "graph"}) {
    CAPTURE(launch);
    const Outcome run = folder.run(live({"--launch", launch, "--save-run", "run.json"}), gpu());
    CAPTURE(run.err);
    CHECK_EQ(run.status, 0);
    CHECK(contains(run.out, "bubble"));
    CHECK(contains(folder.read("run.json"), "debubble.run/1"));
    CHECK(contains(folder.read("run.json"), "Fake GPU"));
  }
}

TEST_CASE_IN_FOLDER("a lost message ends with exit code 1 and where every device stands") {
  const Outcome run = folder.run(live("--fault drop=0F2 --watchdog 1"), gpu());
  CHECK_EQ(run.status, 1);
  CHECK(contains(run.out + run.err, "a message was lost"));
  CHECK(contains(run.out + run.err, "1F2"));
}

TEST_CASE_IN_FOLDER("a bit that changes on its way ends with exit code 1") {
  const Outcome run = folder.run(live("--fault corrupt=0F1"), gpu());
  CHECK_EQ(run.status, 1);
  CHECK(contains(run.out + run.err, "the activation 0F1 changed in transit"));
}

TEST_CASE_IN_FOLDER("a GPU that hangs for good is reported, and the command ends") {
  const Outcome run = folder.run(live("--watchdog 1"), gpu("idle,processors=132,hang=gelu_backward"));
  CHECK_FALSE(run.timed_out);
  CHECK_EQ(run.status, 1);
  CHECK(contains(run.out + run.err, "no progress for 1 s"));
}

TEST_CASE_IN_FOLDER("a GPU that hangs for good while it is calibrated is an error, and the command ends") {
  Surroundings hanging = gpu("idle,processors=132,hang=debubble_live_resolution");
  hanging.environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");  // giving memory back would hang, too
  const Outcome run = folder.run(live("--watchdog 1"), hanging);
  CHECK_FALSE(run.timed_out);
  CHECK_EQ(run.status, 3);
  CHECK(contains(run.err, "U027"));
  CHECK(contains(run.err, "no progress while its ops are timed"));
}

TEST_CASE_IN_FOLDER("without a GPU, or with one that is too small, the exit code is 3") {
  const Outcome none = folder.run(live({}), gpu("error=100"));
  CHECK_EQ(none.status, 3);
  CHECK(contains(none.err, "U021"));
  const Outcome small = folder.run(live({}), gpu("idle,processors=8,least_part=8"));
  CHECK_EQ(small.status, 3);
  CHECK(contains(small.err, "U060"));
}
