#include "formats/exporters/perfetto_packets.hpp"

#include <utility>

namespace debubble::trace_detail {
namespace {

constexpr std::uint32_t kPacket = 1;  // of Trace

// Of TracePacket.
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInterned = 12;
constexpr std::uint32_t kFlags = 13;
constexpr std::uint32_t kDescriptor = 60;
constexpr std::uint64_t kNamesBegin = 1;  // flags: what was numbered before is forgotten
constexpr std::uint64_t kNeedsNames = 2;

// Of TrackEvent.
constexpr std::uint32_t kCategory = 3;
constexpr std::uint32_t kAnnotation = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kTrack = 11;
constexpr std::uint32_t kName = 23;
constexpr std::uint32_t kCounterValue = 30;
constexpr std::uint64_t kBegin = 1;
constexpr std::uint64_t kEnd = 2;
constexpr std::uint64_t kInstant = 3;
constexpr std::uint64_t kCounter = 4;

// Of TrackDescriptor.
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kTrackName = 2;
constexpr std::uint32_t kProcess = 3;
constexpr std::uint32_t kParent = 5;
constexpr std::uint32_t kCounterOf = 8;
constexpr std::uint32_t kOrder = 11;
constexpr std::uint32_t kRank = 12;
constexpr std::uint64_t kByRank = 3;
constexpr std::uint64_t kSizeInBytes = 3;

// Of DebugAnnotation.
constexpr std::uint32_t kKeyNumber = 1;
constexpr std::uint32_t kInteger = 4;
constexpr std::uint32_t kText = 6;
constexpr std::uint32_t kWordNumber = 17;

}  // namespace

PerfettoPackets::PerfettoPackets(TextBuffer& out, std::uint32_t sequence) : out_(out), sequence_(sequence) {}

// In a packet of its own, before the one that is being written.
std::uint64_t PerfettoPackets::number_of(InternedName& name, Names& names) {
  if (name.number != 0) return name.number;
  name.number = ++names.count;
  WireText& wire = interned_;
  wire.clear();
  const std::size_t packet = wire.open(kPacket);
  wire.number(kSequence, sequence_);
  wire.number(kFlags, begun_ ? kNeedsNames : kNamesBegin);
  begun_ = true;
  const std::size_t interned = wire.open(kInterned);
  const std::size_t entry = wire.open(names.field);
  wire.number(1, name.number);
  wire.bytes(names.text_field, name.text);
  wire.close(entry);
  wire.close(interned);
  wire.close(packet);
  out_ << wire.text();
  return name.number;
}

std::size_t PerfettoPackets::open_packet() {
  wire_.clear();
  return wire_.open(kPacket);
}

void PerfettoPackets::close_packet(std::size_t packet) {
  wire_.number(kSequence, sequence_);
  wire_.close(packet);
  out_ << wire_.text();
  out_.end_record();
}

void PerfettoPackets::add_process(std::uint64_t track, std::int64_t pid, std::string_view name) {
  const std::size_t packet = open_packet();
  const std::size_t descriptor = wire_.open(kDescriptor);
  wire_.number(kUuid, track);
  wire_.number(kOrder, kByRank);
  const std::size_t process = wire_.open(kProcess);
  wire_.number(1, static_cast<std::uint64_t>(pid));
  wire_.bytes(6, name);
  wire_.close(process);
  wire_.close(descriptor);
  close_packet(packet);
}

void PerfettoPackets::add_track(std::uint64_t track, std::uint64_t parent, std::string_view name, std::int64_t rank) {
  const std::size_t packet = open_packet();
  const std::size_t descriptor = wire_.open(kDescriptor);
  wire_.number(kUuid, track);
  wire_.bytes(kTrackName, name);
  if (parent != 0) wire_.number(kParent, parent);
  wire_.number(kRank, static_cast<std::uint64_t>(rank));
  wire_.close(descriptor);
  close_packet(packet);
}

void PerfettoPackets::add_counter(std::uint64_t track, std::uint64_t parent, std::string_view name) {
  const std::size_t packet = open_packet();
  const std::size_t descriptor = wire_.open(kDescriptor);
  wire_.number(kUuid, track);
  wire_.bytes(kTrackName, name);
  wire_.number(kParent, parent);
  const std::size_t counter = wire_.open(kCounterOf);
  wire_.number(3, kSizeInBytes);
  wire_.close(counter);
  wire_.close(descriptor);
  close_packet(packet);
}

void PerfettoPackets::open_event(Nanoseconds at, std::uint64_t type, std::uint64_t track) {
  ++events_;
  packet_ = open_packet();
  wire_.number(kTimestamp, static_cast<std::uint64_t>(at));
  wire_.number(kFlags, kNeedsNames);
  body_ = wire_.open(kTrackEvent);
  wire_.number(kType, type);
  wire_.number(kTrack, track);
}

void PerfettoPackets::begin_slice(std::uint64_t track, Nanoseconds at, std::string_view name, InternedName& category) {
  track_ = track;
  open_event(at, kBegin, track);
  wire_.number(kCategory, number_of(category, categories_));
  wire_.bytes(kName, name);
}

void PerfettoPackets::begin_point(std::uint64_t track, Nanoseconds at, std::string_view name, InternedName& category) {
  open_event(at, kInstant, track);
  wire_.number(kCategory, number_of(category, categories_));
  wire_.bytes(kName, name);
}

void PerfettoPackets::end_point() {
  wire_.close(body_);
  close_packet(packet_);
}

void PerfettoPackets::end_slice(Nanoseconds end) {
  end_point();
  open_event(end, kEnd, track_);
  end_point();
}

void PerfettoPackets::argument(InternedName& key, std::int64_t value) {
  wire_.pair(kAnnotation, kKeyNumber, number_of(key, keys_), kInteger, static_cast<std::uint64_t>(value));
}

void PerfettoPackets::argument(InternedName& key, std::string_view value) {
  const std::uint64_t number = number_of(key, keys_);
  wire_.head(kAnnotation, 2 + WireText::length_of(number) + WireText::length_of(value.size()) + value.size());
  wire_.number(kKeyNumber, number);
  wire_.bytes(kText, value);
}

void PerfettoPackets::argument(InternedName& key, InternedName& word) {
  // One after the other: compilers differ in which argument of a call they evaluate first, and numbers are given in
  // order.
  const std::uint64_t text = number_of(word, words_);
  const std::uint64_t name = number_of(key, keys_);
  wire_.pair(kAnnotation, kKeyNumber, name, kWordNumber, text);
}

void PerfettoPackets::count(std::uint64_t track, Nanoseconds at, std::int64_t value) {
  open_event(at, kCounter, track);
  wire_.number(kCounterValue, static_cast<std::uint64_t>(value));
  end_point();
}

}  // namespace debubble::trace_detail
