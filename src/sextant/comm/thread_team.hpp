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

/// Threads that share one short piece of work after another, too short to start threads for.
/// Whoever is free takes the next part, half of the members from the first on and half from the
/// last on: a thread that the system has put aside holds up no more than the part that it has, and
/// parts that lie beside one another mostly stay with one thread and its cache.
///
/// Deterministic  where parts are: which thread does one is not.
class Team {
  public:
    /// The thread that calls run() and as many others as are missing.
    /// Requires  size >= 1 (InvalidTask).
    explicit Team(int size);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(others_.size()) + 1; }

    /// Does body(part, member) for each part from 0 on, members numbered from 0 to before size(),
    /// and returns when all are done. Requires  one caller at a time, none from within a body.
    /// Throws    what the first body threw that did; the parts after it may not have been done.
    /// Cost      about a microsecond while the threads have no long time to fall asleep; allocates
    ///           nothing.
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

    static constexpr std::size_t line = 64; ///< what one thread writes alone, of a cache

    void share(int parts, Work body, const void* job);
    bool take(int& part, int member);
    void do_part(int part, int member);
    int do_parts(int member);
    bool finish(int parts);
    void work(int member);

    Work work_ = nullptr;
    const void* job_ = nullptr;
    std::exception_ptr failure_; ///< of the one who set failed_
    std::atomic<bool> failed_{false}, over_{false};
    std::vector<std::thread> others_;
    alignas(line) std::atomic<std::uint64_t> untaken_{0}; ///< the first part, and the one after the
                                                          ///< last, that nobody has taken yet
    alignas(line) std::atomic<int> undone_{0};            ///< parts that are not finished
    alignas(line) std::atomic<unsigned> round_{0};        ///< another for each piece of work
};

/// The same on the calling thread alone where there is no team.
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

/// The threads of one rank that share its folds: each combines a stretch of a pass's elements, the
/// caller's thread among them.
class FoldTeam {
  public:
    /// Requires  threads >= 1 (InvalidTask).
    explicit FoldTeam(int threads);

    int threads() const { return team_.size(); }

    /// Operator::fold of a pass, or of a slice of one, with the same bits: elements are combined
    /// each by itself. Throws what `fold` throws on any thread, once all are done.
    /// Requires  a `fold` that several threads may call at once. One caller at a time.
    /// Cost      nothing is allocated.
    void fold(const FoldFunction& fold, FoldFunction::Sources sources, std::byte* to, Bytes size,
              Elements elements, Elements of);

  private:
    Team team_;
    std::vector<std::vector<const std::byte*>> sources_; // by part
};

/// `op` with its folds shared by a team, which must outlive it.
Operator folded_by(FoldTeam& team, Operator op);

} // namespace sextant
