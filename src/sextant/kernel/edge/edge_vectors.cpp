// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/edge_vectors.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/edge/edge_vectors.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// Stores a vector of integers as bytes.
template <class D, class Vector>
HWY_INLINE void store_bytes(D, Vector integers, std::uint8_t* to) {
    const hn::Rebind<std::uint8_t, D> bytes;
    hn::StoreU(hn::DemoteTo(bytes, integers), bytes, to);
}

template <class D>
HWY_INLINE void measure(D d, const GradientRow& row, Elements i) {
    const auto x = hn::LoadU(d, row.x + i), y = hn::LoadU(d, row.y + i);
    const auto across = hn::Abs(x), down = hn::Abs(y), most = hn::Add(across, down);
    if (hn::AllFalse(d, hn::Ge(most, hn::Set(d, row.low)))) {
        hn::StoreU(most, d, row.lengths + i);
        return;
    }
    hn::StoreU(length(d, x, y), d, row.lengths + i);
    const auto tangent = hn::Set(d, tangent_of_near), zero = hn::Zero(d);
    const hn::RebindToSigned<D> integers;
    const auto bit = [&](auto mask, std::uint8_t value) HWY_ATTR {
        return hn::IfThenElseZero(hn::RebindMask(integers, mask),
                                  hn::Set(integers, std::int32_t{value}));
    };
    const auto near =
        hn::Or(hn::Le(down, hn::Mul(tangent, across)), hn::Le(across, hn::Mul(tangent, down)));
    const auto signs = hn::Or(bit(hn::Lt(x, zero), heading_left), bit(hn::Lt(y, zero), heading_up));
    const auto axes = hn::Or(bit(hn::Le(down, across), heading_flat), bit(near, heading_near));
    store_bytes(d, hn::Or(signs, axes), row.headings + i);
}

/// Classifies a vector of pixels. The heading selects the two neighbours along the gradient: those
/// on an axis if the gradient is near it, otherwise two corners.
template <class D>
HWY_INLINE void classify(D d, const EdgeRow& row, Elements i) {
    const hn::RebindToSigned<D> integers;
    const hn::Rebind<std::uint8_t, D> bytes;
    const auto length = hn::LoadU(d, row.here + i);
    const auto long_enough = hn::Ge(length, hn::Set(d, row.low));
    if (hn::AllFalse(d, long_enough)) {
        hn::StoreU(hn::Zero(bytes), bytes, row.codes + i);
        return;
    }
    const auto heading = hn::PromoteTo(integers, hn::LoadU(bytes, row.headings + i));
    const auto has = [&](auto bits, std::uint8_t value) HWY_ATTR {
        return hn::RebindMask(d, hn::TestBit(bits, hn::Set(integers, std::int32_t{value})));
    };
    const auto flat = has(heading, heading_flat), near = has(heading, heading_near);
    const auto rising = has(hn::Xor(heading, hn::ShiftRight<1>(heading)), heading_left);
    const auto choose = [&](const float* side, const float* vertical, const float* down,
                            const float* up) HWY_ATTR {
        const auto corner = hn::IfThenElse(rising, hn::LoadU(d, up + i), hn::LoadU(d, down + i));
        const auto on_axis =
            hn::IfThenElse(flat, hn::LoadU(d, side + i), hn::LoadU(d, vertical + i));
        return hn::IfThenElse(near, on_axis, corner);
    };
    const auto before = choose(row.here - 1, row.above, row.above - 1, row.above + 1);
    const auto behind = choose(row.here + 1, row.below, row.below + 1, row.below - 1);
    const auto peak = hn::And(hn::Gt(length, before), hn::Ge(length, behind));
    const auto edge = hn::And(peak, long_enough);
    const auto strong = hn::RebindMask(integers, hn::Ge(length, hn::Set(d, row.high)));
    const auto kind = hn::IfThenElse(strong, hn::Set(integers, std::int32_t{strong_edge}),
                                     hn::Set(integers, std::int32_t{weak_edge}));
    const auto code = hn::IfThenElseZero(hn::RebindMask(integers, edge), hn::Or(heading, kind));
    store_bytes(d, code, row.codes + i);
}

void measure_row(const GradientRow& row) {
    each_vector(row.width, [&row](auto d, Elements i) HWY_ATTR { measure(d, row, i); });
}

void classify_row(const EdgeRow& row) {
    each_vector(row.width, [&row](auto d, Elements i) HWY_ATTR { classify(d, row, i); });
}

using Codes = hn::CappedTag<std::uint8_t, 64>;
using CodeVector = hn::Vec<Codes>;
constexpr Elements code_lanes = hn::MaxLanes(Codes());

using Words = hn::ScalableTag<std::uint64_t>;
using WordVector = hn::Vec<Words>;

/// Calls `body` with the start and the number of codes of each vector.
template <class Body>
HWY_INLINE void each_code_vector(Elements count, Body body) {
    for (Elements i = 0; i < count; i += code_lanes)
        body(i, count - i < code_lanes ? count - i : code_lanes);
}

HWY_INLINE CodeVector load_codes(const std::uint8_t* from, Elements count) {
    if (count == code_lanes)
        return hn::LoadU(Codes(), from);
    HWY_ALIGN std::uint8_t last[code_lanes] = {};
    std::memcpy(last, from, static_cast<std::size_t>(count));
    return hn::Load(Codes(), last);
}

HWY_INLINE void store_codes(CodeVector codes, std::uint8_t* to, Elements count) {
    if (count == code_lanes) {
        hn::StoreU(codes, Codes(), to);
        return;
    }
    HWY_ALIGN std::uint8_t last[code_lanes];
    hn::Store(codes, Codes(), last);
    std::memcpy(to, last, static_cast<std::size_t>(count));
}

void bits_strong(const std::uint8_t* codes, Elements count, std::uint64_t* bits) {
    each_code_vector(count, [=](Elements i, Elements lanes) HWY_ATTR {
        const auto strong =
            hn::TestBit(load_codes(codes + i, lanes), hn::Set(Codes(), strong_edge));
        std::uint64_t some = 0;
        hn::StoreMaskBits(Codes(), strong, reinterpret_cast<std::uint8_t*>(&some));
        bits[i / 64] = i % 64 == 0 ? some : bits[i / 64] | some << (i % 64);
    });
}

void keep_edges(const std::uint64_t* bits, Elements count, std::uint8_t* codes) {
    const Codes d;
    each_code_vector(count, [=](Elements i, Elements lanes) HWY_ATTR {
        const std::uint64_t some = bits[i / 64] >> (i % 64);
        std::uint8_t kept[8];
        std::memcpy(kept, &some, sizeof kept);
        constexpr std::uint8_t headings = 0xff & ~edge_class_bits;
        const auto heading = hn::And(load_codes(codes + i, lanes), hn::Set(d, headings));
        store_codes(
            hn::IfThenElseZero(hn::LoadMaskBits(d, kept), hn::Or(heading, hn::Set(d, weak_edge))),
            codes + i, lanes);
    });
}

/// The pixels of a row as bits, with each pixel's left and right neighbours shifted to its bit.
struct Beside {
    WordVector left, here, right;
    explicit HWY_INLINE Beside(const std::uint64_t* words) {
        const Words d;
        here = hn::LoadU(d, words);
        left = hn::Or(hn::ShiftLeft<1>(here), hn::ShiftRight<63>(hn::LoadU(d, words - 1)));
        right = hn::Or(hn::ShiftRight<1>(here), hn::ShiftLeft<63>(hn::LoadU(d, words + 1)));
    }
};

/// Sets the bits of pixels that can be removed: their neighbours that are edges form one connected
/// piece of at least two pixels. The neighbours at two adjacent sides are connected whether or not
/// the corner between them is an edge.
HWY_INLINE WordVector removable(const Beside& above, const Beside& here, const Beside& below) {
    const WordVector around[] = {here.right, below.right, below.here, below.left,
                                 here.left,  above.left,  above.here, above.right};
    auto some = around[0], several = hn::Zero(Words());
    for (int k = 1; k < 8; ++k) {
        several = hn::Or(several, hn::And(some, around[k]));
        some = hn::Or(some, around[k]);
    }
    const auto begins = [&](int side) HWY_ATTR {
        return hn::AndNot(around[side], hn::Or(around[side + 1], around[(side + 2) % 8]));
    };
    const auto a = begins(0), b = begins(2), c = begins(4), e = begins(6);
    const auto odd = hn::Xor(hn::Xor(a, b), hn::Xor(c, e));
    const auto pairs = hn::Or(hn::And(a, b), hn::And(c, e));
    return hn::And(several, hn::AndNot(pairs, odd));
}

bool thin_row(const ThinRow& row) {
    const Words d;
    auto any = hn::Zero(d);
    for (Elements i = 0; i < row.words; i += static_cast<Elements>(hn::Lanes(d))) {
        const Beside above(row.above + i), here(row.here + i), below(row.below + i);
        const auto may_go = hn::And(here.here, hn::LoadU(d, row.mask + i));
        const auto removed = hn::And(may_go, removable(above, here, below));
        hn::StoreU(removed, d, row.removed + i);
        hn::StoreU(hn::AndNot(removed, here.here), d, row.here + i);
        any = hn::Or(any, removed);
    }
    return !hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}

#if HWY_TARGET == HWY_SCALAR

void direct_edges(const DirectRow& row) {
    const auto row_at = [&row](int y) { return y < 0 ? row.above : y > 0 ? row.below : row.here; };
    for (Elements x = 0; x < row.width; ++x) {
        row.directions[x] = row.here[x] == 0 ? no_edge : edge_end;
        for (int i = 3; i >= 0 && row.here[x] != 0; --i) {
            const std::uint8_t code = edge_followers.ahead[i][row.here[x] >> 4];
            if (row_at(steps[code].y)[x + steps[code].x] != 0)
                row.directions[x] = static_cast<Direction>(code);
        }
    }
}

#else

/// The neighbours of each pixel that are edges, one bit per direction.
HWY_INLINE CodeVector neighbours_of(const DirectRow& row, Elements x) {
    const Codes d;
    const std::uint8_t* const rows[] = {row.above + x, row.here + x, row.below + x};
    auto found = hn::Zero(d);
    for (int code = 0; code < 8; ++code) {
        const auto there = hn::LoadU(d, rows[steps[code].y + 1] + steps[code].x);
        const auto bit = hn::Set(d, static_cast<std::uint8_t>(1 << code));
        found = hn::Or(found, hn::IfThenZeroElse(hn::Eq(there, hn::Zero(d)), bit));
    }
    return found;
}

void direct_edges(const DirectRow& row) {
    const Codes d;
    const hn::Repartition<std::uint16_t, Codes> pairs;
    alignas(16) constexpr std::uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128};
    const auto bit_of = hn::LoadDup128(d, bits);
    for (Elements x = 0; x < row.width; x += code_lanes) {
        const auto here = hn::LoadU(d, row.here + x), neighbours = neighbours_of(row, x);
        const auto heading =
            hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(pairs, here))), hn::Set(d, 15));
        auto found = hn::Set(d, static_cast<std::uint8_t>(edge_end));
        for (int i = 3; i >= 0; --i) {
            const auto code =
                hn::TableLookupBytes(hn::LoadDup128(d, edge_followers.ahead[i]), heading);
            const auto there = hn::TestBit(neighbours, hn::TableLookupBytes(bit_of, code));
            found = hn::IfThenElse(there, code, found);
        }
        const auto none = hn::Eq(here, hn::Zero(d));
        found = hn::IfThenElse(none, hn::Set(d, static_cast<std::uint8_t>(no_edge)), found);
        const Elements left = row.width - x;
        store_codes(found, reinterpret_cast<std::uint8_t*>(row.directions + x),
                    left < code_lanes ? left : code_lanes);
    }
}

#endif

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(measure_row);
HWY_EXPORT(classify_row);
HWY_EXPORT(bits_strong);
HWY_EXPORT(keep_edges);
HWY_EXPORT(thin_row);
HWY_EXPORT(direct_edges);

void measure_gradients(const GradientRow& row) {
    HWY_DYNAMIC_DISPATCH(measure_row)(row);
}

void classify_edges(const EdgeRow& row) {
    HWY_DYNAMIC_DISPATCH(classify_row)(row);
}

void bits_strong(const std::uint8_t* codes, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(bits_strong)(codes, count, bits);
}

void keep_edges(const std::uint64_t* bits, Elements count, std::uint8_t* codes) {
    HWY_DYNAMIC_DISPATCH(keep_edges)(bits, count, codes);
}

bool thin_row(const ThinRow& row) {
    return HWY_DYNAMIC_DISPATCH(thin_row)(row);
}

void direct_edges(const DirectRow& row) {
    HWY_DYNAMIC_DISPATCH(direct_edges)(row);
}

} // namespace sextant::kernel
#endif
