// The record file reader: whatever the bytes, it throws InputError or gives records that survive being written again.
// Every input is read twice: as a file, and as the records of one chunk with a right checksum, which no mutation of a
// file would ever have.
#include "profiler/records/crc32.hpp"
#include "profiler/records/record_encoder.hpp"
#include "profiler/records/record_file.hpp"
#include "profiler/records/record_text.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

// Writes what it is given as one file, and as text.
class Copy : public RecordSink {
 public:
  using RecordSink::on;
  void on(const RangePush& record) override { both(record); }
  void on(const RangePop& record) override { both(record); }
  void on(const LinkRecord& record) override { both(record); }
  void on(const LaunchRecord& record) override { both(record); }
  void on(const KernelRecord& record) override { both(record); }
  void on(const MemoryRecord& record) override { both(record); }
  void on(const OverheadRecord& record) override { both(record); }
  void on(const ClockRecord& record) override { both(record); }
  void on(const SwitchRecord& record) override { both(record); }
  void on(const FactRecord& record) override { both(record); }
  void on(const LossRecord& record) override { both(record); }

  std::string finish() {
    encoder_.end();
    add_chunk();
    return file_;
  }
  std::string text;

 private:
  template <class Record>
  void both(const Record& record) {
    text_sink_.on(record);
    encoder_.on(record);
    if (encoder_.pending() > record_format::kChunkTarget) add_chunk();
  }
  void add_chunk() {
    file_ += encoder_.chunk();
    encoder_.restart();
  }

  RecordText text_sink_{text};
  RecordEncoder encoder_;
  std::string file_{record_format::kMagic};
};

void read(std::string_view bytes) {
  Copy first;
  try {
    read_records(bytes, "fuzz", first);
  } catch (const InputError& error) {
    check_refusal(error);
    return;
  }
  // A name of a file may look like one with PyTorch's suffixes; a written one never does. So compare from there on.
  Copy second;
  require(read_records(first.finish(), "fuzz", second).complete);
  Copy third;
  require(read_records(second.finish(), "fuzz", third).complete);
  require(std::count(first.text.begin(), first.text.end(), '\n') ==
          std::count(second.text.begin(), second.text.end(), '\n'));
  require(second.text == third.text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  std::string chunk(record_format::kMagic);
  const auto length = static_cast<std::uint32_t>(size);
  const std::uint32_t sum = crc32_of(bytes);
  chunk.append(reinterpret_cast<const char*>(&length), sizeof length);
  chunk.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  read(chunk.append(bytes));
  return 0;
}
