// SPDX-License-Identifier: BSD-3-Clause
#include "keywords.hpp"

namespace sextant::python {

Record record_of(LabelKeywords& keywords) {
    return record_of(static_cast<LabelOptions&>(keywords)).without("threads");
}

Record filter_record(FilterOptions& options) {
    Record record = record_of(options);
    record["sigma"].kind = Field::Kind::integers; // a list is allowed too
    return record;
}

Record record_of(MeasureKeywords& keywords) {
    return record_in_measure(keywords.options);
}

} // namespace sextant::python
