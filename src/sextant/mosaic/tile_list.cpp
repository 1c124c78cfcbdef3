// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/tile_list.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace sextant::mosaic {

namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A line of a list, with its number for messages.
class Line {
  public:
    Line(const std::string& path, std::string_view text, std::int64_t number)
        : path_(path), text_(text), number_(number) {}

    std::string_view text() const { return text_; }
    [[noreturn]] void refuse(std::string_view expected) const {
        throw InvalidFile(path_, fmt::format("line {}: \"{}\": expected {}", number_,
                                             printable(shortened(text_)), expected));
    }
    template <class Number>
    Number number(std::string_view text, std::string_view expected) const {
        const auto parsed = parsed_number<Number>(trimmed(text));
        if (!parsed)
            refuse(expected);
        return *parsed;
    }

  private:
    const std::string& path_;
    std::string_view text_;
    std::int64_t number_;
};

/// Calls `body` with each line of a file that is neither empty nor a comment.
void for_each_line(const std::string& path, const std::function<void(const Line&)>& body) {
    constexpr Bytes most = Bytes{1} << 28;
    const std::string text = read_text(path, most);
    std::int64_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
        ++number;
        if (!line.empty() && line.front() != '#')
            body(Line(path, line, number));
        at = end + 1;
    }
}

/// The tiles of a list, each of which is listed once.
class Tiles {
  public:
    explicit Tiles(const std::string& path) : path_(path) {}

    void add(const Line& line, ListedTile tile) {
        if (tile.file.empty())
            line.refuse("the name of a file");
        if (!seen_.emplace(tile.file, tile.frame, tile.cycle, tile.channel).second)
            line.refuse("a tile that is not listed before");
        if (tiles_.size() == most_tiles)
            line.refuse(fmt::format("at most {} tiles", most_tiles));
        tiles_.push_back(std::move(tile));
    }

    std::vector<ListedTile> all() && {
        if (tiles_.empty())
            throw InvalidFile(path_, "lists no tiles");
        return std::move(tiles_);
    }

  private:
    const std::string& path_;
    std::vector<ListedTile> tiles_;
    std::set<std::tuple<std::string, std::int64_t, int, int>> seen_;
};

/// Splits a line of a table at commas that are not in quotes. Two quotes are a quote.
std::vector<std::string> values_of(const Line& line) {
    std::vector<std::string> values(1);
    bool quoted = false;
    const std::string_view text = line.text();
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
            values.back() += text[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            values.emplace_back();
        else
            values.back() += c;
    }
    if (quoted)
        line.refuse("a quote at the end of the value");
    for (std::string& value : values)
        value = trimmed(value);
    return values;
}

} // namespace

std::vector<ListedTile> read_tile_configuration(const std::string& path) {
    Tiles tiles(path);
    bool has_dimensions = false;
    for_each_line(path, [&](const Line& line) {
        const std::string_view text = line.text();
        if (const auto equals = text.find('='); text.find(';') == std::string_view::npos) {
            const std::string_view name = trimmed(text.substr(0, equals));
            if (equals == std::string_view::npos || (name != "dim" && name != "multiseries"))
                line.refuse("\"dim = 2\" or \"file; series; (x, y)\"");
            if (name == "dim" && trimmed(text.substr(equals + 1)) != "2")
                line.refuse("\"dim = 2\": planes of a volume are not supported");
            has_dimensions |= name == "dim";
            return;
        }
        constexpr std::string_view expected = "\"file; series; (x, y)\"";
        if (!has_dimensions)
            line.refuse("\"dim = 2\" before the first tile");
        const auto last = text.rfind(';'), before = text.rfind(';', last - 1);
        const auto open = text.find('(', last), comma = text.find(',', last);
        if (before == std::string_view::npos || before == last || open == std::string_view::npos ||
            comma == std::string_view::npos || comma < open || text.back() != ')')
            line.refuse(expected);
        ListedTile tile;
        tile.file = trimmed(text.substr(0, before));
        if (const auto series = trimmed(text.substr(before + 1, last - before - 1));
            !series.empty())
            tile.frame = line.number<std::int64_t>(series, "the number of a series");
        if (tile.frame < 0)
            line.refuse("the number of a series");
        tile.at.x = line.number<double>(text.substr(open + 1, comma - open - 1), expected);
        tile.at.y = line.number<double>(text.substr(comma + 1, text.size() - comma - 2), expected);
        tiles.add(line, std::move(tile));
    });
    return std::move(tiles).all();
}

std::string tile_configuration(std::span<const ListedTile> tiles) {
    std::string text = "# Positions of tiles, in pixels\ndim = 2\n\n";
    const bool series =
        std::ranges::any_of(tiles, [](const ListedTile& tile) { return tile.frame != 0; });
    if (series)
        text += "multiseries = true\n";
    for (const ListedTile& tile : tiles) {
        text += fmt::format("{}; {}; ({}, {})\n", tile.file,
                            series ? std::to_string(tile.frame) : "", tile.at.x, tile.at.y);
    }
    return text;
}

std::vector<ListedTile> read_tile_table(const std::string& path) {
    Tiles tiles(path);
    std::map<std::string, std::size_t, std::less<>> columns;
    for_each_line(path, [&](const Line& line) {
        const std::vector<std::string> values = values_of(line);
        if (columns.empty()) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (!columns.emplace(values[i], i).second)
                    line.refuse("different names of columns");
            }
            for (const char* const name : {"file", "x", "y"}) {
                if (!columns.contains(name))
                    line.refuse("the names of the columns, with \"file\", \"x\" and \"y\"");
            }
            return;
        }
        if (values.size() != columns.size())
            line.refuse(fmt::format("{} values", columns.size()));
        const auto whole = [&](std::string_view name) -> std::int64_t {
            const auto found = columns.find(name);
            if (found == columns.end())
                return 0;
            constexpr std::int64_t most = 1'000'000'000;
            const std::string expected =
                fmt::format("a whole number from 0 to {} in the column \"{}\"", most, name);
            const auto number = line.number<std::int64_t>(values[found->second], expected);
            if (number < 0 || number > most)
                line.refuse(expected);
            return number;
        };
        const auto position = [&](const char* name) {
            return line.number<double>(values[columns.at(name)],
                                       fmt::format("a number in the column \"{}\"", name));
        };
        tiles.add(line, {values[columns.at("file")],
                         whole("frame"),
                         static_cast<int>(whole("cycle")),
                         static_cast<int>(whole("channel")),
                         {position("x"), position("y")}});
    });
    return std::move(tiles).all();
}

std::vector<Point> grid_positions(int columns, int rows, const GridOrder& order, ImageShape tile,
                                  double overlap) {
    if (columns < 1 || rows < 1 ||
        static_cast<std::size_t>(columns) > most_tiles / static_cast<std::size_t>(rows))
        throw InvalidTask(fmt::format("a grid of {}x{} tiles: expected one column and row or more, "
                                      "and at most {} tiles",
                                      columns, rows, most_tiles));
    if (!(overlap >= 0 && overlap < 1))
        throw InvalidTask(
            fmt::format("an overlap of {:g}: expected a fraction of a tile, from 0 to 1", overlap));
    const double width = static_cast<double>(tile.width) * (1 - overlap),
                 height = static_cast<double>(tile.height) * (1 - overlap);
    const int lines = order.columns ? columns : rows, each = order.columns ? rows : columns;
    std::vector<Point> positions;
    for (int line = 0; line < lines; ++line) {
        for (int i = 0; i < each; ++i) {
            const int along = order.snake && line % 2 == 1 ? each - 1 - i : i;
            int column = order.columns ? line : along, row = order.columns ? along : line;
            column = order.from_right ? columns - 1 - column : column;
            row = order.from_bottom ? rows - 1 - row : row;
            positions.push_back({column * width, row * height});
        }
    }
    return positions;
}

bool TilePattern::is_pattern(std::string_view text) {
    const auto open = text.find('{');
    return open != std::string_view::npos && text.find('}', open) != std::string_view::npos;
}

TilePattern::TilePattern(std::string_view pattern) : pieces_{{FieldKind::none, ""}} {
    constexpr std::array<std::pair<std::string_view, FieldKind>, 4> fields = {
        {{"r", FieldKind::row},
         {"c", FieldKind::column},
         {"cycle", FieldKind::cycle},
         {"channel", FieldKind::channel}}};
    const auto refuse = [&](std::string_view why) {
        throw InvalidTask(
            fmt::format("the pattern \"{}\": {}", printable(shortened(pattern)), why));
    };
    for (std::size_t at = 0; at < pattern.size();) {
        const std::size_t open = std::min(pattern.find('{', at), pattern.size());
        pieces_.back().text += pattern.substr(at, open - at);
        if (open == pattern.size())
            break;
        const std::size_t close = pattern.find('}', open);
        if (close == std::string_view::npos)
            refuse("a brace is not closed");
        const std::string_view name = pattern.substr(open + 1, close - open - 1);
        const auto* const known =
            std::ranges::find(fields, name, &std::pair<std::string_view, FieldKind>::first);
        if (known == fields.end())
            refuse("expected {r}, {c}, {cycle} or {channel} in braces");
        if (std::ranges::find(pieces_, known->second, &Piece::field) != pieces_.end())
            refuse("a field occurs twice");
        if (pieces_.size() > 1 && pieces_.back().text.empty())
            refuse("two fields without text between them");
        pieces_.push_back({known->second, ""});
        at = close + 1;
    }
    for (const FieldKind needed : {FieldKind::row, FieldKind::column}) {
        if (std::ranges::find(pieces_, needed, &Piece::field) == pieces_.end())
            refuse("expected {r} for the row and {c} for the column");
    }
}

bool TilePattern::matches(std::string_view name, PatternNumbers& numbers) const {
    PatternNumbers found;
    for (const Piece& piece : pieces_) {
        if (piece.field != FieldKind::none) {
            const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
            constexpr std::size_t most_digits = 9;
            if (digits == 0 || digits > most_digits)
                return false;
            const int number = *parsed_number<int>(name.substr(0, digits));
            name.remove_prefix(digits);
            if (piece.field == FieldKind::row)
                found.row = number;
            else if (piece.field == FieldKind::column)
                found.column = number;
            else if (piece.field == FieldKind::cycle)
                found.cycle = number;
            else
                found.channel = number;
        }
        if (!name.starts_with(piece.text))
            return false;
        name.remove_prefix(piece.text.size());
    }
    if (!name.empty())
        return false;
    numbers = found;
    return true;
}

} // namespace sextant::mosaic
