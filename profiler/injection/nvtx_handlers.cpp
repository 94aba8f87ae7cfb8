#include "profiler/injection/nvtx_handlers.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "profiler/injection/injection.hpp"

namespace debubble {

namespace {

// Domains and strings are handed out as addresses and live as long as the process: a program may use them to the end.
struct Domain {
  bool ignored = false;
};
struct RegisteredString {
  std::string text;
  bool wide = false;
};

// NCCL opens ranges that it never closes.
bool is_ignored(std::string_view domain) { return domain.starts_with("NCCL"); }

template <class Value>
class Registry {
 public:
  // The value of this name, made on first use and never destroyed: a program that registers without end does not fill
  // the memory.
  template <class Make>
  Value* find(const std::string& name, const Make& make) {
    const std::lock_guard lock(mutex_);
    Value*& value = values_[name];
    if (value == nullptr) value = new Value(make());  // NOLINT(cppcoreguidelines-owning-memory)
    return value;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Value*> values_;
};

Registry<Domain>& domains() {
  static auto* const registry = new Registry<Domain>;  // NOLINT(cppcoreguidelines-owning-memory)
  return *registry;
}

Registry<RegisteredString>& strings() {
  static auto* const registry = new Registry<RegisteredString>;  // NOLINT(cppcoreguidelines-owning-memory)
  return *registry;
}

// Text without data(): a range that is balanced, but not recorded.
std::string_view message_text(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::string_view message_text(const nvtx_abi::EventAttributes* attributes) {
  if (attributes == nullptr || attributes->message == nullptr) return {};
  if (attributes->message_type == nvtx_abi::kMessageAscii) return static_cast<const char*>(attributes->message);
  if (attributes->message_type != nvtx_abi::kMessageRegistered) return {};
  const auto* const registered = static_cast<const RegisteredString*>(attributes->message);
  return registered->wide ? std::string_view() : std::string_view(registered->text);
}

// The program must not see our exceptions, were it only for want of memory.
template <class Body>
int guarded(const Domain* domain, const Body& body) {
  if (domain != nullptr && domain->ignored) return 0;
  Injection* const injection = active_injection();
  if (injection == nullptr) return -1;
  try {
    return body(*injection);
  } catch (...) {
    return -1;
  }
}

int push(std::string_view text, const Domain* domain) {
  return guarded(domain, [&](Injection& injection) { return injection.push(text, domain); });
}

int pop(const Domain* domain) {
  return guarded(domain, [&](Injection& injection) { return injection.pop(domain); });
}

int push_ascii(const char* text) { return push(message_text(text), nullptr); }
int push_wide(const wchar_t*) { return push({}, nullptr); }
int push_attributes(const nvtx_abi::EventAttributes* attributes) { return push(message_text(attributes), nullptr); }
int pop_default() { return pop(nullptr); }
int domain_push(const Domain* domain, const nvtx_abi::EventAttributes* attributes) {
  return push(message_text(attributes), domain);
}
int domain_pop(const Domain* domain) { return pop(domain); }

// Ranges across threads have no place on a thread's stack: counted, and numbered so that the program may end them.
std::uint64_t start_process_range() {
  static std::atomic<std::uint64_t> ids = 0;
  if (Injection* const injection = active_injection(); injection != nullptr) injection->count_process_range();
  return ++ids;
}
std::uint64_t start_attributes(const nvtx_abi::EventAttributes*) { return start_process_range(); }
std::uint64_t start_ascii(const char*) { return start_process_range(); }
std::uint64_t start_wide(const wchar_t*) { return start_process_range(); }
std::uint64_t domain_start(const Domain* domain, const nvtx_abi::EventAttributes*) {
  return domain != nullptr && domain->ignored ? 0 : start_process_range();
}

const Domain* create_domain(const char* name) {
  const std::string text(message_text(name));
  return domains().find(text, [&] { return Domain{is_ignored(text)}; });
}
const Domain* create_wide_domain(const wchar_t* name) {
  std::string key = "wide:";
  for (; name != nullptr && *name != L'\0'; ++name) key += std::to_string(static_cast<long>(*name)) + ",";
  return domains().find(key, [] { return Domain{}; });
}
const RegisteredString* register_ascii(const Domain*, const char* text) {
  const std::string key(message_text(text));
  return strings().find(key, [&] { return RegisteredString{key, text == nullptr}; });
}
const RegisteredString* register_wide(const Domain*, const wchar_t*) {
  static const auto* const wide = new RegisteredString{"", true};
  return wide;
}

template <class Function>
void put_handler(nvtx_abi::FunctionTable table, unsigned count, unsigned slot, Function* function) {
  if (slot < count && table[slot] != nullptr) *table[slot] = reinterpret_cast<nvtx_abi::AnyFunction>(function);
}

void install_core(nvtx_abi::FunctionTable table, unsigned count) {
  put_handler(table, count, nvtx_abi::kRangeStartEx, start_attributes);
  put_handler(table, count, nvtx_abi::kRangeStartA, start_ascii);
  put_handler(table, count, nvtx_abi::kRangeStartW, start_wide);
  put_handler(table, count, nvtx_abi::kRangePushEx, push_attributes);
  put_handler(table, count, nvtx_abi::kRangePushA, push_ascii);
  put_handler(table, count, nvtx_abi::kRangePushW, push_wide);
  put_handler(table, count, nvtx_abi::kRangePop, pop_default);
}

void install_core2(nvtx_abi::FunctionTable table, unsigned count) {
  put_handler(table, count, nvtx_abi::kDomainRangeStartEx, domain_start);
  put_handler(table, count, nvtx_abi::kDomainRangePushEx, domain_push);
  put_handler(table, count, nvtx_abi::kDomainRangePop, domain_pop);
  put_handler(table, count, nvtx_abi::kDomainRegisterStringA, register_ascii);
  put_handler(table, count, nvtx_abi::kDomainRegisterStringW, register_wide);
  put_handler(table, count, nvtx_abi::kDomainCreateA, create_domain);
  put_handler(table, count, nvtx_abi::kDomainCreateW, create_wide_domain);
}

}  // namespace

bool install_nvtx_handlers(nvtx_abi::GetExportTable get_table) {
  if (get_table == nullptr) return false;
  const auto* const callbacks = static_cast<const nvtx_abi::Callbacks*>(get_table(nvtx_abi::kCallbacksTable));
  if (callbacks == nullptr || callbacks->module_functions == nullptr) return false;
  nvtx_abi::FunctionTable table = nullptr;
  unsigned count = 0;
  if (callbacks->module_functions(nvtx_abi::kModuleCore, &table, &count) == 0 || table == nullptr) return false;
  install_core(table, count);
  // Domains came with NVTX 2; a shared object without them still has its ranges.
  if (callbacks->module_functions(nvtx_abi::kModuleCore2, &table, &count) != 0 && table != nullptr) {
    install_core2(table, count);
  }
  return true;
}

}  // namespace debubble
