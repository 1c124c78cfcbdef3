// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

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
