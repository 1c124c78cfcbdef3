// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::reproduce {

/// A table of numbers that a paper prints: a heading and rows, in a CSV file of data/papers.
class Table {
  public:
    /// Throws InvalidTask where there is no such table, InvalidFile where a row has not as many
    /// cells as the heading.
    explicit Table(const std::string& name);

    const std::vector<std::string>& columns() const { return cells_.front(); }
    std::size_t rows() const { return cells_.size() - 1; }
    const std::string& text(std::size_t row, std::string_view column) const;
    /// Empty where the paper leaves the cell empty. Throws InvalidFile for what is no number.
    std::optional<double> number(std::size_t row, std::string_view column) const;
    /// The row whose first cell this is. Throws InvalidFile.
    std::size_t row_of(std::string_view first) const;

  private:
    std::string path_;
    std::vector<std::vector<std::string>> cells_; ///< the heading first
};

} // namespace sextant::reproduce
