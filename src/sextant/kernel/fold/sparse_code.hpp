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

/// The number of adjacent elements that are tested for activity together. Smaller cells would
/// hardly find more empty elements in images of objects, and would lead to more runs.
inline constexpr Elements cell_elements = 16;

/// Distinguishes active cells from empty ones, whose elements all have the bytes of an empty
/// element.
class ActiveCells {
  public:
    /// Input     an empty element (Operator::fill_identity).
    /// Requires  elements of a multiple of 4 bytes.
    explicit ActiveCells(std::span<const std::byte> nothing);

    Bytes element_size() const { return static_cast<Bytes>(cell_.size()) / cell_elements; }
    /// The empty elements that a cell is compared with.
    std::span<const std::byte> nothing() const { return cell_; }

    static constexpr Elements most = 64 * cell_elements;
    /// Returns a word with bit i set if cell i is active. The last cell may be partial. Requires
    /// elements <= most.
    std::uint64_t operator()(const std::byte* from, Elements elements) const;

  private:
    std::vector<std::byte> cell_;
};

/// The fraction of cells that are active, estimated from a few thousand evenly spaced cells. 1 if
/// there is no image, or for operators without an identity.
/// Cost      independent of the size of the images.
double sampled_density(std::span<const std::byte> images, const Operator& op);

/// The fraction of active cells in each of `bands` equal ranges of an image's pixels, in order,
/// estimated over all images together. The images are stored one after another. 1 for bands without
/// samples.
/// Input     `pixels`: the number of pixels of one image.
std::vector<double> sampled_bands(std::span<const std::byte> images, Elements pixels,
                                  const Operator& op, int bands);

// A sparse code stores elements in fewer bytes if many are empty. Empty elements are omitted, and
// adjacent elements with equal bits are stored once:
//
//   CodeHeader    identifies the code
//   elements      for each run in turn: all its elements, or one if they are equal
//   CodeRun ...   the position of each run
//
// in native byte order. Elements are stored unchanged if a code would not save enough bytes. A code
// is therefore always shorter than its elements, and the number of bytes distinguishes the two.

struct CodeHeader {
    std::uint32_t mark = 0; ///< always CodeHeader::sparse
    std::uint32_t runs = 0;
    std::uint64_t elements = 0; ///< number of elements that the code represents

    static constexpr std::uint32_t sparse = 0x53505853;
};

struct CodeRun {
    std::uint32_t first = 0;
    std::uint32_t count : 31 = 0;
    std::uint32_t equal : 1 = 0; ///< 1 if one element represents all
};

inline constexpr Bytes code_header_size = sizeof(CodeHeader), code_run_size = sizeof(CodeRun);
static_assert(code_header_size == 16 && code_run_size == 8);

/// Thrown for bytes that are not a valid code.
class InvalidCode : public Error {
  public:
    using Error::Error;
};

/// A read-only view of a code. The constructor validates the code, regardless of its origin. The
/// bytes must outlive this object.
class SparseCode {
  public:
    SparseCode() = default;
    /// Throws InvalidCode unless the bytes are a code of this many elements of this size.
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

/// A range of elements that starts at a given one. The elements are all empty, all equal, or stored
/// one by one.
struct Stretch {
    const std::byte* data = nullptr; ///< null: empty elements
    Elements count = 0;              ///< at least one
    bool equal = false;              ///< true if `data` is one element that represents all
};

/// Traverses a code from a given element on.
class SparseCursor {
  public:
    SparseCursor() = default;
    SparseCursor(const SparseCode& code, Elements first);

    /// The range that begins at an element. Elements must not decrease from call to call.
    Stretch at(Elements element);

  private:
    void next();

    const SparseCode* code_ = nullptr;
    std::size_t index_ = 0; // index of the current or next run
    CodeRun run_;           // the run at `index_`; at the end of the code, the last run
    const std::byte* data_ = nullptr;
};

/// Decodes elements [first, first + count) of a code. `nothing`: at least one empty element, as for
/// the encoder.
void expand(const SparseCode& code, Elements first, Elements count,
            std::span<const std::byte> nothing, std::byte* to);

/// Writes an element `count` times.
void repeat(std::span<const std::byte> element, Elements count, std::byte* to);

/// Writes codes. Reuses its memory from one code to the next.
class SparseEncoder {
  public:
    /// A contiguous range of elements.
    struct Piece {
        const std::byte* data = nullptr;
        Elements count = 0;
    };

    /// `nothing`: as for ActiveCells; `most`: the largest number of elements in a code.
    SparseEncoder(std::span<const std::byte> nothing, Elements most);

    /// Encodes the elements of some pieces, one after another, in one pass. Copies them unchanged
    /// if a code would not save enough bytes. `to` must have room for the unchanged elements.
    /// Returns the number of bytes written, which is the size of the elements if they are not
    /// encoded. Requires at most `most` elements.
    Bytes encode(std::span<const Piece> pieces, std::byte* to);

    /// The number of active elements in the last code; partly active cells count in full.
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
