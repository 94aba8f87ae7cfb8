// Finding NCCL, with and without one.
#include "live/mpi/nccl_library.hpp"
#include "tests/support/test.hpp"
#include "tests/witness/witness.hpp"

namespace debubble::live {
namespace {

TEST_CASE("A missing NCCL is said with what to install") {
  ::setenv("DEBUBBLE_LIBNCCL", "/nowhere/libnccl.so.2", 1);
  CHECK_THROWS_WITH_AS((void)load_nccl(), doctest::Contains("error[U054]: NCCL is missing"), UnavailableError);
  ::setenv("DEBUBBLE_LIBNCCL", "libm.so.6", 1);
  CHECK_THROWS_WITH_AS((void)load_nccl(), doctest::Contains("this NCCL lacks ncclGetVersion, "), UnavailableError);
  ::unsetenv("DEBUBBLE_LIBNCCL");
}

TEST_CASE("Versions are told as NCCL writes them") {
  CHECK(nccl_version_text(22809) == "2.28.9");
  CHECK(nccl_version_text(21800) == "2.18.0");
}

// NCCL needs no driver to load and to tell its version.
TEST_CASE("The newest NCCL and the oldest that is promised are loaded") {
  std::string versions;
  for (const std::string& library : testing::witnesses("libnccl.so.")) {
    ::setenv("DEBUBBLE_LIBNCCL", library.c_str(), 1);
    const Nccl found = load_nccl();
    CHECK(found.library == library);
    CHECK(std::string(found.call.error_text(nccl::kSuccess)) == "no error");
    versions += found.version + " ";
    ::unsetenv("DEBUBBLE_LIBNCCL");
  }
  if (!versions.empty()) CHECK(versions.ends_with(" 2.18.1 "));
}

}  // namespace
}  // namespace debubble::live
