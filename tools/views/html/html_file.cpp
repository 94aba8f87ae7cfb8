#include "tools/views/html/html_file.hpp"

#include "scenario/request/flag_row.hpp"

namespace debubble {

Flag html_row(std::string& path) {
  return FlagGroup("Output")("--html", "FILE.html", "also write a page with charts; it opens from disk", &path,
                             FlagMark::kNotRepeated);
}

HtmlFile::HtmlFile(const std::string& path) {
  if (!path.empty()) file_.emplace(path);
}

void HtmlFile::write(const Page& page) {
  if (!file_) return;
  write_page(page, [this](std::string_view text) { file_->write(text); });
  written_ = true;
}

void HtmlFile::commit() {
  if (written_) file_->commit();
}

}  // namespace debubble
