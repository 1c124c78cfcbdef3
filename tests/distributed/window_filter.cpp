// SPDX-License-Identifier: BSD-3-Clause
// Filters an image in windows of rows, as for an image that does not fit in memory.
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include "tests/support/filter_runs.hpp"

namespace sextant::test {
namespace {

/// Filters in windows of this many rows; returns the planes collected by rank 0.
std::vector<float> by_windows(const Communicator& communicator, RowSource& source,
                              const filtering::Configuration& configuration, Elements rows,
                              const distributed::Filters& filters) {
    const ImageShape shape = source.shape();
    const distributed::Filter& filter = filters.back();
    distributed::WindowFilter run(communicator, filters, source.element(), true);
    std::vector<float> planes(filter.features.size() * static_cast<std::size_t>(shape.elements()));
    for (Elements first = 0; first < shape.height; first += rows) {
        run.prepare({shape, first, std::min(rows, shape.height - first), configuration});
        run.fill([&](const Tile& part, std::span<std::byte> to) {
            distributed::read_part(source, part, to);
        });
        run.run();
        for (int k = 0; communicator.rank() == 0 && k < static_cast<int>(filter.features.size());
             ++k) {
            const auto plane = run.plane(k);
            std::copy(plane.begin(), plane.end(),
                      planes.begin() + k * shape.elements() + first * shape.width);
        }
    }
    return planes;
}

TEST(WindowFilter, gives_the_same_bits_for_any_window_height) {
    const ImageShape shape{29, 43};
    for (const ElementFormat& element : {gray_f32, gray_u8, gray_u16}) {
        const std::vector<std::byte> bytes = samples_of(element, shape);
        for (const distributed::Filter& filter : filters()) {
            const std::vector<float> whole = filtered(bytes, element, shape, filter);
            for (const Elements rows : {1, 2, 7, 42, 43}) {
                for (const int columns : {1, 2, 4}) {
                    run_threads(4, [&](Communicator communicator) {
                        RowSource source = source_of(bytes, shape, element);
                        const auto planes = by_windows(communicator, source, {columns, 4 / columns},
                                                       rows, {filter});
                        if (communicator.rank() == 0) {
                            EXPECT_TRUE(same_bits(std::as_bytes(std::span(planes)),
                                                  std::as_bytes(std::span(whole))))
                                << element.name << ", sigma " << filter.sigma.x << ", " << rows
                                << " rows, " << columns << " columns";
                        }
                    });
                }
            }
        }
    }
}

/// Tiles are large enough that ranks compute them directly in the memory of rank 0.
TEST(WindowFilter, gives_the_same_bits_if_ranks_write_into_the_memory_of_rank_0) {
    const ImageShape shape{419, 421};
    const std::vector<std::byte> bytes = samples_of(gray_u8, shape);
    const distributed::Filter filter = filters()[0];
    const std::vector<float> whole = filtered(bytes, gray_u8, shape, filter);
    for (const filtering::Configuration& configuration : std::vector<filtering::Configuration>{
             {1, 2}, {2, 1}, {1, 3}, {3, 1}, {2, 2}, {2, 3}, {7, 1}}) {
        for (const bool as_processes : {false, true}) {
            run_threads(configuration.ranks(), [&](Communicator communicator) {
                const Communicator ranks =
                    as_processes ? share_nodes(communicator, {0, Bytes{16} << 20}).communicator
                                 : communicator;
                for (const Elements rows : {421, 300}) {
                    RowSource source = source_of(bytes, shape, gray_u8);
                    const auto planes = by_windows(ranks, source, configuration, rows, {filter});
                    if (ranks.rank() == 0) {
                        EXPECT_TRUE(same_bits(std::as_bytes(std::span(planes)),
                                              std::as_bytes(std::span(whole))))
                            << configuration.text() << ", " << rows << " rows";
                    }
                }
                EXPECT_EQ(ranks.shortage(), "");
            });
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
    const ImageShape shape{29, 43};
    const std::vector<distributed::Filters> chains = {
        {{1, {"x", "gradient-magnitude"}, {}}},
        {{1.5, {"smooth"}, {Border::mirror, 0}},
         {.7, {"gradient-magnitude"}, {}},
         {1, {"laplacian", "y"}, {Border::constant, 2}}}};
    const std::vector<std::byte> bytes = samples_of(gray_u8, shape);
    for (const distributed::Filters& filters : chains) {
        const std::vector<float> whole = filtered(bytes, gray_u8, shape, filters);
        Elements rows = shape.height;
        for (const filtering::Configuration& configuration : window_configurations(2, 2)) {
            rows = rows == shape.height ? 10 : shape.height;
            run_threads(4, [&](Communicator communicator) {
                RowSource source = source_of(bytes, shape, gray_u8);
                const auto planes = by_windows(communicator, source, configuration, rows, filters);
                if (communicator.rank() == 0) {
                    EXPECT_TRUE(same_bits(std::as_bytes(std::span(planes)),
                                          std::as_bytes(std::span(whole))))
                        << filters.size() << " filters, " << configuration.text() << ", " << rows
                        << " rows";
                }
            });
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
        const std::vector<std::byte> bytes = samples_of(gray_u16, shape);
        for (const distributed::Filters& filters : chains) {
            const std::vector<float> whole = filtered(bytes, gray_u16, shape, filters);
            for (int ranks = 1; ranks <= 8; ++ranks) {
                for (const filtering::Configuration& configuration :
                     changing_configurations(ranks)) {
                    run_threads(ranks, [&](Communicator communicator) {
                        for (const Elements rows : {shape.height, Elements{5}, Elements{17}}) {
                            RowSource source = source_of(bytes, shape, gray_u16);
                            const auto planes =
                                by_windows(communicator, source, configuration, rows, filters);
                            if (communicator.rank() == 0) {
                                EXPECT_TRUE(same_bits(std::as_bytes(std::span(planes)),
                                                      std::as_bytes(std::span(whole))))
                                    << ranks << " ranks, " << configuration.text() << ", " << rows
                                    << " rows";
                            }
                        }
                    });
                }
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
