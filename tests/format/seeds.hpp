// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/format/fixtures.hpp"
#include "tests/format/hdf5_files.hpp"
#include "tests/format/jpeg_files.hpp"
#include "tests/format/nifti_files.hpp"
#include "tests/format/tiff_bytes.hpp"
#include "tests/format/zarr_files.hpp"

namespace sextant::test {

/// A small valid file of frames, to be damaged; of a folder, one of its files.
struct Seed {
    std::string name, detail;
    std::function<void(const std::string& path)> make;
    std::string file = {};
};

inline std::vector<Seed> seeds() {
    constexpr auto little = std::endian::little;
    const ImageShape shape{13, 7};
    const auto of = [](const std::string& bytes) {
        return [bytes](const std::string& path) { std::ofstream(path, std::ios::binary) << bytes; };
    };
    const auto by_sink = [](Sample sample, std::int64_t frames) {
        return [=](const std::string& path) {
            write_pattern(path, {frames, {37, 21}, sample, 1, {.5, .5, "nm"}, {}});
        };
    };
    const auto by_jpeg = [](int channels, bool progressive) {
        return [=](const std::string& path) {
            const std::size_t samples = 37 * 21 * static_cast<std::size_t>(channels);
            write_jpeg(path, 37, 21, channels, std::vector<unsigned char>(samples, 99),
                       progressive);
        };
    };
    TiffBytes hyperstack(std::endian::big, false);
    for (std::int64_t page = 0; page < 4; ++page) {
        hyperstack.add({.shape = shape,
                        .bits = 8,
                        .description = page == 0 ? "ImageJ=1.53t\nimages=4\nchannels=2\nframes=2\n"
                                                   "finterval=.5\nunit=\\u00B5m\n"
                                                 : ""},
                       pattern_bytes<std::uint8_t>(page, shape));
    }
    TiffBytes instruments(std::endian::little, false);
    instruments.add({.shape = shape,
                     .bits = 8,
                     .description = "[Scaling],ScalingXUnit=\"nm\",ScalingXScalingFile=\"#8,13\","
                                    "ScalingYScale=2,ScalingYUnit=\"nm\"",
                     .tags = {TiffBytes::text(271, "JEOL Ltd."), TiffBytes::text(305, "HPD-TA"),
                              TiffBytes::text(34118, "0\n0\n0\n5e-9\n"),
                              TiffBytes::text(34682, "[Scan]\nPixelWidth=1e-9\nPixelHeight=1e-9\n"),
                              TiffBytes::text(65003, "nm"), TiffBytes::text(65004, "nm"),
                              instruments.number(65009, .5), instruments.number(65010, .5)}},
                    pattern_bytes<std::uint8_t>(0, shape));
    const std::string i16 = stack_bytes<std::int16_t>(2, shape, little);
    return {
        {"strips.tif", "", by_sink(Sample::u16, 3)},
        {"labels.tif", "", by_sink(Sample::u32, 2)},
        {"hyperstack.tif", "", of(hyperstack.bytes())},
        {"tiles.tif", "", of(tiled_stack<float>(2, {37, 21}, 16))},
        {"instruments.tif", "", of(instruments.bytes())},
        {"a.mrc", "", of(mrc_bytes(1, 2, shape, little, i16))},
        {"half.mrc", "", of(mrc_bytes(101, 4, shape, little, i16))},
        {"a.mrc.gz", "", of(deflated(mrc_bytes(1, 2, shape, little, i16), true))},
        {"half.mrc.bz2", "", of(by_bzip2(mrc_bytes(101, 4, shape, little, i16)))},
        {"a.npy", "", of(npy_bytes("<i2", false, "2, 7, 13", i16))},
        {"fortran.npy", "", of(npy_bytes("<i2", true, "2, 7, 13", i16))},
        {"a.ser", "", of(ser_bytes(false, {shape, shape}, 2))},
        {"wide.ser", "", of(ser_bytes(true, {shape, shape}, 2))},
        {"a.dm3", "", of(DmBytes(3, little).stack(2, shape))},
        {"a.dm4", "", of(DmBytes(4, std::endian::big).stack(2, shape))},
        {"a.png", "", by_sink(Sample::u16, 1)},
        {"a.jpg", "", by_jpeg(1, false)},
        {"progressive.jpg", "", by_jpeg(3, true)},
        {"a.raw", "::13x7,u16", of(i16)},
        {"a.nii", "", of(NiftiFile{.dim = {4, 13, 7, 1, 2, 1, 1, 1}, .slope = 2}.bytes(i16))},
        {"a.nii.gz", "",
         of(deflated(NiftiFile{.version = 2, .dim = {3, 13, 7, 2, 1, 1, 1, 1}}.bytes(i16), true))},
        {"written.nii.gz", "", by_sink(Sample::u32, 3)},
    };
}

/// Small valid HDF5 files, which are read with the HDF5 library.
inline std::vector<Seed> hdf5_seeds() {
    const auto write = [](const std::string& path) {
        Hdf5File file(path);
        const std::vector<hsize_t> sides{2, 7, 13};
        const std::vector<std::int16_t> values(2 * 7 * 13, 5);
        file.dataset("/data/a/data", sides, H5T_STD_I16LE, H5T_NATIVE_INT16, values, {1, 4, 5});
        file.number("/data/a", "emd_group_type", 1);
        file.dataset("/data/a/dim3", {2}, H5T_STD_I16LE, H5T_NATIVE_INT16, values);
        file.text("/data/a/dim3", "units", "nm", true);
    };
    return {{"a.h5", "", write}};
}

} // namespace sextant::test
