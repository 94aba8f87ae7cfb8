// LastWords: when one rank dies, mpirun ends the others with SIGTERM. So that a person sees where they were, each says
// it, once, in one line on stderr, before it goes.
#pragma once

#include <csignal>
#include <string>

namespace debubble::live {

// From now on SIGTERM is noted; the destructor puts back what was there. One at a time.
class LastWords {
 public:
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  [[nodiscard]] static bool asked_to_end();
  // Says it and ends the process as SIGTERM would have without this.
  [[noreturn]] void say(const std::string& line);

 private:
  struct sigaction before_ {};
};

}  // namespace debubble::live
