// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/fold/active_cells.hpp"
#include "sextant/kernel/fold/sparse_code.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::kernel {

/// Writes codes. Keeps what it needs for that from one to the next, so that nothing is allocated.
class SparseEncoder {
  public:
    /// Elements that lie one after another.
    struct Piece {
        const std::byte* data = nullptr;
        Elements count = 0;
    };

    /// `nothing`: as of ActiveCells; `most`: how many elements there may be in a code.
    SparseEncoder(std::span<const std::byte> nothing, Elements most);

    /// Writes the elements of some pieces, one after another, as a code if that is worth while,
    /// else as they are, in one pass. `to` has room for the elements as they are. Output    the
    /// bytes written; as many as the elements have where they are no code. Requires  at most `most`
    /// elements.
    Bytes encode(std::span<const Piece> pieces, std::byte* to);

    /// How many elements of the last code were written, cells that are drawn in only partly counted
    /// whole.
    Elements active() const { return active_; }

  private:
    bool looks_worth_it(std::span<const Piece> pieces, Elements elements) const;
    bool add(const Piece& piece);
    bool add_active(const std::byte* data, Elements count);
    bool write(const std::byte* data, Elements count, bool equal);
    bool continues(const std::byte* data, bool equal) const;
    bool is_equal(const std::byte* data, Elements count) const;
    Bytes finish(Elements elements);
    Bytes size() const { return active_cells_.element_size(); }

    const ActiveCells active_cells_;
    std::vector<CodeRun> runs_;
    std::byte* to_ = nullptr;
    Bytes written_ = 0, most_bytes_ = 0;
    Elements at_ = 0, active_ = 0;
};

} // namespace sextant::kernel
