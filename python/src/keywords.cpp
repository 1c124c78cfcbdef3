// SPDX-License-Identifier: BSD-3-Clause
#include "keywords.hpp"

#include "sextant/core/error.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant::python {

Record record_of(LabelKeywords& keywords) {
    Record record = record_of(keywords.options);
    return record.without("threads");
}

void LabelKeywords::check(bool of_volume) const {
    check_neighbours(options, !of_volume, "the input");
    if (!of_volume)
        return;
    LabelOptions given = options, usual;
    const Record all = record_of(given), defaults = record_of(usual);
    const Record in_slabs = record_in_slabs(given);
    for (const Field& field : all.fields) {
        if (!in_slabs.find(field.name) && field.text() != defaults.find(field.name)->text())
            throw InvalidTask(
                fmt::format("{} has no effect here: the input is a volume", field.name));
    }
}

Record filter_record(FilterOptions& options) {
    Record record = record_of(options);
    record["sigma"].kind = Field::Kind::integers; // a list is allowed too
    return record;
}

Record record_of(MeasureKeywords& keywords) {
    Record record, all = record_of(keywords.options);
    all["memory"].meaning = "memory limit for samples; larger volumes are read in slabs";
    for (const char* const name : {"columns", "memory"})
        record.fields.push_back(std::move(all[name]));
    return record;
}

} // namespace sextant::python
