// The run file reader: whatever the bytes, it throws InputError or returns a record that survives the round trip, can
// be analysed without overflow, and predicts itself or says why not.
#include "formats/run/run_file.hpp"
#include "studies/runs/predict.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

std::string written(const RunRecord& record) {
  std::string text;
  write_run_file(record, [&](std::string_view piece) { text += piece; });
  return text;
}

void use(const RunRecord& record) {
  for (std::size_t k = 0; k < record.iterations.size(); ++k) {
    const Report report = report_of(record, k);
    Nanoseconds idle = 0;
    for (const DeviceReport& device : report.devices) {
      Nanoseconds causes = 0;
      for (const Nanoseconds cause : device.idle_by_cause) causes += cause;
      require(causes == device.idle && device.busy + device.idle == report.makespan);
      idle += device.idle;
    }
    require(idle >= 0 && median_iteration(record) < record.iterations.size());
  }
  if (record.schedule.total_ops() > 2000) return;  // the slow part; the reader was the point
  try {
    NoProgress silent;
    (void)simulate_record(record, silent);
  } catch (const InputError&) {
    // Costs that add up to too much are input errors.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  RunRecord record;
  try {
    record = read_run_text(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  } catch (const InputError& error) {
    check_refusal(error, "fuzz");
    return 0;
  }
  const std::string text = written(record);
  require(written(read_run_text(text, "fuzz")) == text);
  use(record);
  return 0;
}
