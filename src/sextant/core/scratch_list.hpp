// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/scratch_file.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

// Values one after another in a scratch file, of which a part is in memory.
namespace sextant {

template <class Value>
constexpr Bytes scratch_size = static_cast<Bytes>(sizeof(Value));

/// Appends to a file, or takes back what was appended.
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
    /// Takes back what came after the first `count`.
    void shorten(Elements count) {
        values_.resize(static_cast<std::size_t>(std::max<Elements>(count - flushed_, 0)));
        flushed_ = std::min(flushed_, count);
    }
    /// To be called last.
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

    /// Whether there was one more.
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
