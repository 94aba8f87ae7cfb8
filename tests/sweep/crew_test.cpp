// Where threads cannot be started, those that are there end, and the error says so.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>

#include "studies/parallel.hpp"
#include "studies/sweep/crew.hpp"
#include "studies/sweep/dealt_blocks.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsAddresses = false;  // sanitizers need far more addresses than memory
#elif defined(__has_feature)
constexpr bool kLimitsAddresses = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kLimitsAddresses = true;
#endif

// Has no block until it is stopped.
class NeverAnyBlock : public BlockSource {
 public:
  std::optional<BlockRange> take() override {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [&] { return stopped_; });
    return std::nullopt;
  }
  void put(const BlockRange& /*range*/, SweepBlock /*block*/) override {}
  void fail(std::exception_ptr /*error*/) override {}
  void stop() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    told_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  bool stopped_ = false;
};

// While it lives, this process has room for few more stacks of threads.
class FewAddresses {
 public:
  FewAddresses() {
    getrlimit(RLIMIT_AS, &before_);
    rlimit few = before_;
    few.rlim_cur = addresses() + (rlim_t{200} << 20);
    setrlimit(RLIMIT_AS, &few);
  }
  ~FewAddresses() { setrlimit(RLIMIT_AS, &before_); }
  FewAddresses(const FewAddresses&) = delete;
  FewAddresses& operator=(const FewAddresses&) = delete;

 private:
  static rlim_t addresses() {
    unsigned long pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) throw std::runtime_error("no /proc/self/statm");
    std::fclose(file);
    return rlim_t{pages} * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  }

  rlimit before_{};
};

TEST_CASE("where a thread cannot be started, those that wait for blocks end, and the error comes out") {
  if (!kLimitsAddresses) return;
  const SweepFlags flags;
  const SweepSpace space(flags);
  const SweepForm form;
  NeverAnyBlock source;
  std::string code;
  {
    const FewAddresses few;
    try {
      const SweepCrew crew(source, space, form, 1024);
    } catch (const UnavailableError& error) {
      code = error.diagnostic().code;
    }
  }
  CHECK(code == "E016");
}

// What one thread's copy of the maker throws: no memory for it, say.
class ThrowsWhenCopied {
 public:
  explicit ThrowsWhenCopied(std::atomic<int>& copies) : copies_(copies) {}
  ThrowsWhenCopied(const ThrowsWhenCopied& other) : copies_(other.copies_) {
    if (++copies_ > 4) throw std::runtime_error("no copy");
  }
  BlockWorker operator()() const {
    return [](const BlockRange& /*block*/) { return SweepBlock{}; };
  }

 private:
  std::atomic<int>& copies_;
};

TEST_CASE("whatever is thrown while threads are started, those that wait for blocks end") {
  NeverAnyBlock source;
  std::atomic<int> copies = 0;
  const MakeBlockWorker maker = ThrowsWhenCopied(copies);
  copies = 0;
  std::string what;
  try {
    const SweepCrew crew(source, maker, 8);
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  CHECK(what == "no copy");
}

TEST_CASE("whatever a block throws ends the work of a rank, and comes out") {
  DealtBlocks blocks;
  const MakeBlockWorker maker = []() -> BlockWorker {
    return [](const BlockRange& /*block*/) -> SweepBlock { throw 7; };
  };
  const SweepCrew crew(blocks, maker, 3);
  blocks.add({0, 0, 1});
  int thrown = 0;
  while (thrown == 0) {
    try {
      (void)blocks.next_done();
    } catch (int number) {
      thrown = number;
    }
  }
  CHECK(thrown == 7);
  CHECK_FALSE(blocks.take());  // waits for nothing
}

TEST_CASE("where so many threads cannot be started, no work begins") {
  if (!kLimitsAddresses) return;
  std::string code;
  std::atomic<int> begun = 0;
  {
    const FewAddresses few;
    try {
      for_each_index(2000, 1024, [&](std::size_t /*k*/) { ++begun; });
    } catch (const UnavailableError& error) {
      code = error.diagnostic().code;
    }
  }
  CHECK(code == "E016");
  CHECK(begun == 0);
  for_each_index(100, 2, [&](std::size_t /*k*/) { ++begun; });
  CHECK(begun == 100);
}

}  // namespace
}  // namespace debubble::testing
