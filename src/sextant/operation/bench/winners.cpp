// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/winners.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using Cell = report::WinnerMap::Cell;

/// Whether early rounds of these radices stay within nodes of so many ranks, and take all of each.
bool fills_nodes(const std::string& radices, int ranks_a_node) {
    std::istringstream numbers(radices);
    int joined = 1;
    for (std::string radix; joined < ranks_a_node && std::getline(numbers, radix, ',');)
        joined *= std::stoi(radix);
    return ranks_a_node > 1 && joined == ranks_a_node;
}

/// The algorithm that a way is, whatever it is called.
std::string algorithm_of(const std::string& way, int ranks_a_node) {
    const std::string radix = "radix-k, radices ";
    if (!way.starts_with(radix))
        return way.substr(0, way.find(','));
    const std::string radices = way.substr(radix.size());
    if (radices.find(',') == std::string::npos)
        return "direct-send";
    if (radices.find_first_not_of("2,") == std::string::npos)
        return "binary-swap";
    return fills_nodes(radices, ranks_a_node) ? "hierarchical radix-k" : "radix-k";
}

/// Of a simulated machine: nodes are filled one after another. 1 where all are on one, or unknown.
int ranks_a_node(const Evaluation& evaluation) {
    const bool known = evaluation.transport == "simulated" && evaluation.ranks > evaluation.cores;
    return known ? evaluation.cores : 1;
}

/// The tuning where it says something, and how far the next algorithm is.
Cell cell_of(const EvaluatedCase& one, int ranks_a_node) {
    std::map<std::string, Seconds> best;
    const EvaluatedWay* winner = nullptr;
    for (const EvaluatedWay& way : one.ways) {
        if (way.baseline)
            continue;
        const Seconds seconds = median(way.measured);
        const auto [at, added] = best.try_emplace(algorithm_of(way.name, ranks_a_node), seconds);
        at->second = std::min(at->second, seconds);
        if (!winner || seconds < median(winner->measured))
            winner = &way;
    }
    Cell cell{algorithm_of(winner->name, ranks_a_node), ""};
    if (cell.winner.ends_with("radix-k"))
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
            found[evaluation.ranks][one.what.shape.elements()] =
                cell_of(one, ranks_a_node(evaluation));
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
