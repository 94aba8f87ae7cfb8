// BlockRunner: runs the threads of one block of a kernel, one after the other, as fibers that meet at barriers.
//
//     thread 0   ----+      +----
//     thread 1       +----+ |    +----        each runs until it reaches a barrier or ends; then the next
//                    barrier
//
// It refuses what a GPU leaves undefined: a barrier that only some of the threads reach.
#pragma once

#include <functional>
#include <memory>

namespace debubble::test {

class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Throws std::runtime_error when some threads end while others wait.
  void run(int threads, const std::function<void()>& body);

  // For the threads that run: waits for all others; the number of this one.
  static void barrier();
  static int current();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace debubble::test
