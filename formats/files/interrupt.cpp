#include "formats/files/interrupt.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>

namespace debubble {

namespace {

// A handler may call next to nothing: no lock, no memory. So the names lie ready in fixed slots, and an atomic says
// which of them it may read.
enum SlotState : int { kFree, kInUse, kDoomed };

struct InterruptSlot {
  std::atomic<int> state{kFree};
  pid_t owner = 0;  // a forked child has the slots of its parent, and the files are not its own
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr std::size_t kSlots = 8;  // a run writes three files at most
std::array<InterruptSlot, kSlots> slots;

std::atomic<bool> watched = false;
std::atomic<int> noted_signal = 0;

void remove_doomed() {
  for (const InterruptSlot& slot : slots) {
    if (slot.state.load(std::memory_order_acquire) == kDoomed && slot.owner == ::getpid()) ::unlink(slot.path.data());
  }
}

extern "C" void remove_and_exit(int signal) {
  int none = 0;
  if (signal != SIGPIPE && watched.load() && noted_signal.compare_exchange_strong(none, signal)) return;
  remove_doomed();
  ::_exit(128 + signal);
}

// The handler is gone by now (SA_RESETHAND), so the signal, blocked until it returns, ends the process as ever.
extern "C" void remove_and_end(int signal) {
  remove_doomed();
  ::raise(signal);
}

extern "C" void let_write_fail(int /*signal*/) {}

// Unless it is ignored.
void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void leave_nothing_when_interrupted() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) handle(signal, remove_and_exit, 0);
  for (const int signal : {SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU}) {
    handle(signal, remove_and_end, static_cast<int>(SA_RESETHAND));
  }
  handle(SIGXFSZ, let_write_fail, SA_RESTART);
}

InterruptWatch::InterruptWatch() {
  noted_signal = 0;
  watched = true;
}

InterruptWatch::~InterruptWatch() { watched = false; }

int InterruptWatch::noted() const { return noted_signal; }

DoomedFile::DoomedFile(const std::string& path) : slot_(kSlots) {
  if (path.size() >= PATH_MAX) return;
  for (std::size_t k = 0; k < kSlots; ++k) {
    int expected = kFree;
    if (!slots[k].state.compare_exchange_strong(expected, kInUse)) continue;
    slots[k].path[path.copy(slots[k].path.data(), path.size())] = '\0';
    slots[k].owner = ::getpid();
    slots[k].state.store(kDoomed, std::memory_order_release);
    slot_ = k;
    return;
  }
}

DoomedFile::~DoomedFile() {
  if (slot_ < kSlots) slots[slot_].state.store(kFree, std::memory_order_release);
}

}  // namespace debubble
