// ProgramCopies adds to an OrderProgram what OptPipe's program has beyond orders: each activation may leave for the
// host after its F and is back before its gradient.
//
//     o(i)                    activation i leaves
//     u(i) >= end of F        begin of its way out; v(i) >= u(i) + copy of its way back; gradient >= v(i) + copy
//     one copy at a time      on each device's lane; copies of one stage run in order of microbatches
//     memory                  at the begin of each F and of each way back: what was taken by then, less what was given
//                             back by then
//
// One thing is added to the published program, for the engine runs schedules that do not wait for memory: every op and
// copy begins at once when its row or lane, its inputs and its gate (a way back: the begin of some op of its device)
// allow. So a solution's times are those of its order, and its memory what the engine finds.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "schedules/optimal/program/copy_times.hpp"
#include "schedules/optimal/program/order_program.hpp"

namespace debubble {

class ProgramCopies {
 public:
  // No stage may hold more for its W than its activation was.
  explicit ProgramCopies(OrderProgram& order);

  [[nodiscard]] OrderCopies copies(const std::vector<double>& values, const Orders& orders) const;

 private:
  struct Item {
    std::size_t forward = 0, gradient = 0;  // ops
    int device = 0;
    double copy = 0;
    Bytes bytes = 0;
    int leaves = 0;  // columns
    int out = 0, back = 0;
  };
  // An item's way: 2 * item for out, 2 * item + 1 for back.
  using Way = std::size_t;
  using Conditions = std::vector<MixedSum>;

  void add_items();
  void add_lane(const std::vector<std::size_t>& items);
  void add_memory_at_forwards(int device);
  void add_memory_at_backs(int device);
  void add_prompt_ops(int device);
  void add_prompt_copies(int device);

  // column `then` >= column `first` + gap where all conditions hold.
  void follows(int first, int then, double gap, const Conditions& conditions);
  // A column that is 1 only where `most` is.
  [[nodiscard]] int binary_below(const MixedSum& most);
  void below(int column, const MixedSum& most);

  [[nodiscard]] int begin_of(Way way) const { return way % 2 == 0 ? items_[way / 2].out : items_[way / 2].back; }
  [[nodiscard]] const Item& item_of(Way way) const { return items_[way / 2]; }
  [[nodiscard]] MixedSum leaves(std::size_t item) const { return column_sum(items_[item].leaves); }
  [[nodiscard]] static MixedSum column_sum(int column, double factor = 1, double constant = 0);
  [[nodiscard]] bool always_before(Way one, Way other) const;
  [[nodiscard]] MixedSum lane_before(Way one, Way other) const;
  // Whether the way back has begun when the op begins (1), or the op has begun by then (0).
  [[nodiscard]] const MixedSum& back_first(std::size_t item, std::size_t op);

  OrderProgram& order_;
  MixedProgram& program_;
  std::vector<Item> items_;
  std::vector<std::vector<std::size_t>> of_device_;  // its items
  std::map<std::pair<Way, Way>, int> lane_;
  std::map<std::pair<std::size_t, std::size_t>, MixedSum> back_first_;
};

}  // namespace debubble
