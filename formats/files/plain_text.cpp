#include "formats/files/plain_text.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::size_t kInflatedAtOnce = std::size_t{1} << 18;
constexpr std::size_t kReadWithoutDoubt = kMostTableBytes;  // more than that has to look like text or a recording
constexpr std::size_t kMostInflation = 256;                 // traces of repeated steps reach 30, deflate itself 1030

[[noreturn]] void refuse_gzip(const std::string& name, const std::string& what) {
  throw InputError(Diagnostic{"K001", name, "not a whole gzip file: " + what,
                              "was the program killed while it wrote? try `gzip -t` on the file"});
}

// Doubling would take three times the text while it moves.
void make_room(std::string& text, std::size_t more) {
  const std::size_t needed = text.size() + more;
  if (needed <= text.capacity()) return;
  text.reserve(std::max(needed, std::min(2 * text.capacity(), text.capacity() + text.capacity() / 4 + (1U << 22U))));
}

}  // namespace

void refuse_length(const std::string& name, std::size_t most) {
  const bool recording = most != kMostTableBytes && most != kMostScriptBytes && most != kMostLogBytes;
  throw InputError(Diagnostic{"P017", name, "longer than " + mebibytes(static_cast<Bytes>(most)) + " of text",
                              recording ? "profile fewer steps, or without with_stack: that is what makes traces long"
                                        : "check that this is the file you meant; docs/errors.md lists the limits"});
}

void append_text(std::string_view piece, const std::string& name, std::string& text) {
  make_room(text, piece.size());
  text += piece;
  const bool passes = text.size() > kReadWithoutDoubt && text.size() - piece.size() <= kReadWithoutDoubt;
  if (passes && text.front() == '\0') {
    throw InputError(Diagnostic{"P010", name, "neither text nor a recording: it begins with zero bytes",
                                "check that this is the file you meant"});
  }
}

class TextInflater::Stream {
 public:
  Stream(std::string name, std::size_t most) : name_(std::move(name)), most_(most) {
    constexpr int kGzip = 15 + 16;  // zlib's window size, with the gzip wrapper
    if (inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Stream() { inflateEnd(&stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void add(std::string_view piece) {
    if (state_ == State::kBetween && !carried_.empty()) {
      const std::string joined = std::exchange(carried_, {}) + std::string(piece);
      return add(joined);
    }
    while (!piece.empty() && state_ != State::kOver) {
      if (state_ == State::kBetween && !begins_member(piece)) return;
      piece.remove_prefix(inflate_some(piece));
    }
  }

  std::string finish() {
    if (state_ == State::kInside) refuse_gzip(name_, "it ends too early");
    return std::move(text_);
  }

 private:
  enum class State { kInside, kBetween, kOver };

  // Another member follows; anything else after the end (padding) is ignored, as gzip does.
  bool begins_member(std::string_view piece) {
    if (piece.size() < 2) {
      carried_ = piece;
      return false;
    }
    const bool begins = piece[0] == '\x1f' && piece[1] == '\x8b';
    if (begins) inflateReset(&stream_);
    state_ = begins ? State::kInside : State::kOver;
    return begins;
  }

  // Bytes of `piece` that it took.
  std::size_t inflate_some(std::string_view piece) {
    const std::size_t in = std::min(piece.size(), std::size_t{1} << 30U);  // zlib counts in 32 bits
    // zlib promises not to write through next_in, whose type is older than const.
    stream_.next_in = const_cast<Bytef*>(  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        reinterpret_cast<const Bytef*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(in);
    int status = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
      stream_.avail_out = static_cast<uInt>(block_.size());
      status = inflate(&stream_, Z_NO_FLUSH);
      take({block_.data(), block_.size() - stream_.avail_out}, used_ + in - stream_.avail_in);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        refuse_gzip(name_, "damaged near byte " + std::to_string(used_ + in - stream_.avail_in));
      }
    } while (status == Z_OK && (stream_.avail_in > 0 || stream_.avail_out == 0));
    if (status == Z_STREAM_END) state_ = State::kBetween;
    used_ += in - stream_.avail_in;
    return in - stream_.avail_in;
  }

  void take(std::string_view inflated, std::size_t used) {
    if (inflated.size() > most_ - text_.size()) refuse_length(name_, most_);
    append_text(inflated, name_, text_);
    if (text_.size() > kReadWithoutDoubt && text_.size() / kMostInflation > used) {
      throw InputError(Diagnostic{"P017", name_,
                                  "its text is more than " + std::to_string(kMostInflation) +
                                      " times as long as the compressed file, and longer than " +
                                      mebibytes(kReadWithoutDoubt),
                                  "no recording is so regular: check that this is the file you meant"});
    }
  }

  std::string name_;
  std::size_t most_;
  z_stream stream_{};
  State state_ = State::kInside;
  std::string carried_;   // the first byte of what may be a member
  std::size_t used_ = 0;  // bytes of the file
  std::string text_;
  std::array<char, kInflatedAtOnce> block_{};
};

TextInflater::TextInflater(std::string name, std::size_t most)
    : stream_(std::make_unique<Stream>(std::move(name), most)) {}
TextInflater::~TextInflater() = default;
void TextInflater::add(std::string_view piece) { stream_->add(piece); }
std::string TextInflater::finish() { return stream_->finish(); }

std::string plain_text(std::string bytes, const std::string& name, std::size_t most) {
  if (bytes.starts_with("\x1f\x8b")) {
    TextInflater inflater(name, most);
    inflater.add(bytes);
    return inflater.finish();
  }
  if (bytes.size() > most) refuse_length(name, most);
  return bytes;
}

}  // namespace debubble
