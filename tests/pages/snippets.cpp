// SPDX-License-Identifier: BSD-3-Clause
// Compiles the C++ blocks of the documentation. A namespace per page declares what its blocks use.
#include "sextant/collective.hpp"
#include "sextant/compositor.hpp"
#include "sextant/contours.hpp"
#include "sextant/filter.hpp"
#include "sextant/format.hpp"
#include "sextant/label.hpp"
#include "sextant/registration.hpp"
#include "sextant/scan.hpp"

#include <mpi.h>

namespace page_library {
extern const sextant::Communicator& communicator;
extern sextant::Compositor& compositor;
extern const sextant::ImageShape shape;
extern const std::span<const sextant::RgbaF32> pixels, other_pixels;
extern const std::vector<int> front_to_back;
extern const sextant::RgbaF32 sky;
extern const sextant::Rectangle bounds;
extern const std::span<const std::span<const std::byte>> images;
extern const sextant::DeepImage& image;
void draw_next(std::span<const sextant::RgbaF32>);
void log(const std::string&);
} // namespace page_library

namespace page_readme {
extern const std::span<const sextant::RgbaF32> pixels;
}

namespace page_contours {
extern const sextant::Communicator& communicator;
extern sextant::RowSource& source;
extern const sextant::Grid grid;
extern const std::function<std::unique_ptr<sextant::FrameSource>()> open_left, open_right;
void write_rows(std::int64_t, std::span<const sextant::kernel::Label>);
void append(std::span<const sextant::ObjectNumber>);
} // namespace page_contours

namespace page_filters {
extern const sextant::Communicator& communicator;
extern sextant::RowSource& source;
extern sextant::PlaneSink& sink;
extern const int width, height;
extern const std::span<const std::byte> pixels;
} // namespace page_filters

namespace page_registration {
extern const sextant::Communicator& communicator;
extern const sextant::ImageShape shape;
extern const sextant::kernel::SampleView first, second;
extern const sextant::RunControl control;
} // namespace page_registration

namespace page_scans {
extern const sextant::Communicator& communicator;
extern const std::span<const double> values;
extern const std::span<const std::uint8_t> starts;
extern const double identity;
double combine(double left, double right);
} // namespace page_scans

#include "snippets.inc"
