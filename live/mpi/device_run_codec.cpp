#include "live/mpi/device_run_codec.hpp"

namespace debubble::live {

void translate(std::vector<DeviceRun>& runs, const std::function<Nanoseconds(Nanoseconds)>& clock) {
  for (DeviceRun& run : runs) {
    for (ObservedOp& op : run.ops) {
      op.begin = clock(op.begin);
      op.end = clock(op.end);
    }
    for (ObservedTransfer& transfer : run.transfers) {
      transfer.begin = clock(transfer.begin);
      transfer.end = clock(transfer.end);
    }
  }
}

}  // namespace debubble::live
