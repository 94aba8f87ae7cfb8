#include "studies/parallel.hpp"

#include <pthread.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/version.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "sim/core/error.hpp"

#if defined(__SANITIZE_THREAD__)
#define DEBUBBLE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DEBUBBLE_THREAD_SANITIZER 1
#endif
#endif
#ifdef DEBUBBLE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
// Its own tasks, which its headers make and run, and its tables of threads, which it deletes at the end; not what our
// code does in tasks.
extern "C" const char* __tsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:/oneapi/tbb/\n"
         "race_top:^operator delete[]\n"
         "race:tbb::detail::d1::fold_tree\n"
         "race:tbb::detail::d1::node::node\n"
         "race:tbb::detail::d1::wait_context\n";
}
// As much of a thread's past as it can keep: what it no longer knows of oneTBB's threads matches no suppression.
extern "C" const char* __tsan_default_options();  // NOLINT: the sanitizer's name
extern "C" const char* __tsan_default_options() { return "history_size=7"; }
#endif

namespace debubble {

#ifdef DEBUBBLE_THREAD_SANITIZER
namespace {
std::array<char, 3> order_marks;  // their addresses count
}
void happens_before(TaskOrder order) { __tsan_release(&order_marks.at(static_cast<std::size_t>(order))); }
void happens_after(TaskOrder order) { __tsan_acquire(&order_marks.at(static_cast<std::size_t>(order))); }
#else
void happens_before(TaskOrder /*order*/) {}
void happens_after(TaskOrder /*order*/) {}
#endif

namespace {

// oneTBB ends the process where it cannot start a thread (2021.8: "consider more graceful recovery", says its source).
// So whether so many can be started, and some more for what oneTBB takes itself, is tried before. Each takes a little
// memory, since the C library sets aside addresses for a thread's first.
void try_threads(int threads) {
  constexpr int kMore = 4;
  std::latch tried(1);
  std::binary_semaphore begun(0);
  std::vector<std::jthread> all;
  try {
    for (int k = 1; k < threads + kMore; ++k) {
      all.emplace_back([&tried, &begun] {
        void* const memory = ::operator new(1, std::nothrow);
        begun.release();
        tried.wait();
        ::operator delete(memory);
      });
      begun.acquire();  // one after the other, as oneTBB starts them
    }
  } catch (...) {  // also where there is no memory left; those that run wait until they are told
    tried.count_down();
    fail_to_start(threads);
  }
  tried.count_down();
}

// A piece runs on the calling thread or on one of oneTBB's, so all have stacks of the usual size.
std::size_t usual_stack() {
  pthread_attr_t usual;
  std::size_t size = 0;
  if (pthread_attr_init(&usual) == 0) {
    (void)pthread_attr_getstacksize(&usual, &size);
    pthread_attr_destroy(&usual);
  }
  constexpr std::size_t kLeast = std::size_t{4} << 20;  // oneTBB's own
  return std::max(size, kLeast);
}

// One arena for each number of threads, made at its first use, and as many threads as the largest has. A new arena for
// every call would get a new thread each time while those of the last still look for work: a hundred of them in one
// plan, each with caches of its own to fill.
class Arenas {
 public:
  tbb::task_arena& of(int threads) {
    const std::lock_guard lock(mutex_);
    if (threads > most_) {
      try_threads(threads);
      most_ = threads;
      // Without this oneTBB starts no more threads than there are cores.
      limit_.emplace(tbb::global_control::max_allowed_parallelism,
                     static_cast<std::size_t>(std::max(threads, tbb::info::default_concurrency())));
    }
    std::unique_ptr<tbb::task_arena>& arena = arenas_[threads];
    if (!arena) arena = std::make_unique<tbb::task_arena>(threads);
    return *arena;
  }

 private:
  std::mutex mutex_;
  int most_ = 1;  // threads that have been tried
  const tbb::global_control stack_{tbb::global_control::thread_stack_size, usual_stack()};
  std::optional<tbb::global_control> limit_;
  std::map<int, std::unique_ptr<tbb::task_arena>> arenas_;
};

}  // namespace

int threads_for(std::size_t pieces, int asked) {
  const int wanted = asked > 0 ? asked : tbb::info::default_concurrency();
  return static_cast<int>(
      std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, std::max<std::size_t>(pieces, 1)));
}

std::string parallel_library() { return std::string("oneTBB ") + TBB_runtime_version(); }

void fail_to_start(int threads) {
  throw UnavailableError(
      {"E016", "--threads", std::to_string(threads) + " threads cannot be started here",
       "ask for fewer with --threads, or raise the limit: ulimit -u, ulimit -v, or the container's"});
}

void in_arena(int threads, const std::function<void()>& work) {
  static auto* const arenas = new Arenas;  // for as long as oneTBB's threads, which outlive main
  arenas->of(threads).execute(work);
}

void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  std::size_t thrown_by = count;
  // Exceptions do not cross oneTBB: it would cancel the pieces that have not begun.
  const auto do_one = [&](std::size_t k) {
    try {
      work(k);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (k >= thrown_by) return;
      thrown_by = k;
      thrown = std::current_exception();
    }
  };
  if (threads <= 1 || count <= 1) {
    for (std::size_t k = 0; k < count; ++k) do_one(k);
  } else {
    std::atomic<std::size_t> next = 0;
    in_arena(threads, [&] {
      // Every thread takes the next piece when it has done one: what pieces cost differs much, and a caller that puts
      // the long ones first has no thread wait for one at the end.
      const auto do_pieces_left = [&](int /*thread*/) {
        happens_after(TaskOrder::kBegin);
        for (std::size_t k = next++; k < count; k = next++) do_one(k);
        happens_before(TaskOrder::kEnd);
      };
      happens_before(TaskOrder::kBegin);  // what the closure holds, too
      tbb::parallel_for(0, threads, do_pieces_left, tbb::simple_partitioner());
    });
    happens_after(TaskOrder::kEnd);
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace debubble
