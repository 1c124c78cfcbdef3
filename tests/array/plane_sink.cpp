// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/plane_sink.hpp"

#include <stdexcept>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

const ImageShape shape{11, 30};
const FrameHeader three{.frames = 3, .shape = shape};

class PlaneSinkFiles : public testing::Test {
  protected:
    PlaneSink sink() { return PlaneSink(format::create_frames(path, three)); }

    /// Some rows of a plane of the pattern.
    static void give(PlaneSink& to, std::int64_t plane, Rows rows) {
        const auto values = pattern_frame<float>(plane, shape);
        to.write(plane, rows.first,
                 std::span(values).subspan(static_cast<std::size_t>(rows.first * shape.width),
                                           static_cast<std::size_t>(rows.count() * shape.width)));
    }
    bool whole() const { return holds_pattern(*format::open_frames(path)); }

    TemporaryFolder folder;
    std::string path = folder.path("planes.tif");
};

TEST_F(PlaneSinkFiles, stores_planes_that_arrive_in_interleaved_windows) {
    for (const std::int64_t rows : {1, 7, 30}) {
        auto to = sink();
        for (std::int64_t first = 0; first < shape.height; first += rows) {
            for (int plane = 0; plane < 3; ++plane)
                give(to, plane, {first, std::min(first + rows, shape.height)});
        }
        to.commit();
        EXPECT_TRUE(whole()) << rows;
        EXPECT_EQ(folder.entries(), 1);
    }
}

TEST_F(PlaneSinkFiles, accepts_planes_and_windows_in_reverse_order) {
    auto to = sink();
    for (int plane = 2; plane >= 0; --plane) {
        give(to, plane, {15, 30});
        give(to, plane, {0, 15});
    }
    EXPECT_EQ(folder.entries(), 0);
    to.commit();
    EXPECT_TRUE(whole());
}

TEST_F(PlaneSinkFiles, leaves_no_file_if_planes_are_incomplete) {
    {
        auto to = sink();
        give(to, 0, {0, 30});
        give(to, 2, {0, 30});
        EXPECT_THROW(to.commit(), std::logic_error);
        EXPECT_THROW(give(to, 3, {0, 1}), std::logic_error);
        EXPECT_THROW(to.write(1, 30, std::vector<float>(11)), std::logic_error);
        EXPECT_THROW(to.write(1, 0, std::vector<float>(12)), std::logic_error);
    }
    EXPECT_EQ(folder.entries(), 0);
}

} // namespace
} // namespace sextant::test
