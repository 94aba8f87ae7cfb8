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

void write(MessageWriter& writer, const Failure& failure) {
  writer.number(static_cast<std::int64_t>(failure.kind)).text(failure.text);
  writer.number(static_cast<std::int64_t>(failure.diagnostics.size()));
  for (const Diagnostic& diagnostic : failure.diagnostics) {
    writer.text(diagnostic.code).text(diagnostic.place).text(diagnostic.message).text(diagnostic.help);
  }
}

Failure read_failure(MessageReader& reader) {
  Failure failure;
  reader.into(failure.kind);
  failure.text = reader.text();
  for (std::int64_t left = reader.number(); left > 0; --left) {
    Diagnostic diagnostic;
    for (std::string* part : {&diagnostic.code, &diagnostic.place, &diagnostic.message, &diagnostic.help}) {
      *part = reader.text();
    }
    failure.diagnostics.push_back(std::move(diagnostic));
  }
  return failure;
}

}  // namespace debubble::live
