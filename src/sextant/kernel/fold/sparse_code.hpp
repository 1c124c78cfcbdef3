// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::kernel {

/// Whether something was drawn is asked of so many neighbouring elements at once: finer would find
/// hardly less to leave out of pictures of things, and need more to be said about what is left.
inline constexpr Elements cell_elements = 16;

/// Tells cells that hold something from those in which every byte is as where nothing was drawn.
class ActiveCells {
  public:
    /// Input     an element as where nothing was drawn (Operator::fill_identity).
    /// Requires  elements of a multiple of 4 bytes.
    explicit ActiveCells(std::span<const std::byte> nothing);

    Bytes element_size() const { return static_cast<Bytes>(cell_.size()) / cell_elements; }
    /// What a cell is compared with: so many elements of nothing.
    std::span<const std::byte> nothing() const { return cell_; }

    static constexpr Elements most = 64 * cell_elements;
    /// Bit i: whether cell i of `elements` <= `most` holds something; the last may be cut short.
    std::uint64_t operator()(const std::byte* from, Elements elements) const;

  private:
    std::vector<std::byte> cell_;
};

/// What part of an image something was drawn in, as codes see it (sparse_code.hpp): by the cells
/// of some thousands of places, evenly spread. 1 for no image, and for operators that do not say
/// what nothing is.
/// Cost      some thousands of cells, whatever the size.
double sampled_density(std::span<const std::byte> images, const Operator& op);

/// The same of each of so many equal bands of the picture, from its first pixels to its last: of
/// all images, which follow one another, together. 1 where a band is too small to be looked at.
/// Input     `pixels` of one image.
std::vector<double> sampled_bands(std::span<const std::byte> images, Elements pixels,
                                  const Operator& op, int bands);

// Elements of which many hold nothing, in fewer bytes. What was not drawn is left out, from the
// first to the last and in between; neighbours that are equal to the bit are written once:
//
//   CodeHeader    what this is
//   elements      of each run in turn: all of them, or of equal ones the first
//   CodeRun ...   which elements those are
//
// all in the machine's own order of bytes. A code has fewer bytes than its elements; elements of
// which that is not true, or that are hardly worth it, are written as they are. So the number of
// bytes tells the two apart, and is never more than the elements have.

struct CodeHeader {
    std::uint32_t mark = 0; ///< CodeHeader::sparse
    std::uint32_t runs = 0;
    std::uint64_t elements = 0; ///< that the code stands for

    static constexpr std::uint32_t sparse = 0x53505853;
};

struct CodeRun {
    std::uint32_t first = 0;
    std::uint32_t count : 31 = 0;
    std::uint32_t equal : 1 = 0; ///< whether one element stands for all
};

inline constexpr Bytes code_header_size = sizeof(CodeHeader), code_run_size = sizeof(CodeRun);
static_assert(code_header_size == 16 && code_run_size == 8);

/// Bytes that are no code of what they should be.
class InvalidCode : public Error {
  public:
    using Error::Error;
};

/// A code to read: checked once, whoever wrote it. Its bytes must stay where they are.
class SparseCode {
  public:
    SparseCode() = default;
    /// Throws InvalidCode unless the bytes are a code of so many elements of this size.
    SparseCode(std::span<const std::byte> bytes, Elements elements, Bytes element_size);

    Elements elements() const { return elements_; }
    Bytes element_size() const { return size_; }

  private:
    friend class SparseCursor;
    CodeRun run(std::size_t i) const;
    Bytes bytes_of(const CodeRun& run) const { return (run.equal ? 1 : run.count) * size_; }
    void check_runs(Bytes written) const;

    std::span<const std::byte> bytes_;
    Elements elements_ = 0;
    Bytes size_ = 0;
    std::size_t runs_ = 0;
};

/// What elements are, from one on.
struct Stretch {
    const std::byte* data = nullptr; ///< null: nothing was drawn
    Elements count = 0;              ///< at least one
    bool equal = false;              ///< `data` is one element that stands for all
};

/// Goes through a code from an element on.
class SparseCursor {
  public:
    SparseCursor() = default;
    SparseCursor(const SparseCode& code, Elements first);

    /// What there is from an element on, which lies at or behind the one asked for before.
    Stretch at(Elements element);

  private:
    void next();

    const SparseCode* code_ = nullptr;
    std::size_t index_ = 0; // of the run at hand, or the one to come
    CodeRun run_;           // it; of no elements, behind all, where there is none
    const std::byte* data_ = nullptr;
};

/// Writes elements [first, first + count) of a code as they were. `nothing`: as of the encoder, any
/// number of elements.
void expand(const SparseCode& code, Elements first, Elements count,
            std::span<const std::byte> nothing, std::byte* to);

/// Writes an element so many times.
void repeat(std::span<const std::byte> element, Elements count, std::byte* to);

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
