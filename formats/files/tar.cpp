#include "formats/files/tar.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <stdexcept>

namespace debubble {
namespace {

constexpr std::size_t kBlock = 512;

// `value` in octal with leading zeros, `width` digits, at `at`.
void put_octal(std::array<char, kBlock>& header, std::size_t at, std::size_t width, std::size_t value) {
  for (std::size_t i = width; i-- > 0; value /= 8) header[at + i] = static_cast<char>('0' + value % 8);
}

void put_text(std::array<char, kBlock>& header, std::size_t at, std::string_view text) {
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

// Fields by offset: name 0, mode 100, owner 108, group 116, size 124, time 136, checksum 148, type 156, magic 257.
void Tar::add(std::string_view name, std::string_view content) {
  if (name.size() > 100) throw std::logic_error("tar: the name is too long");
  std::array<char, kBlock> header{};
  put_text(header, 0, name);
  put_octal(header, 100, 7, 0644);
  put_octal(header, 108, 7, 0);
  put_octal(header, 116, 7, 0);
  put_octal(header, 124, 11, content.size());
  put_octal(header, 136, 11, 0);
  put_text(header, 148, "        ");
  header[156] = '0';
  put_text(header, 257, std::string_view("ustar\00000", 8));
  std::size_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put_octal(header, 148, 6, sum);
  header[154] = '\0';
  bytes_.append(header.data(), header.size());
  bytes_ += content;
  bytes_.append((kBlock - content.size() % kBlock) % kBlock, '\0');
}

std::string Tar::finish() {
  bytes_.append(2 * kBlock, '\0');
  return std::move(bytes_);
}

std::string gzipped(std::string_view text) {
  constexpr int kGzip = 15 + 16;  // zlib's window size, with the gzip wrapper
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out;
  std::array<char, 1 << 16> buffer{};
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    const std::size_t piece = std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
    // zlib does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT
    stream.avail_in = static_cast<uInt>(piece);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());  // NOLINT
      stream.avail_out = static_cast<uInt>(buffer.size());
      status = deflate(&stream, piece == text.size() ? Z_FINISH : Z_NO_FLUSH);
      out.append(buffer.data(), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    text.remove_prefix(piece);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace debubble
