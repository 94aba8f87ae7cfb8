#include "studies/sweep/pipeline.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>

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
      : rows_(rows), goes_on_(goes_on), take_(take), workers_(make_worker) {}

  // Numbers and pointers go from stage to stage: nothing else is copied by oneTBB, unseen by sanitizers.
  void run(std::int64_t ahead) {
    using tbb::filter_mode;
    const auto cut_one = [this](tbb::flow_control& flow) {
      happens_after(TaskOrder::kBegin);
      happens_after(TaskOrder::kCut);
      const std::int64_t number = cut(flow);
      happens_before(TaskOrder::kCut);
      return number;
    };
    const auto do_one = [this](std::int64_t number) {
      happens_after(TaskOrder::kBegin);
      PipedBlock* const piped = done(number).release();
      happens_before(TaskOrder::kEnd);
      return piped;
    };
    const auto hand_on_one = [this](PipedBlock* piped) {
      happens_after(TaskOrder::kEnd);
      hand_on(std::unique_ptr<PipedBlock>(piped));
      happens_before(TaskOrder::kEnd);
    };
    const tbb::filter<void, void> stages =
        tbb::make_filter<void, std::int64_t>(filter_mode::serial_in_order, cut_one) &
        tbb::make_filter<std::int64_t, PipedBlock*>(filter_mode::parallel, do_one) &
        tbb::make_filter<PipedBlock*, void>(filter_mode::serial_in_order, hand_on_one);
    happens_before(TaskOrder::kBegin);
    tbb::parallel_pipeline(static_cast<std::size_t>(ahead), stages);
    happens_after(TaskOrder::kCut);
    happens_after(TaskOrder::kEnd);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // The number of the next block.
  std::int64_t cut(tbb::flow_control& flow) {
    if (over_ || rows_.first + next_ * rows_.per_block >= rows_.end || !goes_on_()) {
      flow.stop();
      return 0;
    }
    return next_++;
  }

  std::unique_ptr<PipedBlock> done(std::int64_t number) {
    auto piped = std::make_unique<PipedBlock>();
    if (over_) return piped;
    const std::int64_t first = rows_.first + number * rows_.per_block;
    try {
      piped->block = workers_.local()({number, first, std::min(rows_.end, first + rows_.per_block)});
    } catch (...) {
      piped->error = std::current_exception();
    }
    return piped;
  }

  void hand_on(std::unique_ptr<PipedBlock> piped) {
    if (over_) return;
    try {
      if (piped->error) std::rethrow_exception(piped->error);
      take_(piped->block);
    } catch (...) {
      error_ = std::current_exception();
      over_ = true;
    }
  }

  const PipedRows rows_;
  const std::function<bool()>& goes_on_;
  const std::function<void(const SweepBlock&)>& take_;
  tbb::enumerable_thread_specific<BlockWorker> workers_;
  std::int64_t next_ = 0;
  std::atomic<bool> over_ = false;
  std::exception_ptr error_;
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
