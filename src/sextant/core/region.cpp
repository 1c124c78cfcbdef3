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
    for (Elements i = 0; i < few.count; ++i) {
        const Elements first = few.offset + i * few.stride, last = first + few.length;
        if (many.count == 1) {
            if (many.offset < last && many.end() > first)
                return true;
            continue;
        }
        // The runs of `many` that reach past `first` and start before `last`.
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
