// Independent work on all cores, by oneTBB, with the same result on any number of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace debubble {

// What --threads takes.
inline constexpr int kMostThreads = 1024;

// As many as there are cores, or `asked` where that is not 0; never more than `pieces`.
[[nodiscard]] int threads_for(std::size_t pieces, int asked);

// Calls `work(k)` once for each k below `count`, on that many threads, in any order; each call writes its own place. Of
// what they throw, the exception of the lowest k comes out, when all have ended. Throws UnavailableError E016 where so
// many threads cannot be started.
void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

// Calls `work` in an arena of oneTBB for that many threads, the calling one among them, whether there are so many cores
// or not. Nothing may be thrown out of the tasks that it starts. Throws UnavailableError E016, too.
void in_arena(int threads, const std::function<void()>& work);

// For tasks of oneTBB. As packaged it is not compiled with the thread sanitizer, which therefore does not see how tasks
// come from thread to thread. These tell it: what was done before `happens_before` is done when `happens_after` is
// called with the same word later on. A task calls the latter first of all. Without that sanitizer they do nothing.
enum class TaskOrder : std::uint8_t { kBegin, kCut, kEnd };
void happens_before(TaskOrder order);
void happens_after(TaskOrder order);

// "oneTBB 2021.8": what runs here, which may be newer than what debubble was built with.
[[nodiscard]] std::string parallel_library();

// A thread could not be started.
[[noreturn]] void fail_to_start(int threads);

}  // namespace debubble
