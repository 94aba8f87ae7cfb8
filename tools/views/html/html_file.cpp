#include "tools/views/html/html_file.hpp"

namespace debubble {

Flag html_row(std::string& path) {
  return {.name = "--html",
          .group = "Output",
          .type = "FILE.html",
          .help = "also write a page with charts; it opens from disk",
          .target = &path,
          .repeated = false};
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
