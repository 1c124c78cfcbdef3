// SPDX-License-Identifier: BSD-3-Clause
// Formats that state a unit for each axis: the pixel size has one unit, to which y is converted.
// What cannot be converted is not given the unit of x.
#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/format/fixtures.hpp"
#include "tests/format/hdf5_files.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/tiff_bytes.hpp"
#include "tests/format/zarr_files.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

const ImageShape shape{13, 7};

/// Writes an image whose pixels are 1 by 2 in these units.
using MakeImage = std::function<void(const std::string& path, const std::string& x_unit,
                                     const std::string& y_unit)>;

/// A unit in Latin-1, as in files of DigitalMicrograph.
std::string latin(const std::string& unit) {
    const std::size_t at = std::min(unit.find("Å"), unit.size());
    return at == unit.size() ? unit : fmt::format("{}\xc5", unit.substr(0, at));
}

void make_tiff(const std::string& path, const TiffBytes::Page& page) {
    TiffBytes file(std::endian::little, false);
    file.add(page, pattern_bytes<std::uint16_t>(0, page.shape));
    fill_file(path, file.bytes());
}

void make_dm(const std::string& path, int version, const std::string& x_unit,
             const std::string& y_unit) {
    DmBytes file(version, std::endian::little);
    file.scales = {1, 2, 1};
    file.units = {latin(x_unit), latin(y_unit), "s"};
    fill_file(path, file.stack(1, shape));
}

/// A dataset, and what `describe` adds to its file.
void make_hdf5(const std::string& path, const std::string& name, const std::vector<hsize_t>& sides,
               const std::function<void(Hdf5File&)>& describe) {
    Hdf5File file(path);
    file.dataset(name, sides, H5T_STD_I16LE, H5T_NATIVE_INT16,
                 pattern_frame<std::int16_t>(0, shape));
    describe(file);
}

/// A vector of positions along an axis.
void put_positions(Hdf5File& file, const std::string& name, double step, const std::string& unit) {
    file.dataset(name, {2}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, std::vector<double>{5, 5 + step});
    file.text(name, "units", unit, true);
}

struct UnitFormat {
    std::string name, file;
    MakeImage make;
};

std::vector<UnitFormat> unit_formats() {
    return {
        {"ImageJ", "a.tif",
         [](auto& path, auto& x_unit, auto& y_unit) {
             make_tiff(path, {.shape = shape,
                              .description = fmt::format("ImageJ=1.53t\nunit={}\n{}", x_unit,
                                                         y_unit.empty() ? "" : "yunit=" + y_unit),
                              .pixels_per_unit = 2,
                              .y_pixels_per_unit = 1,
                              .resolution_unit = 1});
         }},
        {"OME", "a.tif",
         [](auto& path, auto& x_unit, auto& y_unit) {
             make_tiff(
                 path,
                 {.shape = shape,
                  .description = fmt::format(
                      "<OME><Pixels SizeX=\"13\" PhysicalSizeX=\"1\" "
                      "PhysicalSizeXUnit=\"{}\" PhysicalSizeY=\"2\"{}></Pixels></OME>",
                      x_unit,
                      y_unit.empty() ? "" : fmt::format(" PhysicalSizeYUnit=\"{}\"", y_unit))});
         }},
        {"DigitalMicrographTiff", "a.tif",
         [](auto& path, auto& x_unit, auto& y_unit) {
             const TiffBytes numbers(std::endian::little, false);
             // Another program has described the file for ImageJ, which has one unit.
             make_tiff(path, {.shape = shape,
                              .description = "ImageJ=1.11a\nunit=nm\n",
                              .pixels_per_unit = 1,
                              .tags = {TiffBytes::text(65003, latin(x_unit)),
                                       TiffBytes::text(65004, latin(y_unit)),
                                       numbers.number(65009, 1), numbers.number(65010, 2)}});
         }},
        {"HamamatsuTiff", "a.tif",
         [](auto& path, auto& x_unit, auto& y_unit) {
             make_tiff(path,
                       {.shape = shape,
                        .description = fmt::format(
                            "[Application],Software=\"HPD-TA\"\r\n[Scaling],ScalingXType=1,"
                            "ScalingXScale=1,ScalingXUnit=\"{}\",ScalingXScalingFile=\"Other\","
                            "ScalingYScale=2,ScalingYUnit=\"{}\",ScalingYScalingFile=\"\"[Comment]",
                            x_unit, y_unit),
                        .tags = {TiffBytes::text(305, "HPD-TA 9.5")}});
         }},
        {"DM3", "a.dm3",
         [](auto& path, auto& x_unit, auto& y_unit) { make_dm(path, 3, x_unit, y_unit); }},
        {"DM4", "a.dm4",
         [](auto& path, auto& x_unit, auto& y_unit) { make_dm(path, 4, x_unit, y_unit); }},
        {"Velox", "a.emd",
         [](auto& path, auto& x_unit, auto& y_unit) {
             make_hdf5(path, "/Data/Image/0a/Data", {7, 13, 1}, [&](Hdf5File& file) {
                 std::string json = fmt::format(
                     R"({{"BinaryResult": {{"PixelSize": {{"width": "1", "height": "2"}},
                          "PixelUnitX": "{}", "PixelUnitY": "{}"}}}})",
                     x_unit, y_unit);
                 json.resize(300);
                 file.dataset("/Data/Image/0a/Metadata", {300, 1}, H5T_STD_U8LE, H5T_NATIVE_UINT8,
                              std::vector<std::uint8_t>(json.begin(), json.end()));
             });
         }},
        {"Berkeley", "a.emd",
         [](auto& path, auto& x_unit, auto& y_unit) {
             make_hdf5(path, "/data/a/data", {7, 13}, [&](Hdf5File& file) {
                 file.number("/data/a", "emd_group_type", 1);
                 put_positions(file, "/data/a/dim1", 2, fmt::format("[{}]", y_unit));
                 put_positions(file, "/data/a/dim2", 1, fmt::format("[{}]", x_unit));
             });
         }},
        {"HyperSpy", "a.hspy",
         [](auto& path, auto& x_unit, auto& y_unit) {
             make_hdf5(path, "/Experiments/a/data", {7, 13}, [&](Hdf5File& file) {
                 for (const int axis : {0, 1}) {
                     const std::string name = fmt::format("/Experiments/a/axis-{}", axis);
                     file.group(name);
                     file.number(name, "scale", 2 - axis);
                     file.text(name, "units", axis == 0 ? y_unit : x_unit, true);
                 }
             });
         }},
        {"NeXus", "a.nxs",
         [](auto& path, auto& x_unit, auto& y_unit) {
             make_hdf5(path, "/entry/counts", {7, 13}, [&](Hdf5File& file) {
                 file.text("/entry", "NX_class", "NXdata");
                 file.text("/entry", "signal", "counts");
                 file.texts("/entry", "axes", {"rows", "columns"});
                 put_positions(file, "/entry/rows", 2, y_unit);
                 put_positions(file, "/entry/columns", 1, x_unit);
             });
         }},
        {"OmeZarr", "a.zarr",
         [](auto& path, auto& x_unit, auto& y_unit) {
             write_zarr(path + "/0", {.sides = {7, 13}, .chunk = {4, 5}});
             put_file(path + "/.zgroup", R"({"zarr_format": 2})");
             put_file(path + "/.zattrs",
                      fmt::format(R"({{"multiscales": [{{"version": "0.4", "axes": [
                                  {{"name": "y", "type": "space", "unit": "{}"}},
                                  {{"name": "x", "type": "space", "unit": "{}"}}],
                                  "datasets": [{{"path": "0", "coordinateTransformations": [
                                  {{"type": "scale", "scale": [2, 1]}}]}}]}}]}})",
                                  y_unit, x_unit));
         }},
        {"HyperSpyZarr", "a.zspy",
         [](auto& path, auto& x_unit, auto& y_unit) {
             const std::string group = path + "/Experiments/a";
             write_zarr(group + "/data", {.sides = {7, 13}, .chunk = {4, 5}});
             for (const std::string& folder : {path, path + "/Experiments", group})
                 put_file(folder + "/.zgroup", R"({"zarr_format": 2})");
             for (const int axis : {0, 1}) {
                 const std::string folder = fmt::format("{}/axis-{}", group, axis);
                 put_file(folder + "/.zgroup", R"({"zarr_format": 2})");
                 put_file(folder + "/.zattrs", fmt::format(R"({{"scale": {}, "units": "{}"}})",
                                                           2 - axis, axis == 0 ? y_unit : x_unit));
             }
         }},
    };
}

class PixelUnits : public testing::TestWithParam<UnitFormat> {
  protected:
    FrameHeader opened(const std::string& x_unit, const std::string& y_unit) {
        const TemporaryFolder folder;
        const std::string path = folder.path(GetParam().file);
        GetParam().make(path, x_unit, y_unit);
        const PixelSize of_array = format::open_array(path, {}, 1 << 20)->header().pixel;
        const auto source = format::open_frames(path);
        EXPECT_EQ(source->header().pixel, of_array);
        EXPECT_TRUE(holds_pattern(*source));
        said = remarks(*source);
        return source->header();
    }
    void expect(const std::string& x_unit, const std::string& y_unit, double y) {
        const PixelSize pixel = opened(x_unit, y_unit).pixel;
        EXPECT_EQ(pixel.x, GetParam().name == "ImageJ" ? .5 : 1) << x_unit << ' ' << y_unit;
        EXPECT_DOUBLE_EQ(pixel.y, GetParam().name == "ImageJ" ? y / 2 : y);
        EXPECT_EQ(pixel.unit, x_unit);
        EXPECT_EQ(said, "");
    }
    std::string said;
};

TEST_P(PixelUnits, of_both_axes_are_converted_to_that_of_x) {
    expect("nm", "Å", .2);
    expect("Å", "nm", 20);
    expect("pm", "nm", 2000);
    expect("nm", "nm", 2);
    expect("1/nm", "1/Å", 20);
    expect("mrad", "rad", 2000);
}

TEST_P(PixelUnits, that_are_pixels_are_not_those_of_the_other_axis) {
    for (const auto& [x_unit, y_unit] : {std::pair("nm", "pixel"), {"pixel", "nm"}}) {
        EXPECT_FALSE(opened(x_unit, y_unit).pixel.known()) << x_unit;
        EXPECT_THAT(said, HasSubstr("(no unit) along ")) << x_unit;
    }
}

TEST(UnitsOfPixels, are_shown_in_one_spelling) {
    for (const auto& [stated, shown] : {std::pair("\u212B", "Å"),
                                        {"\xc5", "Å"},
                                        {"Å", "Å"},
                                        {"A", "Å"},
                                        {"\xb5m", "µm"},
                                        {"µm", "µm"},
                                        {"\u03BCm", "µm"},
                                        {"1/\xb5m", "1/µm"},
                                        {"[n_m^-1]", "1/nm"},
                                        {"\xb0", "deg"},
                                        {"°", "deg"},
                                        {"[]", ""},
                                        {"none", ""},
                                        {"nm⁻¹", "1/nm"},
                                        {"No unit", ""},
                                        {"meters", "m"},
                                        {"micrometre", "µm"},
                                        {"nanometers", "nm"},
                                        {"thermometer", "thermometer"}})
        EXPECT_EQ(format::tidy_unit(stated), shown);
}

TEST_P(PixelUnits, of_different_kinds_give_a_remark_and_no_pixel_size) {
    for (const auto& [x_unit, y_unit] :
         {std::pair("nm", "mrad"), {"mrad", "nm"}, {"nm", "1/nm"}, {"1/nm", "Å"}, {"nm", "eV"}}) {
        EXPECT_FALSE(opened(x_unit, y_unit).pixel.known()) << x_unit << ' ' << y_unit;
        EXPECT_THAT(said, HasSubstr(fmt::format(" {} along x and ", x_unit)));
        EXPECT_THAT(said,
                    HasSubstr(fmt::format(" {} along y; it is ignored, because the units cannot be "
                                          "converted",
                                          y_unit)));
    }
}

TEST_P(PixelUnits, of_one_axis_are_not_those_of_the_other) {
    const PixelSize pixel = opened("nm", "").pixel;
    if (GetParam().name == "ImageJ") {
        EXPECT_EQ(pixel, (PixelSize{.5, 1, "nm"})) << "that of x, unless another one is stated";
    } else {
        EXPECT_FALSE(pixel.known());
        EXPECT_THAT(said, HasSubstr("1 nm along x and 2 (no unit) along y"));
    }
}

INSTANTIATE_TEST_SUITE_P(OfEveryFormat, PixelUnits, testing::ValuesIn(unit_formats()),
                         [](const auto& test) { return test.param.name; });

} // namespace
} // namespace sextant::test
