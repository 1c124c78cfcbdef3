// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/operator.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sextant::command {

/// One composite to time; docs/bench.md has its fields.
struct CompositeCase {
    std::string name;
    ImageShape shape{1024, 1024};
    std::string blend = "over", element = "f32";
    std::string image = "dense";         ///< a name of image_patterns()
    bool collect = false;                ///< the picture on rank 0, not distributed
    bool sparse = false;                 ///< each also with codes for messages
    bool interlaced = false;             ///< each sparse one also with rows dealt to the ranks
    bool all_tunings = false;            ///< each algorithm with every tuning, not its usual one
    bool all_transports = false;         ///< over processes: in shared memory as well
    std::vector<std::string> algorithms; ///< empty: all
    std::string reference;               ///< whose ratios are told; empty, or not there: the first
};

/// Reads cases from a JSON file. Throws InvalidFile, naming case, field, value and expectation.
std::vector<CompositeCase> read_composite_cases(const std::string& path);

/// What partial images may look like.
std::vector<std::string_view> image_patterns();

/// Fills a rank's image: the same on every rank that asks for it. `dense`: every pixel half
/// transparent. `ellipse`: the same within an ellipse somewhere that covers ranks^(-2/3) of the
/// screen, nothing elsewhere. `upper half`, `lower half`: there. `checkerboard`: squares of 32
/// pixels, offset by the rank; `fine checkerboard`: of one pixel.
void fill_image(Image& image, std::string_view pattern, int rank, int ranks);

/// The picture of a case as one process folds it, image after image: what contestants' pictures are
/// held against.
class SerialPicture {
  public:
    /// Keep what it is given alive.
    SerialPicture(const CompositeCase& what, const Operator& op, int ranks);

    /// Whether `shown` are these pixels of the picture: up to what bracketing in another way does.
    /// Throws    std::logic_error naming who shows them, and the case, where they are not.
    void check(const std::string& who, std::span<const Elements> pixels,
               std::span<const std::byte> shown) const;

  private:
    std::vector<float> as_floats(std::span<const std::byte> pixels) const;
    float tolerance() const;

    const CompositeCase& what_;
    const Operator& operator_;
    const int ranks_;
    const std::vector<float> channels_;
};

} // namespace sextant::command
