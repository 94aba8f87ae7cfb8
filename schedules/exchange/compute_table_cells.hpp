// The words of PyTorch's schedule table: what one cell says, or what is wrong with it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/op.hpp"

namespace debubble {

// What is wrong with a cell; `code` is empty when nothing is.
struct CellFault {
  std::string code;
  std::string message;
  std::string help;
};

struct Cell {
  std::array<Op, 2> ops{};
  int count = 0;  // 0: idle; 2: an overlapped pair, the first marked as such
  CellFault fault;
};

// Reads one cell. Surrounding blanks do not matter; everything else must match the grammar in full.
[[nodiscard]] Cell read_cell(std::string_view text);

// `text` between quotes for a message: at most 40 bytes, and nothing a terminal would act on.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace debubble
