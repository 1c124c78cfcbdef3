// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/catalogue.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/fold/add_max.cpp"
#include "sextant/kernel/lanes-inl.hpp"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

struct Add {
    HWY_INLINE FloatVector operator()(FloatVector first, FloatVector second) const {
        return hn::Add(first, second);
    }
};

/// Saturating after each layer gives the same result as saturating once.
struct AddU8 {
    HWY_INLINE U8::Vector operator()(U8::Vector first, U8::Vector second) const {
        return hn::SaturatedAdd(first, second);
    }
};

Elements add_f32(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F32>(operands, first, last, Add());
}

Elements add_f16(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F16>(operands, first, last, Add());
}

Elements add_u8(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<U8>(operands, first, last, AddU8());
}

/// max() on vectors. Highway's max is not used, because its result for NaN and signed zeros depends
/// on the processor.
struct Max {
    HWY_INLINE FloatVector operator()(FloatVector first, FloatVector second) const {
        const auto larger = hn::IfThenElse(hn::Gt(first, second), first, second);
        const auto equal = hn::Eq(first, second);
        const auto number = hn::IfThenElse(equal, hn::And(first, second), larger);
        return hn::IfThenElse(hn::IsNaN(second), first, number);
    }
};

struct MaxU8 {
    HWY_INLINE U8::Vector operator()(U8::Vector first, U8::Vector second) const {
        return hn::Max(first, second);
    }
};

Elements max_f32(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F32>(operands, first, last, Max());
}

Elements max_f16(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F16>(operands, first, last, Max());
}

Elements max_u8(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<U8>(operands, first, last, MaxU8());
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace sextant::kernel {

SEXTANT_EXPORT(add_f32);
SEXTANT_EXPORT(add_f16);
SEXTANT_EXPORT(add_u8);
SEXTANT_EXPORT(max_f32);
SEXTANT_EXPORT(max_f16);
SEXTANT_EXPORT(max_u8);

std::span<const Operator> add_operators() {
    constexpr std::string_view summary = "add channel by channel";
    static const Operator operators[] = {
        {"add", summary, rgba_f32, true, true, folding<RgbaF32>(SEXTANT_BEST(add_f32), add),
         filling(RgbaF32{})},
        {"add", summary, rgba_f16, true, false, folding<RgbaF16>(SEXTANT_BEST(add_f16), add),
         filling(RgbaF16{})},
        {"add", summary, rgba_u8, true, true, folding<RgbaU8>(SEXTANT_BEST(add_u8), add),
         filling(RgbaU8{})},
    };
    return operators;
}

namespace {

RgbaF32 combine(const RgbaF32& first, const RgbaF32& second) {
    return max(first, second);
}

} // namespace

std::span<const Operator> max_operators() {
    constexpr std::string_view summary = "keep the maximum of each channel";
    static const Operator operators[] = {
        {"max", summary, rgba_f32, true, true, folding<RgbaF32>(SEXTANT_BEST(max_f32), combine),
         filling(RgbaF32{})},
        {"max", summary, rgba_f16, true, true, folding<RgbaF16>(SEXTANT_BEST(max_f16), combine),
         filling(RgbaF16{})},
        {"max", summary, rgba_u8, true, true, folding<RgbaU8>(SEXTANT_BEST(max_u8), combine),
         filling(RgbaU8{})},
    };
    return operators;
}

} // namespace sextant::kernel
#endif
