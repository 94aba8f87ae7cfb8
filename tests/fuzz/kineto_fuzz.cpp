// The Kineto importer: whatever the bytes, it throws InputError or replays a balanced stream: every range is popped,
// links name ranges that were pushed, and every GPU event of the file comes once.
#include "profiler/importers/kineto.hpp"
#include "profiler/importers/whole_model.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

class Judge : public RecordSink {
 public:
  using RecordSink::on;
  void on(const RangePush& record) override {
    require(record.range > newest_);
    newest_ = record.range;
    ++open_[record.thread];
  }
  void on(const RangePop& record) override { require(--open_[record.thread] >= 0); }
  void on(const LinkRecord& record) override { require(record.range <= newest_ && record.range > 0); }
  void on(const LaunchRecord& record) override { require(record.end >= record.begin); }
  void on(const KernelRecord& record) override {
    require(record.end > record.begin || (record.end == 0 && record.begin == 0));
    ++work_;
  }
  void on(const LossRecord& record) override { require(record.count > 0); }

  void finish() const {
    require(work_ > 0);
    for (const auto& [thread, open] : open_) require(open == 0);
  }

 private:
  std::uint64_t newest_ = 0;
  std::int64_t work_ = 0;
  std::map<std::uint32_t, std::int64_t> open_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const KinetoTrace trace(std::string(reinterpret_cast<const char*>(data), size), "fuzz.json");
    Judge judge;
    trace.replay(judge);
    judge.finish();
    Judge whole_judge;
    WholeModel whole("^ProfilerStep#", whole_judge);
    trace.replay(whole);
    whole.end_of_stream();
    whole_judge.finish();
    for (const std::string& note : trace.notes()) require(is_printable(note));
    if (const auto guess = trace.guess_layers()) require(is_printable(guess->note));
  } catch (const InputError& error) {
    check_refusal(error, "", Help::kMayLack);
  }
  return 0;
}
