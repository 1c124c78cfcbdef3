// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/profile.hpp"

#include "sextant/machine/names.hpp"

#include <algorithm>

namespace sextant::machine {

namespace {

template <class Items, class Wanted>
auto* find_in(const Items& items, Wanted&& wanted) {
    const auto found = std::find_if(items.begin(), items.end(), wanted);
    return found == items.end() ? nullptr : &*found;
}

} // namespace

std::string_view name(Link link) {
    return link_names[static_cast<std::size_t>(link)];
}
std::string_view name(Path path) {
    return path_names[static_cast<std::size_t>(path)];
}
std::string_view name(Layout layout) {
    return layout_names[static_cast<std::size_t>(layout)];
}
std::string_view name(Strategy strategy) {
    return strategy_names[static_cast<std::size_t>(strategy)];
}
std::string_view name(Routing routing) {
    return routing_names[static_cast<std::size_t>(routing)];
}

const LinkCosts* Profile::find(Link link) const {
    return find_in(links, [&](const LinkCosts& l) { return l.link == link; });
}

namespace {

const Work* find_work(const std::vector<Work>& all, std::string_view wanted,
                      std::string_view element) {
    return find_in(
        all, [&](const Work& work) { return work.name == wanted && work.element == element; });
}

} // namespace

const Work* Profile::find_operator(std::string_view wanted, std::string_view element) const {
    return find_work(operators, wanted, element);
}

const Work* Profile::find_kernel(std::string_view wanted, std::string_view element) const {
    return find_work(kernels, wanted, element);
}

const Curve* find(const LinkCosts& link, Path path, Layout layout, Strategy strategy) {
    return find_in(link.curves, [&](const Curve& c) {
        return c.path == path && c.layout == layout && c.strategy == strategy;
    });
}

} // namespace sextant::machine
