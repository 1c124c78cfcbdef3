// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sextant {

/// The threads of one rank that share its folds: each combines a stretch of a pass's elements, the
/// caller's thread among them. They sleep while there is nothing to fold.
class FoldTeam {
  public:
    /// Starts threads - 1 helpers.
    explicit FoldTeam(int threads);
    FoldTeam(const FoldTeam&) = delete;
    FoldTeam& operator=(const FoldTeam&) = delete;
    ~FoldTeam();

    int threads() const { return static_cast<int>(helpers_.size()) + 1; }

    /// Operator::fold of a pass, or of a slice of one, with the same bits: elements are combined
    /// each by itself. Throws what `fold` throws on any thread, once all are done.
    /// Requires  a `fold` that several threads may call at once. One caller at a time.
    /// Cost      nothing is allocated.
    void fold(const FoldFunction& fold, FoldFunction::Sources sources, std::byte* to, Bytes size,
              Elements elements, Elements of);

  private:
    /// The pass at hand.
    struct Pass {
        const FoldFunction* fold = nullptr;
        FoldFunction::Sources sources;
        std::byte* to = nullptr;
        Bytes size = 0;
        Elements elements = 0, of = 0;
    };

    void help(int member);
    void fold_part(int member, std::vector<const std::byte*>& sources);
    void do_part(int member) noexcept;

    Pass pass_;
    std::vector<std::vector<const std::byte*>> sources_; // by member
    std::atomic<std::uint32_t> passes_{0};               // begun
    std::atomic<int> working_{0};                        // helpers in the pass at hand
    std::atomic<bool> over_{false};
    std::mutex failed_;
    std::exception_ptr failure_;
    std::vector<std::thread> helpers_;
};

/// `op` with its folds shared by a team, which must outlive it.
Operator folded_by(FoldTeam& team, Operator op);

} // namespace sextant
