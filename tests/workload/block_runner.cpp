#include "tests/workload/block_runner.hpp"

#include <ucontext.h>

#include <cstddef>
#include <deque>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define DEBUBBLE_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define DEBUBBLE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEBUBBLE_ASAN 1
#elif __has_feature(thread_sanitizer)
#define DEBUBBLE_TSAN 1
#endif
#endif
#ifdef DEBUBBLE_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef DEBUBBLE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace debubble::test {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 10;

// A stack that can be left and entered again. The sanitizers are told of every change.
struct Fiber {
  ucontext_t context{};
  std::vector<char> stack;
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake_stack = nullptr;
  void* sanitizer_fiber = nullptr;
  bool done = true;
};

void switch_to(Fiber& from, Fiber& to) {
#ifdef DEBUBBLE_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.size);
#endif
#ifdef DEBUBBLE_TSAN
  __tsan_switch_to_fiber(to.sanitizer_fiber, 0);
#endif
  swapcontext(&from.context, &to.context);
#ifdef DEBUBBLE_ASAN
  // Whoever comes back to a fiber may be another thread than before, with a stack of its own.
  __sanitizer_finish_switch_fiber(from.fake_stack, &to.bottom, &to.size);
#endif
}

}  // namespace

struct BlockRunner::State {
  Fiber scheduler;
  std::deque<Fiber> fibers;  // never moved: contexts point into themselves
  const std::function<void()>* body = nullptr;
  int current = 0;

  static State* active;
  static void enter();
};

BlockRunner::State* BlockRunner::State::active = nullptr;

// A fiber never ends: it waits in this loop for the next block.
void BlockRunner::State::enter() {
#ifdef DEBUBBLE_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &active->scheduler.bottom, &active->scheduler.size);
#endif
  while (true) {
    Fiber& self = active->fibers[static_cast<std::size_t>(active->current)];
    (*active->body)();
    self.done = true;
    switch_to(self, active->scheduler);
  }
}

BlockRunner::BlockRunner() : state_(std::make_unique<State>()) {}

BlockRunner::~BlockRunner() {  // NOLINT(modernize-use-equals-default): of the sanitizer's
#ifdef DEBUBBLE_TSAN
  for (Fiber& fiber : state_->fibers) __tsan_destroy_fiber(fiber.sanitizer_fiber);
#endif
}

void BlockRunner::run(int threads, const std::function<void()>& body) {
  State& state = *state_;
  State::active = &state;
  state.body = &body;
#ifdef DEBUBBLE_TSAN
  state.scheduler.sanitizer_fiber = __tsan_get_current_fiber();
#endif
  while (state.fibers.size() < static_cast<std::size_t>(threads)) {
    Fiber& fiber = state.fibers.emplace_back();
    fiber.stack.resize(kStack);
    fiber.bottom = fiber.stack.data();
    fiber.size = fiber.stack.size();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    makecontext(&fiber.context, &State::enter, 0);
#ifdef DEBUBBLE_TSAN
    fiber.sanitizer_fiber = __tsan_create_fiber(0);
#endif
  }
  for (int thread = 0; thread < threads; ++thread) state.fibers[static_cast<std::size_t>(thread)].done = false;
  int ended = 0;
  while (ended == 0) {
    for (state.current = 0; state.current < threads; ++state.current) {
      Fiber& fiber = state.fibers[static_cast<std::size_t>(state.current)];
      switch_to(state.scheduler, fiber);
      if (fiber.done) ++ended;
    }
  }
  if (ended != threads) throw std::runtime_error("some threads of a block ended while others wait at a barrier");
}

void BlockRunner::barrier() {
  State& state = *State::active;
  switch_to(state.fibers[static_cast<std::size_t>(state.current)], state.scheduler);
}

int BlockRunner::current() { return State::active->current; }

}  // namespace debubble::test
