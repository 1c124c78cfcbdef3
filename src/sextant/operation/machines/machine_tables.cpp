// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/machines/machine_tables.hpp"

#include "sextant/report/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using machine::Value;

/// Values by row and column, of which some may be missing.
class Table {
  public:
    Table(std::string title, std::string rows) : title_(std::move(title)), rows_(std::move(rows)) {}

    void put(std::int64_t row, std::int64_t order, const std::string& column, const Value& value) {
        columns_[order] = column;
        cells_[row][order] = value;
    }

    std::string text() const {
        if (cells_.empty())
            return "";
        std::string text = fmt::format("\n{}\n{:>12}", title_, rows_);
        for (const auto& [order, column] : columns_)
            text += fmt::format(" {:>12}", column);
        text += "\n";
        for (const auto& [row, values] : cells_) {
            text += fmt::format("{:>12}", report::grouped(row));
            for (const auto& [order, column] : columns_) {
                const auto found = values.find(order);
                text += fmt::format(" {:>12}", found == values.end() ? "" : shown(found->second));
            }
            text += "\n";
        }
        return text;
    }

  private:
    static std::string shown(const Value& value) {
        const double half = std::max(value.high - value.median, value.median - value.low);
        return (half > .05 * value.median ? "~" : "") + report::to_text(value.median);
    }

    std::string title_, rows_;
    std::map<std::int64_t, std::string> columns_;
    std::map<std::int64_t, std::map<std::int64_t, Value>> cells_;
};

void put_curve(Table& table, const machine::Curve& curve) {
    const bool lent = curve.strategy == machine::Strategy::lending;
    const int order = static_cast<int>(curve.path) + (lent ? 10 : 0);
    const std::string column = lent ? "lent" : std::string(name(curve.path));
    for (const machine::Point& point : curve.points)
        table.put(point.bytes, order, column, point.seconds);
}

std::string messages(const machine::LinkCosts& link) {
    Table whole(fmt::format("messages, {}, contiguous", name(link.link)), "bytes");
    std::string strided;
    for (const machine::Curve& curve : link.curves) {
        if (curve.layout == machine::Layout::cc) {
            put_curve(whole, curve);
            continue;
        }
        if (curve.path != machine::Path::full)
            continue;
        Table table(fmt::format("messages, {}, full path, layout {}, {}, in blocks of",
                                name(link.link), name(curve.layout), name(curve.strategy)),
                    "bytes");
        for (const machine::Point& point : curve.points) {
            if (point.bytes > 0)
                table.put(point.bytes, point.block, fmt::format("{} B", point.block),
                          point.seconds);
        }
        strided += table.text();
    }
    std::string text = whole.text();
    if (!link.switches.empty()) {
        text += "protocol changes above";
        for (const Bytes bytes : link.switches)
            text += fmt::format(" {} B", report::grouped(bytes));
        text += "\n";
    }
    return text + strided;
}

std::string passes(const machine::Work& work) {
    const auto rows = [&](const std::vector<machine::Pass>& passes, const char* when) {
        Table table(fmt::format("passes of {} on {}{}, over so many operands", work.name,
                                work.element, when),
                    "elements");
        for (const machine::Pass& pass : passes)
            table.put(pass.elements, pass.operands, std::to_string(pass.operands), pass.seconds);
        return table.text();
    };
    std::string text = rows(work.passes, "");
    if (!work.alone.empty())
        text += rows(work.alone, ", while other cores rest");
    if (work.seconds_per_element) {
        text += fmt::format("\n{} on {}: {} an element and operand\n", work.name, work.element,
                            report::to_text(work.seconds_per_element->median));
    }
    return text;
}

void put_line(std::string& text, const char* what, const std::string& value) {
    if (!value.empty())
        text += fmt::format("{:<11} {}\n", what, value);
}

} // namespace

std::string tables_of(const machine::Profile& profile) {
    std::string text = profile.name + "\n";
    put_line(text, "host", profile.host);
    put_line(text, "topology", profile.topology);
    put_line(text, "transport", profile.transport);
    put_line(text, "MPI",
             profile.mpi_version.empty() ? profile.mpi : profile.mpi + " " + profile.mpi_version);
    put_line(text, "measured", profile.origin.date);
    put_line(text, "method", profile.origin.method);
    put_line(text, "state", profile.state);
    if (profile.state_probe.median > 0)
        put_line(text, "64 KiB trip", report::to_text(profile.state_probe.median));
    for (const machine::LinkCosts& link : profile.links)
        text += messages(link);
    for (const machine::Work& work : profile.operators)
        text += passes(work);
    for (const machine::Work& work : profile.kernels)
        text += passes(work);
    Table copies("copies within memory, a mebibyte, in blocks (0: whole)", "bytes");
    for (const machine::CopyRate& copy : profile.copies) {
        const Value& rate = copy.seconds_per_byte;
        constexpr double mebibyte = 1 << 20;
        copies.put(
            copy.block, 0, "time",
            {rate.median * mebibyte, rate.low * mebibyte, rate.high * mebibyte, rate.samples});
    }
    return text + copies.text();
}

} // namespace sextant::operation
