// What a trace of a running RowStream is made of, while it waits for its turn. Internal to studies/simulate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "sim/analysis/report.hpp"
#include "sim/core/op.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// What an op, or a pair, is called, and where it is.
struct NamedCell {
  Op op;
  Op partner;
  bool paired = false;
  std::int32_t device = 0;

  [[nodiscard]] const Op* with() const { return paired ? &partner : nullptr; }
};

// What something waited for: nothing, a cell, or a transfer, of `cell.op` from `cell.device`.
struct NamedGate {
  enum class Kind : std::uint8_t { kStart, kCell, kTransfer };
  Kind kind = Kind::kStart;
  NamedCell cell;
};

struct CellItem {
  NamedCell cell;
  NamedGate gate;
  Nanoseconds ready = 0;
  Nanoseconds wait = 0;
  std::array<std::uint64_t, 2> leaving{};
  std::array<std::uint64_t, 2> arriving{};
};
struct TransferItem {
  Transfer transfer;
  bool sends = false;
  NamedCell maker;
};
struct GapItem {
  std::optional<NamedCell> before;
  NamedGate gate;
  NanosecondsByCause causes{};
};
// A cell, or the transfer.
struct StretchItem {
  std::optional<NamedCell> cell;
  Transfer transfer;
};
struct LevelItem {
  BytesByCategory bytes{};
};
using TraceItem = std::variant<CellItem, TransferItem, GapItem, StretchItem, LevelItem>;

}  // namespace debubble
