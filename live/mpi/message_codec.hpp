// Message codec: numbers and texts as bytes, for the control messages of the ranks: hashes, positions, results.
//
// All hosts of a run have one byte order (MPI sends bytes here); a message that is not read as it was written means
// that the ranks run different versions, which is a bug or a broken installation.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble::live {

class MessageWriter {
 public:
  MessageWriter& number(std::int64_t value);
  MessageWriter& text(std::string_view value);
  MessageWriter& append(const MessageWriter& other);
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Throws std::logic_error at the end of the bytes.
class MessageReader {
 public:
  explicit MessageReader(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::int64_t number();
  [[nodiscard]] std::string text();
  template <typename Value>
  void into(Value& value);  // a new one

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

// A struct is sent and read where its namespace has `auto members(Like<Struct> auto& one)`, which takes it apart by a
// structured binding, so that one that gets a member does not compile until it is sent, and ties what is sent.
template <typename Type, typename Struct>
concept Like = std::same_as<std::remove_const_t<Type>, Struct>;

auto members(Like<Diagnostic> auto& one) {
  auto& [code, place, message, help] = one;
  return std::tie(code, place, message, help);
}

// Numbers, a double as its bits, enums, texts, optionals, pairs, lists and maps of these, and structs.
template <typename Value>
void write(MessageWriter& writer, const Value& value) {
  if constexpr (std::same_as<Value, double>) {
    writer.number(std::bit_cast<std::int64_t>(value));
  } else if constexpr (std::integral<Value> || std::is_enum_v<Value>) {
    writer.number(static_cast<std::int64_t>(value));
  } else if constexpr (std::same_as<Value, std::string>) {
    writer.text(value);
  } else if constexpr (requires { value.has_value(); }) {
    write(writer, value.has_value());
    if (value.has_value()) write(writer, *value);
  } else if constexpr (requires { value.begin(); }) {
    write(writer, value.size());
    for (const auto& one : value) write(writer, one);
  } else if constexpr (requires { value.first; }) {
    write(writer, value.first);
    write(writer, value.second);
  } else {
    std::apply([&](const auto&... all) { (write(writer, all), ...); }, members(value));
  }
}

// What `write` wrote.
template <typename Value>
[[nodiscard]] Value read(MessageReader& reader) {
  Value value{};
  reader.into(value);
  return value;
}

template <typename Value>
void MessageReader::into(Value& value) {
  if constexpr (std::same_as<Value, double>) {
    value = std::bit_cast<double>(number());
  } else if constexpr (std::integral<Value> || std::is_enum_v<Value>) {
    value = static_cast<Value>(number());
  } else if constexpr (std::same_as<Value, std::string>) {
    value = text();
  } else if constexpr (requires { value.has_value(); }) {
    if (number() != 0) into(value.emplace());
  } else if constexpr (requires { typename Value::mapped_type; }) {
    for (std::int64_t left = number(); left > 0; --left) {
      auto key = read<typename Value::key_type>(*this);
      into(value[std::move(key)]);
    }
  } else if constexpr (requires { value.emplace_back(); }) {
    for (std::int64_t left = number(); left > 0; --left) into(value.emplace_back());
  } else if constexpr (requires { value.first; }) {
    into(value.first);
    into(value.second);
  } else {
    std::apply([this](auto&... all) { (this->into(all), ...); }, members(value));
  }
}

}  // namespace debubble::live
