// A sweep on several processes: rank 0 deals out blocks and takes them in order, the others do them, and it does some
// itself. Each gets the next block as it is done with one, so that fast and slow hosts all have work to the end.
//
//     rank 0   board ── block 7 ──►  rank 2's threads        rank 0 reads 0 1 2 3 ... as if it were alone
//                    ◄─ its lines ──
//
// A rank that says nothing for as long as `patience` is taken for lost, and its open blocks are done by others. (mpirun
// as it comes ends the whole job when a rank dies: see docs/sweep.md for how to keep it going, and for --resume.)
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "studies/sweep/block.hpp"
#include "studies/sweep/blocks.hpp"
#include "studies/sweep/crew.hpp"

namespace debubble {

class SweepRanks {
 public:
  // Nothing where this process was not started by mpirun or srun, or is the only one. Throws UnavailableError U052
  // where there are several and this debubble has no MPI. `verb`: "sweep", or who else deals out blocks.
  [[nodiscard]] static std::unique_ptr<SweepRanks> join(std::chrono::seconds patience, std::string verb = "sweep");
  ~SweepRanks();  // rank 0 dismisses the others, if it has not yet
  SweepRanks(const SweepRanks&) = delete;
  SweepRanks& operator=(const SweepRanks&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  // As many as this rank's share of the host's cores; at least 1.
  [[nodiscard]] int threads() const;

  // Rank 0. To be called again and again while the board is not finished: sends and receives. Throws InputError E011
  // when a rank means another sweep, for which the first call waits for all. Returns what there is to tell a person
  // ("rank 2 on b is silent: ..."); mostly "".
  [[nodiscard]] std::string deal(BlockDealer& board, std::uint64_t fingerprint);
  // Rank 0, once the board is finished or the sweep is given up: the others end.
  void dismiss();

  // Any other rank: does blocks until it is dismissed. Throws UnavailableError E015 when rank 0 has gone.
  void serve(const MakeBlockWorker& make_worker, std::uint64_t fingerprint, int threads);

 private:
  class Deal;
  class Talk;
  SweepRanks(std::unique_ptr<Talk> talk, std::chrono::seconds patience, std::string verb);

  std::string verb_;
  std::chrono::seconds patience_;
  bool dismissed_ = false;
  std::unique_ptr<Talk> talk_;
  std::unique_ptr<Deal> deal_;
};

}  // namespace debubble
