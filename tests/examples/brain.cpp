// SPDX-License-Identifier: BSD-3-Clause
// The ray caster of examples/brain: the order of the bricks, bricks compared with the whole volume,
// and invalid files.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "render.hpp"
#include <gmock/gmock.h>
#include <unistd.h>

namespace {

using namespace brain;
using Imath::V3d;
using Imath::V3i;
using sextant::InvalidTask;
using sextant::RgbaF32;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A ball with ripples, so that brightness varies within every brick.
Volume ball(const V3i& size, const V3d& spacing = {1, 1, 1}) {
    Volume volume{size, spacing, {}};
    for (int z = 0; z < size.z; ++z) {
        for (int y = 0; y < size.y; ++y) {
            for (int x = 0; x < size.x; ++x) {
                const V3d p = V3d(x, y, z) / V3d(size - V3i(1)) * 2 - V3d(1);
                const double ripple = 0.2 * std::sin(9 * p.x) * std::cos(7 * p.y + p.z);
                volume.values.push_back(
                    static_cast<float>(std::clamp(1.3 - 1.3 * p.length() + ripple, 0.0, 1.0)));
            }
        }
    }
    return volume;
}

class Random {
  public:
    double real(double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(engine_);
    }
    int integer(int from, int to) { return std::uniform_int_distribution(from, to)(engine_); }
    V3d point(double from, double to) { return {real(from, to), real(from, to), real(from, to)}; }

  private:
    std::mt19937 engine_{20240607};
};

/// Entry and exit of a ray through a box; `leave` is less than `enter` if the ray misses the box.
struct Passage {
    double enter = 0, leave = std::numeric_limits<double>::infinity();
};

Passage passage(const Box& box, const V3d& eye, const V3d& direction) {
    Passage through;
    for (int axis = 0; axis < 3; ++axis) {
        const double a = (box.first[axis] - eye[axis]) / direction[axis];
        const double b = (box.last[axis] - eye[axis]) / direction[axis];
        through = {std::max(through.enter, std::min(a, b)),
                   std::min(through.leave, std::max(a, b))};
    }
    return through;
}

/// The bricks hit by a ray, nearest first, found by testing all bricks.
std::vector<int> bricks_along(const Bricks& bricks, const V3d& eye, const V3d& direction) {
    constexpr double touch = 1e-9; // a ray through an edge may hit any of the adjacent bricks
    std::vector<std::pair<double, int>> met;
    for (int i = 0; i < bricks.count(); ++i) {
        const auto [enter, leave] = passage(bricks.brick(i), eye, direction);
        if (leave > enter + touch)
            met.emplace_back(enter, i);
    }
    std::sort(met.begin(), met.end());
    std::vector<int> numbers;
    for (const auto& [enter, number] : met)
        numbers.push_back(number);
    return numbers;
}

void expect_nearer_first(const Bricks& bricks, const V3d& eye, Random& random) {
    const std::vector<int> order = bricks.front_to_back(eye);
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        place[static_cast<std::size_t>(order[i])] = i;
    for (int ray = 0; ray < 50; ++ray) {
        const V3d direction = (random.point(0, 12) - eye).normalized();
        const std::vector<int> met = bricks_along(bricks, eye, direction);
        for (std::size_t i = 1; i < met.size(); ++i) {
            EXPECT_LT(place[static_cast<std::size_t>(met[i - 1])],
                      place[static_cast<std::size_t>(met[i])])
                << "from " << eye << " along " << direction;
        }
    }
}

TEST(BrickOrder, contains_every_brick_once) {
    const Bricks bricks(ball({7, 8, 9}), {3, 2, 4});
    const auto order = bricks.front_to_back({50, -20, 3});
    EXPECT_EQ(order.size(), 24U);
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 24U);
}

TEST(BrickOrder, puts_the_nearer_brick_first_on_every_ray) {
    Random random;
    for (int trial = 0; trial < 300; ++trial) {
        const V3i parts(random.integer(1, 5), random.integer(1, 5), random.integer(1, 5));
        const Bricks bricks(ball({13, 11, 9}, {1, 1.5, 2}), parts);
        expect_nearer_first(bricks, random.point(-30, 40), random); // eye mostly outside
        expect_nearer_first(bricks, random.point(0, 12), random);   // eye inside
    }
}

TEST(BrickOrder, is_right_for_an_eye_on_a_plane_between_bricks) {
    Random random;
    const Bricks bricks(ball({13, 13, 13}), {3, 3, 3});
    for (const V3d& eye : {V3d(4, 8, 4), V3d(4, -9, 30), V3d(8, 4, -5), V3d(0, 0, 0)}) {
        expect_nearer_first(bricks, eye, random);
    }
}

TEST(BrickOrder, matches_the_known_order_of_eight_bricks) {
    const Volume head = ball({19, 22, 19});
    const Bricks bricks(head, {2, 2, 2});
    EXPECT_THAT(bricks.front_to_back(look_at(head, 145, 20).eye),
                testing::ElementsAre(5, 1, 4, 7, 0, 3, 6, 2));
}

TEST(Bricks, divide_the_volume_without_gap_or_overlap) {
    const Bricks bricks(ball({8, 9, 10}), {3, 2, 4});
    double sum = 0;
    for (int i = 0; i < bricks.count(); ++i) {
        const V3d extent = bricks.brick(i).last - bricks.brick(i).first;
        EXPECT_GE(std::min({extent.x, extent.y, extent.z}), 1);
        sum += extent.x * extent.y * extent.z;
    }
    EXPECT_EQ(sum, 7 * 8 * 9);
    EXPECT_EQ(bricks.whole().last, V3d(7, 8, 9));
}

TEST(Bricks, are_refused_if_they_outnumber_the_voxels) {
    const Volume volume = ball({4, 5, 6});
    EXPECT_NO_THROW(Bricks(volume, {3, 4, 5}));
    EXPECT_THAT(
        [&] {
            Bricks(volume, {2, 5, 2});
        },
        ThrowsMessage<InvalidTask>("5 bricks along axis 2, expected 1 to 4"));
    EXPECT_THROW(Bricks(volume, {0, 1, 1}), InvalidTask);
}

/// The largest difference between the composited bricks and the image of the whole volume. Expects
/// that the image is not empty.
float difference(const Scene& scene, const Camera& camera, const V3i& parts) {
    const sextant::ImageShape shape{61, 47};
    const Bricks bricks(scene.head(), parts);
    std::vector<RgbaF32> sum(static_cast<std::size_t>(shape.elements()));
    for (const int number : bricks.front_to_back(camera.eye)) {
        const auto image = render(scene, camera, shape, bricks.brick(number));
        const auto pixels = image.pixels<RgbaF32>();
        for (std::size_t i = 0; i < sum.size(); ++i)
            sum[i] = sextant::kernel::over(sum[i], pixels[i]);
    }
    const auto image = render(scene, camera, shape, bricks.whole());
    const auto whole = image.pixels<RgbaF32>();
    float most = 0, seen = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        most = std::max({most, std::abs(sum[i].r - whole[i].r), std::abs(sum[i].g - whole[i].g),
                         std::abs(sum[i].b - whole[i].b), std::abs(sum[i].a - whole[i].a)});
        seen = std::max(seen, whole[i].a);
    }
    EXPECT_GT(seen, 0.2F);
    return most;
}

TEST(Rendering, blended_bricks_equal_the_whole_volume_from_any_side) {
    const Volume head = ball({17, 21, 15}, {1, 1, 1.5});
    const Scene with_brain(head, head), without(head);
    for (const double turn : {0.0, 65.0, 145.0, 270.0}) {
        const Camera camera = look_at(head, turn, 14);
        EXPECT_LT(difference(with_brain, camera, {2, 2, 2}), 5e-6F) << turn;
        EXPECT_LT(difference(without, camera, {3, 1, 4}), 5e-6F) << turn;
    }
}

TEST(Rendering, blended_bricks_equal_the_whole_volume_from_inside_and_along_a_plane) {
    const Volume head = ball({17, 17, 17});
    const Scene scene(head);
    // The middle column of pixels looks along the plane between the bricks.
    EXPECT_LT(difference(scene, {{8, -20, 8}, {8, 8, 8}, 40}, {2, 2, 2}), 5e-6F);
    EXPECT_LT(difference(scene, {{5, 6, 8}, {12, 12, 9}, 60}, {3, 3, 3}), 5e-6F);
}

TEST(Camera, refuses_a_vertical_view_direction) {
    const Volume head = ball({4, 5, 6});
    EXPECT_THAT([&] { look_at(head, 0, 90); }, ThrowsMessage<InvalidTask>(HasSubstr("90 degrees")));
    EXPECT_THROW(look_at(head, std::nan(""), 0), InvalidTask);
    EXPECT_THROW(look_at(head, 0, std::nan("")), InvalidTask);
}

TEST(Rendering, pixels_have_premultiplied_alpha) {
    const Volume head = ball({17, 21, 15});
    const Scene scene(head, head);
    const auto image =
        render(scene, look_at(head, 30, 10), {64, 64}, Bricks(head, {1, 1, 1}).whole());
    for (const RgbaF32& pixel : image.pixels<RgbaF32>()) {
        EXPECT_GE(std::min({pixel.r, pixel.g, pixel.b}), 0);
        EXPECT_LE(std::max({pixel.r, pixel.g, pixel.b}), pixel.a + 1e-6F);
        EXPECT_LE(pixel.a, 1);
    }
}

TEST(Rendering, a_volume_of_the_wrong_size_is_refused) {
    EXPECT_THAT(
        [] {
            Scene(ball({4, 5, 6}), ball({4, 5, 7}));
        },
        ThrowsMessage<InvalidTask>(HasSubstr("4x5x7 voxels, expected 4x5x6")));
}

/// The volume that is read from a NIfTI file of these voxels.
template <class Voxel>
Volume read_back(const sextant::FrameHeader& header, const std::vector<Voxel>& voxels) {
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("sextant-brain-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string path = (folder / "test.nii").string();
    const auto sink =
        sextant::format::create_frames(path, header, {sextant::format::StackAxis::slices});
    const std::size_t plane = voxels.size() / static_cast<std::size_t>(header.frames);
    for (std::size_t first = 0; first < voxels.size(); first += plane)
        sink->write_samples(std::as_bytes(std::span(voxels).subspan(first, plane)));
    sink->commit();
    Volume volume = read_volume(path);
    std::filesystem::remove_all(folder);
    return volume;
}

TEST(Reading, scales_values_to_zero_to_one_and_keeps_the_shape) {
    const Volume volume = read_back({.frames = 2,
                                     .shape = {2, 3},
                                     .sample = sextant::Sample::i16,
                                     .pixel = {1, 1, "mm"},
                                     .slice_distance = 2.5},
                                    std::vector<short>{-10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    EXPECT_EQ(volume.size, V3i(2, 3, 2));
    EXPECT_EQ(volume.spacing, V3d(1, 1, 2.5));
    EXPECT_EQ(volume.values.front(), 0);
    EXPECT_EQ(volume.values[1], 0.5F);
    EXPECT_EQ(volume.values.back(), 1);
    EXPECT_FLOAT_EQ(volume.at({0.5, 0, 0}), 0.25F);
    EXPECT_EQ(volume.at({9, 9, 9}), 1);
}

TEST(Reading, replaces_voxels_that_are_not_finite_by_zero) {
    const float nothing = std::numeric_limits<float>::quiet_NaN();
    const float infinite = std::numeric_limits<float>::infinity();
    const Volume volume = read_back({.frames = 2, .shape = {2, 2}},
                                    std::vector<float>{nothing, infinite, 1, 2, 3, 4, 5, 8});
    EXPECT_EQ(volume.values[0], 0);
    EXPECT_EQ(volume.values[1], 0);
    EXPECT_EQ(volume.values[3], 0.25F);
}

} // namespace
