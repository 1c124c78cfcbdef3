// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/feature.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"

#include <array>
#include <cmath>

#include "tests/kernel/pictures.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::kernel {
namespace {

using test::Picture;
using test::whole;

TEST(Feature, derivatives_are_named_by_a_letter_for_each_order) {
    EXPECT_EQ(find_feature("xyx").needs[0].x, 2);
    EXPECT_EQ(find_feature("xyx").needs[0].y, 1);
    EXPECT_EQ(find_feature("yyyy").needs[0].y, 4);
    EXPECT_EQ(find_feature("smooth").needs[0].x, 0);
    EXPECT_THROW(find_feature("xxxxx"), InvalidTask);
    EXPECT_THROW(find_feature(""), InvalidTask);
    try {
        find_feature("laplacan");
        FAIL() << "accepted";
    } catch (const InvalidTask& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("did you mean laplacian"));
    }
    for (const NamedFeature& named : named_features())
        EXPECT_EQ(find_feature(named.name).name, named.name);
}

TEST(Feature, eigenvalues_are_those_of_the_matrix) {
    // [2 2; 2 5] has the eigenvalues 6 and 1, [-3 0; 0 -3] has -3 twice.
    const float xx[] = {2, -3}, xy[] = {2, 0}, yy[] = {5, -3};
    const std::array<const float*, 3> derivatives = {xx, xy, yy};
    float larger[2], smaller[2];
    find_feature("hessian-larger").make(derivatives, larger, 2);
    find_feature("hessian-smaller").make(derivatives, smaller, 2);
    EXPECT_FLOAT_EQ(larger[0], 6);
    EXPECT_FLOAT_EQ(smaller[0], 1);
    EXPECT_FLOAT_EQ(larger[1], -3);
    EXPECT_FLOAT_EQ(smaller[1], -3);
}

/// Planes of the whole picture, one after another.
std::vector<float> filtered(const Picture<float>& picture, const std::vector<std::string>& names) {
    const ImageShape image = picture.image();
    std::vector<float> all(names.size() * static_cast<std::size_t>(image.elements()));
    std::vector<Plane> planes;
    for (std::size_t k = 0; k < names.size(); ++k)
        planes.push_back(
            {all.data() + k * static_cast<std::size_t>(image.elements()), image.width});
    FilterBank(1, names).apply(picture.view(), whole(image), planes);
    return all;
}

TEST(FilterBank, makes_features_of_the_derivatives_that_it_gives_also_alone) {
    Picture<float> picture({40, 700}); // more rows than a band has
    picture.fill_random(5, 1000);
    const std::vector<float> five = filtered(picture, {"x", "y", "xx", "yy"});
    const std::vector<float> made = filtered(picture, {"gradient-magnitude", "y", "laplacian"});
    const std::size_t n = 40 * 700;
    for (std::size_t i = 0; i < n; ++i) {
        const float x = five[i], y = five[n + i];
        ASSERT_EQ(made[i], std::sqrt(x * x + y * y)) << i;
        ASSERT_EQ(made[n + i], y) << i;
        ASSERT_EQ(made[2 * n + i], five[2 * n + i] + five[3 * n + i]) << i;
    }
}

TEST(FilterBank, refuses_what_is_asked_for_twice_however_it_is_called) {
    EXPECT_THROW(FilterBank(1, {"xy", "yx"}), InvalidTask);
    EXPECT_THROW(FilterBank(1, {"laplacian", "laplacian"}), InvalidTask);
    EXPECT_NO_THROW(FilterBank(1, {"laplacian", "xx"}));
    EXPECT_THROW(FilterBank(1, {}), InvalidTask);
    EXPECT_THROW(FilterBank(.1, {"x"}), InvalidTask);
}

} // namespace
} // namespace sextant::kernel
