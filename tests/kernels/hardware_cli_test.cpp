// Hardware of one's own, calibrated by the real command on a fake GPU; hardware_cli.transcript is about the rest.
#include "tests/support/command.hpp"

namespace debubble::testing {
TEST_CASE_IN_FOLDER("own hardware: calibrated on a GPU, which is a fake one here") {
  const std::string library = FAKE_CUDA_LIBRARY;
  Surroundings fake;
  fake.environment = {"DEBUBBLE_LIBCUDA=" + library, "DEBUBBLE_CUBLASLT=" + library, "DEBUBBLE_NVRTC=" + library,
                      "FAKE_CUDA=idle,memory=268435456"};
  const Outcome made = folder.run("profile --calibrate-hardware -o gpu.json", fake);
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK(folder.files() == "gpu.json gpu.kernels.csv");
  const auto file = nlohmann::json::parse(folder.read("gpu.json"));
  CHECK(file["kernels"]["file"] == "gpu.kernels.csv");
  CHECK(file["processors"]["count"]["value"] == 4);
  CHECK(contains(file["host"]["launch"]["source"].get<std::string>(), "a launch alone takes"));
  CHECK(contains(file["shares"]["sustained"]["source"].get<std::string>(), "for seconds"));
  const Outcome run = folder.run("simulate --model llama3-8b -p 4 -m 8 --hardware gpu.json --memory off --assumptions");
  REQUIRE_MESSAGE(run.status == 0, run.err);
  CHECK(contains(run.out, "gpu.kernels.csv"));
  CHECK(file["shares"]["kernel_gap"]["value"] == "3.104us");  // kFakeGap and kFakeTickKernel
  const Outcome none = folder.run("profile --calibrate-hardware -o other.json");
  CHECK(none.status == 3);
  CHECK(folder.files() == "gpu.json gpu.kernels.csv");
}

}  // namespace debubble::testing
