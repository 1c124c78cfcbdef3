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

/// The measured interior components of one part of a volume (those that touch no other part), by
/// ascending label. The label ranges of lists in the same sequence do not overlap.
struct InteriorBodies {
    /// The sequences of kernel::measure(), and one for components that reach a border of their part
    /// but touch no other part.
    static constexpr int sequences = kernel::body_sequences + 1;

    Elements part = 0; ///< index among this rank's parts
    int sequence = 0;
    kernel::Label first = 0; ///< the first label
    std::vector<std::byte> packed = {};

    /// For Packer and Unpacker.
    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.part, self.sequence, self.first, self.packed);
    }
};

/// The results of one rank for its slabs. They are kept in a file, from which an interrupted run
/// continues, or in memory if there is no file.
class Checkpoint {
  public:
    Checkpoint() = default;
    /// Creates or continues a file. Throws InvalidTask, naming the first difference, if it belongs
    /// to a run with other lines in `identity` ("name: value\n" each).
    Checkpoint(const std::string& path, const std::string& identity);

    bool has_file() const { return journal_.has_value(); }
    /// The next slab's record from an earlier run; empty if there is none.
    std::optional<std::vector<std::byte>> next_slab();
    /// Adds bodies of the next slab; add_slab() then adds the slab's record.
    void add(InteriorBodies bodies);
    void add_slab(std::span<const std::byte> record);

    /// Sorts the lists of bodies by sequence, part and label. Call after the last slab. Returns the
    /// index of each sequence's first list, followed by the number of lists.
    std::array<std::size_t, InteriorBodies::sequences + 1> sort_lists();
    /// List i in sorted order.
    InteriorBodies list(std::size_t i) const;

  private:
    struct List {
        InteriorBodies bodies; // if there is a file, `packed` is empty
        RecordPlace place;     // in the file
    };

    void visit(const RecordPlace& place, std::span<const std::byte> record);

    std::optional<Journal> journal_;
    std::vector<RecordPlace> slabs_; // left by an earlier run
    std::size_t next_ = 0;
    std::vector<List> lists_;
    std::size_t of_slab_ = 0; // number of lists at the end of lists_, which belong to the next slab
};

} // namespace sextant::label
