// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/schedule_parameters.hpp"

#include "sextant/operation/schedules/tuning.hpp"

namespace sextant::operation {

std::vector<Parameter> schedule_parameters(std::string_view elements) {
    return {family_parameter(),
            {.name = "algorithm",
             .value = "NAME",
             .help = "one of them; default: the first, in its usual tuning"},
            radices_parameter(),
            window_parameter(),
            segments_parameter(),
            interlace_parameter(),
            {.name = "ranks",
             .type = Type::integer,
             .value = "N",
             .fallback = "8",
             .help = "how many take part",
             .least = 1,
             .most = 16384},
            {.name = "elements",
             .type = Type::integer,
             .value = "N",
             .fallback = elements,
             .help = "pixels of an image, or values",
             .least = 1,
             .most = most_count}};
}

Parameter element_size_parameter() {
    return {.name = "element-size",
            .type = Type::integer,
            .value = "BYTES",
            .fallback = "16",
            .help = "of one element",
            .least = 1,
            .most = 1 << 20};
}

ScheduleRequest schedule_request(const Values& values) {
    ScheduleRequest request;
    request.family = values.text("family");
    request.algorithm = values.text("algorithm");
    request.tuning = schedule_tuning_from(values);
    request.ranks = static_cast<int>(values.integer("ranks"));
    request.elements = values.integer("elements");
    return request;
}

} // namespace sextant::operation
