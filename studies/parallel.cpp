#include "studies/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace debubble {

int threads_for(std::size_t pieces, int asked) {
  const auto cores = static_cast<std::size_t>(std::max(1U, std::thread::hardware_concurrency()));
  const std::size_t wanted = asked > 0 ? static_cast<std::size_t>(asked) : cores;
  return static_cast<int>(std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(pieces, 1)));
}

void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  std::size_t thrown_by = count;
  const auto take_all = [&] {
    for (std::size_t k = next++; k < count; k = next++) {
      try {
        work(k);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (k >= thrown_by) continue;
        thrown_by = k;
        thrown = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int k = 1; k < threads; ++k) helpers.emplace_back(take_all);
    take_all();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace debubble
