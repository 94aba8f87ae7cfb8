// Records to bytes, in the form of record_format.hpp. Memory: one chunk and two tables of bounded size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "profiler/records/record.hpp"
#include "profiler/records/record_format.hpp"

namespace debubble {

// Collects records after a gap for the chunk's header. Texts longer than kMaxText are cut.
class RecordEncoder : public RecordSink {
 public:
  RecordEncoder();

  using RecordSink::on;
  void on(const RangePush& record) override;
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
  void end();  // the file is finished

  // Bytes of records since the last restart.
  [[nodiscard]] std::size_t pending() const { return bytes_.size() - record_format::kChunkHeader; }
  // The chunk, header filled in. Valid until the next call.
  [[nodiscard]] std::string_view chunk();
  void restart();

 private:
  using Place = std::tuple<GpuWork, std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void tag(record_format::Tag tag);
  void number(std::uint64_t value);
  void signed_number(std::int64_t value);
  void delta(std::uint64_t& before, std::uint64_t now);
  void text(std::string_view text);
  std::uint64_t name_number(std::string_view name);
  std::uint64_t place_number(const KernelRecord& record);
  void forget_when_full();

  std::string bytes_;
  record_format::Before before_;
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> names_;
  std::size_t name_bytes_ = 0;
  std::map<Place, std::uint64_t> places_;
};

}  // namespace debubble
