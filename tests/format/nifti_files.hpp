// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/format/frames.hpp"

namespace sextant::test {

/// The fields of a NIfTI file, written independently of the code under test. Axes are in the order
/// of the file: columns, rows, slices, times, channels.
struct NiftiFile {
    int version = 1;
    std::endian order = std::endian::little;
    std::vector<std::int64_t> dim{3, 13, 7, 3, 1, 1, 1, 1}; ///< the number of axes, then lengths
    int type = 4, bits = 16;
    std::vector<double> spacing{-1, .5, .25, 2, 3, 0, 0, 0};
    int units = 2 | 8; ///< mm and s
    double start = version == 1 ? 352 : 544;
    double slope = 0, shift = 0;
    std::string magic = version == 1 ? std::string("n+1\0", 4) : std::string("n+2\0\r\n\x1a\n", 8);
    std::int32_t size = version == 1 ? 348 : 540;
    int quaternion_code = 1, matrix_code = 2;

    std::string bytes(const std::string& samples) const {
        const std::vector<double> numbers{.1, .2, .3, 4, 5, 6};
        const std::vector<double> rows{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
        Bytewise file(order);
        file.put<std::int32_t>(size);
        if (version == 1) {
            file.fill_to(40);
            for (const std::int64_t length : dim)
                file.put<std::int16_t>(static_cast<std::int16_t>(length));
            file.fill_to(70).put<std::int16_t>(static_cast<std::int16_t>(type));
            file.put<std::int16_t>(static_cast<std::int16_t>(bits)).fill_to(76);
            file.put_all(std::vector<float>(spacing.begin(), spacing.end()));
            file.put<float>(static_cast<float>(start));
            file.put<float>(static_cast<float>(slope)).put<float>(static_cast<float>(shift));
            file.fill_to(123).put<std::uint8_t>(static_cast<std::uint8_t>(units)).fill_to(252);
            file.put<std::int16_t>(static_cast<std::int16_t>(quaternion_code));
            file.put<std::int16_t>(static_cast<std::int16_t>(matrix_code));
            file.put_all(std::vector<float>(numbers.begin(), numbers.end()));
            file.put_all(std::vector<float>(rows.begin(), rows.end()));
            file.fill_to(344).text(magic);
        } else {
            file.text(magic).put<std::int16_t>(static_cast<std::int16_t>(type));
            file.put<std::int16_t>(static_cast<std::int16_t>(bits)).put_all(dim).fill_to(104);
            file.put_all(spacing).put<std::int64_t>(static_cast<std::int64_t>(start));
            file.put<double>(slope).put<double>(shift).fill_to(344);
            file.put<std::int32_t>(quaternion_code).put<std::int32_t>(matrix_code);
            file.put_all(numbers).put_all(rows).fill_to(500).put<std::int32_t>(units).fill_to(540);
        }
        const bool sensible = start > 0 && start < 1e4;
        return file.fill_to(sensible ? static_cast<std::size_t>(start) : 352).text(samples).bytes();
    }
};

} // namespace sextant::test
