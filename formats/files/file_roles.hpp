// What this process reads and what it writes: no result may take the place of a file that it was made from, nor of
// another result.
//
// Files are told apart by device and inode, so that neither a symbolic nor a hard link hides that two names are one
// file; a file that does not exist yet, by its path with all links resolved. Which of the two comes first does not
// matter: the second is refused. Safe to use from several threads.
#pragma once

#include <string>
#include <vector>

namespace debubble {

// Whether a result may take the place of a file that was read to make it, as an accepted baseline does.
enum class Replaces { kNothingRead, kWhatWasRead };

// Where the file of this name is or will be, with all links resolved, that of a link to nothing too; `path` itself
// where that cannot be said.
[[nodiscard]] std::string resolved_path(const std::string& path);

// `descriptor` is open for reading. Throws InputError C066 at `place` when a result will replace this file; `name` is
// what it is called in messages.
void claim_input(int descriptor, const std::string& name, const std::string& place);
// The same of a file that something else opens. What does not exist is nobody's.
void claim_input_path(const std::string& path, const std::string& place);

// Where a result goes, for as long as this lives. "-" is stdout, which is a file too when it was redirected to one.
class OutputClaim {
 public:
  // Throws InputError C066 when the file was read, or another result goes there.
  OutputClaim(const std::string& path, Replaces replaces);
  ~OutputClaim();
  OutputClaim(const OutputClaim&) = delete;
  OutputClaim& operator=(const OutputClaim&) = delete;

 private:
  std::string file_;  // as the table below knows it; empty for what cannot be replaced: pipes, terminals
};

// What replacing a file could not keep of it: shown on stderr once the results are written.
void note_replacement(std::string note);
[[nodiscard]] std::vector<std::string> take_replacement_notes();

}  // namespace debubble
