// Bytes of chunks back to records. Never reads outside of what it is given, whatever the bytes: every record is checked
// for its end, every name and place for its number, every time for its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/records/record.hpp"
#include "profiler/records/record_format.hpp"

namespace debubble {

// The chunk cannot be understood; `at` is the byte of the chunk where the record in question begins.
struct DamagedRecord : std::runtime_error {
  DamagedRecord(const char* what, std::size_t at_byte) : std::runtime_error(what), at(at_byte) {}
  std::size_t at;
};

class RecordDecoder {
 public:
  // Chunks in their order, from the first. At least kSlack readable bytes must follow `size`, zeros for example.
  // Throws DamagedRecord.
  void decode(const char* records, std::size_t size, RecordSink& sink);

  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] bool ended() const { return ended_; }  // the end of a finished file was there

 private:
  struct Place {
    GpuWork work;
    std::uint32_t device;
    std::uint32_t context;
    std::uint32_t stream;
  };

  class Cursor;
  void record(record_format::Tag tag, Cursor& from, RecordSink& sink);
  void define(record_format::Tag tag, Cursor& from);
  void rare_record(record_format::Tag tag, Cursor& from, RecordSink& sink);
  void push(Cursor& from, bool plus, RecordSink& sink);
  void launch(Cursor& from, RecordSink& sink);
  void kernel(Cursor& from, bool plus, RecordSink& sink);

  record_format::Before before_;
  std::vector<std::string> names_;
  std::vector<Place> places_;
  std::uint64_t records_ = 0;
  bool ended_ = false;
};

}  // namespace debubble
