// What an interrupted run leaves behind: nothing.
//
// A file in the making has a temporary name until it is whole. Control-C, a kill, a closed terminal or a reader that
// goes away would leave it lying about; here the signal's handler removes it first.
#pragma once

#include <cstddef>
#include <string>

namespace debubble {

// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the files that are doomed and end the process quietly with
// exit status 128 + signal, as shells count it: 130 for an interrupt. The other signals that end a process from outside
// (SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU) remove them too and then do what they always do, a core file included.
// A signal that is ignored already (nohup, a background job) stays so. A file that grows beyond `ulimit -f` is an error
// of the write, not a signal.
void leave_nothing_when_interrupted();

// For work that ends by itself when it is asked to: while one of these lives, the first SIGINT, SIGTERM or SIGHUP is
// noted and no more. A second ends the process as ever. At most one at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // The signal that was noted; 0: none yet.
  [[nodiscard]] int noted() const;
};

// Dooms a file for as long as this lives: interrupted meanwhile, the process removes it. The name may be taken before
// the file exists and kept after it was renamed. When too many files are in the making at once, or the name is longer
// than any file's, it does nothing.
class DoomedFile {
 public:
  explicit DoomedFile(const std::string& path);
  ~DoomedFile();
  DoomedFile(const DoomedFile&) = delete;
  DoomedFile& operator=(const DoomedFile&) = delete;

 private:
  std::size_t slot_;
};

}  // namespace debubble
