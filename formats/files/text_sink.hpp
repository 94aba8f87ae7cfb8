// TextSink: where exporters and views write, so that they need not know whether it is a file, a terminal or a string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace debubble {

// Called with consecutive pieces of the text. May throw; the writer passes that on.
using TextSink = std::function<void(std::string_view)>;

// Collects small pieces and hands them on in large ones. Call `flush` at the end: the destructor drops the rest.
class TextBuffer {
 public:
  explicit TextBuffer(TextSink sink) : sink_(std::move(sink)) { text_.reserve(2 * kEnough); }

  TextBuffer& operator<<(std::string_view piece) {
    text_ += piece;
    return *this;
  }
  TextBuffer& operator<<(std::int64_t number);

  // The end of one record: the place to hand on what has gathered.
  void end_record() {
    if (text_.size() >= kEnough) flush();
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }
  // For functions that append to a string.
  [[nodiscard]] std::string& text() { return text_; }

 private:
  static constexpr std::size_t kEnough = std::size_t{1} << 16;

  TextSink sink_;
  std::string text_;
};

}  // namespace debubble
