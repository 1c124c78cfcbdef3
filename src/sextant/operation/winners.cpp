// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/winners.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using Cell = report::WinnerMap::Cell;

/// The algorithm that a way is, whatever it is called.
std::string algorithm_of(const std::string& way) {
    const std::string radix = "radix-k, radices ";
    if (!way.starts_with(radix))
        return way.substr(0, way.find(','));
    const std::string radices = way.substr(radix.size());
    if (radices.find(',') == std::string::npos)
        return "direct-send";
    return radices.find_first_not_of("2,") == std::string::npos ? "binary-swap" : "radix-k";
}

/// The tuning where it says something, and how far the next algorithm is.
Cell cell_of(const EvaluatedCase& one) {
    std::map<std::string, Seconds> best;
    const EvaluatedWay* winner = nullptr;
    for (const EvaluatedWay& way : one.ways) {
        if (way.baseline)
            continue;
        const Seconds seconds = median(way.measured);
        const auto [at, added] = best.try_emplace(algorithm_of(way.name), seconds);
        at->second = std::min(at->second, seconds);
        if (!winner || seconds < median(winner->measured))
            winner = &way;
    }
    Cell cell{algorithm_of(winner->name), ""};
    if (cell.winner == "radix-k")
        cell.detail = winner->name.substr(winner->name.rfind(' ') + 1);
    const Seconds first = best.at(cell.winner);
    best.erase(cell.winner);
    const auto next = std::min_element(
        best.begin(), best.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (next != best.end()) {
        cell.detail += fmt::format("{}+{:.0f} % {}", cell.detail.empty() ? "" : "; ",
                                   100 * (next->second / first - 1), next->first);
    }
    return cell;
}

} // namespace

report::WinnerMap winners(std::span<const Evaluation> evaluations) {
    std::set<Elements> sizes;
    std::map<int, std::map<Elements, Cell>> found;
    for (const Evaluation& evaluation : evaluations) {
        if (evaluation.host != evaluations.front().host) {
            throw InvalidTask(fmt::format("a map is of one machine, these are of {} and {}",
                                          evaluations.front().host, evaluation.host));
        }
        for (const EvaluatedCase& one : evaluation.cases) {
            sizes.insert(one.what.shape.elements());
            found[evaluation.ranks][one.what.shape.elements()] = cell_of(one);
        }
    }
    report::WinnerMap map;
    map.title = "Who wins on " + evaluations.front().host;
    map.subtitle = "the fastest algorithm in its best tuning, and how much slower the next is";
    for (const Elements size : sizes)
        map.columns.push_back(fmt::format("{} pixels", size));
    for (const auto& [ranks, cells] : found) {
        map.rows.push_back(fmt::format("{} ranks", ranks));
        map.cells.emplace_back();
        for (const Elements size : sizes) {
            const auto at = cells.find(size);
            map.cells.back().push_back(at == cells.end() ? Cell{} : at->second);
        }
    }
    return map;
}

std::string to_markdown(const report::WinnerMap& map) {
    std::string text = "| " + map.title + " |", rule = "|---|";
    for (const std::string& column : map.columns) {
        text += fmt::format(" {} |", column);
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (std::size_t r = 0; r < map.rows.size(); ++r) {
        text += fmt::format("| {} |", map.rows[r]);
        for (const Cell& cell : map.cells[r]) {
            text += cell.detail.empty() ? fmt::format(" {} |", cell.winner)
                                        : fmt::format(" {} ({}) |", cell.winner, cell.detail);
        }
        text += "\n";
    }
    return text;
}

} // namespace sextant::operation
