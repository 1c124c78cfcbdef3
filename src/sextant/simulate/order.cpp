// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/order.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text_file.hpp"

#include <set>
#include <sstream>

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

constexpr Bytes most_bytes = Bytes{64} << 20;

} // namespace

std::vector<OrderedHost> read_order(const std::string& path) {
    std::istringstream lines(read_text(path, most_bytes));
    std::vector<OrderedHost> order;
    std::set<std::string> seen;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string host, more;
        if (!(words >> host))
            continue;
        if (words >> more)
            throw InvalidFile(path, fmt::format("line {} has '{}' after '{}', expected one host a "
                                                "line",
                                                number, more, host));
        if (!seen.insert(host).second)
            throw InvalidFile(path, fmt::format("line {} names '{}' again, expected each host once",
                                                number, host));
        order.push_back({host, fmt::format("{}: line {}", path, number)});
    }
    if (order.empty())
        throw InvalidFile(path, "names no host");
    return order;
}

} // namespace sextant::simulate
