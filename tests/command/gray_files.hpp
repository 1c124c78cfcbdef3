// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "tests/format/temporary_folder.hpp"
#include <fmt/format.h>

namespace sextant::test {

/// Writes bytes, row by row, to a NumPy file; returns its path. With `planes`, the rows are those
/// of a volume, plane by plane.
inline std::string gray_file(const TemporaryFolder& folder, const std::string& name,
                             ImageShape shape, std::span<const std::uint8_t> samples,
                             Elements planes = 0) {
    std::string path = folder.path(name);
    std::ofstream file(path, std::ios::binary);
    std::string header =
        fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}{}, {}), }}",
                    planes ? fmt::format("{}, ", planes) : "",
                    shape.height / std::max<Elements>(planes, 1), shape.width);
    header.resize(117, ' ');
    file << "\x93NUMPY" << '\1' << '\0' << 'v' << '\0' << header << '\n';
    file.write(reinterpret_cast<const char*>(samples.data()),
               static_cast<std::streamsize>(samples.size()));
    return path;
}

/// An image of bands that meander downward, with many edges of all lengths.
inline std::vector<std::uint8_t> waves(ImageShape shape) {
    std::vector<std::uint8_t> samples;
    for (Elements i = 0; i < shape.elements(); ++i) {
        const auto x = static_cast<double>(i % shape.width);
        const auto y = static_cast<double>(i / shape.width);
        samples.push_back(static_cast<std::uint8_t>(
            128 + 60 * std::sin(x / 9 + 4 * std::sin(y / 23)) + 50 * std::sin(y / 31 + x / 140)));
    }
    return samples;
}

} // namespace sextant::test
