// JsonLines: writes nested JSON piece by piece, one member per line, and never a comma too many.
//
//     JsonLines json(buffer);                     {
//     json.begin('{');                              "format": "debubble.run/1",
//     json.member("format").text("...");            "offsets_ns": [0,-12,7]
//     json.member("offsets_ns").integers(list);   }
//     json.end('}');
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/files/text_sink.hpp"
#include "formats/json/json_text.hpp"

namespace debubble {

class JsonLines {
 public:
  explicit JsonLines(TextBuffer& out) : out_(out) {}

  // The start of a member or item on a line of its own; its value must follow.
  JsonLines& member(std::string_view key) {
    item();
    append_json_string(out_.text(), key);
    out_ << ": ";
    return *this;
  }
  JsonLines& item() {
    if (on_one_line_) {
      out_ << (first_ ? "" : ", ");
    } else {
      out_ << (first_ ? "\n" : ",\n");
      out_.text().append(2 * depth_, ' ');
      out_.end_record();
    }
    first_ = false;
    return *this;
  }

  void begin(char bracket) {
    out_.text() += bracket;
    ++depth_;
    first_ = true;
  }
  // The same for a small one, which stays on its line until `end`; it holds no other container.
  void begin_on_one_line(char bracket) {
    begin(bracket);
    on_one_line_ = true;
  }
  void end(char bracket) {
    --depth_;
    if (!first_ && !on_one_line_) {
      out_.text() += '\n';
      out_.text().append(2 * depth_, ' ');
    }
    out_.text() += bracket;
    first_ = false;
    on_one_line_ = false;
  }

  void text(std::string_view value) { append_json_string(out_.text(), value); }
  void integer(std::int64_t value) { out_ << value; }
  void boolean(bool value) { out_ << (value ? "true" : "false"); }
  void null() { out_ << "null"; }
  template <typename Integer>
  void integers(const std::vector<Integer>& values) {
    out_ << "[";
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (k > 0) out_ << ",";
      out_ << static_cast<std::int64_t>(values[k]);
    }
    out_ << "]";
  }

  void member_if_any(std::string_view key, std::string_view value) {
    if (!value.empty()) member(key).text(value);
  }
  void member_if_any(std::string_view key, std::int64_t value) {
    if (value != 0) member(key).integer(value);
  }
  template <typename Integer>
  void member_if_any(std::string_view key, const std::vector<Integer>& values) {
    if (!values.empty()) member(key).integers(values);
  }

 private:
  TextBuffer& out_;
  std::size_t depth_ = 0;
  bool first_ = true;  // the innermost container is still empty
  bool on_one_line_ = false;
};

}  // namespace debubble
