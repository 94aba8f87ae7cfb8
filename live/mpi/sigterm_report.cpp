#include "live/mpi/sigterm_report.hpp"

#include <unistd.h>

#include <cstdlib>

namespace debubble::live {

namespace {

volatile std::sig_atomic_t received_signal = 0;

void on_sigterm(int) { received_signal = 1; }

}  // namespace

SigtermReport::SigtermReport() {
  struct sigaction action {};
  action.sa_handler = on_sigterm;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, &before_);
}

SigtermReport::~SigtermReport() { sigaction(SIGTERM, &before_, nullptr); }

bool SigtermReport::received() { return received_signal != 0; }

void SigtermReport::print_and_exit(const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  sigaction(SIGTERM, &before_, nullptr);
  ::raise(SIGTERM);
  std::_Exit(128 + SIGTERM);  // SIGTERM was ignored
}

}  // namespace debubble::live
