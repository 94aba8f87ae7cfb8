// The readers of traces as runs: whatever the bytes, they throw InputError or give whole iterations whose transfers end
// no earlier than they begin. The bytes are taken as
// our own trace, as one rank's, and as two ranks'.
#include "formats/importers/kineto_run.hpp"
#include "formats/run/open_trace.hpp"
#include "studies/runs/imported_record.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

void judge(const RunRecord& record) {
  require(!record.iterations.empty());
  for (const RunIteration& iteration : record.iterations) {
    require(iteration.timeline.devices == record.schedule.devices);
    for (const Span& span : iteration.timeline.spans) require(span.begin >= 0 && span.end >= span.begin);
  }
}

template <typename Action>
void survive(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    check_refusal(error, "", Help::kMayLack);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  survive([&] {
    const PipelineTrace trace = read_pipeline_trace(bytes, "fuzz.json");
    survive([&] { judge(open_own_trace(trace)); });
    survive([&] { judge(open_kineto_run({trace}, nullptr)); });
    PipelineTrace other = trace;
    other.facts["distributedInfo/rank"] = "1";
    survive([&] { judge(open_kineto_run({trace, std::move(other)}, nullptr)); });
  });
  return 0;
}
