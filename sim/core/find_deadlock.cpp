#include "sim/core/check.hpp"
#include "sim/core/op_index.hpp"
#include "sim/core/row_replay.hpp"

namespace debubble {

std::optional<Deadlock> find_deadlock(const Schedule& schedule) {
  const OpIndex ops(schedule);
  RowReplay replay(ops);
  replay.run([](std::int32_t, std::int32_t) {});
  return replay.deadlock();
}

}  // namespace debubble
