// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include "tests/kernel/kinds.hpp"

namespace sextant::test {
namespace {

constexpr Elements sizes[] = {0, 1, 3, 65, 1024, 1025};
constexpr int most_layers = 9;

template <class Kind>
class Fold : public testing::Test {
  public:
    const Operator& op = operator_of<Kind>();
};

TYPED_TEST_SUITE(Fold, Kinds);

TYPED_TEST(Fold, equals_the_reference_fold_for_any_number_of_layers_and_pixels) {
    for (int k = 1; k <= most_layers; ++k) {
        for (Elements size : sizes) {
            Layers<TypeParam> layers(k, size, 11);
            auto to = layers[0];
            const auto guard = to.back();
            this->op.fold(layers.sources(), bytes_of(to), size);
            ASSERT_TRUE(same_bits(to, layers.folded_plainly(), size)) << k << " layers of " << size;
            ASSERT_EQ(std::memcmp(&to.back(), &guard, sizeof(guard)), 0) << "wrote past the end";
        }
    }
}

TYPED_TEST(Fold, may_write_to_any_of_its_sources_and_leaves_the_others_unchanged) {
    for (int k = 1; k <= most_layers; ++k) {
        for (Elements size : sizes) {
            for (int onto = 0; onto < k; ++onto) {
                Layers<TypeParam> layers(k, size, 12), untouched(k, size, 12);
                const auto expected = layers.folded_plainly();
                this->op.fold(layers.sources(), bytes_of(layers[onto]), size);
                ASSERT_TRUE(same_bits(layers[onto], expected, size))
                    << k << " layers of " << size << " onto " << onto;
                for (int other = 0; other < k; ++other) {
                    if (other == onto)
                        continue;
                    ASSERT_TRUE(same_bits(layers[other], untouched[other], size + 1));
                }
            }
        }
    }
}

/// Folds a random number of the first layers, then the result with some of the next layers, and so
/// on.
template <class Kind>
std::vector<typename Kind::Pixel> folded_in_runs(const Operator& op, Layers<Kind>& layers,
                                                 Random& random) {
    const auto sources = layers.sources();
    auto sum = layers[0];
    for (std::size_t done = 1; done < sources.size();) {
        const auto more = 1 + random.index(sources.size() - done);
        std::vector<const std::byte*> run = {bytes_of(sum)};
        run.insert(run.end(), sources.begin() + static_cast<std::ptrdiff_t>(done),
                   sources.begin() + static_cast<std::ptrdiff_t>(done + more));
        op.fold(run, bytes_of(sum), layers.elements());
        done += more;
    }
    return sum;
}

TYPED_TEST(Fold, split_into_runs_has_the_same_bits_only_for_operators_that_declare_it) {
    Random random(13);
    int different = 0;
    for (int k = 2; k <= most_layers; ++k) {
        for (Elements size : sizes) {
            Layers<TypeParam> layers(k, size, 14);
            const auto expected = layers.folded_plainly();
            for (int trial = 0; trial < 4; ++trial)
                different += !same_bits(folded_in_runs(this->op, layers, random), expected, size);
        }
    }
    EXPECT_EQ(different == 0, this->op.exact_when_split) << different << " differ";
}

TYPED_TEST(Fold, in_reverse_order_has_the_same_bits_only_if_the_operator_is_commutative) {
    Layers<TypeParam> layers(2, 5000, 17);
    auto sources = layers.sources();
    auto forward = layers[0], backward = layers[0];
    this->op.fold(sources, bytes_of(forward), 5000);
    std::swap(sources[0], sources[1]);
    this->op.fold(sources, bytes_of(backward), 5000);
    EXPECT_EQ(same_bits(forward, backward, 5000), this->op.commutative);
}

TYPED_TEST(Fold, accepts_the_same_layer_more_than_once) {
    Layers<TypeParam> once(1, 1025, 15), thrice(3, 1025, 15);
    thrice[1] = thrice[2] = thrice[0];
    const std::vector<const std::byte*> sources(3, once.sources()[0]);
    auto to = once[0];
    this->op.fold(sources, bytes_of(to), 1025);
    EXPECT_TRUE(same_bits(to, thrice.folded_plainly(), 1025));
}

/// True if the pixel may be replaced by an empty one: it is infinitely far and transparent, or its
/// depth is NaN.
template <class Pixel>
bool nothing_itself(const Pixel& pixel) {
    if constexpr (requires { pixel.depth; })
        return std::isnan(pixel.depth) || (pixel.depth == infinity && pixel.a == 0);
    else
        return false;
}

TYPED_TEST(Fold, with_the_identity_on_either_side_leaves_every_pixel_unchanged) {
    const Elements size = 2000;
    Layers<TypeParam> layers(1, size, 16, false);
    auto identity = layers[0];
    this->op.fill_identity(bytes_of(identity), size);
    for (bool first : {true, false}) {
        auto to = layers[0];
        std::vector<const std::byte*> sources = {bytes_of(identity), bytes_of(layers[0])};
        if (!first)
            std::swap(sources[0], sources[1]);
        this->op.fold(sources, bytes_of(to), size);
        for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
            if (!nothing_itself(layers[0][i])) {
                ASSERT_EQ(to[i], layers[0][i]) << "identity first: " << first;
            }
        }
    }
}

TYPED_TEST(Fold, of_only_identities_is_the_identity) {
    std::vector<typename TypeParam::Pixel> identity(3), sum(3);
    this->op.fill_identity(bytes_of(identity), 3);
    const std::vector<const std::byte*> twice(2, bytes_of(identity));
    this->op.fold(twice, bytes_of(sum), 3);
    EXPECT_TRUE(same_bits(sum, identity, 3));
}

TYPED_TEST(Fold, processes_pixels_of_the_declared_size) {
    EXPECT_EQ(this->op.element.size, static_cast<Bytes>(sizeof(typename TypeParam::Pixel)));
}

} // namespace
} // namespace sextant::test
