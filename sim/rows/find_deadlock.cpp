#include "sim/rows/check.hpp"
#include "sim/rows/op_index.hpp"
#include "sim/rows/row_replay.hpp"

namespace debubble {

std::optional<Deadlock> find_deadlock(const Schedule& schedule) {
  const OpIndex ops(schedule);
  RowReplay replay(ops);
  replay.run([](std::int32_t, std::int32_t) {});
  return replay.deadlock();
}

}  // namespace debubble
