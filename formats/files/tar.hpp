// A tar archive (POSIX ustar) in memory: regular files, no times, no owners, so the same files give the same bytes.
#pragma once

#include <string>
#include <string_view>

namespace debubble {

class Tar {
 public:
  // `name` is at most 100 characters long.
  void add(std::string_view name, std::string_view content);
  // The archive with its end; call it once.
  [[nodiscard]] std::string finish();

 private:
  std::string bytes_;
};

// `text` in gzip, without a time.
[[nodiscard]] std::string gzipped(std::string_view text);

}  // namespace debubble
