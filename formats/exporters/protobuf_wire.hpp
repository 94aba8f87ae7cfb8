// The wire format of Protocol Buffers, as far as a writer needs it: varints, fixed numbers, and fields with a length.
//
// Written here in place of a library: a trace needs no schema, no reading and no generated code, only these few rules
// (https://protobuf.dev/programming-guides/encoding), which fit a page and will not change; another library would have
// to be installed or fetched wherever debubble is built.
//
//     WireText packet;
//     packet.number(8, 1500);                       field 8, a varint
//     const auto event = packet.open(11);           field 11, a message: its fields follow
//     packet.bytes(23, "PP:0F0");
//     packet.close(event);                          its length is put in
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace debubble {

class WireText {
 public:
  WireText() : text_(kFirstSize, '\0') {}

  [[nodiscard]] std::string_view text() const { return {text_.data(), size_}; }
  void clear() { size_ = 0; }

  void number(std::uint32_t field, std::uint64_t value) {
    char* to = room_for(2 * kLongestVarint);
    to = put_varint(to, std::uint64_t{field} << 3U);
    set_end(put_varint(to, value));
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    char* to = put_varint(room_for(2 * kLongestVarint), (std::uint64_t{field} << 3U) | 1U);
    for (unsigned shift = 0; shift < 64; shift += 8) *to++ = static_cast<char>((value >> shift) & 0xFFU);
    set_end(to);
  }
  // A message of two numbers.
  void pair(std::uint32_t field, std::uint32_t first, std::uint64_t one, std::uint32_t second, std::uint64_t other) {
    char* to = put_varint(room_for(6 * kLongestVarint), (std::uint64_t{field} << 3U) | 2U);
    char* length = to++;  // at most 40 bytes follow: one byte says how many
    to = put_varint(to, std::uint64_t{first} << 3U);
    to = put_varint(to, one);
    to = put_varint(to, std::uint64_t{second} << 3U);
    to = put_varint(to, other);
    *length = static_cast<char>(to - length - 1);
    set_end(to);
  }
  void bytes(std::uint32_t field, std::string_view value) {
    head(field, value.size());
    char* to = room_for(value.size());
    value.copy(to, value.size());
    set_end(to + value.size());
  }
  // Of a message whose length is known before its fields are written.
  void head(std::uint32_t field, std::size_t length) {
    char* to = put_varint(room_for(2 * kLongestVarint), (std::uint64_t{field} << 3U) | 2U);
    set_end(put_varint(to, length));
  }

  // A message within, whose length is not known yet: two bytes for it, and two more where that is not enough.
  [[nodiscard]] std::size_t open(std::uint32_t field) {
    head(field, 0);
    set_end(room_for(1) + 1);
    return size_;
  }
  void close(std::size_t begin) {
    std::size_t length = size_ - begin;
    std::size_t digits = 2;
    if (length >> 14U != 0) {
      (void)room_for(2);
      std::copy_backward(text_.data() + begin, text_.data() + size_, text_.data() + size_ + 2);
      size_ += 2;
      digits = 4;
    }
    for (std::size_t i = 0; i < digits; ++i, length >>= 7U) {
      text_[begin - 2 + i] = static_cast<char>((length & 0x7FU) | (i + 1 == digits ? 0U : 0x80U));
    }
  }

  // How many bytes a varint takes.
  [[nodiscard]] static std::size_t length_of(std::uint64_t value) {
    std::size_t length = 1;
    for (; value >= 0x80U; value >>= 7U) ++length;
    return length;
  }

 private:
  static constexpr std::size_t kFirstSize = 4096;
  static constexpr std::size_t kLongestVarint = 10;

  // Where to write; room for so many bytes.
  char* room_for(std::size_t more) {
    if (text_.size() - size_ < more) text_.resize(2 * text_.size() + more);
    return text_.data() + size_;
  }
  void set_end(const char* end) { size_ = static_cast<std::size_t>(end - text_.data()); }
  static char* put_varint(char* to, std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) *to++ = static_cast<char>((value & 0x7FU) | 0x80U);
    *to++ = static_cast<char>(value);
    return to;
  }

  std::string text_;  // longer than what is written
  std::size_t size_ = 0;
};

}  // namespace debubble
