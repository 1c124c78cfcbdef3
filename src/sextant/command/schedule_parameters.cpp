// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/schedule_parameters.hpp"

namespace sextant::command {

std::vector<Parameter> schedule_parameters(std::string_view elements) {
    return {family_parameter(),
            {.name = "algorithm",
             .value = "NAME",
             .help = "one of them; default: the first, in its usual tuning"},
            radices_parameter(),
            window_parameter(),
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

namespace {

constexpr std::int64_t most = 1 << 30;

} // namespace

Parameter radices_parameter() {
    return {.name = "radices",
            .type = Type::integers,
            .value = "K,K",
            .help = "for radix-k: factors of the ranks, 2 or more",
            .least = 2,
            .most = most};
}

Parameter window_parameter() {
    return {.name = "window",
            .type = Type::integer,
            .value = "N",
            .help = "rounds of messages open at once, where an algorithm has rounds",
            .least = 1,
            .most = most};
}

Parameter interlace_parameter() {
    return {.name = "interlace",
            .type = Type::integer,
            .value = "N",
            .help = "deal the picture to ranks in blocks of N pixels, in turn",
            .least = 1,
            .most = most_count};
}

Parameter sparse_parameter() {
    return {.name = "sparse",
            .type = Type::choice,
            .value = "WHEN",
            .fallback = "auto",
            .help = "leave out of messages what was not drawn",
            .choices = {"auto", "on", "off"}};
}

planner::Sparse sparse_from(const Values& values) {
    const std::string when = values.text("sparse");
    return when == "on"    ? planner::Sparse::on
           : when == "off" ? planner::Sparse::off
                           : planner::Sparse::automatic;
}

compositing::Tuning tuning_from(const Values& values) {
    const int window = values.has("window") ? static_cast<int>(values.integer("window")) : 0;
    return {values.integers("radices"), window};
}

compositing::Tuning schedule_tuning_from(const Values& values) {
    compositing::Tuning tuning = tuning_from(values);
    tuning.interlace = values.has("interlace") ? values.integer("interlace") : 0;
    return tuning;
}

} // namespace sextant::command
