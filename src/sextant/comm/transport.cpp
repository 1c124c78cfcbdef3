// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/transport.hpp"

#include <algorithm>
#include <cstring>

namespace sextant {

namespace {

/// Iterates over the bytes of several blocks.
class Cursor {
  public:
    explicit Cursor(std::span<const Blocks> blocks) : blocks_(blocks) { skip_finished(); }

    bool done() const { return blocks_.empty(); }
    std::byte* here() const { return blocks_[0].at(at_); }
    Bytes run_left() const { return blocks_[0].run_left(at_); }
    void advance(Bytes bytes) {
        at_ += bytes;
        skip_finished();
    }

  private:
    void skip_finished() {
        while (!blocks_.empty() && at_ == blocks_[0].bytes()) {
            blocks_ = blocks_.subspan(1);
            at_ = 0;
        }
    }

    std::span<const Blocks> blocks_;
    Bytes at_ = 0; // offset within the first remaining block
};

} // namespace

void copy(std::span<const Blocks> to, std::span<const Blocks> from) {
    Cursor target(to), source(from);
    while (!target.done() && !source.done()) {
        const Bytes count = std::min(target.run_left(), source.run_left());
        std::memcpy(target.here(), source.here(), static_cast<std::size_t>(count));
        target.advance(count);
        source.advance(count);
    }
}

Blocks within(const Blocks& whole, Bytes first, const Blocks& shape) {
    if (whole.contiguous())
        return {whole.base + first, shape.length, shape.stride, shape.count};
    const bool alike = shape.count <= 1 || shape.stride % whole.length == 0;
    if (!alike || shape.length > whole.run_left(first))
        return {};
    return {whole.at(first), shape.length, shape.stride / whole.length * whole.stride, shape.count};
}

const std::byte* in_one_piece(std::span<const Blocks> blocks, Bytes first, Bytes count) {
    for (const Blocks& b : blocks) {
        if (first < b.bytes())
            return count <= b.run_left(first) ? b.at(first) : nullptr;
        first -= b.bytes();
    }
    return nullptr;
}

} // namespace sextant
