// A plan on several processes: rank 0 searches, and deals out what is to be evaluated, one base, group of bounds, step
// or simulation at a time; the others and its own threads do it. Of what comes back, and in which order, nothing
// depends on who did it, so the answer has the bytes of one process. As in sweeps (studies/sweep/over_mpi.hpp) a rank
// that is silent is taken for lost, and others do its open work.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "live/mpi/message_codec.hpp"
#include "studies/plan/plan_job.hpp"
#include "studies/plan/space.hpp"
#include "studies/sweep/over_mpi.hpp"

namespace debubble {

// What a rank is asked to evaluate; the first number of its task.
enum class PlanTask : std::int64_t { kBase, kBounds, kStep, kSimulation };

// Pieces of independent work.
struct PlanWork {
  std::function<void(std::size_t k)> here;
  // The same by another process: what it is to do, and what came back. Empty: this process alone does it.
  std::function<void(std::size_t k, live::MessageWriter& task)> ask;
  std::function<void(std::size_t k, live::MessageReader& done)> take;
};

class PlanRanks {
 public:
  // Nothing where this process is alone. `tell` gets what rank 0 has to say to a person. Throws what SweepRanks::join
  // throws, and what makes the plan impossible.
  [[nodiscard]] static std::unique_ptr<PlanRanks> join(const ScenarioFlags& job, const PlanFlags& flags,
                                                       const std::string& version, std::chrono::seconds patience,
                                                       std::function<void(const std::string&)> tell);

  [[nodiscard]] bool is_first() const { return ranks_->rank() == 0; }
  // Any rank but the first: evaluates until it is dismissed.
  void serve();

  // The first: all pieces, on `threads` threads of this process (0: its share of the host's cores) and on the other
  // ranks. Once they are dismissed, here alone.
  void do_all(std::size_t pieces, int threads, const PlanWork& work);
  void dismiss();

 private:
  PlanRanks(PlanJob asked, const std::string& version);

  std::unique_ptr<SweepRanks> ranks_;
  PlanJob asked_;
  PlanSpace space_;
  std::function<void(const std::string&)> tell_;
  std::uint64_t fingerprint_ = 0;
  std::int64_t pieces_ = 0;  // dealt out so far: their numbers never come again
  bool dismissed_ = false;
};

// `work` on the ranks, or where there are none on the threads of this process.
void do_pieces(PlanRanks* ranks, std::size_t pieces, int threads, const PlanWork& work);

}  // namespace debubble
