// A file's text, out of gzip when it is in gzip.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace debubble {

// docs/errors.md lists the readers' limits.
inline constexpr std::size_t kMostTableBytes = std::size_t{64} << 20;  // tables, scenarios, anything else
inline constexpr std::size_t kMostScriptBytes = std::size_t{1} << 20;  // flags that people write: .toml, scripts
inline constexpr std::size_t kMostLogBytes = std::size_t{1} << 30;     // logs and run files
inline constexpr std::size_t kMostRecordingBytes = 0xFFFFFFFF - 64;    // traces: simdjson counts in 32 bits

// `bytes` as they are, or decompressed when they begin like a gzip file, whatever `name` ends in; several members in a
// row are one text. Throws InputError: K001 for a damaged or cut-off gzip file, P017 when the text is longer than
// `most`, or more than 256 times as long as the compressed file and longer than 64 MiB.
[[nodiscard]] std::string plain_text(std::string bytes, const std::string& name, std::size_t most);

// The same from pieces of a gzip file, so that no more of it is in memory than its text. Throws like plain_text.
class TextInflater {
 public:
  TextInflater(std::string name, std::size_t most);
  ~TextInflater();
  TextInflater(const TextInflater&) = delete;
  TextInflater& operator=(const TextInflater&) = delete;

  void add(std::string_view piece);
  // All of the text; call it once, at the file's end.
  [[nodiscard]] std::string finish();

 private:
  class Stream;

  std::unique_ptr<Stream> stream_;
};

// Throws InputError P017: the file `name` is longer than `most` bytes.
[[noreturn]] void refuse_length(const std::string& name, std::size_t most);

// Appends `piece` to what was read of the file `name`. Memory grows with the text, and by no more than a quarter above
// it. Throws InputError P010 once there are more than 64 MiB that begin with zero bytes, as no text and no recording
// does.
void append_text(std::string_view piece, const std::string& name, std::string& text);

}  // namespace debubble
