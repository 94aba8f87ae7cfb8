// The assumptions and notes that both executors on CPUs (a thread per device, a process per device) report about the
// work of their ops.
#pragma once

#include "live/cpu/cpu_worker.hpp"
#include "live/live.hpp"

namespace debubble::live {

// Adds what the work of an op is and what the buffers are; on the wall clock also when bytes are hashed (a note).
void describe_work(const LiveRequest& request, const WorkShape& shape, const MatmulLibrary& matmul, LiveResult& result);

}  // namespace debubble::live
