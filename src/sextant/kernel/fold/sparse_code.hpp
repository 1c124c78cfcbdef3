// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sextant::kernel {

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

} // namespace sextant::kernel
