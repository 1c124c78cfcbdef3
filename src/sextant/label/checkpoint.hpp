// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/journal.hpp"
#include "sextant/kernel/label/packed_bodies.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace sextant::label {

/// Measured components of a part of a volume that touch no other part, by ascending label. Lists
/// of a sequence do not overlap.
struct InteriorBodies {
    /// Those of components that end at a border of their part come after those of kernel::measure.
    static constexpr int sequences = kernel::body_sequences + 1;

    Elements part = 0; ///< of this rank
    int sequence = 0;
    kernel::Label first = 0; ///< the first label
    std::vector<std::byte> packed = {};

    /// For Packer and Unpacker.
    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.part, self.sequence, self.first, self.packed);
    }
};

/// The results of one rank for its slabs, in a file from which an interrupted run continues;
/// without a file, in memory.
class Checkpoint {
  public:
    Checkpoint() = default;
    /// Creates or continues a file. Throws InvalidTask, naming the first difference, if it belongs
    /// to a run with other lines in `identity` ("name: value\n" each).
    Checkpoint(const std::string& path, const std::string& identity);

    bool has_file() const { return journal_.has_value(); }
    /// The next slab's record that an earlier run has left; empty if there is none.
    std::optional<std::vector<std::byte>> next_slab();
    /// Adds bodies of the next slab, then its record.
    void add(InteriorBodies bodies);
    void add_slab(std::span<const std::byte> record);

    /// After the last slab: sorts lists of bodies by sequence, part and label. Returns where each
    /// sequence begins, and the number of all lists.
    std::array<std::size_t, InteriorBodies::sequences + 1> sort_lists();
    /// List i of these.
    InteriorBodies list(std::size_t i) const;

  private:
    struct List {
        InteriorBodies bodies; // with a file, without `packed`
        RecordPlace place;     // in the file
    };

    void visit(const RecordPlace& place, std::span<const std::byte> record);

    std::optional<Journal> journal_;
    std::vector<RecordPlace> slabs_; // left by an earlier run
    std::size_t next_ = 0;
    std::vector<List> lists_;
    std::size_t of_slab_ = 0; // the last lists, which belong to the next slab
};

} // namespace sextant::label
