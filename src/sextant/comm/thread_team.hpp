// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace sextant {

/// Threads that share jobs too short to start threads for. A job is divided into parts, and an idle
/// thread takes the next part; half of the members start from the first part and half from the
/// last. So a thread that is preempted delays only its current part, and neighbouring parts mostly
/// stay with one thread and its cache.
///
/// Deterministic if the parts are: only the assignment of parts to threads varies.
class Team {
  public:
    /// Creates size − 1 threads, in addition to the thread that calls run().
    /// Requires  size >= 1 (InvalidTask).
    /// Throws    CommunicationFailed if a thread cannot be started.
    explicit Team(int size);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(others_.size()) + 1; }

    /// Calls body(part, member) for each part below `parts`, with `member` below size(), and
    /// returns when all parts are done.
    /// Requires  one caller at a time; no call from within a body.
    /// Throws    the first exception of a body; later parts may not have been done.
    /// Cost      about a microsecond if the threads have not fallen asleep; allocates nothing.
    template <class Body>
    void run(int parts, const Body& body) {
        share(
            parts,
            [](const void* job, int part, int member) {
                (*static_cast<const Body*>(job))(part, member);
            },
            &body);
    }

  private:
    using Work = void (*)(const void* job, int part, int member);

    static constexpr std::size_t line = 64; ///< size of a cache line, to avoid false sharing

    void share(int parts, Work body, const void* job);
    bool take(int& part, int member);
    void do_part(int part, int member);
    int do_parts(int member);
    bool finish(int parts);
    void work(int member);
    void end();

    Work work_ = nullptr;
    const void* job_ = nullptr;
    std::exception_ptr failure_; ///< set by the thread that set failed_
    std::atomic<bool> failed_{false}, over_{false};
    std::vector<std::thread> others_;
    alignas(line) std::atomic<std::uint64_t> untaken_{0}; ///< range of parts not taken yet
    alignas(line) std::atomic<int> undone_{0};            ///< number of unfinished parts
    alignas(line) std::atomic<unsigned> round_{0};        ///< number of the current job
};

/// Runs a job by Team::run, or on the calling thread alone if there is no team.
template <class Body>
void run_parts(Team* team, int parts, const Body& body) {
    if (team && team->size() > 1 && parts > 1)
        return team->run(parts, body);
    for (int part = 0; part < parts; ++part)
        body(part, 0);
}

inline int members_of(const Team* team) {
    return team ? team->size() : 1;
}

/// The threads of one rank that share its folds, including the calling thread: each combines a
/// range of a pass's elements.
class FoldTeam {
  public:
    /// Requires  threads >= 1 (InvalidTask).
    explicit FoldTeam(int threads);

    int threads() const { return team_.size(); }

    /// Divides one call of Operator::fold among the threads. The result does not depend on their
    /// number, because elements are independent. Throws what `fold` throws on any thread, once all
    /// threads are done.
    /// Requires  a thread-safe `fold`. One caller at a time.
    /// Cost      nothing is allocated.
    void fold(const FoldFunction& fold, FoldFunction::Sources sources, std::byte* to, Bytes size,
              Elements elements, Elements of);

  private:
    Team team_;
    std::vector<std::vector<const std::byte*>> sources_; // the sources of each part
};

/// Returns `op` with its folds shared by a team, which must outlive it.
Operator folded_by(FoldTeam& team, Operator op);

} // namespace sextant
