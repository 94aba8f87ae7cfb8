// What a record file contains, for the encoder and the decoder.
//
//     file    "DBREC\0\0\1" chunk...            chunk    u32 bytes, u32 crc32 of them, records
//     number  7 bits a byte, low first, the top bit says "more"          signed   zigzag: 0 -1 1 -2 -> 0 1 2 3
//     text    number of bytes, bytes            delta    signed difference to the same field before, modulo 2^64
//
// Most fields differ little from the record before, so a kernel takes about 10 bytes and a link 3. Names and places
// (work, device, context, stream) are defined once and then named by number, counting from 0; kForget starts both
// tables anew, so neither writer nor reader grows without end. The last record of a finished file is kEnd.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace debubble::record_format {

inline constexpr std::string_view kMagic{"DBREC\0\0\1", 8};  // the last byte is the version
inline constexpr std::size_t kChunkHeader = 8;
inline constexpr std::size_t kChunkTarget = std::size_t{256} << 10U;   // a chunk ends when it is larger than this ...
inline constexpr std::size_t kMaxText = 60'000;                        // ... so with the longest record it stays below
inline constexpr std::size_t kMaxChunk = std::size_t{1} << 20U;        // this
inline constexpr std::size_t kMaxTable = std::size_t{1} << 16U;        // names, and places
inline constexpr std::size_t kMaxTableBytes = std::size_t{16} << 20U;  // of names, kept by the writer

// Bytes a reader may look at after a record that starts inside a chunk, texts aside: 16 numbers and an 8-byte load.
inline constexpr std::size_t kSlack = 192;

static_assert(std::endian::native == std::endian::little, "record files are little endian, as every CUDA host is");

enum class Tag : std::uint8_t {
  kPush = 1,         // delta range, delta thread, delta time, name, text after the name
  kPushPlus = 2,     // the same, then signed sequence, number forward_thread, text sizes
  kPop = 3,          // delta thread, delta time
  kLink = 4,         // delta correlation, delta range
  kLaunch = 5,       // delta correlation, delta thread, delta begin, signed duration
  kKernel = 6,       // place, delta correlation, delta begin, signed duration, name
  kKernelPlus = 7,   // the same, then number graph_node, signed bytes
  kMemory = 8,       // number thread, number device, delta time, number address, signed bytes
  kOverhead = 9,     // number kind, number thread, delta begin, signed duration
  kClock = 10,       // number device, delta time, signed sm_mhz, number slowed_by
  kSwitch = 11,      // delta time, number recording
  kFact = 12,        // text key, text value
  kLoss = 13,        // text what, signed count
  kDefineName = 14,  // text
  kPlace = 15,       // number work, number device, number context, number stream
  kForget = 16,      // nothing
  kEnd = 17,         // nothing
};

// The fields before; deltas are taken from these.
struct Before {
  std::uint64_t range = 0;
  std::uint64_t thread = 0;
  std::uint64_t time = 0;
  std::uint64_t link_correlation = 0;
  std::uint64_t link_range = 0;
  std::uint64_t launch_correlation = 0;
  std::uint64_t launch_thread = 0;
  std::uint64_t launch_begin = 0;
  std::uint64_t kernel_correlation = 0;
  std::uint64_t kernel_begin = 0;
  std::uint64_t other_time = 0;
};

constexpr std::uint64_t zigzag(std::uint64_t value) { return (value << 1U) ^ (0 - (value >> 63U)); }
constexpr std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1U) ^ (0 - (value & 1U)); }

}  // namespace debubble::record_format
