#include "studies/sweep/pipeline.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "studies/parallel.hpp"

namespace debubble {

namespace {

// Exceptions do not cross oneTBB: the blocks before the one that throws are taken all the same.
struct PipedBlock {
  SweepBlock block;
  std::exception_ptr error;
};

class BlockPipeline {
 public:
  BlockPipeline(const PipedRows& rows, const MakeBlockWorker& make_worker, const std::function<bool()>& goes_on,
                const std::function<void(const SweepBlock&)>& take)
      : rows_(rows), goes_on_(goes_on), take_(take), workers_(make_worker), next_(rows.first) {}

  void run(std::int64_t ahead) {
    tbb::parallel_pipeline(
        static_cast<std::size_t>(ahead),
        tbb::make_filter<void, BlockRange>(tbb::filter_mode::serial_in_order, [this](tbb::flow_control& flow) {
          return cut(flow);
        }) & tbb::make_filter<BlockRange, PipedBlock>(tbb::filter_mode::parallel, [this](const BlockRange& block) {
          return done(block);
        }) & tbb::make_filter<PipedBlock, void>(tbb::filter_mode::serial_in_order, [this](const PipedBlock& block) {
          hand_on(block);
        }));
    const StageTurn turn(turns_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Orders the stages for sanitizers, as oneTBB has ordered them (studies/parallel.cpp).
  class StageTurn {
   public:
    explicit StageTurn(std::atomic<std::int64_t>& turns) : turns_(turns) { ++turns_; }
    ~StageTurn() { ++turns_; }
    StageTurn(const StageTurn&) = delete;
    StageTurn& operator=(const StageTurn&) = delete;

   private:
    std::atomic<std::int64_t>& turns_;
  };

  BlockRange cut(tbb::flow_control& flow) {
    const StageTurn turn(turns_);
    if (over_ || next_ >= rows_.end || !goes_on_()) {
      flow.stop();
      return {};
    }
    const std::int64_t first = std::exchange(next_, std::min(rows_.end, next_ + rows_.per_block));
    return {number_++, first, next_};
  }

  PipedBlock done(const BlockRange& block) {
    const StageTurn turn(turns_);
    PipedBlock piped;
    if (over_) return piped;
    try {
      piped.block = workers_.local()(block);
    } catch (...) {
      piped.error = std::current_exception();
    }
    return piped;
  }

  void hand_on(const PipedBlock& piped) {
    const StageTurn turn(turns_);
    if (over_) return;
    try {
      if (piped.error) std::rethrow_exception(piped.error);
      take_(piped.block);
    } catch (...) {
      error_ = std::current_exception();
      over_ = true;
    }
  }

  const PipedRows rows_;
  const std::function<bool()>& goes_on_;
  const std::function<void(const SweepBlock&)>& take_;
  tbb::enumerable_thread_specific<BlockWorker> workers_;
  std::int64_t next_;
  std::int64_t number_ = 0;
  std::atomic<bool> over_ = false;
  std::exception_ptr error_;
  std::atomic<std::int64_t> turns_ = 0;
};

}  // namespace

void pipe_blocks(const PipedRows& rows, int threads, const MakeBlockWorker& make_worker,
                 const std::function<bool()>& goes_on, const std::function<void(const SweepBlock&)>& take) {
  BlockPipeline pipeline(rows, make_worker, goes_on, take);
  std::exception_ptr thrown;
  in_arena(threads, [&] {
    try {
      pipeline.run(kBlocksAhead * threads);
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace debubble
