// Launch scripts: whatever the bytes, they are refused with InputError, or their arguments hold no mark of ours.
#include "formats/megatron/launch.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace debubble;
  using namespace debubble::fuzz;
  if (size > 20'000) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const MegatronLaunch launch = read_launch(text, "x.sh", LaunchGiven{});
    for (const std::string& word : launch.arguments) {
      if (word.find('\x01') != std::string::npos) std::abort();
    }
  } catch (const InputError& error) {
    check_refusal(error, "", Help::kMayLack);
  }
  return 0;
}
