// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/region.hpp"
#include "sextant/schedule/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// How often a buffer is accessed, and from the first to the last element of each access.
struct Accesses {
    std::size_t number = 0;
    double span = 0;

    void count(const Region& region) {
        ++number;
        span += static_cast<double>(region.end() - region.offset);
    }
    /// So many that a cell holds few accesses, and an access, as of a column of tiles, lies in few
    /// cells.
    std::size_t cells(Elements size) const {
        const double each_in_one = static_cast<double>(number) * static_cast<double>(size) / span;
        return number == 0 ? 1 : std::min(number / 2, static_cast<std::size_t>(each_in_one));
    }
};

/// The live accesses to one buffer, found by where they lie: the buffer is cut into equal cells and
/// an access is listed in each cell that it touches.
class AccessIndex {
  public:
    AccessIndex(Elements size, std::size_t cells)
        : cells_(std::clamp<std::size_t>(cells, 1, 1024)),
          cell_size_(std::max<Elements>(1, (size + static_cast<Elements>(cells_.size()) - 1) /
                                               static_cast<Elements>(cells_.size()))) {}

    /// Calls `found` with the step of each access that overlaps `region`; a step may come twice.
    template <class Found>
    void conflicts(const Region& region, bool write, Found&& found) const {
        for (std::size_t c = cell(region.offset); c <= cell(region.end() - 1); ++c) {
            for (const Access& access : cells_[c]) {
                if ((write || access.write) && overlap(access.region, region))
                    found(access.step);
            }
        }
    }

    void forget_covered(const Region& write) {
        for (std::size_t c = cell(write.offset); c <= cell(write.end() - 1); ++c) {
            std::erase_if(cells_[c], [&](const Access& a) { return covers(write, a.region); });
        }
    }

    void add(const Access& access) {
        const Region& region = access.region;
        for (std::size_t c = cell(region.offset); c <= cell(region.end() - 1); ++c) {
            cells_[c].push_back(access);
        }
    }

  private:
    std::size_t cell(Elements element) const {
        return static_cast<std::size_t>(element / cell_size_);
    }

    std::vector<std::vector<Access>> cells_;
    Elements cell_size_;
};

/// Which steps of a program must finish before which others may start: read after write, write
/// after read, write after write, by exact overlap of regions. The one place that decides it;
/// executor and prover share it.
///
/// An access that a later contiguous write covers is dropped: later steps depend on that write.
/// This keeps reused slots from giving a quadratic number of edges.
///
/// Requires  regions that hold something and lie inside their buffers, their runs apart and in
///           order; inputs never written; operands as large as the destination, which equals them
///           or overlaps none; what kernels make apart from one another and from what they read
///           (std::logic_error naming the step).
/// Cost      about (steps + regions) times the accesses that share a region's neighbourhood.
class Dependences {
  public:
    explicit Dependences(const Program& program);

    /// A step that waits, and what of it: one of its regions that is read, or the writing of its
    /// destination (`commit`).
    struct Edge {
        std::uint32_t step;
        std::int32_t region; ///< index into Program::regions, or `commit`
    };
    static constexpr std::int32_t commit = -1;

    /// The edges out of a step.
    std::span<const Edge> after(int step) const {
        const auto i = static_cast<std::size_t>(step);
        return {edges_.data() + first_[i], first_[i + 1] - first_[i]};
    }
    /// How many edges lead to each step; to each region that is read; to each step's commit.
    const std::vector<std::uint32_t>& needs() const { return needs_; }
    const std::vector<std::uint32_t>& region_needs() const { return region_needs_; }
    const std::vector<std::uint32_t>& commit_needs() const { return commit_needs_; }
    /// Whether some message of the rank waits for a step, directly or through others: what another
    /// rank may be waiting for.
    bool before_message(int step) const {
        return before_message_[static_cast<std::size_t>(step)] != 0;
    }
    std::size_t edges() const { return edges_.size(); }
    /// The steps whose writes are what the result holds at the end.
    const std::vector<std::uint32_t>& result_writers() const { return result_writers_; }

  private:
    void look_for_messages(const Program& program);

    std::vector<Edge> edges_;
    std::vector<std::uint8_t> before_message_;
    std::vector<std::uint32_t> result_writers_;
    std::vector<std::uint32_t> first_, needs_, region_needs_, commit_needs_;
};

} // namespace sextant
