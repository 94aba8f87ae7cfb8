#include "profiler/records/crc32.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace debubble {

namespace {

using CrcTable = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b]: what byte b does to the sum when k bytes follow it in the same step.
constexpr CrcTable make_tables() {
  CrcTable tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
    tables[0][byte] = sum;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t k = 1; k < 8; ++k) {
      tables[k][byte] = (tables[k - 1][byte] >> 8U) ^ tables[0][tables[k - 1][byte] & 0xFFU];
    }
  }
  return tables;
}

constexpr CrcTable kTables = make_tables();

std::uint32_t eight_bytes(std::uint32_t sum, const unsigned char* at) {
  std::array<std::uint32_t, 2> words{};
  std::memcpy(words.data(), at, 8);
  const std::uint32_t low = words[0] ^ sum;
  const std::uint32_t high = words[1];
  return kTables[7][low & 0xFFU] ^ kTables[6][(low >> 8U) & 0xFFU] ^ kTables[5][(low >> 16U) & 0xFFU] ^
         kTables[4][low >> 24U] ^ kTables[3][high & 0xFFU] ^ kTables[2][(high >> 8U) & 0xFFU] ^
         kTables[1][(high >> 16U) & 0xFFU] ^ kTables[0][high >> 24U];
}

}  // namespace

std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t sum = 0xFFFFFFFFU;
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) sum = eight_bytes(sum, at);
  for (; left > 0; --left, ++at) sum = (sum >> 8U) ^ kTables[0][(sum ^ *at) & 0xFFU];
  return ~sum;
}

}  // namespace debubble
