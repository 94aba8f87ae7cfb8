#include "profiler/records/record_encoder.hpp"

#include <array>
#include <cstring>

#include "profiler/records/crc32.hpp"
#include "profiler/records/range_text.hpp"

namespace debubble {

using record_format::Tag;

namespace {

std::string_view cut(std::string_view text) { return text.substr(0, record_format::kMaxText); }

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

// Room for the largest chunk, so that without memory a record is left out as a whole: only the tables grow, before
// the record's first byte.
RecordEncoder::RecordEncoder() {
  bytes_.reserve(record_format::kMaxChunk);
  restart();
}

void RecordEncoder::restart() { bytes_.assign(record_format::kChunkHeader, '\0'); }

std::string_view RecordEncoder::chunk() {
  const std::string_view records = std::string_view(bytes_).substr(record_format::kChunkHeader);
  const std::array<std::uint32_t, 2> header = {static_cast<std::uint32_t>(records.size()), crc32_of(records)};
  std::memcpy(bytes_.data(), header.data(), sizeof header);
  return bytes_;
}

void RecordEncoder::tag(Tag tag) { bytes_.push_back(static_cast<char>(tag)); }

void RecordEncoder::number(std::uint64_t value) {
  std::array<char, 10> digits{};
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7U) digits[size++] = static_cast<char>(value | 0x80U);
  digits[size++] = static_cast<char>(value);
  bytes_.append(digits.data(), size);
}

void RecordEncoder::signed_number(std::int64_t value) { number(record_format::zigzag(bits(value))); }

void RecordEncoder::delta(std::uint64_t& before, std::uint64_t now) {
  number(record_format::zigzag(now - before));
  before = now;
}

void RecordEncoder::text(std::string_view text) {
  text = cut(text);
  number(text.size());
  bytes_.append(text);
}

void RecordEncoder::forget_when_full() {
  const bool many = names_.size() >= record_format::kMaxTable || places_.size() >= record_format::kMaxTable;
  if (!many && name_bytes_ < record_format::kMaxTableBytes) return;
  tag(Tag::kForget);
  names_.clear();
  name_bytes_ = 0;
  places_.clear();
}

std::uint64_t RecordEncoder::name_number(std::string_view name) {
  name = cut(name);
  const auto known = names_.find(name);
  if (known != names_.end()) return known->second;
  const std::uint64_t next = names_.size();
  names_.emplace(name, next);
  name_bytes_ += name.size();
  tag(Tag::kDefineName);
  text(name);
  return next;
}

std::uint64_t RecordEncoder::place_number(const KernelRecord& record) {
  const auto [place, fresh] =
      places_.try_emplace({record.work, record.device, record.context, record.stream}, places_.size());
  if (fresh) {
    tag(Tag::kPlace);
    number(static_cast<std::uint64_t>(record.work));
    number(record.device);
    number(record.context);
    number(record.stream);
  }
  return place->second;
}

void RecordEncoder::on(const RangePush& record) {
  forget_when_full();
  const std::string_view whole = cut(record.name);
  const std::string_view name = parse_range_text(whole).name;
  const bool plus = record.sequence != -1 || record.forward_thread != 0 || !record.sizes.empty();
  const std::uint64_t known = name_number(name);
  tag(plus ? Tag::kPushPlus : Tag::kPush);
  delta(before_.range, record.range);
  delta(before_.thread, record.thread);
  delta(before_.time, bits(record.time));
  number(known);
  text(whole.substr(name.size()));
  if (!plus) return;
  signed_number(record.sequence);
  number(record.forward_thread);
  text(record.sizes);
}

void RecordEncoder::on(const RangePop& record) {
  tag(Tag::kPop);
  delta(before_.thread, record.thread);
  delta(before_.time, bits(record.time));
}

void RecordEncoder::on(const LinkRecord& record) {
  tag(Tag::kLink);
  delta(before_.link_correlation, record.correlation);
  delta(before_.link_range, record.range);
}

void RecordEncoder::on(const LaunchRecord& record) {
  tag(Tag::kLaunch);
  delta(before_.launch_correlation, record.correlation);
  delta(before_.launch_thread, record.thread);
  delta(before_.launch_begin, bits(record.begin));
  number(record_format::zigzag(bits(record.end) - bits(record.begin)));
}

void RecordEncoder::on(const KernelRecord& record) {
  forget_when_full();
  const std::uint64_t name = name_number(record.name);
  const std::uint64_t place = place_number(record);
  const bool plus = record.graph_node != 0 || record.bytes != 0;
  tag(plus ? Tag::kKernelPlus : Tag::kKernel);
  number(place);
  delta(before_.kernel_correlation, record.correlation);
  delta(before_.kernel_begin, bits(record.begin));
  number(record_format::zigzag(bits(record.end) - bits(record.begin)));
  number(name);
  if (!plus) return;
  number(record.graph_node);
  signed_number(record.bytes);
}

void RecordEncoder::on(const MemoryRecord& record) {
  tag(Tag::kMemory);
  number(record.thread);
  number(record.device);
  delta(before_.other_time, bits(record.time));
  number(record.address);
  signed_number(record.bytes);
}

void RecordEncoder::on(const OverheadRecord& record) {
  tag(Tag::kOverhead);
  number(static_cast<std::uint64_t>(record.kind));
  number(record.thread);
  delta(before_.other_time, bits(record.begin));
  number(record_format::zigzag(bits(record.end) - bits(record.begin)));
}

void RecordEncoder::on(const ClockRecord& record) {
  tag(Tag::kClock);
  number(record.device);
  delta(before_.other_time, bits(record.time));
  signed_number(record.sm_mhz);
  number(record.slowed_by);
}

void RecordEncoder::on(const SwitchRecord& record) {
  tag(Tag::kSwitch);
  delta(before_.other_time, bits(record.time));
  number(record.recording ? 1 : 0);
}

void RecordEncoder::on(const FactRecord& record) {
  tag(Tag::kFact);
  text(record.key);
  text(record.value);
}

void RecordEncoder::on(const LossRecord& record) {
  tag(Tag::kLoss);
  text(record.what);
  signed_number(record.count);
}

void RecordEncoder::end() { tag(Tag::kEnd); }

}  // namespace debubble
