// ThreadWorld: MessagePassing between threads, so that everything above MPI is tested without it.
//
// Each rank is a thread of its own. A message leaves at once, or, when `hold` says so, only when it is received, like a
// large one over MPI.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "live/mpi/message_passing.hpp"

namespace debubble::testing {

class ThreadWorld {
 public:
  explicit ThreadWorld(int ranks, bool hold = false);
  ~ThreadWorld();

  // Runs `work` once per rank, each in a thread; rethrows nothing: work catches what it throws.
  void run(const std::function<void(live::MessagePassing&)>& work);

 private:
  class Rank;
  struct Letter {
    int from = 0;
    std::vector<std::byte> bytes;
    std::shared_ptr<std::atomic<bool>> taken;
  };
  using Box = std::pair<int, std::pair<int, int>>;  // receiver, edge

  bool hold_;
  std::mutex mutex_;
  std::map<Box, std::deque<Letter>> boxes_;
  std::vector<int> barriers_;  // how many each rank has started
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace debubble::testing
