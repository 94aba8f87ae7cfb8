#include "live/mpi/failure.hpp"

#include <new>
#include <stdexcept>

#include "live/live.hpp"

namespace debubble::live {

Failure failure_of(const std::exception_ptr& error, const std::string& who) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& found) {
    return {Failure::Kind::kInput, found.diagnostics(), ""};
  } catch (const UnavailableError& found) {
    Diagnostic diagnostic = found.diagnostic();
    diagnostic.message = who + ": " + diagnostic.message;
    return {Failure::Kind::kUnavailable, {diagnostic}, ""};
  } catch (const WrongDataError& found) {
    return {Failure::Kind::kWrongData, {}, found.what()};
  } catch (const std::bad_alloc&) {
    return {Failure::Kind::kUnavailable,
            {{"U051", "", who + " has not enough memory for its buffers",
              "spread the ranks over more hosts, or use fewer microbatches"}},
            ""};
  } catch (const std::exception& found) {
    return {Failure::Kind::kOther, {}, who + ": " + found.what()};
  }
}

void raise(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::kInput:
      throw InputError(failure.diagnostics);
    case Failure::Kind::kUnavailable:
      throw UnavailableError(failure.diagnostics.at(0));
    case Failure::Kind::kWrongData:
      throw WrongDataError(failure.text);
    case Failure::Kind::kOther:
      break;
  }
  throw std::runtime_error(failure.text);
}

}  // namespace debubble::live
