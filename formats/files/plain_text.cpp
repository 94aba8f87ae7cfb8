#include "formats/files/plain_text.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;

[[noreturn]] void refuse_gzip(const std::string& name, const std::string& what) {
  throw InputError(Diagnostic{"K001", name, "not a whole gzip file: " + what,
                              "was the program killed while it wrote? try `gzip -t` on the file"});
}

[[noreturn]] void refuse_size(const std::string& name, std::size_t most) {
  throw InputError(Diagnostic{"P017", name, "longer than " + std::to_string(most) + " bytes of text",
                              "profile fewer steps, or without with_stack: that is what makes traces long"});
}

class Inflater {
 public:
  Inflater() {
    constexpr int kGzip = 15 + 16;  // zlib's window size, with the gzip wrapper
    if (inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::string run(std::string& bytes, const std::string& name, std::size_t most) {
    std::string text;
    std::size_t used = 0;
    std::size_t filled = 0;
    for (int status = Z_OK; status != Z_STREAM_END || more(bytes, used);) {
      if (status == Z_STREAM_END) inflateReset(&stream_);
      if (filled == text.size()) text.resize(std::max(kReadAtOnce, text.size() * 2));
      const std::size_t in = std::min(bytes.size() - used, kReadAtOnce);
      const std::size_t out = std::min(text.size() - filled, kReadAtOnce);
      status = step(bytes.data() + used, in, text.data() + filled, out);
      used += in - stream_.avail_in;
      filled += out - stream_.avail_out;
      if (status == Z_BUF_ERROR && in == 0) refuse_gzip(name, "it ends too early");
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        refuse_gzip(name, "damaged near byte " + std::to_string(used));
      }
      if (filled > most) refuse_size(name, most);
    }
    text.resize(filled);
    return text;
  }

 private:
  // Another member follows; anything else after the end (padding) is ignored, as gzip does.
  static bool more(const std::string& bytes, std::size_t used) {
    return bytes.size() - used >= 2 && bytes[used] == '\x1f' && bytes[used + 1] == '\x8b';
  }

  int step(char* in, std::size_t in_size, char* out, std::size_t out_size) {
    stream_.next_in = reinterpret_cast<Bytef*>(in);
    stream_.avail_in = static_cast<uInt>(in_size);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(out_size);
    return inflate(&stream_, Z_NO_FLUSH);
  }

  z_stream stream_{};
};

}  // namespace

std::string plain_text(std::string bytes, const std::string& name, std::size_t most) {
  if (bytes.starts_with("\x1f\x8b")) return Inflater().run(bytes, name, most);
  if (bytes.size() > most) refuse_size(name, most);
  return bytes;
}

}  // namespace debubble
