// Blocks every signal on the calling thread while this lives: a thread that is started meanwhile inherits that and is
// never chosen to handle a signal of the program, which may block one everywhere and wait for it with sigwait().
#pragma once

#include <pthread.h>

#include <csignal>

namespace debubble {

class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace debubble
