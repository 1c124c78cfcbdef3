// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/comm/patches.hpp"
#include "sextant/comm/places.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/schedule/walk.hpp"

#include <functional>
#include <optional>
#include <span>
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

    /// An operand of the pass at hand: in a code from `first` on; else contiguous from `data`, of
    /// the kind that `region` has; else where `region` lies.
    struct Item {
        const std::byte* data = nullptr;
        const Region* region = nullptr;
        std::optional<kernel::SparseCursor> code = {};
        Elements first = 0;
    };
    Item operand(std::uint32_t region) const;
    kernel::Stretch stretch(Item& item, Elements element) const;

    const Run* run_from(const Fold& fold, std::uint32_t operand) const;
    Group find_group(const Fold& fold, const Walk& walk) const;
    bool destination_free(const Fold& fold, Group group) const;
    void combine(Fold& fold, Group group, bool into_destination);
    void list_items(const Fold& fold, Group group);
    void settle(Fold& fold);
    void pass(const Step& step, std::byte* in_one_piece);
    Elements look(Elements element, Elements count);
    void gather(Elements count);
    void make_accumulators();
    static std::byte* accumulator_of(const Fold& fold, Group group);
    std::byte* take_accumulator();
    bool may_combine_aside(const Fold& fold, Group group) const;
    void release(const std::byte* accumulator);

    const Program& program_;
    const Operator& operator_;
    const Places& places_;
    const Association association_;
    const Bytes slice_; // of a pass, between two calls of `progress`
    const std::function<void()> progress_;
    const std::function<Room(int)> room_;
    std::vector<Fold> folds_;  // in step order
    std::vector<int> fold_of_; // by step; -1 where the step is no fold
    std::size_t first_unfinished_ = 0;
    struct Accumulator {
        Memory memory;
        bool taken = false;
    };
    std::vector<Accumulator> accumulators_;
    Patches patches_;                        // where operands may be codes
    std::vector<Item> items_;                // of the pass at hand
    std::vector<kernel::Stretch> stretches_; // of the slice at hand, by item
    std::vector<const std::byte*> sources_;  // of the slice at hand
};

} // namespace sextant
