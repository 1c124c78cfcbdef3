// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/region.hpp"
#include "sextant/schedule/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace sextant {

/// A step's access to a buffer.
struct Access {
    std::uint32_t step;
    bool write;
    Region region;
};

/// The number of accesses to a buffer and the sum of their extents.
struct Accesses {
    std::size_t number = 0;
    double span = 0;

    void count(const Region& region) {
        ++number;
        span += static_cast<double>(region.end() - region.offset);
    }
    /// Chooses the number of index cells so that a cell holds few accesses, and an access (such as
    /// a column of tiles) spans few cells.
    std::size_t cells(Elements size) const {
        const double each_in_one = static_cast<double>(number) * static_cast<double>(size) / span;
        return number == 0 ? 1 : std::min(number / 2, static_cast<std::size_t>(each_in_one));
    }
};

/// The accesses to one buffer that later steps may depend on, indexed by position: the buffer is
/// cut into equal cells, and an access is listed in every cell that it touches.
class AccessIndex {
  public:
    AccessIndex(Elements size, const Accesses& accesses)
        : cells_(std::clamp<std::size_t>(accesses.cells(size), 1, 1024), none),
          cell_size_(std::max<Elements>(1, (size + static_cast<Elements>(cells_.size()) - 1) /
                                               static_cast<Elements>(cells_.size()))) {
        entries_.reserve(accesses.number);
    }

    /// Calls `found` with the step of each conflicting access; a step may be reported twice.
    template <class Found>
    void conflicts(const Region& region, bool write, Found&& found) const {
        for (std::size_t c = cell(region.offset); c <= cell(region.end() - 1); ++c) {
            for (std::uint32_t i = cells_[c]; i != none; i = entries_[i].next) {
                const Access& access = entries_[i].access;
                if ((write || access.write) && overlap(access.region, region))
                    found(access.step);
            }
        }
    }

    void forget_covered(const Region& write) {
        for (std::size_t c = cell(write.offset); c <= cell(write.end() - 1); ++c) {
            for (std::uint32_t* i = &cells_[c]; *i != none;) {
                if (covers(write, entries_[*i].access.region))
                    *i = entries_[*i].next;
                else
                    i = &entries_[*i].next;
            }
        }
    }

    void add(const Access& access) {
        const Region& region = access.region;
        for (std::size_t c = cell(region.offset); c <= cell(region.end() - 1); ++c) {
            entries_.push_back({access, cells_[c]});
            cells_[c] = static_cast<std::uint32_t>(entries_.size() - 1);
        }
    }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct Entry {
        Access access;
        std::uint32_t next; ///< index into `entries_`
    };

    std::size_t cell(Elements element) const {
        return static_cast<std::size_t>(element / cell_size_);
    }

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> cells_; ///< the first entry of each cell
    Elements cell_size_;
};

/// The dependences between the steps of a program: read after write, write after read and write
/// after write, by exact overlap of regions. The executor and the prover share this implementation.
///
/// An access that a later contiguous write covers is dropped, because later steps depend on that
/// write. This avoids a quadratic number of edges when slots are reused.
///
/// Requires  non-empty regions inside their buffers, whose runs ascend and do not overlap; inputs
///           that are never written; operands of the destination's size, each equal to the
///           destination or disjoint from it; outputs of a kernel that are disjoint from each other
///           and from its inputs (std::logic_error naming the step).
/// Cost      about (steps + regions) times the number of accesses near a region.
class Dependences {
  public:
    /// Throws std::logic_error if there are more than `most` edges.
    explicit Dependences(const Program& program,
                         std::size_t most = std::numeric_limits<std::size_t>::max());

    /// A waiting step, and the part of the step that waits: one of the regions it reads, or the
    /// write to its destination (`commit`).
    struct Edge {
        std::uint32_t step;
        std::int32_t region; ///< index into Program::regions, or `commit`
    };
    static constexpr std::int32_t commit = -1;

    /// The edges from a step to later ones.
    std::span<const Edge> after(int step) const {
        const auto i = static_cast<std::size_t>(step);
        return {edges_.data() + first_[i], first_[i + 1] - first_[i]};
    }
    /// The numbers of incoming edges of each step, of each step's commit, and of each region that
    /// is read.
    std::span<const std::uint32_t> needs() const { return {needs_.data(), steps()}; }
    std::span<const std::uint32_t> commit_needs() const {
        return {needs_.data() + steps(), steps()};
    }
    std::span<const std::uint32_t> region_needs() const {
        return std::span(needs_).subspan(2 * steps());
    }
    /// These three lists, one after another.
    const std::vector<std::uint32_t>& all_needs() const { return needs_; }
    /// Moves them out, for a single run (Walk); the lists must not be used afterwards.
    std::vector<std::uint32_t> take_needs() { return std::move(needs_); }
    /// True if a message of this rank waits for the step, directly or indirectly, so that another
    /// rank may be waiting for it.
    bool before_message(int step) const {
        return before_message_[static_cast<std::size_t>(step)] != 0;
    }
    std::size_t edges() const { return edges_.size(); }
    /// The steps that wrote the final content of the result, in step order.
    const std::vector<std::uint32_t>& result_writers() const { return result_writers_; }

  private:
    std::size_t steps() const { return before_message_.size(); }
    void look_for_messages(const Program& program);

    std::vector<Edge> edges_;
    std::vector<std::uint8_t> before_message_;
    std::vector<std::uint32_t> result_writers_;
    std::vector<std::uint32_t> first_, needs_;
};

} // namespace sextant
