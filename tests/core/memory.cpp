// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/memory.hpp"

#include "sextant/core/image.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sextant {
namespace {

constexpr Bytes huge_page = Bytes{2} << 20;

bool all_zero(const Memory& memory) {
    const auto bytes = memory.bytes();
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::uintptr_t address(const Memory& memory) {
    return reinterpret_cast<std::uintptr_t>(memory.data());
}

TEST(Memory, is_zeroed_aligned_and_writable_at_every_boundary_size) {
    for (Bytes size : {Bytes{1}, Bytes{63}, Bytes{64}, Bytes{65}, Bytes{4097}, huge_page - 1,
                       huge_page, huge_page + 1, 3 * huge_page, 3 * huge_page + 5}) {
        Memory memory(size);
        ASSERT_EQ(memory.size(), size);
        ASSERT_EQ(memory.bytes().size(), static_cast<std::size_t>(size));
        EXPECT_EQ(address(memory) % 64, 0u) << size;
        EXPECT_TRUE(all_zero(memory)) << size;
        std::fill(memory.bytes().begin(), memory.bytes().end(), std::byte{7});
        EXPECT_EQ(std::as_const(memory).bytes().back(), std::byte{7});
    }
}

TEST(Memory, is_aligned_to_huge_pages_from_2_MiB_on) {
    for (int trial = 0; trial < 8; ++trial) {
        const Memory memory(huge_page + trial * 4096);
        EXPECT_EQ(address(memory) % static_cast<std::uintptr_t>(huge_page), 0u);
    }
}

/// Resident memory of this process.
Bytes resident() {
    std::ifstream file("/proc/self/statm");
    Bytes all = 0, pages = 0;
    file >> all >> pages;
    return pages * sysconf(_SC_PAGESIZE);
}

TEST(Memory, uses_at_most_an_eighth_more_than_its_size) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    // A plane of 768x768 floats, and one of slightly more than 1024x1024.
    for (const Bytes size : {Bytes{2359360}, 2 * huge_page + 64}) {
        const Bytes before = resident();
        std::vector<Memory> planes;
        for (int i = 0; i < 16; ++i)
            std::ranges::fill(planes.emplace_back(size).bytes(), std::byte{1});
        EXPECT_LE(resident() - before, 16 * (size + size / 8) + huge_page) << size;
    }
}

TEST(Memory, may_have_zero_bytes) {
    EXPECT_EQ(Memory().size(), 0);
    EXPECT_TRUE(Memory().bytes().empty());
    EXPECT_EQ(Memory(0).size(), 0);
    EXPECT_TRUE(Memory(0).bytes().empty());
}

TEST(Memory, can_be_moved_but_not_copied) {
    static_assert(!std::is_copy_constructible_v<Memory> && !std::is_copy_assignable_v<Memory>);
    static_assert(std::is_nothrow_move_constructible_v<Memory>);
    for (Bytes size : {Bytes{100}, huge_page + 100}) {
        Memory first(size);
        first.bytes()[99] = std::byte{42};
        const auto where = address(first);
        Memory second(std::move(first));
        EXPECT_EQ(address(second), where);
        Memory third(17);
        third = std::move(second);
        EXPECT_EQ(address(third), where);
        EXPECT_EQ(third.size(), size);
        EXPECT_EQ(third.bytes()[99], std::byte{42});
    }
}

TEST(Memory, survives_self_move_assignment) {
    Memory memory(100);
    memory.bytes()[3] = std::byte{5};
    Memory& same = memory;
    memory = std::move(same);
    EXPECT_EQ(memory.size(), 100);
    EXPECT_EQ(memory.bytes()[3], std::byte{5});
}

TEST(Memory, throws_if_it_is_unavailable) {
    EXPECT_THROW(Memory(Bytes{1} << 60), std::bad_alloc);
}

TEST(Image, starts_transparent_and_reports_its_pixel_type) {
    Image image({3, 5}, rgba_f32);
    EXPECT_EQ(image.shape().elements(), 15);
    EXPECT_EQ(image.element(), rgba_f32);
    EXPECT_EQ(image.bytes().size(), 15 * sizeof(RgbaF32));
    ASSERT_EQ(image.pixels<RgbaF32>().size(), 15u);
    EXPECT_EQ(image.pixels<RgbaF32>()[14], RgbaF32{});
    image.pixels<RgbaF32>()[14] = {1, 2, 3, 4};
    EXPECT_EQ(std::as_const(image).pixels<RgbaF32>()[14], (RgbaF32{1, 2, 3, 4}));
}

TEST(Image, throws_a_logic_error_if_read_as_another_pixel_type) {
    Image image({2, 2}, rgba_f32);
    EXPECT_THROW(image.pixels<RgbaDepthF32>(), std::logic_error);
    EXPECT_THROW(std::as_const(image).pixels<float>(), std::logic_error);
}

TEST(Image, may_have_no_pixels) {
    Image image({0, 7}, rgba_depth_f32);
    EXPECT_TRUE(image.bytes().empty());
    EXPECT_TRUE(image.pixels<RgbaDepthF32>().empty());
}

TEST(ElementFormat, has_no_padding) {
    EXPECT_EQ(rgba_f32.size, 16);
    EXPECT_EQ(rgba_depth_f32.size, 20);
}

} // namespace
} // namespace sextant
