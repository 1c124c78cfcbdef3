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

/// Returns the value of an empty element. Throws std::logic_error if the operator does not define
/// it, or if its elements cannot be compressed.
std::vector<std::byte> nothing_of(const Operator& op);

/// Buffers for the elements omitted by compression: one of empty elements and, for each
/// operand, one with copies of a repeated element.
class Patches {
  public:
    Patches() = default;
    Patches(const Operator& op, std::size_t operands);

    /// The number of elements in each buffer.
    Elements elements() const { return elements_; }
    const std::byte* nothing() const { return memory_.data(); }

    /// Returns `count` copies of an element, valid until the next call for the same operand.
    const std::byte* repeated(std::size_t operand, const std::byte* element, Elements count);

  private:
    static constexpr Bytes most_bytes = Bytes{16} << 10; // fits in the L1 cache

    Bytes size_ = 0;
    Elements elements_ = 0;
    Memory memory_;
};

/// One pass of a fold: combines a list of sources slice by slice, reading each in place, plain or
/// compressed.
class FoldPass {
  public:
    /// Prepares for up to `most_operands` sources. `progress` is called between slices. Keeps
    /// references to its arguments.
    FoldPass(const Program& program, const Operator& op, const BufferAddresses& places,
             const ExecuteOptions& options, std::size_t most_operands,
             std::function<void()> progress);

    /// Starts a new list of sources, to be added in order.
    void clear() { items_.clear(); }
    /// Adds the operand `region`, an index into Program::regions.
    void add_operand(std::uint32_t region);
    /// Adds contiguous data with the shape of `region`; if null, the data of `region` itself.
    void add(const std::byte* in_one_piece, const Region& region) {
        items_.push_back({.data = in_one_piece, .region = &region});
    }

    /// Combines all sources: into `in_one_piece` if it is not null, else into `to`. Throws what the
    /// operator throws.
    void run(const Region& to, std::byte* in_one_piece);

  private:
    /// A source: if `code` is set, compressed data from element `first` on; else if `data` is not
    /// null, contiguous data with the shape of `region`; else the data of `region` itself.
    struct Item {
        const std::byte* data = nullptr;
        const Region* region = nullptr;
        std::optional<kernel::SparseCursor> code = {};
        Elements first = 0;
    };

    kernel::Stretch stretch(Item& item, Elements element) const;
    Elements find_stretches(Elements element, Elements count);
    void gather(Elements count);

    const Program& program_;
    const Operator& operator_;
    const BufferAddresses& places_;
    const Bytes slice_; // bytes of the destination per slice, and between two calls of `progress`
    const std::function<void()> progress_;
    Patches patches_; // empty unless operands may be compressed
    std::vector<Item> items_;
    std::vector<kernel::Stretch> stretches_; // form of each item in the current slice
    std::vector<const std::byte*> sources_;  // operands of the current slice
};

/// The folds of a program: combines operands that have arrived while others are in transit, and
/// completes each fold.
class Folding {
  public:
    /// A contiguous alternative destination of a fold; null if the fold writes to its own
    /// destination.
    struct ReceiveBuffer {
        std::byte* at = nullptr;
        /// True if the address may still arrive. The fold waits for the address only until all
        /// operands have arrived.
        bool awaited = false;
    };

    /// If `options.sparse` is set, operands may be compressed. `progress` is called every few
    /// microseconds within long folds, so that messages make progress. `room` returns the
    /// alternative destination of a fold; it is called before the fold first writes.
    Folding(const Program& program, const Operator& op, const BufferAddresses& places,
            const ExecuteOptions& options, std::function<void()> progress,
            std::function<ReceiveBuffer(int fold)> room);

    void reset();

    /// Combines adjacent operands of some unfinished fold, if possible. Returns the step of that
    /// fold, or Walk::none.
    int combine_some(const Walk& walk);

    /// Completes a fold whose operands have all arrived.
    void complete(int step);

  private:
    /// Operands [first, last) combined into one.
    struct Run {
        std::uint32_t first, last;
        const std::byte* data; ///< null if stored in the fold's destination
    };
    struct Fold {
        int step = 0;
        std::vector<Run> runs; ///< runs of two or more operands, in order
        bool finished = false;
        bool settled = false;           ///< the destination is fixed
        std::byte* elsewhere = nullptr; ///< alternative destination, or null
    };
    /// The sources of a pass: adjacent runs and single operands.
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
    const BufferAddresses& places_;
    const Association association_;
    const std::function<ReceiveBuffer(int)> room_;
    std::vector<Fold> folds_;  // in step order
    std::vector<int> fold_of_; // indexed by step; -1 if the step is not a fold
    std::size_t first_unfinished_ = 0;
    struct Accumulator {
        Memory memory;
        bool taken = false;
    };
    std::vector<Accumulator> accumulators_;
    FoldPass pass_;
};

} // namespace sextant
