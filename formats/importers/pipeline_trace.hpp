// The events of a Chrome trace that say what a pipeline did: those with a "PP:" name, steps, and NCCL's transfers.
// Serves torch.profiler's traces, of which one is one rank, and our own, which hold all devices. Where no GPU's ranges
// are in it, ops last as long as the thread was at work (thread_work.hpp), and a receive until its tensor was there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/importers/pipeline_name.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct PipelineEvent {
  PipelineName name;
  Nanoseconds begin = 0;  // by the file's clock
  Nanoseconds end = 0;
  std::uint32_t lane = 0;  // a thread or a stream, counted from 0 in the order of appearance
  std::int64_t process = 0;
  Nanoseconds latency = 0;  // our own transfers
  Bytes bytes = 0;          // our own transfers
  bool on_gpu = false;      // gpu_user_annotation
  // Of ranges that were recovered (recovery/recover_run.hpp):
  std::int32_t step = -1;      // its place in `steps`; -1: the one in which it begins
  bool arrival = false;        // a receive on the host that ends when the tensor is there
  bool shared = false;         // one kernel for this and for a transfer the other way
  Nanoseconds held_until = 0;  // of an op: its end, if it did not wait for a send; 0: it did not
};

struct PipelineStep {
  std::string name;  // "ProfilerStep#12"
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

struct PipelineTrace {
  std::string file;
  std::map<std::string, std::string> facts;  // "metadata/schedule", "distributedInfo/rank": strings without quotes
  std::vector<PipelineEvent> events;         // in file order
  std::vector<PipelineStep> steps;           // by begin
  std::map<std::string, std::int64_t> losses;
  std::string device;       // "NVIDIA H100 ..."; empty when the file does not say
  bool evaluation = false;  // no backward ran: no node of autograd was at work, though other work was recorded
};

// `bytes` is the file, plain or in gzip. Throws InputError as read_kineto_events (but A003).
[[nodiscard]] PipelineTrace read_pipeline_trace(std::string bytes, const std::string& file);

}  // namespace debubble
