// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/image_size.hpp"

#include "sextant/core/error.hpp"

#include <charconv>

#include <fmt/format.h>

namespace sextant::operation {

ImageSize image_size(std::string_view option, const std::string& text) {
    const char *at = text.data(), *const end = at + text.size();
    const auto side = [&] {
        std::int64_t number = 0;
        const auto [stop, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || number < 1 || number > 1 << 20)
            throw InvalidTask(fmt::format("--{} {}: expected WIDTHxHEIGHT, each from 1 to "
                                          "1048576",
                                          option, text));
        at = stop;
        return number;
    };
    const std::int64_t width = side();
    if (at == end)
        return {width, width};
    if (*at != 'x')
        throw InvalidTask(fmt::format("--{} {}: expected WIDTHxHEIGHT", option, text));
    ++at;
    const std::int64_t height = side();
    if (at != end)
        throw InvalidTask(fmt::format("--{} {}: expected WIDTHxHEIGHT", option, text));
    return {width, height};
}

} // namespace sextant::operation
