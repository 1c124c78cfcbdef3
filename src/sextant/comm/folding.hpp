// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/comm/fold_pass.hpp"
#include "sextant/comm/places.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/schedule/walk.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace sextant {

/// The folds of a program: combines what is there while the rest is on its way, and finishes.
class Folding {
  public:
    /// Where else than in its destination a fold is to be made, in one piece; null: there.
    struct Room {
        std::byte* at = nullptr;
        bool awaited = false; ///< it may still turn out, until all operands are there
    };

    /// `options.sparse`: operands may be lent as codes. `progress` is called every few microseconds
    /// within long folds, to keep messages moving. `room` is asked before a fold is first written
    /// in its destination.
    Folding(const Program& program, const Operator& op, const Places& places,
            const ExecuteOptions& options, std::function<void()> progress,
            std::function<Room(int fold)> room);

    void reset();

    /// Combines neighbouring operands of some unfinished fold, if that is possible; the fold it
    /// worked on, or Walk::none.
    int combine_some(const Walk& walk);

    /// Combines all that is left of a fold whose operands are all there.
    void complete(int step);

  private:
    /// Operands [first, last) combined into one.
    struct Run {
        std::uint32_t first, last;
        const std::byte* data; ///< null: in the fold's destination
    };
    struct Fold {
        int step = 0;
        std::vector<Run> runs; ///< of two operands and more, in order
        bool finished = false;
        bool settled = false;           ///< where it is made
        std::byte* elsewhere = nullptr; ///< than in its destination
    };
    /// What a pass reads: runs and single operands, next to each other.
    struct Group {
        std::uint32_t first = 0, last = 0;
        std::size_t items = 0;
    };

    const Run* run_from(const Fold& fold, std::uint32_t operand) const;
    Group find_group(const Fold& fold, const Walk& walk) const;
    bool destination_free(const Fold& fold, Group group) const;
    void combine(Fold& fold, Group group, bool into_destination);
    void list(const Fold& fold, Group group);
    void settle(Fold& fold);
    void make_accumulators();
    static std::byte* accumulator_of(const Fold& fold, Group group);
    std::byte* take_accumulator();
    bool may_combine_aside(const Fold& fold, Group group) const;
    void release(const std::byte* accumulator);

    const Program& program_;
    const Operator& operator_;
    const Places& places_;
    const Association association_;
    const std::function<Room(int)> room_;
    std::vector<Fold> folds_;  // in step order
    std::vector<int> fold_of_; // by step; -1 where the step is no fold
    std::size_t first_unfinished_ = 0;
    struct Accumulator {
        Memory memory;
        bool taken = false;
    };
    std::vector<Accumulator> accumulators_;
    FoldPass pass_;
};

} // namespace sextant
