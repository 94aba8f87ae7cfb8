#include "profiler/records/trouble_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace debubble {

namespace {

constexpr std::array<std::pair<std::string_view, std::string Diagnostic::*>, 4> kTroubleFields = {
    {{"code: ", &Diagnostic::code},
     {"place: ", &Diagnostic::place},
     {"message: ", &Diagnostic::message},
     {"help: ", &Diagnostic::help}}};

std::string as_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else {
      if (c == '\\') line += '\\';
      line += c;
    }
  }
  return line;
}

std::string from_one_line(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
    } else {
      text += line[++i] == 'n' ? '\n' : line[i];
    }
  }
  return text;
}

bool take_field(std::string_view line, Diagnostic& diagnostic) {
  for (const auto& [key, field] : kTroubleFields) {
    if (!line.starts_with(key)) continue;
    diagnostic.*field = from_one_line(line.substr(key.size()));
    return true;
  }
  return false;
}

Diagnostic broken_trouble(std::string_view block) {
  return {"U009", "", "a recorded process left a trouble file that is not whole: " + std::string(block),
          "the process was ended while it wrote, or the disk is full: record again"};
}

// `block`: lines without the empty one that ends them.
Diagnostic read_trouble(std::string_view block) {
  Diagnostic diagnostic;
  for (std::size_t begin = 0; begin < block.size();) {
    const std::size_t end = std::min(block.find('\n', begin), block.size());
    if (!take_field(block.substr(begin, end - begin), diagnostic)) return broken_trouble(block);
    begin = end + 1;
  }
  return diagnostic.code.empty() || diagnostic.message.empty() ? broken_trouble(block) : diagnostic;
}

}  // namespace

std::string trouble_text(const Diagnostic& diagnostic) {
  std::string text;
  for (const auto& [key, field] : kTroubleFields) {
    const std::string& value = diagnostic.*field;
    if (!value.empty()) text += std::string(key) + as_one_line(value) + "\n";
  }
  return text + "\n";
}

std::vector<Diagnostic> read_troubles(std::string_view text) {
  std::vector<Diagnostic> troubles;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    const std::string_view block = text.substr(0, end);
    if (end == std::string_view::npos) {
      troubles.push_back(broken_trouble(block));
      break;
    }
    if (!block.empty()) troubles.push_back(read_trouble(block));
    text.remove_prefix(end + 2);
  }
  return troubles;
}

}  // namespace debubble
