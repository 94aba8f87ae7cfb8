// Small models on the fake GPU, for whole runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "live/backends.hpp"
#include "tests/support/toy.hpp"
#include "tests/workload/fake_machine.hpp"

namespace debubble::testing {

// As many blocks as make every stage equal but for embedding and head.
inline TransformerShape gpt_with(std::int64_t layers) {
  TransformerShape shape;
  shape.name = "small-gpt";
  shape.layers = layers;
  shape.hidden = 64;
  shape.heads = shape.kv_heads = 4;
  shape.head_size = 16;
  shape.feed_forward = 128;
  shape.vocabulary = 128;
  shape.positions = 64;
  return shape;
}

struct SmallRun {
  live::LiveRequest request;
  live::CudaOptions options;
};

// One block per stage, embedding and head beside the first and the last.
inline SmallRun small_run(const Schedule& schedule, bool graph = false) {
  SmallRun run;
  run.request.schedule = schedule;
  run.request.repetitions = 2;
  run.request.patience = 300'000'000;
  run.options.shape = gpt_with(schedule.stages);
  run.options.partition.assign(static_cast<std::size_t>(schedule.stages), 1);
  ++run.options.partition.front();
  ++run.options.partition.back();
  run.options.size.microbatch = schedule.pieces;
  run.options.size.sequence = 16;
  run.options.graph = graph;
  return run;
}

// Of an H200's size, where nothing is computed but time, stamps and chains.
inline constexpr const char* kH200 = "idle,processors=132";

inline live::LiveResult run_small(const SmallRun& run) { return live::run_on_cuda(run.request, run.options, {}); }

}  // namespace debubble::testing
