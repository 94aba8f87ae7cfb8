// A page has one thread for debubble: what takes the place of studies/parallel.cpp and
// tools/output/stderr_progress.cpp.
#include <exception>

#include "sim/core/error.hpp"
#include "studies/parallel.hpp"
#include "tools/output/stderr_progress.hpp"

namespace debubble {

int threads_for(std::size_t /*pieces*/, int /*asked*/) { return 1; }

void happens_before(TaskOrder /*order*/) {}
void happens_after(TaskOrder /*order*/) {}

std::string parallel_library() { return "one thread"; }

void fail_to_start(int threads) {
  throw UnavailableError({"E016", "--threads", std::to_string(threads) + " threads cannot be started in a browser",
                          "leave --threads out"});
}

void in_arena(int /*threads*/, const std::function<void()>& work) { work(); }

void for_each_index(std::size_t count, int /*threads*/, const std::function<void(std::size_t)>& work) {
  std::exception_ptr thrown;
  for (std::size_t k = 0; k < count; ++k) {
    try {
      work(k);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

StderrProgress::StderrProgress() = default;
StderrProgress::~StderrProgress() = default;
void StderrProgress::phase(std::string /*name*/) {}

}  // namespace debubble
