// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/text.hpp"
#include "sextant/model/c3.hpp"
#include "sextant/model/critical_path.hpp"
#include "sextant/model/message.hpp"
#include "sextant/model/model.hpp"
#include "sextant/model/p3pc_extended.hpp"

namespace sextant::model {

Prediction hockney(const Question& question) {
    const Lookup lookup(question);
    const auto time = [&](const Message& message) {
        const auto& known = costs_of(question.machine, message.link).hockney;
        if (!known)
            return at(lookup.line(message.link, machine::Path::full), message.bytes);
        return Span(known->latency) +
               Span(known->seconds_per_byte) * static_cast<double>(message.bytes);
    };
    const auto price = [&](const Message& message) {
        const Span t = time(message);
        return MessageCost{t, t, t, {}, {}};
    };
    return critical_path(question, {price});
}

namespace {

struct Parameters {
    Span L, o, g, G; // symbols of the LogGP paper
};

Parameters parameters(const Question& question, machine::Link link) {
    const auto& known = costs_of(question.machine, link).loggp;
    if (known) {
        return {Span(known->latency), Span(known->overhead), Span(known->gap),
                Span(known->gap_per_byte)};
    }
    const Lookup lookup(question);
    const machine::Line full = lookup.line(link, machine::Path::full);
    const Span g(lookup.line(link, machine::Path::send).constant);
    return {later(Span(full.constant) - g * 2, Span()), g, g, Span(full.slope)};
}

} // namespace

Prediction loggp(const Question& question) {
    const auto price = [&](const Message& message) {
        const auto [L, o, g, G] = parameters(question, message.link);
        const Span data = G * static_cast<double>(message.bytes);
        return MessageCost{g + data, g + data, o * 2 + L + data, o, o};
    };
    return critical_path(question, {price, false});
}

Prediction loggp_star(const Question& question) {
    Lookup lookup(question);
    const auto path = [&](const Message& message, machine::Path which) {
        return lookup.at_size(message, which, machine::Layout::cc, machine::Strategy::contiguous);
    };
    const auto price = [&](const Message& message) {
        Message empty = message;
        empty.bytes = 0;
        const Span full = path(message, machine::Path::full);
        const Span side =
            path(empty, machine::Path::send) + full - path(empty, machine::Path::full);
        return MessageCost{side, side, full, {}, {}};
    };
    return with_remarks(critical_path(question, {price}), lookup);
}

Prediction three_paths(const Question& question) {
    const Lookup lookup(question);
    const auto price = [&](const Message& message) {
        const auto path = [&](machine::Path which) {
            return at(lookup.line(message.link, which), message.bytes);
        };
        return MessageCost{path(machine::Path::send),
                           path(machine::Path::receive),
                           path(machine::Path::full),
                           {},
                           {}};
    };
    return critical_path(question, {price});
}

Prediction p3pc(const Question& question) {
    Lookup lookup(question);
    const auto price = [&](const Message& message) {
        const auto path = [&](machine::Path which) {
            return lookup.at_size(message, which, message.layout, machine::Strategy::datatype);
        };
        return MessageCost{path(machine::Path::send),
                           path(machine::Path::receive),
                           path(machine::Path::full),
                           {},
                           {}};
    };
    return with_remarks(critical_path(question, {price}), lookup);
}

namespace {

constexpr std::string_view seinstra = "Seinstra and Koelma 2002, IEEE TPDS 13(7)";

constexpr Model models[] = {
    {"hockney", "a latency and a time per byte", "Hockney 1994, doi:10.1016/S0167-8191(06)80021-9",
     hockney},
    {"loggp", "latency, overhead, gap, gap per byte",
     "Alexandrov et al. 1995, doi:10.1145/215399.215427", loggp},
    {"loggp-star", "piecewise linear LogGP, the model that the authors of P-3PC compare with",
     seinstra, loggp_star},
    {"3pc", "three paths (send, receive, full), each a linear function", seinstra, three_paths},
    {"p3pc", "three paths, piecewise linear, for each memory layout", seinstra, p3pc},
    {"p3pc-extended", "P-3PC with block lengths, packing, gaps, protocols and contention",
     "Seinstra and Koelma 2002; Moritz and Frank 2001, IEEE TPDS 12(4)", p3pc_extended},
    {"c3", "supersteps, with congestion of links and processors",
     "Hambrusch and Khokhar 1996, doi:10.1006/jpdc.1996.0010", c3}};

} // namespace

std::span<const Model> catalogue() {
    return models;
}

const Model& find(std::string_view name) {
    return find_by_name<Model>("model", name, models);
}

} // namespace sextant::model
