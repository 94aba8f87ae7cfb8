// The flag --html of a verb and the file it names: opened before the work begins, like every other file of a run.
#pragma once

#include <optional>
#include <string>

#include "formats/files/output_file.hpp"
#include "scenario/request/flag.hpp"
#include "tools/views/html/page.hpp"

namespace debubble {

[[nodiscard]] Flag html_row(std::string& path);

class HtmlFile {
 public:
  // `path`: the flag's; empty: no page is wanted. Throws InputError, as OutputFile does.
  explicit HtmlFile(const std::string& path);

  [[nodiscard]] bool wanted() const { return file_.has_value(); }
  void write(const Page& page);
  void commit();

 private:
  std::optional<OutputFile> file_;
  bool written_ = false;
};

}  // namespace debubble
