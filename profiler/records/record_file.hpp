// The record file, `*.dbrec`: records on disk, written as they arrive, so that a killed program leaves all but the
// last.
//
//     "DBREC\0\0\1"  | chunk | chunk | ...      chunk: u32 bytes, u32 crc32, records     record: u8 type, packed fields
//
// Little endian. Names of kernels are written once and then by number. A range's text is stored as it was given; the
// reader takes PyTorch's suffixes off (range_text.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/records/record.hpp"

namespace debubble {

// Writes records through a buffer. Not thread-safe: the recorder owns one and feeds it from one thread at a time.
// A failed write (disk full) is remembered, not thrown: the program under test must live on. See failed().
class RecordFileWriter : public RecordSink {
 public:
  explicit RecordFileWriter(const std::string& path);
  ~RecordFileWriter() override;
  RecordFileWriter(const RecordFileWriter&) = delete;
  RecordFileWriter& operator=(const RecordFileWriter&) = delete;

  using RecordSink::on;
  void on(const RangePush& record) override;  // `name` is the whole text, with any suffix
  void on(const RangePop& record) override;
  void on(const LinkRecord& record) override;
  void on(const LaunchRecord& record) override;
  void on(const KernelRecord& record) override;
  void on(const MemoryRecord& record) override;
  void on(const OverheadRecord& record) override;
  void on(const ClockRecord& record) override;
  void on(const SwitchRecord& record) override;
  void on(const FactRecord& record) override;
  void on(const LossRecord& record) override;

  void flush();  // ends the chunk and hands it to the kernel
  // Forgets the buffer and closes the descriptor without writing: for a forked child, whose copy belongs to the parent.
  void abandon();
  [[nodiscard]] bool failed() const;

 private:
  struct State;
  State* state_;  // leaked on purpose when the process ends underneath us
};

// What a reader can say about a file it read.
struct RecordFileEnd {
  bool complete = true;  // false: the last chunk is cut off, the program was killed
  std::uint64_t records = 0;
};

// Streams one file into `sink`; memory does not grow with the file. Throws InputError (R001...) for what is no record
// file, has another version, or is damaged before its end (checksum): place is "name: byte N".
RecordFileEnd read_record_file(const std::string& path, RecordSink& sink);

}  // namespace debubble
