#include "profiler/injection/injection.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include "profiler/cupti/process_facts.hpp"
#include "profiler/injection/trouble.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

enum class Stage { kNew, kRunning, kOver, kForked };

// Everything here is plain and never destroyed: threads of the program may call until its very end. Injections are
// kept in a list, those of a parent process included, for their threads and locks cannot be ended here.
std::atomic<Injection*> active = nullptr;
std::atomic<Stage> stage = Stage::kNew;
std::atomic<bool> starting = false;  // a lock that a child can open again

struct Kept {
  Injection* injection;
  Kept* before;
};
Kept* kept = nullptr;

class StartLock {
 public:
  StartLock() {
    while (starting.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  ~StartLock() { starting.store(false, std::memory_order_release); }
  StartLock(const StartLock&) = delete;
  StartLock& operator=(const StartLock&) = delete;
};

void forget_in_child() {
  Injection* const parents = active.exchange(nullptr);
  if (parents != nullptr) parents->abandon();
  starting = false;
  if (stage == Stage::kRunning) stage = Stage::kForked;
}

// Registered twice, acts once.
void end_at_exit() {
  Injection* const injection = active_injection();
  if (injection == nullptr || stage.exchange(Stage::kOver) == Stage::kOver) return;
  injection->stop();
}

void register_once() {
  static bool registered = false;  // under the start lock; a child inherits both handlers
  if (registered) return;
  registered = true;
  static_cast<void>(std::atexit(end_at_exit));
  static_cast<void>(pthread_atfork(nullptr, nullptr, forget_in_child));
}

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::int64_t unrecorded_every(const std::string& folder) {
  const std::string text = setting("DEBUBBLE_RECORD_STEPS");
  if (const auto every = StepPauser::parse(text); every.has_value()) return *every;
  report_trouble(folder,
                 {"U009", "DEBUBBLE_RECORD_STEPS", "\"" + text + "\" is neither \"all\" nor a number from 2 on",
                  "5 leaves every 5th step unrecorded, for a lower bound of the overhead; all records every step"});
  return 5;
}

Injection* make_injection() {
  const std::string folder = setting("DEBUBBLE_RECORD_DIR");
  if (folder.empty()) {
    report_trouble("", {"U009", "DEBUBBLE_RECORD_DIR", "no folder is named, so nothing is recorded",
                        "start the program with debubble profile -- PROGRAM, which sets it"});
    return nullptr;
  }
  // `debubble profile --rank 3` records that rank alone.
  const std::string wanted = setting("DEBUBBLE_RANK");
  const std::string own = rank_of_process();
  if (!wanted.empty() && !own.empty() && wanted != own) return nullptr;
  try {
    auto* const injection = new Injection(folder, unrecorded_every(folder));
    kept = new Kept{injection, kept};  // NOLINT(cppcoreguidelines-owning-memory): see Kept
    return injection;
  } catch (const InputError& error) {
    report_trouble(folder, error.diagnostics().front());
  } catch (const std::exception& error) {
    report_trouble(folder, {"U009", folder, std::string("the recording cannot begin: ") + error.what(), ""});
  }
  return nullptr;
}

}  // namespace

Injection* active_injection() {
  Injection* const injection = active.load(std::memory_order_acquire);
  // A child made by clone() or vfork() passes by the handler above.
  return injection != nullptr && injection->process() == getpid() ? injection : nullptr;
}

Injection* begin_injection(bool in_child) {
  if (Injection* const running = active_injection(); running != nullptr) return running;
  const StartLock lock;
  if (Injection* const running = active_injection(); running != nullptr) return running;
  if (stage != Stage::kNew && !(stage == Stage::kForked && in_child)) return nullptr;
  Injection* const injection = make_injection();
  stage = injection == nullptr ? Stage::kOver : Stage::kRunning;
  if (injection == nullptr) return nullptr;
  register_once();
  active.store(injection, std::memory_order_release);
  return injection;
}

Injection::Injection(std::string folder, std::int64_t unrecorded_every)
    : folder_(std::move(folder)),
      process_(getpid()),
      recording_(folder_ + "/" + record_file_name()),
      steps_(unrecorded_every) {}

void Injection::apply(StepPauser::Change change) {
  if (change == StepPauser::Change::kPause) recording_.pause();
  if (change == StepPauser::Change::kResume) recording_.resume();
}

int Injection::push(std::string_view text, const void* domain) {
  apply(steps_.before_push(text, this_thread()));
  return recording_.push(text, domain);
}

int Injection::pop(const void* domain) {
  const int depth = recording_.pop(domain);
  if (depth >= 0) apply(steps_.after_pop(this_thread()));
  return depth;
}

void Injection::start_gpu() {
  if (gpu_tried_.exchange(true)) return;
  try {
    recording_.start_gpu({.file = "", .cupti_library = "", .memory = true, .clocks = true, .inside_cu_init = true});
  } catch (const UnavailableError& error) {
    recording_.fact("gpu", "not recorded: " + error.diagnostic().code);
    report_trouble(folder_, error.diagnostic());
  } catch (const std::exception& error) {
    report_trouble(folder_, {"U009", folder_, std::string("the recording cannot begin: ") + error.what(), ""});
  }
  // Handlers run in reverse order: after those that CUDA and CUPTI have registered until now, CUPTI gives no records.
  static_cast<void>(std::atexit(end_at_exit));
}

void Injection::stop() {
  if (process_ranges_ > 0) recording_.loss("process_ranges", process_ranges_);
  if (!gpu_tried_) recording_.fact("gpu", "not used: no CUDA driver called the injection");
  try {
    if (recording_.stop().write_failed) {
      report_trouble(folder_, {"U009", folder_, "the record file could not be written to its end",
                               "make room on the disk and record again"});
    }
  } catch (const UnavailableError& error) {
    report_trouble(folder_, error.diagnostic());
  } catch (const std::exception& error) {
    report_trouble(folder_, {"U009", folder_, std::string("the recording did not end well: ") + error.what(), ""});
  }
}

}  // namespace debubble
