// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/kernel/catalogue.hpp"
#include "sextant/kernel/nearest.hpp"
#include "sextant/kernel/over.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "tests/support/random.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::Random;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr Elements sizes[] = {0, 1, 3, 1023, 1024, 1025, 5000};
constexpr int most_layers = 9;

/// How each operator is tried: its pixels, and what it means for two of them, written plainly.
struct Over {
    using Pixel = RgbaF32;
    static constexpr const char* name = "over";
    static Pixel random(Random& random) {
        const float a = random.chance(20) ? random.number(0, 1) : random.number(0, 999) / 1000.0f;
        const auto colour = [&] { return a * (random.number(0, 1000) / 1000.0f); };
        return {colour(), colour(), colour(), a};
    }
    static Pixel combine(const Pixel& x, const Pixel& y) {
        Pixel sum;
        sum.r = x.r + (1.0f - x.a) * y.r;
        sum.g = x.g + (1.0f - x.a) * y.g;
        sum.b = x.b + (1.0f - x.a) * y.b;
        sum.a = x.a + (1.0f - x.a) * y.a;
        return sum;
    }
};

struct Nearest {
    using Pixel = RgbaDepthF32;
    static constexpr const char* name = "nearest";
    static Pixel random(Random& random) {
        static const std::vector<float> depths = {1,     2,         3,        -1,          -0.0f,
                                                  +0.0f, -infinity, infinity, not_a_number};
        const auto colour = [&] { return random.number(0, 1000) / 1000.0f; };
        return {colour(), colour(), colour(), 1, random.pick(depths)};
    }
    static Pixel combine(const Pixel& x, const Pixel& y) {
        if (std::isnan(y.depth))
            return x;
        if (std::isnan(x.depth))
            return y;
        return y.depth < x.depth ? y : x;
    }
};

/// Layers of pixels, with one more pixel behind each that no fold may touch.
template <class Kind>
class Layers {
  public:
    using Pixel = typename Kind::Pixel;

    Layers(int count, Elements elements, unsigned seed) : elements_(elements) {
        Random random(seed);
        for (int k = 0; k < count; ++k) {
            layers_.emplace_back();
            for (Elements i = 0; i <= elements; ++i)
                layers_.back().push_back(Kind::random(random));
        }
    }

    std::vector<Pixel>& operator[](int k) { return layers_[static_cast<std::size_t>(k)]; }
    Elements elements() const { return elements_; }

    std::vector<Pixel> folded_plainly() const {
        std::vector<Pixel> sum(layers_[0].begin(), layers_[0].end() - 1);
        for (std::size_t k = 1; k < layers_.size(); ++k) {
            for (std::size_t i = 0; i < sum.size(); ++i)
                sum[i] = Kind::combine(sum[i], layers_[k][i]);
        }
        return sum;
    }

    std::vector<const std::byte*> sources() const {
        std::vector<const std::byte*> bytes;
        for (const auto& layer : layers_) {
            bytes.push_back(reinterpret_cast<const std::byte*>(layer.data()));
        }
        return bytes;
    }

  private:
    Elements elements_;
    std::vector<std::vector<Pixel>> layers_;
};

template <class Pixel>
std::byte* bytes_of(std::vector<Pixel>& pixels) {
    return reinterpret_cast<std::byte*>(pixels.data());
}

/// Equal to the bit, so that a NaN equals itself and −0 is not 0.
template <class Pixel>
bool same_bits(const std::vector<Pixel>& a, const std::vector<Pixel>& b, Elements elements) {
    return elements == 0 ||
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(elements) * sizeof(Pixel)) == 0;
}

template <class Kind>
class Fold : public testing::Test {
  public:
    const Operator& op = kernel::find(Kind::name);
};

using Kinds = testing::Types<Over, Nearest>;
TYPED_TEST_SUITE(Fold, Kinds);

TYPED_TEST(Fold, equals_the_plain_fold_for_any_number_of_layers_and_size) {
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

TYPED_TEST(Fold, may_write_onto_any_of_its_sources_and_leaves_the_others_alone) {
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

TYPED_TEST(Fold, in_leading_runs_one_after_another_gives_the_same_bits) {
    Random random(13);
    for (int k = 2; k <= most_layers; ++k) {
        for (Elements size : sizes) {
            Layers<TypeParam> layers(k, size, 14);
            const auto expected = layers.folded_plainly();
            const auto sources = layers.sources();
            for (int trial = 0; trial < 4; ++trial) {
                auto sum = layers[0];
                for (std::size_t done = 1; done < sources.size();) {
                    const auto more = 1 + random.index(sources.size() - done);
                    std::vector<const std::byte*> run = {bytes_of(sum)};
                    run.insert(run.end(), sources.begin() + static_cast<std::ptrdiff_t>(done),
                               sources.begin() + static_cast<std::ptrdiff_t>(done + more));
                    this->op.fold(run, bytes_of(sum), size);
                    done += more;
                }
                ASSERT_TRUE(same_bits(sum, expected, size)) << k << " layers of " << size;
            }
        }
    }
}

TYPED_TEST(Fold, takes_the_same_layer_more_than_once) {
    Layers<TypeParam> layers(1, 1025, 15);
    const std::vector<const std::byte*> thrice(3, layers.sources()[0]);
    auto to = layers[0];
    this->op.fold(thrice, bytes_of(to), 1025);
    for (std::size_t i = 0; i < 1025; ++i) {
        const auto& pixel = layers[0][i];
        const auto expected = TypeParam::combine(TypeParam::combine(pixel, pixel), pixel);
        ASSERT_EQ(std::memcmp(&to[i], &expected, sizeof(expected)), 0) << i;
    }
}

TYPED_TEST(Fold, with_the_identity_on_either_side_leaves_every_pixel_as_it_is) {
    const Elements size = 2000;
    Layers<TypeParam> layers(1, size, 16);
    auto identity = layers[0];
    this->op.fill_identity(bytes_of(identity), size);
    for (bool first : {true, false}) {
        auto to = layers[0];
        std::vector<const std::byte*> sources = {bytes_of(identity), bytes_of(layers[0])};
        if (!first)
            std::swap(sources[0], sources[1]);
        this->op.fold(sources, bytes_of(to), size);
        for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
            const auto& pixel = layers[0][i];
            if constexpr (requires { pixel.depth; }) {
                if (std::isnan(pixel.depth) || pixel.depth == infinity)
                    continue; // as far as nothing: the earlier wins; NaN loses, whatever it meets
                ASSERT_EQ(to[i].depth, pixel.depth) << "identity first: " << first;
            }
            ASSERT_EQ(to[i], pixel) << "identity first: " << first;
        }
    }
}

TYPED_TEST(Fold, of_identities_is_the_identity) {
    std::vector<typename TypeParam::Pixel> identity(3), sum(3);
    this->op.fill_identity(bytes_of(identity), 3);
    const std::vector<const std::byte*> twice(2, bytes_of(identity));
    this->op.fold(twice, bytes_of(sum), 3);
    EXPECT_TRUE(same_bits(sum, identity, 3));
}

TYPED_TEST(Fold, moves_pixels_of_the_declared_size) {
    EXPECT_EQ(this->op.element.size, static_cast<Bytes>(sizeof(typename TypeParam::Pixel)));
    EXPECT_FALSE(this->op.commutative);
}

/// Samples told apart by their colour.
std::vector<RgbaDepthF32> samples() {
    std::vector<RgbaDepthF32> all;
    for (float depth : {1.0f, 1.0f, 2.0f, -0.0f, 0.0f, -infinity, infinity, infinity, not_a_number,
                        -not_a_number}) {
        all.push_back({static_cast<float>(all.size()), 0, 0, 1, depth});
    }
    return all;
}

TEST(NearestSample, of_two_is_the_nearer_the_earlier_of_equals_and_never_nan_if_avoidable) {
    EXPECT_EQ(kernel::nearest({1, 0, 0, 1, 5}, {2, 0, 0, 1, 4}).r, 2);
    EXPECT_EQ(kernel::nearest({1, 0, 0, 1, 4}, {2, 0, 0, 1, 5}).r, 1);
    EXPECT_EQ(kernel::nearest({1, 0, 0, 1, 4}, {2, 0, 0, 1, 4}).r, 1);
    EXPECT_EQ(kernel::nearest({1, 0, 0, 1, +0.0f}, {2, 0, 0, 1, -0.0f}).r, 1);
    EXPECT_EQ(kernel::nearest({1, 0, 0, 1, not_a_number}, {2, 0, 0, 1, infinity}).r, 2);
    EXPECT_EQ(kernel::nearest({1, 0, 0, 1, infinity}, {2, 0, 0, 1, not_a_number}).r, 1);
    EXPECT_EQ(kernel::nearest({1, 0, 0, 1, not_a_number}, {2, 0, 0, 1, not_a_number}).r, 1);
}

TEST(NearestSample, is_associative_with_ties_infinities_and_nan) {
    for (const auto& a : samples()) {
        for (const auto& b : samples()) {
            for (const auto& c : samples()) {
                const auto left = kernel::nearest(kernel::nearest(a, b), c);
                const auto right = kernel::nearest(a, kernel::nearest(b, c));
                ASSERT_EQ(left.r, right.r) << a.depth << ", " << b.depth << ", " << c.depth;
            }
        }
    }
}

TEST(Over, an_opaque_front_hides_and_a_transparent_front_shows_what_is_behind) {
    const RgbaF32 red{1, 0, 0, 1}, half{0, 0.25f, 0, 0.5f}, clear{};
    EXPECT_EQ(kernel::over(red, half), red);
    EXPECT_EQ(kernel::over(clear, half), half);
    EXPECT_EQ(kernel::over(half, red), (RgbaF32{0.5f, 0.25f, 0, 1}));
}

TEST(Over, reversing_opaque_layers_gives_exactly_the_other_colour) {
    for (int k = 2; k <= most_layers; ++k) {
        std::vector<RgbaF32> layers;
        for (int i = 0; i < k; ++i)
            layers.push_back({static_cast<float>(i) / 16, 0, 0, 1});
        std::vector<const std::byte*> sources;
        for (auto& layer : layers)
            sources.push_back(reinterpret_cast<const std::byte*>(&layer));
        RgbaF32 sum;
        kernel::over_rgba_f32(sources, reinterpret_cast<std::byte*>(&sum), 1);
        EXPECT_EQ(sum, layers.front());
        std::reverse(sources.begin(), sources.end());
        kernel::over_rgba_f32(sources, reinterpret_cast<std::byte*>(&sum), 1);
        EXPECT_EQ(sum, layers.back());
    }
}

TEST(KernelCatalogue, rows_are_complete_and_found_by_name) {
    std::set<std::string_view> seen;
    for (const Operator& op : kernel::catalogue()) {
        EXPECT_TRUE(seen.insert(op.name).second) << op.name << " twice";
        EXPECT_EQ(&kernel::find(op.name), &op);
        EXPECT_FALSE(op.summary.empty());
        EXPECT_GT(op.element.size, 0);
        EXPECT_TRUE(op.fold && op.fill_identity);
    }
}

TEST(KernelCatalogue, an_unknown_operator_is_an_invalid_task_with_near_names) {
    try {
        kernel::find("nearst");
        FAIL() << "found";
    } catch (const InvalidTask& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("did you mean nearest?"));
    }
}

} // namespace
} // namespace sextant
