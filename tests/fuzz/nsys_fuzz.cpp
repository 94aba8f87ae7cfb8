// The Nsight Systems importer: whatever the database, it throws InputError or replays balanced streams.
#include "profiler/importers/nsys.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

class Judge : public RecordSink {
 public:
  using RecordSink::on;
  void on(const RangePush& record) override {
    require(record.range == ++newest_);
    ++open_[record.thread];
  }
  void on(const RangePop& record) override { require(--open_[record.thread] >= 0); }
  void on(const LinkRecord& record) override { require(record.range <= newest_ && record.range > 0); }
  void on(const LaunchRecord& record) override { require(record.end >= record.begin); }
  void on(const KernelRecord& record) override {
    require(record.end > record.begin || (record.end == 0 && record.begin == 0));
  }

  void finish() const {
    for (const auto& [thread, open] : open_) require(open == 0);
  }

 private:
  std::uint64_t newest_ = 0;
  std::map<std::uint32_t, std::int64_t> open_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const SqliteFile file(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.sqlite");
    NsysExport source(file);
    for (const std::int64_t process : source.processes()) {
      Judge judge;
      source.replay(process, judge);
      judge.finish();
    }
  } catch (const InputError& error) {
    check_refusal(error, "", Help::kMayLack);
  }
  return 0;
}
