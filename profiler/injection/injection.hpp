// The recording of an injected program: begun by whoever comes first, ended when the program exits.
//
//     CUDA driver, in cuInit ---- InitializeInjection -------+
//     NVTX, first call of a DSO - InitializeInjectionNvtx2 --+--> Injection --> Recording --> DIR/rank3-pid4711.dbrec
//     our Python hooks ---------- debubble_push, ... --------+
//
// Environment: DEBUBBLE_RECORD_DIR (the folder; without it nothing is recorded), DEBUBBLE_CUPTI (path of libcupti; see
// profiler/cupti/library_search.hpp),
// DEBUBBLE_RECORD_STEPS (step_pauser.hpp). The program must go on unharmed whatever happens here: nothing throws into
// it, nothing waits for long, signals are left alone.
//
// A forked child takes nothing from its parent: there the injection is not active, until CUDA begins in the child.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/cupti/recording.hpp"
#include "profiler/injection/step_pauser.hpp"

namespace debubble {

class Injection {
 public:
  // Throws InputError when the file cannot be made.
  Injection(std::string folder, std::int64_t unrecorded_every);

  int push(std::string_view text, const void* domain);
  int pop(const void* domain);
  void fact(std::string_view key, std::string_view value) { recording_.fact(key, value); }
  void count_process_range() { ++process_ranges_; }

  void start_gpu();  // inside cuInit; reports its own trouble
  void stop();       // likewise
  void abandon() { recording_.abandon(); }
  [[nodiscard]] bool has_gpu() const { return recording_.has_gpu(); }
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  void apply(StepPauser::Change change);

  std::string folder_;
  pid_t process_;
  Recording recording_;
  StepPauser steps_;
  std::atomic<bool> gpu_tried_ = false;
  std::atomic<std::int64_t> process_ranges_ = 0;
};

// The running one; null when there is none, or in a forked child.
[[nodiscard]] Injection* active_injection();

// The running one, begun now if need be. Null when it cannot begin (the trouble was reported, once) or has ended.
// `in_child`: whether a forked child may begin one of its own.
[[nodiscard]] Injection* begin_injection(bool in_child);

}  // namespace debubble
