// Finding NCCL, with and without one.
#include <doctest/doctest.h>

#include <cstdlib>

#include "live/mpi/nccl_library.hpp"
#include "sim/core/error.hpp"

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

// NCCL needs no driver to load, to tell its version and to make an id (2.28.9).
TEST_CASE("An installed NCCL is found") {
  try {
    const Nccl library = load_nccl();
    CHECK(library.version.starts_with("2."));
    CHECK(library.call.error_text(0) != nullptr);
    MESSAGE("NCCL ", library.version, " from ", library.library);
  } catch (const UnavailableError& error) {
    MESSAGE("SKIPPED: ", error.what());
  }
}

}  // namespace
}  // namespace debubble::live
