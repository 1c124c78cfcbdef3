// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/table.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text_file.hpp"
#include "sextant/machine/shared_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::reproduce {

namespace {

constexpr std::array<std::string_view, 1> endings{".csv"};
constexpr machine::SharedFolder tables{"table", "data/papers", endings};

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char letter : line) {
        if (letter == ',')
            cells.emplace_back();
        else if (letter != '\r')
            cells.back() += letter;
    }
    return cells;
}

} // namespace

Table::Table(const std::string& name) : path_(machine::shared_file(tables, name)) {
    std::istringstream lines(read_text(path_, 1 << 20));
    std::string line;
    while (std::getline(lines, line)) {
        cells_.push_back(cells_of(line));
        if (cells_.back().size() != cells_.front().size()) {
            throw InvalidFile(path_, fmt::format("line {} has {} cells, expected {}", cells_.size(),
                                                 cells_.back().size(), cells_.front().size()));
        }
    }
    if (cells_.empty())
        throw InvalidFile(path_, "is empty");
}

const std::string& Table::text(std::size_t row, std::string_view column) const {
    const auto found = std::find(columns().begin(), columns().end(), column);
    if (found == columns().end())
        throw InvalidFile(path_, fmt::format("has no column '{}'", column));
    return cells_.at(row + 1)[static_cast<std::size_t>(found - columns().begin())];
}

std::optional<double> Table::number(std::size_t row, std::string_view column) const {
    const std::string& cell = text(row, column);
    if (cell.empty())
        return std::nullopt;
    double number = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    if (error != std::errc() || end != cell.data() + cell.size())
        throw InvalidFile(path_, fmt::format("{} is '{}', expected a number", column, cell));
    return number;
}

std::size_t Table::row_of(std::string_view first) const {
    for (std::size_t row = 0; row < rows(); ++row) {
        if (cells_[row + 1].front() == first)
            return row;
    }
    throw InvalidFile(path_, fmt::format("has no row '{}'", first));
}

} // namespace sextant::reproduce
