// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/papers.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/forms.hpp"
#include "sextant/schedule/circuit.hpp"

#include <fmt/format.h>

namespace sextant::reproduce {

namespace {

Circuit circuit_of(const std::string& name, int ranks) {
    const scan::Algorithm& row = scan::find(name);
    const scan::Task task{ranks, 1, scan::forms_of(row).front()};
    return circuit(make_schedule(
        ranks, [&](int rank) { return scan::program(row, task, row.tunings().front(), rank); }));
}

/// Span and work for n inputs, n = 2^log, as published.
struct Published {
    const char* name;
    double (*span)(double n, double log);
    double (*work)(double n, double log);
};

constexpr Published circuits[] = {
    {"serial", [](double n, double) { return n - 1; }, [](double n, double) { return n - 1; }},
    {"kogge-stone", [](double, double log) { return log; },
     [](double n, double log) { return n * log - n + 1; }},
    {"sklansky", [](double, double log) { return log; },
     [](double n, double log) { return n / 2 * log; }},
    {"brent-kung", [](double, double log) { return 2 * log - 2; },
     [](double n, double log) { return 2 * n - 2 - log; }},
    {"han-carlson", [](double, double log) { return log + 1; },
     [](double n, double log) { return n / 2 * log; }}};

Result spans_and_work(Extent) {
    Result result{"dependent applications, and all, of the operator", {"counted"}, {}, {}};
    bool equal = true;
    for (const int log : {4, 6, 8}) {
        const int ranks = 1 << log;
        for (const Published& published : circuits) {
            const Circuit found = circuit_of(published.name, ranks);
            const double span = published.span(ranks, log), work = published.work(ranks, log);
            result.rows.push_back({fmt::format("{}, {} ranks, span", published.name, ranks),
                                   span,
                                   {double(found.span)}});
            result.rows.push_back({fmt::format("{}, {} ranks, work", published.name, ranks),
                                   work,
                                   {static_cast<double>(found.work)}});
            equal = equal && span == found.span && work == static_cast<double>(found.work);
        }
    }
    result.claims.push_back({"every circuit has its published span and work", equal, "counted"});
    return result;
}

constexpr Experiment experiments[] = {
    {"scan", "circuits", "span and work of prefix circuits",
     "counted on the schedules; formulas of Kogge and Stone 1973, Sklansky 1960, Brent and Kung "
     "1982, Han and Carlson 1987",
     "", spans_and_work}};

} // namespace

std::span<const Experiment> scan_papers() {
    return experiments;
}

} // namespace sextant::reproduce
