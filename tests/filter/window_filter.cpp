// SPDX-License-Identifier: BSD-3-Clause
// Filters images in windows of rows, and volumes in windows of planes, as for those that do not fit
// in memory.
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include "tests/support/filter_runs.hpp"

namespace sextant::test {
namespace {

/// An image, or a volume of `depth` planes, and the results of filtering the whole of it.
struct WindowCase {
    ImageShape shape;
    ElementFormat element;
    distributed::Filters filters;
    Elements depth = 0; // 0: an image
    std::vector<std::byte> bytes =
        samples_of(element, {shape.width, shape.height* std::max<Elements>(1, depth)});
    std::vector<float> expected = filtered(bytes, element, shape, filters, depth);

    Elements length() const { return depth > 0 ? depth : shape.height; }
};

/// Expects rank 0 to collect the same bits in windows of this many rows or planes.
void expect_same_in_windows(const Communicator& communicator, const WindowCase& what,
                            const filtering::Configuration& configuration, Elements window) {
    const auto& [shape, element, filters, depth, bytes, expected] = what;
    RowSource source = source_of(bytes, shape, element, depth);
    Team team(window % 2 == 0 ? 3 : 1);
    distributed::WindowFilter run(communicator, filters, element, true,
                                  depth > 0 ? kernel::Dimensions::three : kernel::Dimensions::two,
                                  &team);
    std::vector<float> all(expected.size());
    const Elements unit = depth > 0 ? shape.elements() : shape.width;
    for (Elements first = 0; first < what.length(); first += window) {
        run.prepare({shape, first, std::min(window, what.length() - first), configuration, depth});
        run.fill([&](const Tile& part, std::span<std::byte> to) {
            distributed::read_part(source, part, to);
        });
        run.run();
        for (int k = 0; communicator.rank() == 0 && k < std::ssize(filters.back().features); ++k)
            std::ranges::copy(run.plane(k), all.begin() + (k * what.length() + first) * unit);
    }
    if (communicator.rank() == 0) {
        EXPECT_TRUE(same_bits(std::as_bytes(std::span(all)), std::as_bytes(std::span(expected))))
            << fmt::format("{} filters of {}, sigma {}, {}, windows of {}", filters.size(),
                           element.name, filters[0].sigma.x, configuration.text(), window);
    }
}

/// As above, on as many threads as the configuration has ranks, for each size of windows.
void expect_same_in_windows(const WindowCase& what, const filtering::Configuration& configuration,
                            const std::vector<Elements>& windows) {
    run_threads(configuration.ranks(), [&](Communicator communicator) {
        for (const Elements window : windows)
            expect_same_in_windows(communicator, what, configuration, window);
    });
}

std::vector<distributed::Filters> chains_of_volumes() {
    using kernel::Border;
    const kernel::Scales uneven(.8, .6, .5);
    return {{{uneven, {"xz", "gradient-magnitude", "hessian-2", "hessian-3"}, {}}},
            {{.5, {"structure-1@1", "smooth"}, {Border::mirror, 0}}},
            {{.5, {"smooth"}, {}}, {uneven, {"z", "yy"}, {Border::constant, .5F}}}};
}

TEST(WindowFilter, gives_the_same_bits_for_any_window_height) {
    for (const ElementFormat& element : {gray_f32, gray_u8, gray_u16}) {
        for (const distributed::Filter& filter : filters()) {
            const WindowCase image{{29, 43}, element, {filter}};
            for (const int columns : {1, 2, 4})
                expect_same_in_windows(image, {columns, 4 / columns}, {1, 2, 7, 42, 43});
        }
    }
}

TEST(WindowFilter, gives_the_same_bits_in_any_boxes_and_windows_of_a_volume) {
    for (const ElementFormat& element : {gray_f32, gray_u8, gray_u16}) {
        for (const distributed::Filters& filters : chains_of_volumes()) {
            const WindowCase volume{{13, 11}, element, filters, 14};
            for (const int ranks : {1, 2, 4, 6}) {
                for (const filtering::Configuration& configuration : filtering::boxes_of(ranks))
                    expect_same_in_windows(volume, configuration, {14, 5, 1});
            }
        }
    }
}

/// Tiles are large enough that ranks compute them directly in the memory of rank 0.
TEST(WindowFilter, gives_the_same_bits_if_ranks_write_into_the_memory_of_rank_0) {
    const WindowCase image{{419, 421}, gray_u8, {filters()[0]}};
    const WindowCase volume{{151, 149}, gray_u8, {{.5, {"x", "zz"}, {}}}, 12};
    const auto expect_same = [](const WindowCase& what,
                                const filtering::Configuration& configuration, Elements window) {
        for (const bool as_processes : {false, true}) {
            run_threads(configuration.ranks(), [&](Communicator communicator) {
                const Communicator ranks =
                    as_processes ? share_nodes(communicator, {0, Bytes{16} << 20}).communicator
                                 : communicator;
                for (const Elements size : {what.length(), window})
                    expect_same_in_windows(ranks, what, configuration, size);
                EXPECT_EQ(ranks.shortage(), "");
            });
        }
    };
    for (const filtering::Configuration& configuration : std::vector<filtering::Configuration>{
             {1, 2}, {2, 1}, {1, 3}, {3, 1}, {2, 2}, {2, 3}, {7, 1}})
        expect_same(image, configuration, 300);
    for (const filtering::Configuration& configuration : filtering::boxes_of(4))
        expect_same(volume, configuration, 7);
}

TEST(WindowFilter, gives_the_same_bits_of_a_volume_with_any_collective_packed_or_not) {
    const WindowCase volume{{13, 11}, gray_u16, chains_of_volumes()[0], 9};
    for (const collective::Algorithm& row : collective::catalogue()) {
        const bool distributes =
            row.what == CollectiveKind::scatter || row.what == CollectiveKind::broadcast;
        if (!distributes && row.what != CollectiveKind::gather)
            continue;
        for (filtering::Configuration configuration : filtering::boxes_of(6)) {
            (distributes ? configuration.distribute : configuration.collect) = &row;
            configuration.packs = !distributes;
            expect_same_in_windows(volume, configuration, {9, 4});
        }
    }
}

/// Configurations without collectives, and with each collective that distributes or collects,
/// packed or not.
std::vector<filtering::Configuration> window_configurations(int columns, int rows) {
    std::vector<filtering::Configuration> configurations = {{columns, rows}};
    for (const collective::Algorithm& row : collective::catalogue()) {
        const bool distributes =
            row.what == CollectiveKind::scatter || row.what == CollectiveKind::broadcast;
        if (distributes)
            configurations.push_back(
                {columns, rows, &row, nullptr, configurations.size() % 2 == 0});
        else if (row.what == CollectiveKind::gather)
            configurations.push_back(
                {columns, rows, nullptr, &row, configurations.size() % 2 == 0});
    }
    return configurations;
}

TEST(WindowFilter, gives_the_same_bits_for_filter_chains_in_every_configuration) {
    using kernel::Border;
    const std::vector<distributed::Filters> chains = {
        {{1, {"x", "gradient-magnitude"}, {}}},
        {{1.5, {"smooth"}, {Border::mirror, 0}},
         {.7, {"gradient-magnitude"}, {}},
         {1, {"laplacian", "y"}, {Border::constant, 2}}}};
    for (const distributed::Filters& filters : chains) {
        const WindowCase image{{29, 43}, gray_u8, filters};
        Elements rows = image.length();
        for (const filtering::Configuration& configuration : window_configurations(2, 2)) {
            rows = rows == image.length() ? 10 : image.length();
            expect_same_in_windows(image, configuration, {rows});
        }
    }
}

/// Configurations that change the tiles between filters: strips, columns and grids in different
/// orders, some with fewer tiles than ranks for a filter.
std::vector<filtering::Configuration> changing_configurations(int ranks) {
    const Grid middle = near_square(ranks, 1, 1);
    const int fewer = std::max(1, ranks - 1);
    return {
        {ranks, 1, {}, {}, false, {{1, 1, ranks}, {2, middle.columns, middle.rows}}},
        {middle.columns, middle.rows, {}, {}, true, {{1, ranks, 1}}},
        {1, ranks, &collective::find("binomial-scatter"), {}, false, {{2, ranks, 1}}},
        {1, ranks, {}, &collective::find("binomial-gather"), false, {{1, 1, fewer}, {2, ranks, 1}}},
        {fewer, 1, &collective::find("flat-scatter"), {}, true, {{1, 1, ranks}}},
        {1, ranks, {}, &collective::find("flat-gather"), false, {{2, fewer, 1}}}};
}

TEST(WindowFilter, gives_the_same_bits_if_the_grid_changes_between_filters) {
    using kernel::Border;
    const std::vector<distributed::Filters> chains = {
        {{1.5, {"smooth"}, {Border::mirror, 0}},
         {.7, {"gradient-magnitude"}, {}},
         {1, {"laplacian", "y"}, {Border::constant, 2}}},
        {{3, {"x"}, {}}, {2, {"smooth"}, {}}, {.5, {"smooth"}, {}}, {1, {"xx", "yy", "xy"}, {}}}};
    for (const ImageShape shape : {ImageShape{29, 43}, ImageShape{5, 3}}) {
        for (const distributed::Filters& filters : chains) {
            const WindowCase image{shape, gray_u16, filters};
            for (int ranks = 1; ranks <= 8; ++ranks) {
                for (const filtering::Configuration& configuration : changing_configurations(ranks))
                    expect_same_in_windows(image, configuration, {shape.height, 5, 17});
            }
        }
    }
}

TEST(WindowFilter, refuses_windows_that_do_not_fit_their_image) {
    run_threads(1, [](Communicator communicator) {
        const distributed::Filter smooth = filters().front();
        distributed::WindowFilter run(communicator, {smooth}, gray_f32, false);
        const Elements many = Elements{1} << 32;
        for (const distributed::Window& window : {distributed::Window{{many, many}, 0, 1, {}},
                                                  {{0, 4}, 0, 1, {}},
                                                  {{-4, -4}, 0, 1, {}},
                                                  {{4, 4}, 2, 3, {}},
                                                  {{4, 4}, -1, 2, {}},
                                                  {{4, 4}, 0, 0, {}}})
            EXPECT_THROW(run.prepare(window), InvalidTask);
        std::vector<float> few(3);
        EXPECT_THROW(run.prepare({{4, 4}, 0, 4, {}}, few), InvalidTask);
    });
}

TEST(WindowFilter, refuses_chains_that_are_empty_or_pass_on_several_images) {
    run_threads(1, [](Communicator communicator) {
        distributed::Filter two = filters().front();
        two.features.resize(2, two.features.front());
        for (const distributed::Filters& chain : {distributed::Filters{}, {two, two}})
            EXPECT_THROW(distributed::WindowFilter(communicator, chain, gray_f32, false),
                         InvalidTask);
    });
}

} // namespace
} // namespace sextant::test
