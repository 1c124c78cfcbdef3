// SPDX-License-Identifier: BSD-3-Clause
// Kernels give the same bits with each instruction set that this machine supports.
#include "sextant/core/memory.hpp"
#include "sextant/kernel/pixel_fold.hpp"

#include "tests/kernel/kinds.hpp"
#include "tests/kernel/processors.hpp"

namespace sextant::test {
namespace {

template <class Kind>
class OnEveryInstructionSet : public testing::Test {
  public:
    const Operator& op = operator_of<Kind>();
};

TYPED_TEST_SUITE(OnEveryInstructionSet, Kinds);

TEST(InstructionSets, are_several_unless_the_build_targets_one) {
    const auto targets = hwy::SupportedAndGeneratedTargets();
#if HWY_ARCH_X86_64
    EXPECT_GE(targets.size(), 2U);
#endif
    EXPECT_EQ(kernel::instruction_sets().front(), hwy::TargetName(targets.front()));
    for (const std::int64_t target : targets) {
        const AsOn guard(target);
        EXPECT_EQ(hwy::SupportedTargets() & target, target) << hwy::TargetName(target);
    }
}

TYPED_TEST(OnEveryInstructionSet, small_folds_have_the_same_bits_as_the_reference_at_any_offset) {
    for (int k = 1; k <= 9; ++k) {
        for (Elements size = 0; size <= 70; ++size) {
            Layers<TypeParam> layers(k, size, static_cast<unsigned>(100 * k + size));
            const auto expected = layers.folded_plainly();
            on_every_processor([&](const char* processor) {
                for (const Elements offset : {0, 1}) {
                    if (offset > size)
                        continue;
                    auto to = layers[k - 1];
                    const auto untouched = to;
                    const auto first = static_cast<std::size_t>(offset);
                    this->op.fold(layers.sources(first), bytes_of(to, first), size - offset);
                    ASSERT_TRUE(
                        same_bits(to.data() + first, expected.data() + first, size - offset))
                        << k << " layers of " << size << " from " << offset << ", " << processor;
                    ASSERT_TRUE(same_bits(to, untouched, offset));
                    ASSERT_TRUE(same_bits(&to.back(), &untouched.back(), 1));
                }
            });
        }
    }
}

TYPED_TEST(OnEveryInstructionSet, folds_into_any_source_have_the_same_bits_as_the_reference) {
    for (int k = 1; k <= 9; ++k) {
        for (const Elements size : {17, 64, 307}) {
            const Layers<TypeParam> layers(k, size, static_cast<unsigned>(k + size));
            const auto expected = layers.folded_plainly();
            on_every_processor([&](const char* processor) {
                for (int onto = 0; onto < k; ++onto) {
                    Layers<TypeParam> copy = layers;
                    this->op.fold(copy.sources(), bytes_of(copy[onto]), size);
                    ASSERT_TRUE(same_bits(copy[onto], expected, size))
                        << k << " layers of " << size << " onto " << onto << ", " << processor;
                }
            });
        }
    }
}

TYPED_TEST(OnEveryInstructionSet,
           folds_larger_than_the_caches_have_the_same_bits_as_the_reference) {
    constexpr Elements whole = Elements{1} << 40;
    for (const Elements size : {1, 15, 64, 333, 4099}) {
        Layers<TypeParam> layers(3, size, static_cast<unsigned>(size));
        const auto expected = layers.folded_plainly();
        for (const Elements offset : {0, 1}) {
            const auto first = static_cast<std::size_t>(offset);
            on_every_processor([&](const char* processor) {
                auto to = layers[2];
                const auto untouched = to;
                this->op.fold(layers.sources(first), bytes_of(to, first), size - offset, whole);
                ASSERT_TRUE(same_bits(to.data() + first, expected.data() + first, size - offset))
                    << size << " from " << offset << ", " << processor;
                ASSERT_TRUE(same_bits(to, untouched, offset));
                ASSERT_TRUE(same_bits(&to.back(), &untouched.back(), 1));
            });
        }
    }
}

} // namespace
} // namespace sextant::test
