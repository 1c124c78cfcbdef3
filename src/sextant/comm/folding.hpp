// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/buffers.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/schedule/walk.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sextant {

/// An element as where nothing was drawn. Throws std::logic_error for operators that do not say, or
/// whose elements no code is made of.
std::vector<std::byte> nothing_of(const Operator& op);

/// What a fold reads in place of elements that a code leaves out: a few of nothing, and, for each
/// operand, a few of one that stands for many.
class Patches {
  public:
    Patches() = default;
    Patches(const Operator& op, std::size_t operands);

    /// How many elements there are of each.
    Elements elements() const { return elements_; }
    const std::byte* nothing() const { return memory_.data(); }

    /// So many of one element, for an operand, until it asks again.
    const std::byte* repeated(std::size_t operand, const std::byte* element, Elements count);

  private:
    static constexpr Bytes most_bytes = Bytes{16} << 10; // stays in the nearest cache

    Bytes size_ = 0;
    Elements elements_ = 0;
    Memory memory_;
};

/// One pass of a fold over what it combines at a time: listed first, then read where each lies, as
/// it is or in a code, slice by slice.
class FoldPass {
  public:
    /// Of up to `most_operands`. `progress` is called between slices. Keep what it is given alive.
    FoldPass(const Program& program, const Operator& op, const Places& places,
             const ExecuteOptions& options, std::size_t most_operands,
             std::function<void()> progress);

    /// What is to be combined, in order, in place of what was listed before.
    void clear() { items_.clear(); }
    /// An index into Program::regions.
    void add_operand(std::uint32_t region);
    /// What lies in one piece; null: where `region` lies.
    void add(const std::byte* in_one_piece, const Region& region) {
        items_.push_back({.data = in_one_piece, .region = &region});
    }

    /// Combines all that was listed: in one piece where told, else in `to`. Throws what the
    /// operator throws.
    void run(const Region& to, std::byte* in_one_piece);

  private:
    /// In a code from `first` on; else contiguous from `data`, of the kind that `region` has; else
    /// where `region` lies.
    struct Item {
        const std::byte* data = nullptr;
        const Region* region = nullptr;
        std::optional<kernel::SparseCursor> code = {};
        Elements first = 0;
    };

    kernel::Stretch stretch(Item& item, Elements element) const;
    Elements look(Elements element, Elements count);
    void gather(Elements count);

    const Program& program_;
    const Operator& operator_;
    const Places& places_;
    const Bytes slice_; // between two calls of `progress`
    const std::function<void()> progress_;
    Patches patches_; // where operands may be codes
    std::vector<Item> items_;
    std::vector<kernel::Stretch> stretches_; // of the slice at hand, by item
    std::vector<const std::byte*> sources_;  // of the slice at hand
};

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
