// SPDX-License-Identifier: BSD-3-Clause
// An image filtered a window of rows at a time, as one that does not fit in memory is.
#include "sextant/comm/threads.hpp"

#include "tests/support/filter_runs.hpp"

namespace sextant::test {
namespace {

/// The image of a test as a series of one frame.
class Samples final : public FrameSource {
  public:
    Samples(const std::vector<std::byte>& bytes, ImageShape shape, const ElementFormat& element)
        : FrameSource("memory",
                      {.frames = 1, .shape = shape, .sample = *sample_named(channels(element))}),
          bytes_(bytes) {}

  private:
    void load(std::int64_t, Rows rows, std::span<std::byte> to) override {
        std::memcpy(to.data(), bytes_.data() + rows.first * row_bytes(), to.size());
    }

    const std::vector<std::byte>& bytes_;
};

/// Windows of so many rows; the planes as rank 0 collects them.
std::vector<float> by_windows(const Communicator& communicator, RowSource& source, int columns,
                              Elements rows, const distributed::Filter& filter) {
    const ImageShape shape = source.shape();
    distributed::WindowFilter run(communicator, filter, source.element(), true);
    std::vector<float> planes(filter.features.size() * static_cast<std::size_t>(shape.elements()));
    for (Elements first = 0; first < shape.height; first += rows) {
        run.prepare({shape, first, std::min(rows, shape.height - first), columns,
                     communicator.size() / columns});
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

TEST(WindowFilter, gives_the_same_bits_however_many_rows_a_window_has) {
    const ImageShape shape{29, 43};
    for (const ElementFormat& element : {gray_f32, gray_u8, gray_u16}) {
        const std::vector<std::byte> bytes = samples_of(element, shape);
        for (const distributed::Filter& filter : filters()) {
            const std::vector<float> whole = filtered(bytes, element, shape, filter);
            for (const Elements rows : {1, 2, 7, 42, 43}) {
                for (const int columns : {1, 2, 4}) {
                    run_threads(4, [&](Communicator communicator) {
                        RowSource source(std::make_unique<Samples>(bytes, shape, element), 0);
                        const auto planes = by_windows(communicator, source, columns, rows, filter);
                        if (communicator.rank() == 0) {
                            EXPECT_TRUE(same_bits(std::as_bytes(std::span(planes)),
                                                  std::as_bytes(std::span(whole))))
                                << element.name << ", sigma " << filter.sigma << ", " << rows
                                << " rows, " << columns << " columns";
                        }
                    });
                }
            }
        }
    }
}

TEST(WindowFilter, holds_a_window_and_what_is_made_of_it) {
    run_threads(1, [](Communicator communicator) {
        distributed::WindowFilter run(communicator, {1, {"x", "y"}, {}}, gray_u8, true);
        run.prepare({{1000, 100000}, 5000, 50, 1, 1});
        EXPECT_EQ(run.memory(), 1000 * (50 + 2 * 4) + 2 * 4 * 1000 * 50);
    });
}

} // namespace
} // namespace sextant::test
