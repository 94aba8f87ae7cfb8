// SigtermReport: when one rank dies, mpirun ends the others with SIGTERM. Each of them then prints one line on stderr
// that says which op it was at, and ends.
#pragma once

#include <csignal>
#include <string>

namespace debubble::live {

// Installs a handler that notes SIGTERM; the destructor restores the previous one. One object at a time.
class SigtermReport {
 public:
  SigtermReport();
  ~SigtermReport();
  SigtermReport(const SigtermReport&) = delete;
  SigtermReport& operator=(const SigtermReport&) = delete;

  [[nodiscard]] static bool received();
  // Prints the line and ends the process as SIGTERM would have without this object.
  [[noreturn]] void print_and_exit(const std::string& line);

 private:
  struct sigaction before_ {};
};

}  // namespace debubble::live
