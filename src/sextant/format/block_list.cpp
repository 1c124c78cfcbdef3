// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/block_list.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/core/units.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace sextant::format {

namespace {

std::string_view without_spaces(std::string_view text) {
    constexpr std::string_view spaces = " \t\r";
    const std::size_t first = text.find_first_not_of(spaces);
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(spaces) + 1 - first);
}

/// Splits a line of a CSV file at commas. A cell in double quotes may contain commas and doubled
/// quotes. Empty if a quote is not closed.
std::optional<std::vector<std::string>> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    while (true) {
        line = without_spaces(line);
        std::string cell;
        if (line.starts_with('"')) {
            for (line.remove_prefix(1);; line.remove_prefix(1)) {
                if (line.empty())
                    return std::nullopt;
                if (line.front() == '"') {
                    line.remove_prefix(1);
                    if (!line.starts_with('"'))
                        break;
                }
                cell += line.front();
            }
            line = without_spaces(line);
            if (!line.empty() && line.front() != ',')
                return std::nullopt;
        } else {
            const std::size_t end = std::min(line.find(','), line.size());
            cell = without_spaces(line.substr(0, end));
            line.remove_prefix(end);
        }
        cells.push_back(std::move(cell));
        if (line.empty())
            return cells;
        line.remove_prefix(1);
    }
}

/// The column numbers of the fields in a block list.
struct BlockColumns {
    std::size_t file = 0;
    std::array<std::optional<std::size_t>, 3> axes; // z, y, x
    std::size_t count = 0;
};

std::optional<BlockColumns> columns_of(const std::vector<std::string>& names) {
    const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
        const auto at = std::ranges::find(names, name);
        if (at == names.end())
            return std::nullopt;
        return static_cast<std::size_t>(at - names.begin());
    };
    const std::optional<std::size_t> file = find("file");
    const BlockColumns columns{file.value_or(0), {find("z"), find("y"), find("x")}, names.size()};
    const std::size_t expected = columns.axes[0] ? 4 : 3;
    if (!file || !columns.axes[1] || !columns.axes[2] || columns.count != expected)
        return std::nullopt;
    return columns;
}

} // namespace

bool is_block_list(const std::string& path) {
    return has_extension(path, ".csv");
}

BlockList read_block_list(const std::string& path) {
    constexpr Bytes longest = Bytes{1} << 28;
    const std::string content = read_text(path, longest);
    std::string_view rest = content;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (rest.starts_with(byte_order_mark))
        rest.remove_prefix(byte_order_mark.size());
    BlockList list;
    std::optional<BlockColumns> columns;
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (without_spaces(line).empty())
            continue;
        const auto refuse = [&](std::string_view expected) {
            throw InvalidFile(path, fmt::format("line {}: \"{}\", expected {}", number,
                                                shortened(without_spaces(line), 60), expected));
        };
        const std::optional<std::vector<std::string>> cells = cells_of(line);
        if (!columns) {
            columns = cells ? columns_of(*cells) : std::nullopt;
            if (!columns)
                refuse("the names of the columns: file,z,y,x, or for images file,y,x");
            list.of_images = !columns->axes[0];
            continue;
        }
        if (!cells || cells->size() != columns->count)
            refuse(list.of_images ? "a file, y and x" : "a file, z, y and x");
        constexpr std::size_t most_blocks = 1000000;
        if (list.blocks.size() == most_blocks)
            throw InvalidFile(path, fmt::format("has more than {} blocks", most_blocks));
        BlockFile block;
        if ((*cells)[columns->file].empty())
            refuse("the name of a file");
        block.file = (std::filesystem::path(path).parent_path() / (*cells)[columns->file]).string();
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (!columns->axes[axis])
                continue;
            const auto position = parsed_number<std::int64_t>((*cells)[*columns->axes[axis]]);
            if (!position || *position < 0)
                refuse(fmt::format("{} to be a whole number, 0 or more", "zyx"[axis]));
            block.position[axis] = *position;
        }
        list.blocks.push_back(std::move(block));
    }
    if (list.blocks.empty())
        throw InvalidFile(path,
                          "has no blocks, expected the line file,z,y,x and one line per block");
    return list;
}

} // namespace sextant::format
