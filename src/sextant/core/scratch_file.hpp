// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant {

/// Identifies a process's scratch file for other processes on the same machine.
struct ScratchPlace {
    std::int64_t process = 0; ///< 0 if there is no file
    std::int64_t descriptor = 0;
    std::uint64_t device = 0, inode = 0; ///< identify the file
    Bytes bytes = 0;                     ///< size of its content
};

/// Temporary storage for data that does not fit in memory: an unnamed file in the same folder as
/// the output file `beside`. The system deletes it, however the process ends. Movable, not
/// copyable.
///
/// Requires  a writable folder. Every function throws InvalidFile, naming `beside` and the system's
///           reason, for example if the disk is full.
class ScratchFile {
  public:
    explicit ScratchFile(std::string beside);
    /// Opens the scratch file at `place`, possibly of another process, for reading; empty if it is
    /// not found.
    static std::optional<ScratchFile> open(std::string beside, const ScratchPlace& place);
    ScratchFile(ScratchFile&& other) noexcept;
    ScratchFile& operator=(ScratchFile&& other) noexcept;
    ~ScratchFile();

    void write(Bytes position, std::span<const std::byte> bytes);
    /// Requires  all these bytes to have been written.
    void read(Bytes position, std::span<std::byte> to) const;
    /// Removes the content and its pages.
    void clear();
    /// Identifies the file for readers of its first `bytes` bytes.
    ScratchPlace place(Bytes bytes) const;

  private:
    ScratchFile(std::string beside, int descriptor)
        : beside_(std::move(beside)), descriptor_(descriptor) {}
    [[noreturn]] void fail(int error) const;

    std::string beside_;
    int descriptor_ = -1;
};

// Sequences of values in a scratch file, buffered in memory.

template <class Value>
constexpr Bytes scratch_size = static_cast<Bytes>(sizeof(Value));

/// Appends values to a file. The last values can be removed again.
template <class Value>
class ScratchWriter {
  public:
    static_assert(std::is_trivially_copyable_v<Value>);

    explicit ScratchWriter(ScratchFile& file, std::size_t kept = 4096) : file_(file), kept_(kept) {
        values_.reserve(kept);
    }

    Elements count() const { return flushed_ + static_cast<Elements>(values_.size()); }
    void append(const Value& value) {
        if (values_.size() == kept_)
            flush();
        values_.push_back(value);
    }
    /// Removes all values after the first `count`.
    void shorten(Elements count) {
        values_.resize(static_cast<std::size_t>(std::max<Elements>(count - flushed_, 0)));
        flushed_ = std::min(flushed_, count);
    }
    /// Writes buffered values to the file. Call this last.
    void flush() {
        file_.write(flushed_ * scratch_size<Value>, std::as_bytes(std::span(values_)));
        flushed_ += static_cast<Elements>(values_.size());
        values_.clear();
    }

  private:
    ScratchFile& file_;
    std::size_t kept_;
    std::vector<Value> values_;
    Elements flushed_ = 0;
};

/// Reads the values [first, end) of a file.
template <class Value>
class ScratchReader {
  public:
    static_assert(std::is_trivially_copyable_v<Value>);

    ScratchReader(const ScratchFile& file, Elements first, Elements end, std::size_t kept = 4096)
        : file_(&file), next_(first), end_(end), kept_(kept) {}

    /// Reads the next value. Returns false after the last one.
    bool next(Value& value) {
        if (at_ == values_.size() && !fetch())
            return false;
        value = values_[at_++];
        return true;
    }

  private:
    bool fetch() {
        const Elements count = std::min(static_cast<Elements>(kept_), end_ - next_);
        values_.resize(static_cast<std::size_t>(count));
        at_ = 0;
        file_->read(next_ * scratch_size<Value>, std::as_writable_bytes(std::span(values_)));
        next_ += count;
        return count > 0;
    }

    const ScratchFile* file_;
    Elements next_, end_;
    std::size_t kept_;
    std::vector<Value> values_;
    std::size_t at_ = 0;
};

} // namespace sextant
