// Window: the newest values by a number that grows, in bounded memory.
//
//     number 1000..1007 in a window of 8:   [1000|1001|...|1007]   1008 takes the place of 1000
//
// A table addressed by the low bits of the number; the whole number is stored next to the value. It doubles as numbers
// that share a place arrive, up to `most`; from then on the newer number wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace debubble::attribution {

template <typename Value>
class Window {
 public:
  explicit Window(std::size_t most, std::size_t first = 1024) : cells_(first), most_(most) {}

  // The value of this number, a fresh one when it has none. Valid until the next `at`.
  Value& at(std::uint64_t number) {
    Cell* cell = &cells_[place(number)];
    if (cell->key != number + 1) {
      while (cell->key != 0 && cells_.size() < most_) {
        grow();
        cell = &cells_[place(number)];
      }
      *cell = {number + 1, Value{}};
    }
    return cell->value;
  }

  // nullptr when the number was never seen, or is out of the window.
  [[nodiscard]] Value* find(std::uint64_t number) {
    Cell& cell = cells_[place(number)];
    return cell.key == number + 1 ? &cell.value : nullptr;
  }

  // Whether the number's place was taken over by another number.
  [[nodiscard]] bool taken(std::uint64_t number) const {
    const std::uint64_t key = cells_[place(number)].key;
    return key != 0 && key != number + 1;
  }

  [[nodiscard]] std::size_t capacity() const { return cells_.size(); }

 private:
  struct Cell {
    std::uint64_t key = 0;  // 1 + number; 0: empty
    Value value{};
  };

  [[nodiscard]] std::size_t place(std::uint64_t number) const { return number & (cells_.size() - 1); }

  void grow() {
    std::vector<Cell> old(cells_.size() * 2);
    old.swap(cells_);
    for (Cell& cell : old) {
      if (cell.key != 0) cells_[place(cell.key - 1)] = std::move(cell);
    }
  }

  std::vector<Cell> cells_;  // a power of two of them
  std::size_t most_;
};

}  // namespace debubble::attribution
