// The packets of a Perfetto trace: track descriptors, slices, counters, and names that are written once. Internal to
// formats/exporters; field numbers are those of perfetto/trace/track_event/*.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/exporters/protobuf_wire.hpp"
#include "formats/exporters/trace_words.hpp"
#include "formats/files/text_sink.hpp"
#include "sim/core/units.hpp"

namespace debubble::trace_detail {

class PerfettoPackets {
 public:
  // `sequence` tells the writers of one file apart: each has names of its own.
  PerfettoPackets(TextBuffer& out, std::uint32_t sequence);

  // `pid` 0: no process. Tracks are shown in the order of their rank.
  void add_process(std::uint64_t track, std::int64_t pid, std::string_view name);
  void add_track(std::uint64_t track, std::uint64_t parent, std::string_view name, std::int64_t rank);
  void add_counter(std::uint64_t track, std::uint64_t parent, std::string_view name);  // of bytes

  // A slice that begins; its fields follow, then end_slice(). `name` is written as it is, category and keys once.
  void begin_slice(std::uint64_t track, Nanoseconds at, std::string_view name, InternedName& category);
  void argument(InternedName& key, std::int64_t value);
  void argument(InternedName& key, std::string_view value);
  // Of few values: written once.
  void argument(InternedName& key, InternedName& value);
  void arrow_from_here(std::uint64_t id) { wire_.fixed64(47, id); }
  void arrow_to_here(std::uint64_t id) { wire_.fixed64(48, id); }
  void end_slice(Nanoseconds end);

  void count(std::uint64_t track, Nanoseconds at, std::int64_t value);
  // A point in time with arguments; end_point() closes it.
  void begin_point(std::uint64_t track, Nanoseconds at, std::string_view name, InternedName& category);
  void end_point();

  [[nodiscard]] std::int64_t events() const { return events_; }

 private:
  // Kinds of names: the field of InternedData, that of the text in an entry, and how many there are.
  struct Names {
    std::uint32_t field = 0;
    std::uint32_t text_field = 0;
    std::uint64_t count = 0;
  };

  // The name's number; one that has none is written first.
  std::uint64_t number_of(InternedName& name, Names& names);
  std::size_t open_packet();
  void close_packet(std::size_t packet);
  void open_event(Nanoseconds at, std::uint64_t type, std::uint64_t track);

  TextBuffer& out_;
  WireText wire_;      // the packet being written
  WireText interned_;  // a name that it needs, which comes first
  std::uint32_t sequence_;
  bool begun_ = false;
  std::size_t packet_ = 0;
  std::size_t body_ = 0;
  std::uint64_t track_ = 0;
  std::int64_t events_ = 0;
  Names categories_{1, 2};
  Names keys_{3, 2};
  Names words_{29, 2};
};

}  // namespace debubble::trace_detail
