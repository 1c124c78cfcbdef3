// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/region.hpp"

#include <algorithm>
#include <utility>

namespace sextant {

Region block(int buffer, Elements offset, Elements length) {
    return {buffer, offset, length, length, 1};
}

Region part(const Region& whole, int i, int parts) {
    const Elements first = whole.elements() * i / parts;
    const Elements last = whole.elements() * (i + 1) / parts;
    return block(whole.buffer, whole.offset + first, last - first);
}

namespace {

/// ⌊a / b⌋ for b > 0.
Elements floor_divide(Elements a, Elements b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// overlap() for regions of equal stride, such as rectangles of one image. Whether runs i and j
/// overlap then depends only on j − i.
bool overlap_in_step(const Region& a, const Region& b) {
    const Elements ahead = a.offset - b.offset; // runs i and j overlap if low <= j − i <= high
    const Elements low = floor_divide(ahead - b.length, a.stride) + 1;
    const Elements high = floor_divide(ahead + a.length - 1, a.stride);
    return std::max(low, 1 - a.count) <= std::min(high, b.count - 1);
}

} // namespace

bool overlap(const Region& a, const Region& b) {
    if (a.buffer != b.buffer || a.empty() || b.empty())
        return false;
    if (a.end() <= b.offset || b.end() <= a.offset)
        return false;
    const Region few = a.contiguous() ? block(a.buffer, a.offset, a.elements()) : a;
    const Region many = b.contiguous() ? block(b.buffer, b.offset, b.elements()) : b;
    if (few.count > many.count)
        return overlap(many, few);
    if (few.count > 1 && few.stride == many.stride)
        return overlap_in_step(few, many);
    for (Elements i = 0; i < few.count; ++i) {
        const Elements first = few.offset + i * few.stride, last = first + few.length;
        if (many.count == 1) {
            if (many.offset < last && many.end() > first)
                return true;
            continue;
        }
        // Runs `low` to `high` of `many` end after `first` and start before `last`.
        const Elements low =
            std::max<Elements>(0, floor_divide(first - many.offset - many.length, many.stride) + 1);
        const Elements high =
            std::min(many.count - 1, floor_divide(last - many.offset - 1, many.stride));
        if (low <= high)
            return true;
    }
    return false;
}

bool covers(const Region& outer, const Region& inner) {
    return outer.buffer == inner.buffer && outer.contiguous() && inner.offset >= outer.offset &&
           inner.end() <= outer.end();
}

} // namespace sextant
