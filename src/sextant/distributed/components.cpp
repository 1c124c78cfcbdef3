// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/components.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/deal.hpp"
#include "sextant/distributed/join_components.hpp"
#include "sextant/distributed/numbering.hpp"
#include "sextant/distributed/sample_view.hpp"

#include <limits>

#include <fmt/format.h>

namespace sextant {

namespace {

kernel::Label* labels_in(distributed::Image& image) {
    return reinterpret_cast<kernel::Label*>(image.bytes().data());
}

std::vector<Share> shares_of(const std::vector<PartOf>& wholes,
                             const std::vector<kernel::Component>& components) {
    std::vector<Share> shares;
    for (std::size_t i = 0; i < wholes.size(); ++i)
        shares.push_back({wholes[i].first, components[i].area});
    return shares;
}

/// Labels of the tile alone become those of the image.
void relabel(Labelled& made, const std::vector<kernel::Component>& components,
             const Numbering& numbering) {
    std::vector<kernel::Label> labels{0};
    for (std::size_t i = 0; i < components.size(); ++i) {
        labels.push_back(static_cast<kernel::Label>(numbering.standings[i].number + 1));
        made.parts.push_back({labels.back(), components[i]});
    }
    kernel::Label* const pixels = labels_in(made.labels);
    const Elements count = made.labels.tile().elements();
    for (Elements i = 0; i < count; ++i)
        pixels[i] = labels[static_cast<std::size_t>(pixels[i])];
}

} // namespace

void require_labels(Elements components) {
    constexpr Elements most = std::numeric_limits<kernel::Label>::max();
    if (components > most)
        throw InvalidTask(
            fmt::format("{} components, expected at most {}, as labels go", components, most));
}

Labelled label_components(const distributed::Image& image, kernel::Connection connection,
                          const contour::Pattern& pattern, MergingRecord* record) {
    const Communicator& communicator = image.communicator();
    Labelled made{distributed::Image(communicator, image.grid(), label_i32), 0, {}};
    kernel::Labeller labeller(connection);
    std::vector<kernel::Component> components;
    std::vector<Elements> first_pixels;
    kernel::ValueView view;
    agree(communicator, [&] {
        view = distributed::value_view(image);
        labeller.apply(view, {labels_in(made.labels), view.stride});
        components = labeller.components();
        first_pixels = labeller.first_pixels();
    });
    const std::vector<PartOf> wholes = join_components(
        communicator, image.grid(), {view, connection, labeller, first_pixels}, pattern, record);
    const Numbering numbering =
        number_by_pixels(communicator, image.grid(), shares_of(wholes, components));
    agree(communicator, [&] {
        require_labels(numbering.count);
        made.components = numbering.count;
        relabel(made, components, numbering);
    });
    return made;
}

std::vector<kernel::Component> gather_components(const Labelled& labelled) {
    const Communicator& communicator = labelled.labels.communicator();
    std::vector<std::vector<Labelled::Part>> to(static_cast<std::size_t>(communicator.size()));
    to[0] = labelled.parts;
    const ByRank<Labelled::Part> all = deal(communicator, to);
    std::vector<kernel::Component> components;
    if (communicator.rank() == 0)
        components.resize(static_cast<std::size_t>(labelled.components));
    for (const Labelled::Part& part : all.values)
        components[static_cast<std::size_t>(part.label - 1)].add(part.measured);
    return components;
}

} // namespace sextant
