// What a Perfetto trace consists of, slice by slice, wherever the run comes from: a Timeline (perfetto_trace.cpp) or
// rows that go by (studies/simulate/streamed_trace.cpp). Both hand them on in the same order, that of `SliceOrder`, so
// that the same run gives the same bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "formats/exporters/chrome_trace_lanes.hpp"
#include "formats/exporters/chrome_trace_names.hpp"
#include "formats/exporters/chrome_trace_stream.hpp"
#include "formats/exporters/perfetto_packets.hpp"
#include "formats/exporters/perfetto_words.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/at.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::trace_detail {

// By begin, then by track: one place for each lane or group of lanes of a device, which is in order of time itself.
struct SliceOrder {
  enum Group : std::uint8_t { kCompute, kIdle, kSend, kReceive, kCopy, kCollective, kExtraWork, kMemory };

  Nanoseconds begin = 0;
  std::int32_t device = 0;  // the critical path is as of a device after all others
  std::uint8_t group = kCompute;
  Nanoseconds end = 0;

  friend bool operator<(const SliceOrder& a, const SliceOrder& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return std::tie(a.device, a.group, a.end) < std::tie(b.device, b.group, b.end);
  }
};

class PerfettoSlices {
 public:
  struct Cell {
    Op op;
    const Op* partner = nullptr;
    std::int32_t device = 0;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    Nanoseconds ready = 0;
    Nanoseconds wait = 0;
    Nanoseconds straggled = 0;
    Nanoseconds slowed = 0;
    std::string_view waited_for;
    const std::vector<std::uint64_t>* leaving = nullptr;  // arrows
    const std::vector<std::uint64_t>* arriving = nullptr;
  };
  struct Gap {
    std::int32_t device = 0;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::string_view before;  // empty: the end of the step, and nothing was waited for
    std::string_view waited_for;
    const NanosecondsByCause* causes = nullptr;
  };

  PerfettoSlices(TextBuffer& out, const Schedule& schedule, const TracePart& part, bool measured);

  // The tracks that there always are, and one point at time 0 whose arguments are the facts.
  void write_head(const std::string& facts);

  void write_cell(const Cell& cell);
  // One end of it; `waited_for`, `ready` and `wait` are those of the tensor.
  void write_transfer(const Transfer& transfer, bool sends, Nanoseconds ready, std::string_view waited_for);
  void write_gap(const Gap& gap);
  void write_level(std::int32_t device, Nanoseconds at, const BytesByCategory& bytes);
  void open_stretch(Nanoseconds begin, std::string_view name);
  void write_transfer_place(const Transfer& transfer);
  void write_device_place(InternedName& kind, std::int32_t device);
  void close_stretch(Nanoseconds end);

  // An arrow's number, by the op whose output travels and where to.
  [[nodiscard]] std::uint64_t arrow(const Op& op, std::int32_t to_device) const;

  [[nodiscard]] PerfettoPackets& packets() { return packets_; }
  [[nodiscard]] PerfettoWords& words() { return words_; }
  [[nodiscard]] std::uint64_t track(std::int32_t device, SliceOrder::Group group, std::int64_t lane) const {
    return process(device) | std::uint64_t{group} << 24U | static_cast<std::uint64_t>(lane + 1);
  }
  void add_lane(std::int32_t device, SliceOrder::Group group, std::int64_t lane, std::string_view name);
  void write_op(const Op& op, InternedName& kind);
  void write_wait(Nanoseconds ready, std::string_view waited_for, Nanoseconds waited);
  void write_source() { packets_.argument(words_.source, measured_ ? words_.measured : words_.modelled); }
  // "0F3", or both of a pair: as the slice is called. Good until the next.
  std::string_view cell_name(const Op& op, const Op* partner);
  // As its sender's slice is called. Good until the next.
  std::string_view transfer_name(const Transfer& transfer);
  [[nodiscard]] InternedName& kind_of(const Op& op) { return kinds_[to_index(op.kind)]; }

 private:
  // What the counters of a device show.
  struct Levels {
    bool begun = false;
    Nanoseconds first = 0;
    Bytes total = 0;
    BytesByCategory bytes{};
    std::array<bool, kMemoryCategories> shown{};
  };

  [[nodiscard]] std::int64_t pid(std::int32_t device) const { return std::int64_t{first_process_} + device + 1; }
  [[nodiscard]] std::uint64_t process(std::int32_t device) const {
    return static_cast<std::uint64_t>(pid(device)) << 32U;
  }
  [[nodiscard]] std::uint64_t path_track() const { return 1 + 2 * static_cast<std::uint64_t>(part_); }
  [[nodiscard]] std::uint64_t facts_track() const { return path_track() + 1; }
  [[nodiscard]] std::uint64_t counter(std::int32_t device, std::size_t number) const {
    return process(device) | 0x80000000U | number;
  }
  // The track of the lane that the transfer takes.
  std::uint64_t transfer_track(std::int32_t device, bool sends, const Transfer& transfer);
  void write_facts(const std::string& facts);

  const Schedule& schedule_;
  std::int32_t first_process_;
  int part_;
  std::string label_;
  bool causes_;
  bool measured_;
  PerfettoPackets packets_;
  TraceStream scratch_;
  TraceText text_;
  Timeline nothing_;
  TraceNames names_;
  PerfettoWords words_;
  std::array<InternedName, kOpKinds> kinds_;
  std::array<std::string, kIdleCauses> cause_names_;
  std::array<std::string, kIdleCauses> cause_key_texts_;
  std::array<InternedName, kIdleCauses> cause_keys_;
  std::vector<std::array<FirstFit, 2>> lanes_;  // by device: sends, receives
  std::vector<Levels> levels_;                  // by device
};

}  // namespace debubble::trace_detail
