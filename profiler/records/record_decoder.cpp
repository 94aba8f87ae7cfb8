#include "profiler/records/record_decoder.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "profiler/records/range_text.hpp"

namespace debubble {

using record_format::Tag;

namespace {

// Beyond this no clock goes: 2^62 ns are 146 years after 1970. Sums and differences of two times cannot overflow.
constexpr std::uint64_t kTimeBits = ~std::uint64_t{0} << 62U;

std::int64_t as_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

// Reads fields one by one. May run up to kSlack bytes over the end before anybody asks over().
class RecordDecoder::Cursor {
 public:
  Cursor(const char* begin, std::size_t size) : begin_(begin), at_(begin), end_(begin + size) {}

  [[nodiscard]] bool done() const { return at_ >= end_; }
  [[nodiscard]] bool over() const { return at_ > end_; }
  [[noreturn]] void damaged(const char* what) const {
    throw DamagedRecord(what, static_cast<std::size_t>(record_ - begin_));
  }

  Tag tag() {
    record_ = at_;
    return static_cast<Tag>(*at_++);
  }

  std::uint64_t number() {
    const auto first = static_cast<unsigned char>(*at_);
    if (first < 0x80) {
      ++at_;
      return first;
    }
    return long_number();
  }

  std::int64_t signed_number() { return as_signed(record_format::unzigzag(number())); }
  std::uint64_t delta(std::uint64_t& before) { return before += record_format::unzigzag(number()); }

  template <class Int>
  Int narrow(std::uint64_t value) const {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Int>::max())) damaged("a number is too large");
    return static_cast<Int>(value);
  }
  std::uint32_t number32() { return narrow<std::uint32_t>(number()); }
  std::uint32_t delta32(std::uint64_t& before) { return narrow<std::uint32_t>(delta(before)); }

  Nanoseconds time(std::uint64_t& before) {
    if ((delta(before) & kTimeBits) != 0) damaged("a time is out of range");
    return as_signed(before);
  }
  Nanoseconds time_after(Nanoseconds begin) {
    const std::uint64_t end = static_cast<std::uint64_t>(begin) + record_format::unzigzag(number());
    if ((end & kTimeBits) != 0) damaged("a time is out of range");
    return as_signed(end);
  }

  std::string_view text() {
    const std::uint64_t size = number();
    if (over() || size > record_format::kMaxText || size > static_cast<std::uint64_t>(end_ - at_)) {
      damaged("a text runs over the end");
    }
    const char* const text = at_;
    at_ += size;
    return {text, size};
  }

 private:
  // Up to 8 bytes without a branch a byte: lengths vary, and a wrong guess of the processor costs more than the rest.
  std::uint64_t long_number() {
    std::uint64_t x = 0;
    std::memcpy(&x, at_, sizeof x);
    const std::uint64_t stops = ~x & 0x8080'8080'8080'8080U;
    if (stops == 0) return longest_number();
    at_ += static_cast<std::size_t>(std::countr_zero(stops)) / 8 + 1;
    x &= stops ^ (stops - 1);
    x = (x & 0x007F'007F'007F'007FU) | ((x & 0x7F00'7F00'7F00'7F00U) >> 1U);
    x = (x & 0x0000'3FFF'0000'3FFFU) | ((x & 0x3FFF'0000'3FFF'0000U) >> 2U);
    return (x & 0x0000'0000'0FFF'FFFFU) | ((x & 0x0FFF'FFFF'0000'0000U) >> 4U);
  }

  std::uint64_t longest_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    damaged("a number has no end");
  }

  const char* begin_;
  const char* record_ = nullptr;
  const char* at_;
  const char* end_;
};

void RecordDecoder::decode(const char* records, std::size_t size, RecordSink& sink) {
  Cursor from(records, size);
  while (!from.done()) {
    const Tag tag = from.tag();
    if (ended_) from.damaged("records continue after the end");
    record(tag, from, sink);
  }
}

void RecordDecoder::push(Cursor& from, bool plus, RecordSink& sink) {
  RangePush record;
  record.range = from.delta(before_.range);
  record.thread = from.delta32(before_.thread);
  record.time = from.time(before_.time);
  const std::uint64_t name = from.number();
  if (name >= names_.size()) from.damaged("a name is not defined");
  record.name = names_[name];
  if (const std::string_view behind = from.text(); !behind.empty()) {
    const RangeText parts = parse_range_text(behind);
    record.sequence = parts.sequence;
    record.sizes = parts.sizes;
  }
  if (plus) {
    if (const std::int64_t sequence = from.signed_number(); sequence != -1) record.sequence = sequence;
    record.forward_thread = from.number32();
    if (const std::string_view sizes = from.text(); !sizes.empty()) record.sizes = sizes;
  }
  if (from.over()) from.damaged("a record is cut off");
  sink.on(record);
}

void RecordDecoder::launch(Cursor& from, RecordSink& sink) {
  LaunchRecord record;
  record.correlation = from.delta32(before_.launch_correlation);
  record.thread = from.delta32(before_.launch_thread);
  record.begin = from.time(before_.launch_begin);
  record.end = from.time_after(record.begin);
  if (from.over()) from.damaged("a record is cut off");
  sink.on(record);
}

void RecordDecoder::kernel(Cursor& from, bool plus, RecordSink& sink) {
  const std::uint64_t number = from.number();
  if (number >= places_.size()) from.damaged("a place is not defined");
  const Place& place = places_[number];
  KernelRecord record;
  record.work = place.work;
  record.device = place.device;
  record.context = place.context;
  record.stream = place.stream;
  record.correlation = from.delta32(before_.kernel_correlation);
  record.begin = from.time(before_.kernel_begin);
  record.end = from.time_after(record.begin);
  const std::uint64_t name = from.number();
  if (name >= names_.size()) from.damaged("a name is not defined");
  record.name = names_[name];
  if (plus) {
    record.graph_node = from.number();
    record.bytes = from.signed_number();
  }
  if (from.over()) from.damaged("a record is cut off");
  sink.on(record);
}

void RecordDecoder::define(Tag tag, Cursor& from) {
  if (tag == Tag::kForget) {
    names_.clear();
    places_.clear();
  } else if (tag == Tag::kDefineName) {
    names_.emplace_back(from.text());
  } else if (tag == Tag::kPlace) {
    const std::uint64_t work = from.number();
    if (work > static_cast<std::uint64_t>(GpuWork::kSet)) from.damaged("unknown kind of GPU work");
    Place place{static_cast<GpuWork>(work), from.number32(), 0, 0};
    place.context = from.number32();
    place.stream = from.number32();
    places_.push_back(place);
  } else if (tag == Tag::kEnd) {
    ended_ = true;
  } else {
    from.damaged("unknown kind of record");
  }
  if (from.over()) from.damaged("a record is cut off");
  if (names_.size() > record_format::kMaxTable || places_.size() > record_format::kMaxTable) {
    from.damaged("more names than a writer makes");
  }
}

void RecordDecoder::record(Tag tag, Cursor& from, RecordSink& sink) {
  if (tag >= Tag::kDefineName) return define(tag, from);
  ++records_;
  if (tag == Tag::kKernel || tag == Tag::kKernelPlus) return kernel(from, tag == Tag::kKernelPlus, sink);
  if (tag == Tag::kLaunch) return launch(from, sink);
  if (tag == Tag::kPush || tag == Tag::kPushPlus) return push(from, tag == Tag::kPushPlus, sink);
  if (tag == Tag::kLink) {
    const std::uint32_t correlation = from.delta32(before_.link_correlation);
    const LinkRecord record{correlation, from.delta(before_.link_range)};
    if (from.over()) from.damaged("a record is cut off");
    return sink.on(record);
  }
  if (tag == Tag::kPop) {
    const std::uint32_t thread = from.delta32(before_.thread);
    const RangePop record{thread, from.time(before_.time)};
    if (from.over()) from.damaged("a record is cut off");
    return sink.on(record);
  }
  rare_record(tag, from, sink);
}

void RecordDecoder::rare_record(Tag tag, Cursor& from, RecordSink& sink) {
  const auto give = [&](const auto& record) {
    if (from.over()) from.damaged("a record is cut off");
    sink.on(record);
  };
  if (tag == Tag::kMemory) {
    MemoryRecord record{.thread = from.number32(), .device = from.number32(), .time = from.time(before_.other_time)};
    record.address = from.number();
    record.bytes = from.signed_number();
    give(record);
  } else if (tag == Tag::kOverhead) {
    const std::uint64_t kind = from.number();
    if (kind > static_cast<std::uint64_t>(OverheadKind::kCounting)) from.damaged("unknown kind of overhead");
    OverheadRecord record{.kind = static_cast<OverheadKind>(kind), .thread = from.number32()};
    record.begin = from.time(before_.other_time);
    record.end = from.time_after(record.begin);
    give(record);
  } else if (tag == Tag::kClock) {
    ClockRecord record{.device = from.number32(), .time = from.time(before_.other_time)};
    record.sm_mhz = from.narrow<std::int32_t>(static_cast<std::uint64_t>(from.signed_number()));
    record.slowed_by = from.number();
    give(record);
  } else if (tag == Tag::kSwitch) {
    const Nanoseconds time = from.time(before_.other_time);
    give(SwitchRecord{.time = time, .recording = from.number() != 0});
  } else if (tag == Tag::kFact) {
    const std::string_view key = from.text();
    give(FactRecord{.key = key, .value = from.text()});
  } else if (tag == Tag::kLoss) {
    const std::string_view what = from.text();
    give(LossRecord{.what = what, .count = from.signed_number()});
  } else {
    from.damaged("unknown kind of record");
  }
}

}  // namespace debubble
