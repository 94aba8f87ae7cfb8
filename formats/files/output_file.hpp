// OutputFile: a file that is either written whole or not at all.
//
// The text goes to a temporary file in the same directory, which takes the name on `commit` and vanishes without it.
// "-" is stdout. A name that ends in ".gz" is compressed; the same text gives the same bytes, for no time is recorded.
// Devices and pipes (/dev/null, a process substitution) cannot be replaced and are written in place. Of a file that is
// replaced, owner, group and mode are kept where the system allows it; what was lost, and other names of it (hard
// links), are in take_replacement_notes().
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "formats/files/file_roles.hpp"

namespace debubble {

class OutputFile {
 public:
  // Opens the file, so that a wrong path is known before the work begins. Throws InputError: C050 when the path is a
  // directory, C051 when it cannot be opened, with the system's reason, C066 when another result goes there or it was
  // read (file_roles.hpp).
  explicit OutputFile(std::string path, Replaces replaces = Replaces::kNothingRead);
  // Removes what was not committed.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Throws InputError C051 when the system refuses, e.g. because the disk is full.
  void write(std::string_view text);
  // Writes the rest and gives the file its name; call it once, and write nothing after it. Throws InputError C051.
  void commit();

 private:
  class Target;
  class Compressor;

  std::unique_ptr<Target> target_;
  std::unique_ptr<Compressor> compressor_;  // null unless the name ends in ".gz"
};

}  // namespace debubble
