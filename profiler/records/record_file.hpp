// The record file, `*.dbrec`: records on disk, written as they arrive, so that a killed program leaves all but the
// last.
//
//     "DBREC\0\0\1"  | chunk | chunk | ...      chunk: u32 bytes, u32 crc32, records     record: u8 type, packed fields
//
// Little endian; fields in record_format.hpp. Names are written once and then by number. A range's text is stored as it
// was given; the reader takes PyTorch's suffixes off (range_text.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/records/record.hpp"

namespace debubble {

// Writes records through a buffer. Not thread-safe: the recorder owns one and feeds it from one thread at a time.
// A failed write (disk full) is remembered, not thrown: the program under test must live on. See failed().
class RecordFileWriter : public RecordSink {
 public:
  explicit RecordFileWriter(const std::string& path);  // throws InputError (C051) when the file cannot be made
  ~RecordFileWriter() override;                        // close(), unless abandoned
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
  void close();  // writes the end of the file; what comes later is lost
  // Forgets the buffer and closes the descriptor without writing: for a forked child, whose copy belongs to the parent.
  void abandon();
  [[nodiscard]] bool failed() const;

 private:
  template <class Record>
  void add(const Record& record);

  struct State;
  std::unique_ptr<State> state_;
};

// What a reader can say about a file it read.
struct RecordFileEnd {
  bool complete = true;  // false: the writer never ended it, or the last chunk is cut off: the program was killed
  std::uint64_t records = 0;
};

// Streams one file into `sink`; memory does not grow with the file. Times are within 0 and 2^62 ns, as read. Throws
// InputError: P010 no record file, or one of another version, K001 a checksum is wrong, P012 records that make no
// sense, C005 it cannot be read. The place is "name: byte N" where there is one.
RecordFileEnd read_record_file(const std::string& path, RecordSink& sink);

// The same for bytes in memory; `name` is for messages.
RecordFileEnd read_records(std::string_view bytes, const std::string& name, RecordSink& sink);

}  // namespace debubble
