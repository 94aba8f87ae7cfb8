// Training logs of Megatron-LM: whatever the bytes, they are refused with InputError, or their iterations follow each
// other, every rank has a place in the pipeline, and their arguments are a scenario or refused.
#include "formats/megatron/scenario_of.hpp"
#include "studies/diff/logged_run.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

void check_run(const LoggedRun& run) {
  require(run.measured.intervals.size() <= run.log.intervals.size());
  std::int64_t last = -1;
  for (const LoggedInterval& interval : run.log.intervals) {
    require(interval.last_iteration > last && interval.iteration_time > 0);
    last = interval.last_iteration;
    for (const LoggedTimer& timer : interval.timers) require(timer.time >= 0 && !timer.name.empty());
  }
  for (const LoggedMemory& memory : run.log.memory) {
    const int device = run.device_of(memory.rank);
    require(device >= 0 && device < run.pipeline && memory.max_allocated >= 0);
  }
}

template <typename Read>
void refuses_or(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    check_refusal(error, "", Help::kMayLack);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  refuses_or([&] { check_run(read_logged_run(text, "train.log")); });
  refuses_or([&] { require(!read_megatron(text, "train.log").flags.empty()); });
  return 0;
}
