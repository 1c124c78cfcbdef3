// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/catalogue.hpp"
#include "sextant/format/formats.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/hdf5_files.hpp"
#include "tests/format/images.hpp"
#include "tests/format/seeds.hpp"
#include "tests/format/temporary_folder.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Hdf5Frames : public testing::Test {
  protected:
    /// Frames of the pattern one after another; the axes are frame, row, column.
    static std::vector<std::int16_t> stack() {
        std::vector<std::int16_t> values;
        for (std::int64_t frame = 0; frame < 3; ++frame) {
            const auto one = pattern_frame<std::int16_t>(frame, {13, 7});
            values.insert(values.end(), one.begin(), one.end());
        }
        return values;
    }
    /// An axis of a signal; without a name if this is "".
    struct Axis {
        std::string name;
        double scale;
        std::string unit;
    };
    /// Writes a signal of HyperSpy.
    void signal(Hdf5File& file, const std::string& group, const std::vector<hsize_t>& lengths,
                const std::vector<Axis>& axes, const std::vector<hsize_t>& chunk = {}) const {
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            const std::string at = fmt::format("{}/axis-{}", group, axis);
            file.group(at);
            if (!axes[axis].name.empty())
                file.text(at, "name", axes[axis].name);
            file.number(at, "scale", axes[axis].scale);
            file.text(at, "units", axes[axis].unit, axis == 0);
        }
        file.dataset(group + "/data", lengths, H5T_IEEE_F32LE, H5T_NATIVE_INT16, stack(), chunk);
    }
    /// Expects the file, or a part of it, to be refused with this text.
    void refuses(const std::string& text, const std::string& detail = "") const {
        EXPECT_THAT(failure([&] { format::open_frames(path + detail); }),
                    testing::AllOf(StartsWith(path + ": "), HasSubstr(text)));
    }
    TemporaryFolder folder;
    std::string path = folder.path("a.emd");
    std::vector<hsize_t> sides{3, 7, 13};
};

TEST_F(Hdf5Frames, from_velox_have_the_frame_axis_last_and_a_pixel_size_in_json) {
    {
        Hdf5File file(path);
        std::vector<std::uint16_t> values;
        for (std::int64_t y = 0; y < 7; ++y) {
            for (std::int64_t x = 0; x < 13; ++x) {
                for (std::int64_t frame = 0; frame < 3; ++frame)
                    values.push_back(static_cast<std::uint16_t>(pattern(frame, x, y)));
            }
        }
        file.dataset("/Data/Image/0a1b/Data", {7, 13, 3}, H5T_STD_U16LE, H5T_NATIVE_UINT16, values,
                     {7, 13, 1});
        std::string json =
            R"({"BinaryResult": {"PixelSize": {"width": "5e-10", "height": "2.5e-10"},
                               "PixelUnitX": "m"}})";
        json.resize(3000);
        std::vector<std::uint8_t> columns;
        for (const char letter : json)
            columns.insert(columns.end(), 3, static_cast<std::uint8_t>(letter));
        file.dataset("/Data/Image/0a1b/Metadata", {3000, 3}, H5T_STD_U8LE, H5T_NATIVE_UINT8,
                     columns);
    }
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().frames, 3);
    EXPECT_EQ(source->header().shape, (ImageShape{13, 7}));
    EXPECT_EQ(source->header().sample, Sample::u16);
    EXPECT_EQ(source->header().pixel.x, 5e-10);
    EXPECT_EQ(source->header().pixel.y, 2.5e-10);
    EXPECT_TRUE(holds_pattern(*source));
}

TEST_F(Hdf5Frames, from_berkeley_emd_have_a_coordinate_vector_per_axis) {
    {
        Hdf5File file(path);
        file.dataset("/data/movie/data", sides, H5T_STD_I16BE, H5T_NATIVE_INT16, stack());
        file.number("/data/movie", "emd_group_type", 1);
        const auto vector = [&](const std::string& name, hsize_t count, double step) {
            std::vector<double> values;
            for (hsize_t i = 0; i < count; ++i)
                values.push_back(static_cast<double>(i) * step);
            file.dataset("/data/movie/" + name, {count}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
            file.text("/data/movie/" + name, "units", "[n_m]", name == "dim3");
        };
        vector("dim1", 3, 1);
        vector("dim2", 7, .25);
        vector("dim3", 13, .5);
        file.dataset("/data/small/data", {2, 1, 1}, H5T_STD_I16LE, H5T_NATIVE_INT16, stack());
        file.number("/data/small", "emd_group_type", 1);
        file.dataset("/data/small/dim1", {2}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                     std::vector{0., 2.});
        file.text("/data/small/dim1", "units", "[s]");
    }
    EXPECT_EQ(format::open_frames(path + "::/data/small/data")->header().frame_interval, 2);
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().frames, 3);
    EXPECT_EQ(source->header().sample, Sample::i16);
    EXPECT_EQ(source->header().pixel, (PixelSize{.5, .25, "nm"}));
    EXPECT_EQ(source->header().slice_distance, 1);
    EXPECT_TRUE(holds_pattern(*source));
}

TEST_F(Hdf5Frames, from_prismatic_have_rows_and_columns_first_and_are_not_turned) {
    const auto frames = [&](std::int64_t count, const std::vector<hsize_t>& chunk) {
        std::vector<float> values;
        for (std::int64_t x = 0; x < 13; ++x) {
            for (std::int64_t y = 0; y < 7; ++y) {
                for (std::int64_t frame = 0; frame < count; ++frame)
                    values.push_back(pattern(frame, x, y));
            }
        }
        const std::string group = "/4DSTEM_simulation/data/realslices/virtual_detector_depth0000";
        Hdf5File file(path);
        const auto size = static_cast<hsize_t>(count);
        file.dataset(group + "/realslice",
                     count == 1 ? std::vector<hsize_t>{13, 7} : std::vector<hsize_t>{13, 7, size},
                     H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values, chunk);
        file.number(group, "emd_group_type", 1);
        const auto vector = [&](int axis, hsize_t length, double step, const std::string& name,
                                const std::string& unit) {
            std::vector<double> positions;
            for (hsize_t i = 0; i < length; ++i)
                positions.push_back((static_cast<double>(i) + .5) * step);
            const std::string dim = fmt::format("{}/dim{}", group, axis);
            file.dataset(dim, {length}, H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, positions);
            file.text(dim, "name", name);
            file.text(dim, "units", unit);
        };
        vector(1, 13, .25, "R_x", "[n_m]");
        vector(2, 7, 5, "R_y", "[Å]");
        if (count == 4)
            vector(3, size, .001, "bin_outer_angle", "[mrad]");
        else if (count > 1)
            vector(3, size, 2, "R_z", "[Å]");
    };
    for (const std::vector<hsize_t>& chunk : {std::vector<hsize_t>(), {5, 3, 2}}) {
        for (const std::int64_t count : {4, 3}) {
            frames(count, chunk);
            const auto source = format::open_frames(path);
            EXPECT_EQ(source->header().frames, count);
            EXPECT_EQ(source->header().shape, (ImageShape{13, 7}));
            EXPECT_EQ(source->header().pixel, (PixelSize{.25, .5, "nm"}));
            EXPECT_DOUBLE_EQ(source->header().slice_distance, count == 4 ? 0 : .2);
            EXPECT_EQ(remarks(*source), "");
            EXPECT_TRUE(holds_pattern(*source));
            const auto array = format::open_array(path, {}, 1 << 20);
            EXPECT_EQ(array->header().lengths, (std::vector<std::int64_t>{count, 7, 13}));
            std::vector<float> part(3 * 2 * 11); // turned, in chunks and between them
            array->read({{0, 4, 1}, {3, 2, 11}}, std::as_writable_bytes(std::span(part)));
            for (std::int64_t i = 0; i < 66; ++i)
                EXPECT_EQ(part[static_cast<std::size_t>(i)],
                          pattern(i / 22, 1 + i % 11, 4 + i / 11 % 2))
                    << i;
        }
    }
    frames(1, {});
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
}

TEST_F(Hdf5Frames, are_not_the_metadata_of_data_that_cannot_be_read) {
    const hid_t complex = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(complex, "realFloatHalfEven", 0, H5T_IEEE_F32LE);
    H5Tinsert(complex, "imagFloatHalfEven", 4, H5T_IEEE_F32LE);
    const std::vector<float> numbers(2 * 7 * 13);
    const std::vector<std::uint8_t> text(3000);
    {
        Hdf5File file(path);
        file.dataset("/Data/Image/0a/Data", {7, 13, 1}, complex, complex, numbers);
        file.dataset("/Data/Image/0a/Metadata", {3000, 1}, H5T_STD_U8LE, H5T_NATIVE_UINT8, text);
    }
    refuses("dataset /Data/Image/0a/Data has 3 axes and its elements are complex numbers, expected "
            "at least two axes, and integers or floats of 8 to 64 bits");
    {
        Hdf5File file(path);
        file.dataset("/spectrum", {7, 13}, complex, complex, numbers);
        file.dataset("/mask", {5, 5}, H5T_STD_U8LE, H5T_NATIVE_UINT8, text);
    }
    refuses("its largest dataset, /spectrum, contains complex numbers, expected integers or floats "
            "of 8 to 64 bits; append the name of another dataset, such as " +
            path + "::/mask");
    EXPECT_EQ(format::open_frames(path + "::/mask")->header().shape, (ImageShape{5, 5}));
    {
        Hdf5File file(path);
        file.dataset("/spectrum", {7, 13}, complex, complex, numbers);
        file.dataset("/images", {10, 10}, H5T_STD_U8LE, H5T_NATIVE_UINT8, text);
    }
    EXPECT_EQ(remarks(*format::open_frames(path)),
              "/images is read; the file also contains /spectrum");
    H5Tclose(complex);
}

/// Links are resolved inside the group of a convention, and the larger /flat is not the main data.
TEST_F(Hdf5Frames, are_found_where_the_group_of_a_convention_links) {
    struct Convention {
        std::string data;
        std::function<void(Hdf5File&)> describe;
    };
    const std::vector<Convention> conventions{
        {"/Data/Image/0a/Data", [](Hdf5File& file) { file.group("/Data/Image/0a"); }},
        {"/data/sig/data",
         [](Hdf5File& file) {
             file.group("/data/sig");
             file.number("/data/sig", "emd_group_type", 1);
         }},
        {"/Experiments/sig/data", [](Hdf5File& file) { file.group("/Experiments/sig"); }},
        {"/entry/plot/data",
         [](Hdf5File& file) {
             file.group("/entry/plot");
             file.text("/entry/plot", "NX_class", "NXdata");
             file.text("/entry/plot", "signal", "data");
             file.texts("/entry/plot", "axes", {"z", "y", "x"});
             for (const char* const axis : {"z", "y", "x"}) {
                 const std::string name = std::string("/entry/plot/") + axis;
                 file.dataset(name, {2}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, std::vector{0., 2.});
                 file.text(name, "units", "nm");
             }
         }},
    };
    for (const auto& [data, describe] : conventions) {
        for (const bool soft : {true, false}) {
            {
                Hdf5File file(path);
                const std::vector<float> ones(8100, 1);
                file.dataset("/Detector/frames", sides, H5T_STD_I16LE, H5T_NATIVE_INT16, stack());
                file.dataset("/flat", {90, 90}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, ones);
                describe(file);
                if (soft)
                    file.soft_link(data, "/Detector/frames");
                else
                    file.hard_link(data, "/Detector/frames");
            }
            const auto source = format::open_frames(path);
            const bool velox = data.starts_with("/Data"); // its frames are along the last axis
            EXPECT_EQ(source->header().shape, velox ? (ImageShape{7, 3}) : (ImageShape{13, 7}))
                << data << soft;
            EXPECT_TRUE(velox || holds_pattern(*source)) << data << soft;
            if (data.starts_with("/entry")) {
                EXPECT_EQ(source->header().pixel, (PixelSize{2, 2, "nm"}));
                EXPECT_EQ(source->header().slice_distance, 2);
            }
        }
    }
}

TEST_F(Hdf5Frames, are_never_of_another_dataset_than_the_main_data) {
    const hid_t complex = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(complex, "r", 0, H5T_IEEE_F32LE);
    H5Tinsert(complex, "i", 4, H5T_IEEE_F32LE);
    const auto put = [&](Hdf5File& file, const std::string& name, const std::vector<hsize_t>& shape,
                         bool is_complex = false) {
        const std::vector<float> numbers(1 << 13);
        file.dataset(name, shape, is_complex ? complex : H5T_IEEE_F32LE,
                     is_complex ? complex : H5T_NATIVE_FLOAT, numbers);
    };
    const auto nexus = [](Hdf5File& file, const std::string& group, const std::string& signal) {
        file.group(group);
        file.text(group, "NX_class", "NXdata");
        if (!signal.empty())
            file.text(group, "signal", signal);
    };
    struct Case {
        std::string refused; ///< part of the error; or "" if the dataset is read
        std::function<void(Hdf5File&)> write;
    };
    const std::string deeper = "/Experiments/s/metadata/Signal/variance/data";
    const std::vector<Case> cases{
        {"/Experiments/s/data has 3 axes and its elements are complex numbers",
         [&](Hdf5File& file) {
             put(file, "/Experiments/s/data", {3, 7, 13}, true);
             put(file, deeper, {3, 7, 13});
         }},
        {"/Experiments/s/data has 1 axes and its elements are f32",
         [&](Hdf5File& file) {
             put(file, "/Experiments/s/data", {100});
             put(file, deeper, {9, 9});
         }},
        {"",
         [&](Hdf5File& file) {
             put(file, "/Experiments/s/data", {3, 7, 13});
             put(file, deeper, {30, 30});
         }},
        {"/a/data has 2 axes and its elements are complex numbers",
         [&](Hdf5File& file) {
             put(file, "/a/data", {7, 13}, true);
             put(file, "/a/mask", {7, 13});
             file.number("/a", "emd_group_type", 1);
         }},
        {"/a/data has 1 axes and its elements are f32",
         [&](Hdf5File& file) {
             put(file, "/a/data", {91});
             put(file, "/a/other", {7, 13});
             file.number("/a", "emd_group_type", 1);
         }},
        {"",
         [&](Hdf5File& file) {
             put(file, "/a/data", {3, 7, 13});
             put(file, "/a/other", {30, 30});
             file.number("/a", "emd_group_type", 1);
         }},
        {"/Data/Image/b/Data, contains complex numbers",
         [&](Hdf5File& file) {
             put(file, "/Data/Image/a/Data", {7, 13, 1});
             put(file, "/Data/Image/b/Data", {7, 13, 1}, true);
         }},
        {"has no images: /Data/Spectrum/1/Data is a spectrum",
         [&](Hdf5File& file) {
             put(file, "/Data/Spectrum/1/Data", {4096, 1});
         }},
        {"has no dataset counts, which /entry/data names as its signal",
         [&](Hdf5File& file) {
             nexus(file, "/entry/data", "counts");
             put(file, "/entry/flat", {30, 30});
         }},
        {"/entry/data/counts has 1 axes and its elements are f32",
         [&](Hdf5File& file) {
             nexus(file, "/entry/data", "counts");
             put(file, "/entry/data/counts", {91});
             put(file, "/entry/flat", {30, 30});
         }},
        {"/entry/data/counts has 2 axes and its elements are complex numbers",
         [&](Hdf5File& file) {
             nexus(file, "/entry/data", "counts");
             put(file, "/entry/data/counts", {7, 13}, true);
         }},
        {"/data has no samples",
         [&](Hdf5File& file) {
             put(file, "/data", {0, 6, 8});
             put(file, "/flat", {30, 30});
         }},
        {"/data, contains complex numbers",
         [&](Hdf5File& file) {
             put(file, "/data", {7, 13}, true);
             put(file, "/mask", {30, 30});
         }},
        {"",
         [&](Hdf5File& file) { // a group without a signal, as of detectors
             nexus(file, "/entry/data", "");
             put(file, "/entry/data/data_000001", {3, 7, 13});
             put(file, "/entry/instrument/flatfield", {30, 30});
         }},
        {"",
         [&](Hdf5File& file) { // old files mark the signal itself
             nexus(file, "/entry/data", "");
             put(file, "/entry/data/counts", {3, 7, 13});
             file.number("/entry/data/counts", "signal", 1);
             put(file, "/entry/data/flat", {30, 30});
         }},
        {"",
         [&](Hdf5File& file) {
             nexus(file, "/entry/data", "counts");
             put(file, "/entry/data/counts", {3, 7, 13});
             nexus(file, "/entry/flat", "flat");
             put(file, "/entry/flat/flat", {30, 30});
             file.text("/", "default", "entry");
             file.text("/entry", "default", "data");
         }},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        {
            Hdf5File file(path);
            cases[i].write(file);
        }
        if (cases[i].refused.empty())
            EXPECT_EQ(format::open_frames(path)->header().frames, 3) << "case " << i;
        else
            refuses(cases[i].refused);
    }
    H5Tclose(complex);
}

TEST_F(Hdf5Frames, of_one_part_of_a_series_have_a_remark_that_others_are_missing) {
    {
        Hdf5File file(path);
        for (const char* const name : {"/entry/data/data_000001", "/entry/data/data_000002"})
            file.dataset(name, sides, H5T_STD_I16LE, H5T_NATIVE_INT16, stack());
        file.text("/entry/data", "NX_class", "NXdata");
    }
    EXPECT_THAT(remarks(*format::open_frames(path)),
                HasSubstr("only 3 of 6 frames are read: those in another part of the series "
                          "/entry/data/data_* are missing"));
}

TEST_F(Hdf5Frames, are_not_the_planes_of_a_spectrum_image) {
    path = folder.path("a.hspy");
    {
        Hdf5File file(path);
        signal(file, "/Experiments/map", sides,
               {{"y", .5, "nm"}, {"x", .25, "nm"}, {"Energy", 10, "eV"}});
    }
    const auto array = format::open_array(path, {}, 1 << 20);
    EXPECT_EQ(array->header().names, (std::vector<std::string>{"y", "x", "energy"}));
    EXPECT_EQ(array->header().pixel, (PixelSize{.25, .5, "nm"}));
    EXPECT_EQ(array->header().slice_distance, 0);
    refuses("has the axes y,x,energy (3×7×13), of which x and energy are not those of a frame");
}

TEST_F(Hdf5Frames, from_hyperspy_have_axes_with_attributes) {
    path = folder.path("a.hspy");
    {
        Hdf5File file(path);
        signal(file, "/Experiments/series", sides,
               {{"", .25, "s"}, {"", .25, "nm"}, {"", .5, "nm"}}, {1, 4, 5});
        signal(file, "/Experiments/small", {2, 2}, {{"", 2, "_None_"}, {"", 2, "_None_"}});
    }
    EXPECT_EQ(format::open_frames(path + "::/Experiments/small/data")->header().pixel.unit, "");
    auto source = format::open_frames(path);
    EXPECT_EQ(source->header().sample, Sample::f32);
    EXPECT_EQ(source->header().pixel, (PixelSize{.5, .25, "nm"}));
    EXPECT_EQ(source->header().frame_interval, .25);
    EXPECT_EQ(source->header().slice_distance, 0);
    EXPECT_TRUE(holds_pattern(*source));
    EXPECT_EQ(format::open_array(path, {}, 1 << 20)->header().chunk,
              (std::vector<std::int64_t>{1, 4, 5}));
    {
        Hdf5File file(path);
        signal(file, "/Experiments/slices", sides, {{"", .5, "µm"}, {"", 4, "nm"}, {"", 4, "nm"}});
    }
    source = format::open_frames(path);
    EXPECT_EQ(source->header().frame_interval, 0);
    EXPECT_DOUBLE_EQ(source->header().slice_distance, 500);
}

TEST_F(Hdf5Frames, from_ne_xus_have_named_axes_with_positions) {
    path = folder.path("a.nxs");
    {
        Hdf5File file(path);
        file.group("/entry");
        file.group("/entry/data");
        file.text("/entry/data", "NX_class", "NXdata");
        file.text("/entry/data", "signal", "counts");
        file.texts("/entry/data", "axes", {"time", "y", "x"});
        file.dataset("/entry/data/counts", sides, H5T_STD_U16LE, H5T_NATIVE_INT16, stack());
        const auto positions = [&](const std::string& name, double step, const char* unit) {
            const std::vector<double> values{1, 1 + step};
            file.dataset("/entry/data/" + name, {2}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
            file.text("/entry/data/" + name, "units", unit);
        };
        positions("time", 2, "s");
        positions("y", .5, "nm");
        positions("x", .25, "nm");
        // Another group has a larger dataset that is not the signal.
        file.group("/entry/other");
        file.text("/entry/other", "NX_class", "NXdata");
        file.text("/entry/other", "signal", "none");
    }
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().frames, 3);
    EXPECT_EQ(source->header().pixel, (PixelSize{.25, .5, "nm"}));
    EXPECT_EQ(source->header().frame_interval, 2);
    EXPECT_EQ(format::open_array(path, {}, 1 << 20)->header().names,
              (std::vector<std::string>{"t", "y", "x"}));
}

TEST_F(Hdf5Frames, with_uneven_positions_have_no_pixel_size_and_say_so) {
    for (const bool nexus : {true, false}) {
        for (const std::string uneven : {"z", "y", "x", ""}) {
            {
                Hdf5File file(path);
                file.group("/g");
                if (nexus) {
                    file.text("/g", "NX_class", "NXdata");
                    file.text("/g", "signal", "data");
                    file.texts("/g", "axes", {"z", "y", "x"});
                } else {
                    file.number("/g", "emd_group_type", 1);
                }
                file.dataset("/g/data", sides, H5T_STD_U16LE, H5T_NATIVE_INT16, stack());
                const std::array<std::string, 3> names{"z", "y", "x"};
                for (std::size_t axis = 0; axis < names.size(); ++axis) {
                    const std::string at =
                        nexus ? "/g/" + names[axis] : fmt::format("/g/dim{}", axis + 1);
                    std::vector<double> values;
                    for (hsize_t i = 0; i < sides[axis]; ++i)
                        values.push_back(-.5 * static_cast<double>(i));
                    if (names[axis] == uneven)
                        values.back() -= 3;
                    file.dataset(at, {sides[axis]}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
                    file.text(at, "name", names[axis]);
                    file.text(at, "units", "nm");
                }
            }
            const FrameHeader header = format::open_frames(path)->header();
            const bool plane = uneven == "y" || uneven == "x";
            EXPECT_EQ(header.pixel, plane ? PixelSize() : (PixelSize{.5, .5, "nm"}));
            EXPECT_EQ(header.slice_distance, uneven.empty() ? .5 : 0);
            if (uneven.empty())
                EXPECT_THAT(header.remarks, testing::IsEmpty());
            else
                EXPECT_THAT(header.remarks,
                            testing::Contains(testing::StartsWith("the positions along " + uneven +
                                                                  " are not evenly spaced")));
        }
    }
}

TEST_F(Hdf5Frames, have_the_size_of_an_element_if_it_is_stated) {
    const auto opened = [&](std::vector<double> size, const format::SourceOptions& options = {}) {
        {
            Hdf5File file(path);
            file.dataset("/v", {3, 1, 7, 13}, H5T_STD_I16LE, H5T_NATIVE_INT16, stack());
            file.numbers("/v", "element_size_um", size);
        }
        return format::open_frames(path, options)->header();
    };
    const PixelSize pixel{.25, .5, "µm"};
    EXPECT_EQ(opened({2, .5, .25}).pixel, pixel);
    EXPECT_EQ(opened({2, .5, .25}).slice_distance, 0); // frames are on two axes
    EXPECT_EQ(opened({2, .5, .25}, {.time = 1, .axes = "TZYX"}).slice_distance, 2);
    EXPECT_EQ(opened({2, .5, .25}, {.axes = "ZTYX"}).slice_distance, 0);
    EXPECT_EQ(opened({.5, .25}).pixel, pixel);
    EXPECT_FALSE(opened({.5}).pixel.known());
    EXPECT_FALSE(opened({1, 2, .5, .25}).pixel.known());
    EXPECT_FALSE(opened({2, 0, .25}).pixel.known());
    EXPECT_FALSE(opened({2, .5, std::nan("")}).pixel.known());
}

TEST_F(Hdf5Frames, of_half_floats_are_read) {
    for (const bool big : {false, true}) {
        for (const std::vector<hsize_t>& chunk : {std::vector<hsize_t>(), {1, 4, 6}}) {
            {
                Hdf5File file(path);
                const hid_t half = H5Tcopy(big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
                H5Tset_fields(half, 15, 10, 5, 0, 10);
                H5Tset_size(half, 2);
                H5Tset_ebias(half, 15);
                file.dataset("/data", sides, half, H5T_NATIVE_INT16, stack(), chunk);
                H5Tclose(half);
            }
            const auto source = format::open_frames(path);
            EXPECT_EQ(source->header().sample, Sample::f16);
            EXPECT_TRUE(holds_pattern(*source)) << big << chunk.size();
        }
    }
}

TEST_F(Hdf5Frames, of_booleans_are_read_as_zeros_and_ones) {
    std::vector<std::int8_t> values;
    for (int i = 0; i < 2 * 3 * 4; ++i)
        values.push_back(i % 3 == 0);
    {
        Hdf5File file(path);
        const hid_t boolean = H5Tenum_create(H5T_STD_I8LE);
        for (const auto& [name, value] : {std::pair("FALSE", std::int8_t{0}), {"TRUE", 1}})
            H5Tenum_insert(boolean, name, &value);
        file.dataset("/mask", {2, 3, 4}, boolean, boolean, values, {1, 2, 3});
        H5Tclose(boolean);
    }
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().sample, Sample::u8);
    for (std::int64_t frame = 0; frame < 2; ++frame) {
        EXPECT_EQ(read_frame(*source, frame), std::vector<float>(values.begin() + frame * 12,
                                                                 values.begin() + frame * 12 + 12));
    }
}

TEST_F(Hdf5Frames, are_read_from_the_largest_or_the_named_dataset) {
    {
        Hdf5File file(path);
        file.dataset("/a/small", {7, 13}, H5T_STD_U8LE, H5T_NATIVE_INT16, stack());
        file.dataset("/b/large", sides, H5T_STD_I64BE, H5T_NATIVE_INT16, stack());
        file.dataset("/line", {5}, H5T_STD_U8LE, H5T_NATIVE_INT16, stack());
    }
    const auto largest = format::open_frames(path);
    EXPECT_EQ(remarks(*largest), "/b/large is read; the file also contains /a/small");
    EXPECT_EQ(largest->header().sample, Sample::i64);
    EXPECT_TRUE(holds_pattern(*largest));
    EXPECT_EQ(format::open_frames(path + "::/a/small")->header().frames, 1);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path + "::a/small")));
    refuses("has no dataset /c", "::/c");
    refuses("dataset /line has 1 axes and its elements are u8, expected at least two", "::/line");
}

TEST_F(Hdf5Frames, in_invalid_or_empty_hdf5_files_are_refused) {
    fill_file(path, "not HDF5");
    refuses("cannot be read as HDF5: ");
    { const Hdf5File empty(path); }
    refuses("has no dataset of integers or floats with two or more axes");
    const std::string whole = content(path);
    fill_file(path, whole.substr(0, whole.size() - 100));
    refuses("cannot be read as HDF5: ");
}

TEST_F(Hdf5Frames, in_a_truncated_file_are_refused_unless_all_are_present) {
    hdf5_seeds().front().make(path);
    const std::string whole = content(path);
    int refused = 0, tried = 0;
    for (std::size_t length = 0; length < whole.size(); length += 97, ++tried) {
        fill_file(path, whole.substr(0, length));
        refused += failure([&] {
                       const auto source = format::open_frames(path);
                       read_frame(*source, 1);
                   }).starts_with(path + ": cannot be read as HDF5");
    }
    EXPECT_EQ(refused, tried);
}

} // namespace
} // namespace sextant::test
