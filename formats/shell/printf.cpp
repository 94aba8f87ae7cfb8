#include "formats/shell/printf.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "formats/shell/unknowns.hpp"

namespace debubble::shell {
namespace {

constexpr int kWidest = 1000;

struct Directive {
  std::string flags;
  int width = 0;
  int precision = -1;
  char kind = 's';
};

std::string padded(const std::string& text, const Directive& directive) {
  const std::size_t width = static_cast<std::size_t>(directive.width);
  if (text.size() >= width) return text;
  const std::string blanks(width - text.size(), ' ');
  return directive.flags.find('-') == std::string::npos ? blanks + text : text + blanks;
}

std::string number_text(const std::string& argument, const Directive& directive) {
  std::string form = "%" + directive.flags;
  if (directive.width > 0) form += std::to_string(directive.width);
  if (directive.precision >= 0) form += "." + std::to_string(directive.precision);
  std::array<char, 2048> buffer{};
  if (std::string_view("diouxX").find(directive.kind) != std::string_view::npos) {
    const long long value = std::strtoll(argument.c_str(), nullptr, 0);
    form += std::string("ll") + directive.kind;
    std::snprintf(buffer.data(), buffer.size(), form.c_str(), value);
  } else {
    form += directive.kind;
    std::snprintf(buffer.data(), buffer.size(), form.c_str(), std::strtod(argument.c_str(), nullptr));
  }
  return buffer.data();
}

}  // namespace

std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '\\' || k + 1 == text.size()) {
      result += text[k];
      continue;
    }
    const char c = text[++k];
    const std::size_t which = std::string_view("ntrabfv\\e").find(c);
    if (which == std::string_view::npos) {
      result += '\\';
      result += c;
    } else {
      result += "\n\t\r\a\b\f\v\\\033"[which];
    }
  }
  return result;
}

std::string printf_text(const std::string& format, const std::vector<std::string>& arguments,
                        const std::function<std::string(const std::vector<int>&)>& unknown) {
  std::string result;
  std::size_t next = 0;
  bool used = false;
  do {
    used = false;
    for (std::size_t k = 0; k < format.size(); ++k) {
      if (format[k] == '\\' && k + 1 < format.size()) {
        if (format[k + 1] == '"' || format[k + 1] == '\'') {
          result += format[k + 1];
        } else {
          result += unescaped(format.substr(k, 2));
        }
        ++k;
        continue;
      }
      if (format[k] != '%') {
        result += format[k];
        continue;
      }
      if (k + 1 < format.size() && format[k + 1] == '%') {
        result += '%';
        ++k;
        continue;
      }
      Directive directive;
      ++k;
      while (k < format.size() && std::string_view("-0+ #").find(format[k]) != std::string_view::npos) {
        if (directive.flags.size() < 5) directive.flags += format[k];
        ++k;
      }
      const auto number = [&] {
        int value = 0;
        while (k < format.size() && format[k] >= '0' && format[k] <= '9') {
          value = std::min(value * 10 + (format[k] - '0'), kWidest);
          ++k;
        }
        return value;
      };
      directive.width = number();
      if (k < format.size() && format[k] == '.') {
        ++k;
        directive.precision = number();
      }
      directive.kind = k < format.size() ? format[k] : 's';
      const std::string argument = next < arguments.size() ? arguments[next] : "";
      ++next;
      used = true;
      if (std::string_view("diouxXeEfFgG").find(directive.kind) != std::string_view::npos) {
        result += has_mark(argument) ? unknown(marks(argument)) : number_text(argument, directive);
      } else if (directive.kind == 'b') {
        result += padded(unescaped(argument), directive);
      } else if (directive.kind == 's' || directive.kind == 'c') {
        std::string text = directive.kind == 'c' ? argument.substr(0, 1) : argument;
        if (directive.precision >= 0 && !has_mark(text))
          text = text.substr(0, static_cast<std::size_t>(directive.precision));
        result += has_mark(text) ? text : padded(text, directive);
      } else {
        result += unknown(marks(argument));  // %q, %(...)T
      }
    }
  } while (used && next < arguments.size());
  return result;
}

}  // namespace debubble::shell
