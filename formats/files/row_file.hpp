// RowFile: a file of lines that grows while work goes on, and goes on where it was after a cut.
//
// Lines are appended in whole, and what stands in the file is always the beginning of what will. After a kill or a full
// disk the last line may be torn: reopened, the file loses it and nothing else. "-" is stdout; devices and pipes are
// written as they are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "formats/files/file_roles.hpp"

namespace debubble {

// How the lines of the file look, to recognise them.
struct RowFileForm {
  std::string header;                               // the first line with its end; may be empty
  std::function<std::string(std::int64_t)> prefix;  // what the line of a row begins with
  std::string ending;                               // what every row ends with, before its line end
  std::int64_t rows = 0;                            // so many at most
  std::string what;                                 // "sweep": of what the rows are, for messages
};

class RowFile {
 public:
  // Opens it, or what is there of it with `resume`. Throws InputError: C051 as OutputFile does; C050 for a directory,
  // when the file has something in it and `resume` is not set, when another process writes it, when it cannot be gone
  // on with, and when what is in it is not the beginning of these rows.
  RowFile(std::string path, const RowFileForm& form, bool resume);
  // Whole rows that were there.
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  // Whole lines. Throws InputError C051 when the system refuses; then part of them may have been written.
  void append(std::string_view lines);

 private:
  void open_regular(const RowFileForm& form, bool resume);
  void take_over(const RowFileForm& form);

  // Closed with it, stdout but for that.
  class Descriptor {
   public:
    Descriptor() = default;
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number = -1;
  };

  std::string path_;
  Descriptor file_;
  std::optional<OutputClaim> claim_;
  std::int64_t rows_ = 0;
  bool has_header_ = false;  // it was there
};

}  // namespace debubble
