// SPDX-License-Identifier: BSD-3-Clause
// Gaussian derivatives and features of volumes.
#include "sextant/core/error.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/kernel/pictures.hpp"
#include "tests/kernel/processors.hpp"
#include "tests/support/filter_references.hpp"
#include "tests/support/message_of.hpp"
#include <Eigen/Eigenvalues>
#include <gmock/gmock.h>

namespace sextant::kernel {
namespace {

using test::border_rules;

/// A box of a volume in its own memory, with padding after rows and planes.
template <class Sample>
struct Volume {
    Volume(ImageShape plane, Elements planes, Tile part)
        : image(plane),
          depth(planes),
          box(part),
          stride(part.width + 3),
          next(stride * part.height + 5),
          samples(static_cast<std::size_t>(next * part.depth)) {}
    Volume(ImageShape plane, Elements planes)
        : Volume(plane, planes, {0, 0, plane.width, plane.height, 0, planes}) {}

    Sample& at(Elements x, Elements y, Elements z) {
        return samples[static_cast<std::size_t>((z - box.z) * next + (y - box.y) * stride + x -
                                                box.x)];
    }
    template <class Value>
    Volume& fill(Value value) {
        for (Elements z = box.z; z < box.z + box.depth; ++z) {
            for (Elements y = box.y; y < box.y + box.height; ++y) {
                for (Elements x = box.x; x < box.x + box.width; ++x)
                    at(x, y, z) = static_cast<Sample>(value(x, y, z));
            }
        }
        return *this;
    }
    SampleView view() const { return {samples.data(), stride, box, image, next, depth}; }
    /// A copy of exactly the samples of `part`.
    Volume cut(const Tile& part) {
        Volume made(image, depth, part);
        return made.fill([&](auto x, auto y, auto z) { return at(x, y, z); });
    }

    ImageShape image;
    Elements depth;
    Tile box;
    Elements stride, next;
    std::vector<Sample> samples;
};

template <class Sample = float>
Volume<Sample> random_volume(ImageShape plane, Elements planes, int largest = 200) {
    test::Random random(3);
    Volume<Sample> made(plane, planes);
    return made.fill([&](auto, auto, auto) { return random.number(0, largest); });
}

/// The features of a volume, one after the other.
using Features = std::vector<Volume<float>>;

std::vector<Plane> planes_of(Features& features, const Tile& box) {
    std::vector<Plane> planes;
    for (Volume<float>& feature : features) {
        for (Elements z = box.z; z < box.z + box.depth; ++z)
            planes.push_back({&feature.at(box.x, box.y, z), feature.stride});
    }
    return planes;
}

struct FilterSpec {
    Scales sigma = 1;
    std::vector<std::string> names = {};
    BorderRule rule = {};
    GaussianKernel kernel = {};

    FilterBank bank() const { return {sigma, names, rule, kernel, Dimensions::three}; }
};

template <class Sample>
Features filtered(const Volume<Sample>& volume, const FilterSpec& spec) {
    Features features(spec.names.size(), Volume<float>(volume.image, volume.depth));
    spec.bank().apply(volume.view(), volume.box, planes_of(features, volume.box));
    return features;
}

bool same_bits(const Features& a, const Features& b) {
    return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
        return one.samples.size() == other.samples.size() &&
               std::memcmp(one.samples.data(), other.samples.data(),
                           one.samples.size() * sizeof(float)) == 0;
    });
}

const std::vector<std::string> ten = {"smooth", "x", "y", "z", "xx", "xy", "xz", "yy", "yz", "zz"};

template <class Sample>
void expect_reference(const Volume<Sample>& volume, const FilterSpec& spec, double largest) {
    Features made = filtered(volume, spec);
    for (std::size_t k = 0; k < spec.names.size(); ++k) {
        const Derivative wanted = find_feature(spec.names[k], Dimensions::three).needs[0];
        double magnitudes = 1; // of the weights
        for (const auto& [sigma, order] : {std::pair{spec.sigma.x, wanted.x},
                                           {spec.sigma.y, wanted.y},
                                           {spec.sigma.z, wanted.z}}) {
            const auto weights = gaussian_weights(sigma, order, spec.kernel);
            magnitudes *= std::accumulate(weights.begin(), weights.end(), 0.,
                                          [](double sum, double w) { return sum + std::abs(w); });
        }
        for (Elements z = 0; z < volume.depth; ++z) {
            for (Elements y = 0; y < volume.image.height; ++y) {
                for (Elements x = 0; x < volume.image.width; ++x)
                    ASSERT_NEAR(static_cast<double>(made[k].at(x, y, z)),
                                volume_derivative(volume.view(), x, y, z, spec.sigma, wanted,
                                                  spec.rule, spec.kernel),
                                3e-6 * magnitudes * largest)
                        << spec.names[k] << " at " << x << ", " << y << ", " << z;
            }
        }
    }
}

TEST(VolumeFeatures, that_are_derivatives_match_the_definition_for_every_border) {
    for (const BorderRule rule : border_rules) {
        expect_reference(random_volume({9, 8}, 7), {Scales(1, .8, .6), ten, rule}, 200);
        expect_reference(random_volume<std::uint8_t>({3, 2}, 5), {Scales(.7), ten, rule}, 200);
        expect_reference(random_volume<std::uint16_t>({5, 1}, 2, 60000), {Scales(1), ten, rule},
                         60000);
    }
    expect_reference(random_volume({6, 5}, 9), {Scales(.5, .9, .7), {"zzz", "xyzz", "xxxxzzzz"}},
                     200);
    expect_reference(random_volume({6, 5}, 9), {1, ten, {Border::mirror, 0}, p3pc_kernel}, 200);
}

TEST(VolumeFeatures, have_the_unit_of_the_size_of_a_voxel) {
    const Volume<float> volume = random_volume({23, 17}, 9);
    const Scales sigma(1, .8, .6), pixel(.5, 4, .25); // powers of two: no rounding
    const std::vector<std::string> names = {"smooth", "x", "yy", "xz", "xyyzzz", "yzzzz"};
    Features per_voxel(names.size(), Volume<float>(volume.image, volume.depth));
    Features per_unit = per_voxel;
    FilterBank(sigma, names, {}, {}, Dimensions::three)
        .apply(volume.view(), volume.box, planes_of(per_voxel, volume.box));
    FilterBank(sigma, names, {}, {}, Dimensions::three, pixel)
        .apply(volume.view(), volume.box, planes_of(per_unit, volume.box));
    for (std::size_t k = 0; k < names.size(); ++k) {
        const Derivative order = find_feature(names[k], Dimensions::three).needs[0];
        const double unit =
            std::pow(pixel.x, order.x) * std::pow(pixel.y, order.y) * std::pow(pixel.z, order.z);
        for (Elements z = 0; z < volume.depth; ++z) {
            for (Elements y = 0; y < volume.image.height; ++y) {
                for (Elements x = 0; x < volume.image.width; ++x)
                    ASSERT_EQ(
                        per_unit[k].at(x, y, z),
                        static_cast<float>(static_cast<double>(per_voxel[k].at(x, y, z)) / unit))
                        << names[k] << " at " << x << ", " << y << ", " << z;
            }
        }
    }
    EXPECT_THROW(FilterBank(1, {"xxxx"}, {}, {}, Dimensions::three, 1e8), InvalidTask);
    EXPECT_NO_THROW(FilterBank(1, {"xxx"}, {}, {}, Dimensions::three, 1e8));
}

TEST(VolumeFeatures, of_the_structure_tensor_name_the_axis_whose_scale_is_too_small) {
    EXPECT_EQ(test::message_of<InvalidTask>([&] {
                  FilterBank(Scales(8, 1, 8), {"structure-1@2"}, {}, {}, Dimensions::three);
              }),
              "derivative structure-1@2: the scale along y is 0.25 pixels, "
              "expected 0.5 to 1000");
}

TEST(VolumeFeatures, of_planes_that_are_all_equal_are_those_of_the_image) {
    const ImageShape image{70, 50};
    Volume<float> volume(image, 6);
    const auto picture = test::random_picture(image, 7);
    volume.fill([&](auto x, auto y, auto) { return picture.at(x, y); });
    const std::vector<std::string> names = {"smooth", "xy", "gradient-magnitude", "structure-1@3",
                                            "structure-2@3"};
    Features made = filtered(volume, {2, names});
    std::vector<float> planes(names.size() * static_cast<std::size_t>(image.elements()));
    std::vector<Plane> of_image;
    for (std::size_t k = 0; k < names.size(); ++k)
        of_image.push_back({&planes[k * static_cast<std::size_t>(image.elements())], image.width});
    FilterBank(2, names).apply(picture.view(), test::whole(image), of_image);
    for (std::size_t k = 0; k < names.size(); ++k) {
        for (Elements y = 0; y < image.height; ++y) {
            for (Elements x = 0; x < image.width; ++x)
                ASSERT_NEAR(made[k].at(x, y, 3), of_image[k].first[y * image.width + x], 2e-6);
        }
    }
}

/// The features, computed box by box, each from a copy of exactly the samples that it needs.
Features by_boxes(Volume<float>& volume, const FilterSpec& spec, const Grid& grid) {
    Features features(spec.names.size(), Volume<float>(volume.image, volume.depth));
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        const Tile box = tile(grid, rank);
        if (box.elements() == 0)
            continue;
        FilterBank bank = spec.bank();
        const auto reads = [](Elements first, Elements size, int reach, Elements all) {
            const Elements begin = std::max<Elements>(0, first - reach);
            return std::pair(begin, std::min(all, first + size + reach) - begin);
        };
        const auto [x, width] = reads(box.x, box.width, bank.reach_x(), volume.image.width);
        const auto [y, height] = reads(box.y, box.height, bank.reach_y(), volume.image.height);
        const auto [z, depth] = reads(box.z, box.depth, bank.reach_z(), volume.depth);
        const Volume<float> part = volume.cut({x, y, width, height, z, depth});
        bank.apply(part.view(), box, planes_of(features, box));
    }
    return features;
}

const std::vector<std::string> all_kinds = {
    "xz",        "gradient-magnitude", "laplacian",      "hessian-2",
    "hessian-1", "structure-1@1.5",    "structure-3@1.5"};

TEST(VolumeFeatures, have_the_same_bits_for_every_division_into_boxes) {
    Volume<float> volume = random_volume({300, 70}, 9);
    for (const BorderRule rule : border_rules) {
        const FilterSpec spec{Scales(1, 1.5, .6), all_kinds, rule};
        const Features expected = filtered(volume, spec);
        for (const Grid& grid : {Grid{300, 70, 1, 1, 9, 9}, Grid{300, 70, 3, 2, 9, 2},
                                 Grid{300, 70, 7, 5, 9, 1}, Grid{300, 70, 1, 11, 9, 13}})
            EXPECT_TRUE(same_bits(by_boxes(volume, spec, grid), expected)) << grid.ranks();
    }
}

TEST(VolumeFeatures, have_the_same_bits_with_every_instruction_set) {
    Volume<float> volume = random_volume({37, 21}, 6);
    volume.at(3, 4, 2) = std::numeric_limits<float>::infinity();
    volume.at(30, 14, 5) = std::numeric_limits<float>::quiet_NaN();
    const FilterSpec spec{.8, all_kinds};
    const Features expected = filtered(volume, spec);
    test::on_every_processor([&](const char* name) {
        EXPECT_TRUE(same_bits(filtered(volume, spec), expected)) << name;
    });
}

TEST(VolumeFeatures, have_the_same_bits_whichever_other_features_are_computed) {
    const Volume<float> volume = random_volume({40, 30}, 8);
    const Features together = filtered(volume, {1, all_kinds});
    for (std::size_t k = 0; k < all_kinds.size(); ++k)
        EXPECT_TRUE(same_bits(filtered(volume, {1, {all_kinds[k]}}), {together[k]}))
            << all_kinds[k];
}

TEST(VolumeFeatures, do_not_overflow_if_the_result_fits_and_spread_nan_only_to_what_depends_on_it) {
    Volume<float> volume({12, 11}, 10);
    volume.fill([](auto, auto, auto) { return 3e38F; });
    Features smooth = filtered(volume, {.5, {"smooth", "zz"}});
    EXPECT_NEAR(smooth[0].at(5, 5, 5) / 3e38F, 1, 1e-6);
    EXPECT_TRUE(std::isfinite(smooth[1].at(5, 5, 5)));
    volume.at(6, 5, 4) = std::numeric_limits<float>::quiet_NaN();
    const FilterSpec spec{.5, {"smooth", "hessian-1", "hessian-2", "hessian-3"}};
    const int reach = spec.bank().reach_z();
    Features made = filtered(volume, spec);
    for (Volume<float>& feature : made) {
        EXPECT_TRUE(std::isnan(feature.at(6, 5, 4 + reach - (&feature == &made[0]))));
        EXPECT_FALSE(std::isnan(feature.at(6, 5, 4 + reach + 1)));
    }
}

TEST(VolumeFeatures, eigenvalues_match_those_of_eigen_for_every_magnitude) {
    test::Random random(5);
    std::array<std::vector<float>, 6> entries;
    for (int exponent = -100; exponent <= 120; ++exponent) {
        for (int i = 0; i < 20; ++i) {
            for (std::size_t k = 0; k < entries.size(); ++k) {
                const bool zero = i % 4 == 1 && random.chance(50);
                const int smaller = i % 4 == 2 ? random.number(0, 20) : 0;
                entries[k].push_back(zero ? 0.F
                                          : std::ldexp(static_cast<float>(random.number(-999, 999)),
                                                       exponent - 10 - smaller));
            }
        }
    }
    const std::size_t count = entries[0].size();
    std::array<std::vector<float>, 3> values;
    std::array<float*, 3> to{};
    for (std::size_t part = 0; part < values.size(); ++part) {
        values[part].resize(count);
        to[part] = values[part].data();
    }
    const auto& [xx, xy, xz, yy, yz, zz] = entries;
    eigenvalues(std::array<const float*, 6>{xx.data(), xy.data(), xz.data(), yy.data(), yz.data(),
                                            zz.data()},
                to.data(), static_cast<Elements>(count));
    for (std::size_t i = 0; i < count; ++i) {
        Eigen::Matrix3d matrix;
        matrix << xx[i], xy[i], xz[i], xy[i], yy[i], yz[i], xz[i], yz[i], zz[i];
        const Eigen::Vector3d wanted =
            Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(matrix, Eigen::EigenvaluesOnly)
                .eigenvalues();
        const double most = wanted.cwiseAbs().maxCoeff();
        for (std::size_t part = 0; part < values.size(); ++part)
            ASSERT_NEAR(static_cast<double>(values[part][i]),
                        wanted[2 - static_cast<Eigen::Index>(part)], 1e-6 * most)
                << "matrix " << i;
    }
}

TEST(VolumeFeatures, of_the_structure_tensor_match_the_definition) {
    const Volume<float> volume = random_volume({11, 9}, 8);
    const Scales sigma(1, .8, .6), integration(1.5, 1.2, .9); // in proportion to sigma
    for (const BorderRule rule : border_rules) {
        Features made = filtered(
            volume, {sigma, {"structure-1@1.5", "structure-2@1.5", "structure-3@1.5"}, rule});
        std::vector<Volume<double>> slopes;
        for (const Derivative one : {Derivative{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})
            slopes.push_back(
                Volume<double>(volume.image, volume.depth).fill([&](auto x, auto y, auto z) {
                    return volume_derivative(volume.view(), x, y, z, sigma, one, rule);
                }));
        std::array<std::array<Volume<float>, 3>, 3> products = [&] {
            const auto product = [&](std::size_t a, std::size_t b) {
                return Volume<float>(volume.image, volume.depth).fill([&](auto x, auto y, auto z) {
                    return slopes[a].at(x, y, z) * slopes[b].at(x, y, z);
                });
            };
            const auto row = [&](std::size_t a) {
                return std::array{product(a, 0), product(a, 1), product(a, 2)};
            };
            return std::array{row(0), row(1), row(2)};
        }();
        for (const auto& [x, y, z] :
             {std::array<Elements, 3>{0, 0, 0}, {5, 4, 3}, {10, 8, 7}, {2, 8, 1}, {9, 0, 5}}) {
            Eigen::Matrix3d tensor;
            for (std::size_t a = 0; a < 3; ++a) {
                for (std::size_t b = 0; b < 3; ++b)
                    tensor(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) =
                        volume_derivative(products[a][b].view(), x, y, z, integration, {},
                                          {rule.border, 0});
            }
            const Eigen::Vector3d wanted =
                Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(tensor).eigenvalues();
            for (std::size_t part = 0; part < 3; ++part)
                EXPECT_NEAR(static_cast<double>(made[part].at(x, y, z)),
                            wanted[2 - static_cast<Eigen::Index>(part)], 1e-5 * wanted[2])
                    << part << " at " << x << ", " << y << ", " << z;
        }
    }
}

std::string refusal_of(const FilterSpec& spec) {
    return test::message_of<InvalidTask>([&] { spec.bank(); });
}

TEST(VolumeFeatures, are_refused_with_the_reason_if_invalid) {
    using testing::HasSubstr;
    EXPECT_THAT(refusal_of({1, {"hessian-4"}}), HasSubstr("did you mean hessian-"));
    EXPECT_THAT(refusal_of({1, {"zzzzz"}}), HasSubstr("order of at most 4"));
    EXPECT_THAT(refusal_of({1, {"xz", "zx"}}), HasSubstr("zx is requested twice"));
    EXPECT_THAT(refusal_of({1, {"structure-1@3", "structure-1@3.0"}}), HasSubstr("twice"));
    for (const char* name : {"structure-1", "structure-1@", "structure-2@.1", "structure-3@x"})
        EXPECT_THAT(refusal_of({1, {name}}), HasSubstr("expected an integration scale")) << name;
    EXPECT_EQ(refusal_of({{1, 1, .2}, {"x"}}), "");
    EXPECT_THAT(refusal_of({{1, 1, .2}, {"xz"}}), HasSubstr("the scale along z is 0.2 pixels"));
    EXPECT_EQ(refusal_of({1, {"structure-1@3", "structure-1@2", "structure-2@3", "zx"}}), "");
    EXPECT_THROW(FilterBank(1, {"z"}), InvalidTask);

    const Volume<float> volume = random_volume({20, 20}, 20);
    FilterBank bank = FilterSpec{1, {"z"}}.bank();
    Features features(1, Volume<float>(volume.image, volume.depth));
    const Tile box{2, 2, 10, 10, 5, 3};
    const std::vector<Plane> planes = planes_of(features, box);
    EXPECT_THROW(bank.apply(volume.view(), box, std::span(planes).first(2)), InvalidTask);
    SampleView part = volume.view();
    part.tile = {0, 0, 20, 20, 3, 17};
    EXPECT_THROW(bank.apply(part, box, planes), InvalidTask); // planes before the box are missing
    EXPECT_THROW(bank.apply(volume.view(), {2, 2, 10, 10, 18, 3}, planes), InvalidTask);
}

} // namespace
} // namespace sextant::kernel
