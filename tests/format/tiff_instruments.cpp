// SPDX-License-Identifier: BSD-3-Clause
// Pixel sizes that the software of instruments writes into TIFF files.
#include <memory>
#include <string>
#include <vector>

#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/tiff_bytes.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

const ImageShape shape{16, 7};

class TiffOfInstruments : public testing::TestWithParam<std::endian> {
  protected:
    std::unique_ptr<FrameSource> open(TiffBytes::Page page, int pages = 1, bool big = false) {
        page.shape = shape;
        TiffBytes file(GetParam(), big);
        for (int i = 0; i < pages; ++i)
            file.add(page, pattern_bytes<std::uint16_t>(i, shape, GetParam()));
        const std::string path = folder.path("a.tif");
        fill_file(path, file.bytes());
        return format::open_frames(path);
    }
    PixelSize pixel(const TiffBytes::Page& page) { return open(page)->header().pixel; }
    TiffBytes::Tag number(std::uint16_t tag, double value) const {
        return TiffBytes(GetParam(), false).number(tag, value);
    }
    TiffBytes::Tag float_number(std::uint16_t tag, float value) const {
        return {tag, 11, 1, Bytewise(GetParam()).put<float>(value).bytes()};
    }
    /// Near enough, since some formulas divide in another order.
    static void expect_near(const PixelSize& found, const PixelSize& expected) {
        EXPECT_NEAR(found.x / expected.x, 1, 1e-6) << found.x;
        EXPECT_NEAR(found.y / expected.y, 1, 1e-6) << found.y;
        EXPECT_EQ(found.unit, expected.unit);
    }
    TemporaryFolder folder;
};

TEST_P(TiffOfInstruments, from_digital_micrograph_have_steps_and_units_in_private_tags) {
    for (const bool big : {false, true}) {
        const auto source =
            open({.description = " ",
                  .pixels_per_unit = 72, // for printing
                  .resolution_unit = 2,
                  .tags = {TiffBytes::text(65003, "\xb5m"), TiffBytes::text(65004, "\xb5m"),
                           TiffBytes::text(65005, "s"), number(65009, .25), float_number(65010, .5),
                           number(65011, 2.5)}},
                 3, big);
        EXPECT_EQ(source->header().pixel, (PixelSize{.25, .5, "µm"}));
        EXPECT_EQ(source->header().frame_interval, 2.5);
        EXPECT_EQ(source->header().frames, 3);
        EXPECT_TRUE(holds_pattern(*source));
    }
    EXPECT_FALSE(pixel({.tags = {number(65009, 1), number(65010, 1)}}).known()) << "no unit";
    EXPECT_FALSE(pixel({.tags = {TiffBytes::text(65003, "nm"), TiffBytes::text(65004, "nm"),
                                 TiffBytes::text(65009, "one"), number(65010, 1)}})
                     .known())
        << "a step of another type";
}

TEST_P(TiffOfInstruments, from_fei_have_a_section_of_the_scan) {
    const auto text = [](const std::string& width, const std::string& section) {
        return "[User]\r\nPixelWidth=7\r\n\r\n[" + section + "]\r\nPixelWidth=" + width +
               "\r\nPixelHeight=2.5e-009\r\n[Image]\r\nResolutionX=8\r\nResolutionY=4\r\n";
    };
    for (const std::uint16_t tag : {std::uint16_t{34682}, std::uint16_t{34680}}) {
        EXPECT_EQ(pixel({.tags = {TiffBytes::text(tag, text("5e-009", "Scan"))}}),
                  (PixelSize{5e-9, 2.5e-9, "m"}));
        EXPECT_FALSE(pixel({.tags = {TiffBytes::text(tag, text("5e-009", "EScan"))}}).known());
        EXPECT_FALSE(pixel({.tags = {TiffBytes::text(tag, text("5,1e-009", "Scan"))}}).known());
        EXPECT_EQ(pixel({.tags = {TiffBytes::text(tag, text("", "Beam") +
                                                           "[IRBeam]\r\nHFW=.4\r\nVFW=.1\r\n")}}),
                  (PixelSize{.05, .025, "m"}));
    }
}

TEST_P(TiffOfInstruments, from_zeiss_have_the_size_of_a_pixel_of_1024_columns_in_the_fourth_line) {
    const std::string text = "0\r\n0\r\n0\r\n5e-009\r\n4.5e+003\r\n6\r\nAP_PIXEL_SIZE\r\n"
                             "Pixel Size = 9 nm\r\n";
    expect_near(pixel({.tags = {TiffBytes::text(34118, text)}}),
                {5e-9 * 1024 / 16, 5e-9 * 1024 / 16, "m"});
    EXPECT_FALSE(pixel({.tags = {TiffBytes::text(34118, "0\r\n0\r\n")}}).known());
}

TEST_P(TiffOfInstruments, from_jeol_have_a_magnification_or_a_camera_length) {
    const auto page = [](const std::string& mode, const std::string& eos, int resolution_unit) {
        return TiffBytes::Page{
            .description = fmt::format(
                "<?xml version=\"1.0\"?><TemReporter><Eos><EosMode>{}</EosMode></Eos>"
                "<ElectronGun><AccelerationVoltage>200000</AccelerationVoltage></ElectronGun>"
                "<ImageFormingSystem><ModeString>{}</ModeString><SelectorValue>400</SelectorValue>"
                "<SelectorUnitString>mm</SelectorUnitString></ImageFormingSystem></TemReporter>",
                eos, mode),
            .pixels_per_unit = 100,
            .y_pixels_per_unit = 200,
            .resolution_unit = resolution_unit,
            .tags = {TiffBytes::text(271, "JEOL Ltd.")}};
    };
    expect_near(pixel(page("MAG", "eosTEM", 3)), {250, 125, "nm"});
    expect_near(pixel(page("MAG", "eosTEM", 2)), {635, 317.5, "nm"});
    const double wavelength = .002507934; // in nm at 200 kV
    expect_near(pixel(page("DIFF", "eosTEM", 3)),
                {1e5 / (4e8 * wavelength), 5e4 / (4e8 * wavelength), "1/nm"});
    EXPECT_FALSE(pixel(page("MAG", "eosASID", 3)).known()) << "the size of the camera's pixels";
    EXPECT_FALSE(pixel(page("LOWMAG", "eosTEM", 3)).known());
}

TEST_P(TiffOfInstruments, from_hamamatsu_have_tables_of_coordinates) {
    const auto page = [&](const std::string& x_unit, const std::string& y_unit,
                          const std::string& position) {
        return TiffBytes::Page{
            .description = fmt::format(
                "[Application],Software=\"HPD-TA\"\r\n[Scaling],ScalingXType=2,ScalingXScale=1,"
                "ScalingXUnit=\"{0}\",ScalingXScalingFile=\"#{2},0016\",ScalingYScale=2,"
                "ScalingYUnit=\"{1}\",ScalingYScalingFile=\"Other\"[Comment],UserComment=\"\"",
                x_unit, y_unit, position),
            .tags = {TiffBytes::text(305, "HPD-TA 9.5 pf4")}};
    };
    // The samples of the first page are the table.
    TiffBytes file(GetParam(), false);
    Bytewise table(GetParam());
    for (int i = 0; i < 56; ++i)
        table.put<float>(200.F + .5F * static_cast<float>(i));
    TiffBytes::Page with_table = page("µm", "nm", "0008");
    with_table.shape = shape;
    file.add(with_table, table.bytes());
    const std::string path = folder.path("b.tif");
    fill_file(path, file.bytes());
    EXPECT_EQ(format::open_frames(path)->header().pixel, (PixelSize{.5, .002, "µm"}));

    const auto streak = open(page("nm", "ps", "0008"));
    EXPECT_FALSE(streak->header().pixel.known());
    EXPECT_THAT(remarks(*streak), HasSubstr(" nm along x and 2 ps along y"));
    for (const char* position : {"99999999999999", "18446744073709551615", "-1", "x"})
        EXPECT_FALSE(pixel(page("nm", "nm", position)).known()) << position;
    EXPECT_EQ(remarks(*open(page("", "", "0008"))), "");
    const auto without_unit = open(page("No unit", "No unit", "0008"));
    EXPECT_FALSE(without_unit->header().pixel.known());
    EXPECT_EQ(remarks(*without_unit), "");
}

TEST_P(TiffOfInstruments, without_a_size_have_that_of_the_description) {
    const auto described = [&](const std::vector<TiffBytes::Tag>& tags) {
        return pixel({.description = "ImageJ=1.53t\nunit=nm\n",
                      .pixels_per_unit = 2,
                      .resolution_unit = 1,
                      .tags = tags});
    };
    const PixelSize half{.5, .5, "nm"};
    EXPECT_EQ(described({TiffBytes::text(34682, "[User]\r\nName=a\r\n")}), half) << "FEI";
    EXPECT_EQ(described({TiffBytes::text(34118, "0\r\n0\r\n0\r\n0\r\n")}), half) << "Zeiss";
    EXPECT_EQ(described({number(65009, 1), number(65010, 1)}), half) << "uncalibrated";
    EXPECT_EQ(described({TiffBytes::text(65003, "pixels"), TiffBytes::text(65004, "pixels"),
                         number(65009, 1), number(65010, 1)}),
              half)
        << "uncalibrated, in pixels";
}

INSTANTIATE_TEST_SUITE_P(InBothByteOrders, TiffOfInstruments,
                         testing::Values(std::endian::little, std::endian::big),
                         [](const auto& test) {
                             return test.param == std::endian::little ? "little" : "big";
                         });

} // namespace
} // namespace sextant::test
