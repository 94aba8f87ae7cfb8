#include "live/mpi/last_words.hpp"

#include <unistd.h>

#include <cstdlib>

namespace debubble::live {

namespace {

volatile std::sig_atomic_t asked = 0;

void note(int) { asked = 1; }

}  // namespace

LastWords::LastWords() {
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, &before_);
}

LastWords::~LastWords() { sigaction(SIGTERM, &before_, nullptr); }

bool LastWords::asked_to_end() { return asked != 0; }

void LastWords::say(const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  sigaction(SIGTERM, &before_, nullptr);
  ::raise(SIGTERM);
  std::_Exit(128 + SIGTERM);  // SIGTERM was ignored
}

}  // namespace debubble::live
