#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "formats/files/system_reason.hpp"
#include "profiler/records/crc32.hpp"
#include "profiler/records/record_decoder.hpp"
#include "profiler/records/record_file.hpp"
#include "profiler/records/record_format.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

const char* const kDamageHelp =
    "record again; a file whose program was killed is readable, so this one was changed later";

// Bytes from somewhere, in order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Up to `size` bytes; fewer only at the end.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read(char* to, std::size_t size) override {
    size = std::min(size, bytes_.size());
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view bytes_;
};

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail();
  }
  ~FileSource() override { ::close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::read(descriptor_, to + done, size - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError({"C005", path_, "the record file cannot be read: " + system_reason(errno),
                      "name a file that exists and may be read"});
  }

  std::string path_;
  int descriptor_;
};

class RecordReader {
 public:
  RecordReader(ByteSource& source, std::string name, RecordSink& sink)
      : source_(source), name_(std::move(name)), sink_(sink) {}

  RecordFileEnd read() {
    check_magic();
    while (read_chunk()) {
    }
    return {.complete = whole_ && decoder_.ended(), .records = decoder_.records()};
  }

 private:
  [[noreturn]] void fail(const char* code, std::string message, std::size_t at, const char* help) const {
    throw InputError({code, name_ + ": byte " + std::to_string(at), std::move(message), help});
  }

  void check_magic() {
    std::array<char, record_format::kMagic.size()> bytes{};
    const std::size_t size = source_.read(bytes.data(), bytes.size());
    const std::string_view found(bytes.data(), size);
    offset_ = size;
    if (found == record_format::kMagic) return;
    const std::size_t version = record_format::kMagic.size() - 1;
    if (size < bytes.size() || found.substr(0, version) != record_format::kMagic.substr(0, version)) {
      fail("P010", "this is not a record file: it does not begin with DBREC", 0,
           "name a *.dbrec file of debubble profile");
    }
    const int number = static_cast<unsigned char>(found[version]);
    fail("P010", "the record file has version " + std::to_string(number) + "; this debubble reads version 1", version,
         "read it with the debubble that recorded it");
  }

  // False at the end of the file, whether the last chunk is whole or not.
  bool read_chunk() {
    std::array<std::uint32_t, 2> header{};
    const std::size_t got = source_.read(reinterpret_cast<char*>(header.data()), sizeof header);
    if (got < sizeof header) {
      whole_ = got == 0;
      return false;
    }
    const std::size_t size = header[0];
    if (size > record_format::kMaxChunk) fail("K001", "a chunk is longer than any", offset_, kDamageHelp);
    if (chunk_.size() < size + record_format::kSlack) chunk_.resize(size + record_format::kSlack);
    if (source_.read(chunk_.data(), size) < size) {
      whole_ = false;
      return false;
    }
    if (crc32_of({chunk_.data(), size}) != header[1]) {
      fail("K001", "a checksum does not fit its chunk", offset_, kDamageHelp);
    }
    decode(size);
    offset_ += sizeof header + size;
    return true;
  }

  void decode(std::size_t size) {
    std::fill_n(chunk_.begin() + static_cast<std::ptrdiff_t>(size), record_format::kSlack, '\0');
    try {
      decoder_.decode(chunk_.data(), size, sink_);
    } catch (const DamagedRecord& damage) {
      fail("P012", std::string("the records make no sense: ") + damage.what(),
           offset_ + record_format::kChunkHeader + damage.at, kDamageHelp);
    }
  }

  ByteSource& source_;
  std::string name_;
  RecordSink& sink_;
  RecordDecoder decoder_;
  std::vector<char> chunk_;
  std::size_t offset_ = 0;
  bool whole_ = true;
};

}  // namespace

RecordFileEnd read_record_file(const std::string& path, RecordSink& sink) {
  FileSource source(path);
  return RecordReader(source, path, sink).read();
}

RecordFileEnd read_records(std::string_view bytes, const std::string& name, RecordSink& sink) {
  MemoryBytes source(bytes);
  return RecordReader(source, name, sink).read();
}

}  // namespace debubble
