// Configurations of other frameworks: whatever the bytes, they are refused with InputError, or become a scenario of
// flags with names and values. The first byte says which framework, and how the file's name ends.
#include "formats/frameworks/framework_scenario.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace debubble;
  using namespace debubble::fuzz;
  if (size < 1) return 0;
  constexpr std::array<const char*, 3> kEndings{"a.toml", "a.yaml", "a.json"};
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string>& tools = framework_tools();
  FrameworkRequest request;
  if ((data[0] & 1) != 0) request.world_size = 64;
  if ((data[0] & 2) != 0) request.model = "gpt2-xl";
  const std::string& tool = tools.at((data[0] >> 2) % tools.size());
  try {
    const FrameworkScenario scenario =
        read_framework(tool, text, kEndings.at((data[0] >> 5) % kEndings.size()), request);
    for (const auto& [flag, value] : scenario.flags) {
      if (flag.empty()) std::abort();
    }
    if (write_framework_scenario(scenario, tool, "a").empty()) std::abort();
  } catch (const InputError& error) {
    check_refusal(error, "", Help::kMayLack);
  }
  return 0;
}
