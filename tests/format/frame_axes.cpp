// SPDX-License-Identifier: BSD-3-Clause
// Arrays whose axes are named by the options: every format reads the planes that the names state.
#include "sextant/format/frame_axes.hpp"

#include "sextant/core/error.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tests/format/fixtures.hpp"
#include "tests/format/hdf5_files.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/zarr_files.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t rows = 5, columns = 7;
const std::vector<std::int64_t> sides{2, 3, 4, rows, columns};
constexpr std::int64_t all = 2 * 3 * 4 * rows * columns;

/// Sample i of the array, in C order, is i.
std::vector<std::int16_t> ascending() {
    std::vector<std::int16_t> values(static_cast<std::size_t>(all));
    std::iota(values.begin(), values.end(), std::int16_t{0});
    return values;
}

/// The array in Fortran order.
std::vector<std::int16_t> transposed() {
    std::vector<std::int16_t> values(static_cast<std::size_t>(all));
    for (std::int64_t i = 0; i < all; ++i) {
        std::int64_t rest = i, to = 0, step = all;
        for (std::size_t axis = sides.size(); axis-- > 0; rest /= sides[axis]) {
            step /= sides[axis];
            to += rest % sides[axis] * step;
        }
        values[static_cast<std::size_t>(to)] = static_cast<std::int16_t>(i);
    }
    return values;
}

class NamedAxes : public testing::Test {
  protected:
    NamedAxes() {
        const auto npy = [&](const char* name, bool fortran, const auto& values) {
            fill_file(folder.path(name), npy_bytes("<i2", fortran, "2, 3, 4, 5, 7",
                                                   Bytewise().put_all(values).bytes()));
        };
        npy("c.npy", false, ascending());
        npy("f.npy", true, transposed());
        Hdf5File(folder.path("a.h5"))
            .dataset("/a", {2, 3, 4, rows, columns}, H5T_STD_I16LE, H5T_NATIVE_INT16, ascending(),
                     {1, 2, 3, 4, 5});
        // One chunk, which is the whole array.
        put_file(folder.path("a.zarr/.zarray"),
                 R"({"zarr_format": 2, "shape": [2, 3, 4, 5, 7], "chunks": [2, 3, 4, 5, 7], )"
                 R"("dtype": "<i2", "compressor": null, "fill_value": 0, "order": "C", )"
                 R"("filters": null})");
        put_file(folder.path("a.zarr/0.0.0.0.0"), Bytewise().put_all(ascending()).bytes());
    }

    /// The numbers of the planes that are read as frames, counted in C order; checks their samples.
    std::vector<std::int64_t> planes(const std::string& name,
                                     const format::SourceOptions& options) {
        const auto source = format::open_frames(folder.path(name), options);
        std::vector<std::int64_t> found;
        for (std::int64_t frame = source->header().frames - 1; frame >= 0; --frame) {
            const std::vector<float> values = read_frame(*source, frame);
            const float first = values.front();
            for (std::size_t i = 0; i < values.size(); ++i)
                EXPECT_EQ(values[i], first + static_cast<float>(i)) << name;
            found.insert(found.begin(), static_cast<std::int64_t>(first) / (rows * columns));
        }
        return found;
    }
    void refuses(const std::string& name, const format::SourceOptions& options,
                 const std::string& text) {
        EXPECT_THAT(failure([&] { format::open_frames(folder.path(name), options); }),
                    HasSubstr(text))
            << name;
    }

    TemporaryFolder folder;
};

using Planes = std::vector<std::int64_t>;

TEST_F(NamedAxes, select_a_channel_a_slice_or_a_time_in_every_format) {
    for (const char* name : {"c.npy", "f.npy", "a.h5", "a.zarr"}) {
        EXPECT_EQ(planes(name, {.axes = "TCZYX"}), (Planes{0, 12})) << name;
        EXPECT_EQ(planes(name, {.channel = 2, .slice = 3, .axes = "tczyx"}), (Planes{11, 23}));
        EXPECT_EQ(planes(name, {.channel = 1, .time = 1, .axes = "TCZYX"}),
                  (Planes{16, 17, 18, 19}));
        EXPECT_EQ(planes(name, {.channel = 3, .time = 1, .axes = "TZCYX"}), (Planes{15, 19, 23}));
        EXPECT_EQ(planes(name, {.channel = 1, .slice = 2, .axes = "CZTYX"}),
                  (Planes{20, 21, 22, 23}));
        EXPECT_EQ(planes(name, {.channel = 1, .slice = 1, .axes = "ZTCYX"}), (Planes{13, 17, 21}));
        const auto source = format::open_frames(folder.path(name), {.time = 1, .axes = "TCZYX"});
        EXPECT_EQ(source->header().hyperstack, (Hyperstack{3, 1, 0, 0, 2, 1})) << name;
        EXPECT_EQ(source->header().axes, (ArrayAxes{sides, "TCZYX"})) << name;
    }
}

TEST_F(NamedAxes, are_not_needed) {
    std::vector<std::int64_t> every(24);
    std::iota(every.begin(), every.end(), 0);
    for (const char* name : {"c.npy", "a.h5", "a.zarr"}) {
        EXPECT_EQ(planes(name, {}), every) << name;
        EXPECT_EQ(
            remarks(*format::open_frames(folder.path(name))),
            "the frames are on several axes (2×3×4): all 24 planes are read as one series; to "
            "read some of them, name the axes, for example --axes TCZYX");
    }
    refuses("f.npy", {}, "has 5 axes in Fortran order, expected 2 or 3, or names for the axes");
}

TEST_F(NamedAxes, that_do_not_fit_are_refused) {
    for (const char* name : {"c.npy", "f.npy", "a.h5", "a.zarr"}) {
        refuses(name, {.axes = "TZYX"},
                "axes \"TZYX\" were given, expected a letter for each of 5 axes (2×3×4×5×7)");
        refuses(name, {.axes = "TCZXY"}, "expected Y as axis 3 and X as");
        refuses(name, {.axes = "XYZCT"}, "expected Y as axis 3 and X as");
        refuses(name, {.axes = "TTZYX"}, "each of T, C, Z, Y and X at most");
        refuses(name, {.axes = "TQZYX"}, "each of T, C, Z, Y and X at most");
        refuses(name, {.time = 2, .axes = "TCZYX"}, "has no time 2");
        refuses(name, {.channel = 3, .axes = "TCZYX"}, "has no channel 3");
        refuses(name, {.time = 1}, std::string(name) == "f.npy" ? "Fortran" : "has no time 1");
    }
    write_pattern(folder.path("a.mrc"), {2, {7, 5}, Sample::u16});
    EXPECT_THAT([&] { format::open_frames(folder.path("a.mrc"), {.axes = "ZYX"}); },
                ThrowsMessage<InvalidTask>(HasSubstr("is not an NPY, HDF5 or Zarr array")));
    write_pattern(folder.path("one.npy"), {1, {7, 5}, Sample::u16});
    EXPECT_THAT([&] { format::open_frames(folder.path("one.npy"), {.time = 0}); },
                ThrowsMessage<InvalidTask>(HasSubstr("is an image, which has no times or slices")));
    EXPECT_THROW(format::open_frames(folder.path("c.npy"), {.slice = 0, .time = 0}), InvalidTask);
}

TEST_F(NamedAxes, of_velox_have_rows_and_columns_first) {
    const std::string path = folder.path("velox.h5");
    Hdf5File(path).dataset("/Data/Image/0a/Data", {rows, columns, 2}, H5T_STD_I16LE,
                           H5T_NATIVE_INT16, std::vector<std::int16_t>(rows * columns * 2, 1));
    EXPECT_EQ(format::open_frames(path, {.axes = "YXT"})->header().frames, 2);
    refuses("velox.h5", {.axes = "TYX"}, "expected Y as axis 0 and X as");
}

} // namespace
} // namespace sextant::test
