// Files that cannot be read or written: refused with the exact words, and nothing is left behind.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

const std::string kDeepSpeed = R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1})";

std::vector<std::string> deepspeed_import(const std::string& output) {
  return {"import", "--from", "deepspeed", "d.json", "--model", "tiny-gpt", "--world-size", "4", "-o", output};
}

TEST_CASE("a file that does not exist is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--profile", "missing.json"}) ==
        R"(error[C005]: cannot read missing.json: No such file or directory
  --> --profile
  = help: check the path and its permissions
)");
  CHECK(folder.refusal({"simulate", "--profile", "no/such/folder.json"}) ==
        R"(error[C005]: cannot read no/such/folder.json: No such file or directory
  --> --profile
  = help: check the path and its permissions
)");
  CHECK(folder.refusal({"import", "--from", "megatron", "missing.sh"}) ==
        R"(error[C005]: cannot read missing.sh: No such file or directory
  --> FILE
  = help: check the path and its permissions
)");
}

TEST_CASE("a folder is not a file to read") {
  const Folder folder;
  CHECK(folder.refusal({"import", "--from", "megatron", "."}) == R"(error[C005]: cannot read .: Is a directory
  --> FILE
  = help: check the path and its permissions
)");
}

TEST_CASE("output into a folder that does not exist is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-o", "no/x.txt"}) ==
        R"(error[C051]: cannot open the file for writing: No such file or directory
  --> no/x.txt
  = help: the directory does not exist: make it first
)");
  CHECK(folder.refusal({"simulate", "--trace", "no/x.json"}) ==
        R"(error[C051]: cannot open the file for writing: No such file or directory
  --> no/x.json
  = help: the directory does not exist: make it first
)");
  CHECK(folder.refusal({"simulate", "--export-schedule", "no/x.csv"}) ==
        R"(error[C051]: cannot open the file for writing: No such file or directory
  --> no/x.csv
  = help: the directory does not exist: make it first
)");
  CHECK(folder.refusal({"compare", "-o", "no/x.txt"}) ==
        R"(error[C051]: cannot open the file for writing: No such file or directory
  --> no/x.txt
  = help: the directory does not exist: make it first
)");
  CHECK(folder.refusal({"list", "-o", "no/x.txt"}) ==
        R"(error[C051]: cannot open the file for writing: No such file or directory
  --> no/x.txt
  = help: the directory does not exist: make it first
)");
  CHECK(folder.refusal({"doctor", "-o", "no/x.txt"}) ==
        R"(error[C051]: cannot open the file for writing: No such file or directory
  --> no/x.txt
  = help: the directory does not exist: make it first
)");
  CHECK(folder.refusal({"export", "--to", "chrome-trace", "-o", "no/x.json"}) ==
        R"(error[C051]: cannot open the file for writing: No such file or directory
  --> no/x.json
  = help: the directory does not exist: make it first
)");
  folder.write("d.json", kDeepSpeed);
  CHECK(folder.refusal(deepspeed_import("no/x.json")) ==
        R"(error[C051]: cannot open the file for writing: No such file or directory
  --> no/x.json
  = help: the directory does not exist: make it first
)");
}

TEST_CASE("a folder is not a file to write") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-o", "."}) == R"(error[C050]: this is a directory, not a file
  --> .
  = help: name the file to write
)");
  CHECK(folder.refusal({"simulate", "--trace", "."}) == R"(error[C050]: this is a directory, not a file
  --> .
  = help: name the file to write
)");
  CHECK(folder.refusal({"simulate", "--export-schedule", "./"}) == R"(error[C050]: this is a directory, not a file
  --> ./
  = help: name the file to write
)");
  CHECK(folder.refusal({"export", "--to", "pytorch-csv", "-o", "."}) == R"(error[C050]: this is a directory, not a file
  --> .
  = help: name the file to write
)");
  folder.write("d.json", kDeepSpeed);
  CHECK(folder.refusal(deepspeed_import(".")) ==
        R"(error[C050]: this is a directory, not a file
  --> .
  = help: name the file to write
)");
}

TEST_CASE("a file used as a folder is refused") {
  const Folder folder;
  folder.write("file", "");
  CHECK(folder.refusal({"simulate", "-o", "file/x.txt"}) ==
        R"(error[C051]: cannot open the file for writing: Not a directory
  --> file/x.txt
)");
  CHECK(folder.refusal({"simulate", "--trace", "file/x.json"}) ==
        R"(error[C051]: cannot open the file for writing: Not a directory
  --> file/x.json
)");
}

TEST_CASE("a full disk is said, and nothing is printed") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "-o", "/dev/full"}) == R"(error[C051]: cannot write: No space left on device
  --> /dev/full
  = help: free some space or choose another place; no partial file remains
)");
  CHECK(folder.refusal({"simulate", "--trace", "/dev/full"}) == R"(error[C051]: cannot write: No space left on device
  --> /dev/full
  = help: free some space or choose another place; no partial file remains
)");
  CHECK(folder.refusal({"simulate", "--export-schedule", "/dev/full"}) ==
        R"(error[C051]: cannot write: No space left on device
  --> /dev/full
  = help: free some space or choose another place; no partial file remains
)");
  CHECK(folder.refusal({"compare", "--format", "json", "-o", "/dev/full"}) ==
        R"(error[C051]: cannot write: No space left on device
  --> /dev/full
  = help: free some space or choose another place; no partial file remains
)");
  CHECK(folder.refusal({"export", "--to", "chrome-trace", "-o", "/dev/full"}) ==
        R"(error[C051]: cannot write: No space left on device
  --> /dev/full
  = help: free some space or choose another place; no partial file remains
)");
  CHECK(folder.refusal({"simulate", "-o", "/dev/full", "--trace", "t.json"}) ==
        R"(error[C051]: cannot write: No space left on device
  --> /dev/full
  = help: free some space or choose another place; no partial file remains
)");
  CHECK(folder.refusal({"simulate", "-o", "out.txt", "--trace", "/dev/full"}) ==
        R"(error[C051]: cannot write: No space left on device
  --> /dev/full
  = help: free some space or choose another place; no partial file remains
)");
  folder.write("d.json", kDeepSpeed);
  CHECK(folder.refusal(deepspeed_import("/dev/full")) ==
        R"(error[C051]: cannot write: No space left on device
  --> /dev/full
  = help: free some space or choose another place; no partial file remains
)");
}

}  // namespace
}  // namespace debubble::testing
