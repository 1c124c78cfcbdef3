// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/kernel/label/directions.hpp"

#include <cstdint>

// Edge codes: one byte per pixel, either 0 or the edge class of the pixel and the 22.5° sector of
// its gradient. The sector is found by comparisons only, so that it is the same on every processor.
// Later steps use no other information about the gradient.
namespace sextant::kernel {

inline constexpr std::uint8_t not_edge = 0, weak_edge = 1, strong_edge = 2;
inline constexpr std::uint8_t edge_class_bits = 3;

inline constexpr std::uint8_t heading_left = 16;  ///< x < 0
inline constexpr std::uint8_t heading_up = 32;    ///< y < 0
inline constexpr std::uint8_t heading_flat = 64;  ///< |y| ≤ |x|
inline constexpr std::uint8_t heading_near = 128; ///< at most 22.5° from the nearer axis
inline constexpr float tangent_of_near = .41421356F;

/// [i][heading]: the four directions ahead of an edge point, the one nearest to the direction of
/// the edge first. `heading` is the upper four bits of the point's code. The edge is perpendicular
/// to the middle of the gradient's 22.5° sector.
struct EdgeFollowers {
    alignas(16) std::uint8_t ahead[4][16] = {};
    constexpr EdgeFollowers() {
        for (unsigned heading = 0; heading < 16; ++heading) {
            double cosines[8] = {};
            for (int code = 0; code < 8; ++code)
                cosines[code] = cosine(heading << 4, code);
            for (auto& nearest : ahead) {
                int best = 0;
                for (int code = 1; code < 8; ++code)
                    best = cosines[code] > cosines[best] ? code : best;
                nearest[heading] = static_cast<std::uint8_t>(best);
                cosines[best] = -2;
            }
        }
    }

  private:
    static constexpr double cosine(unsigned heading, int code) {
        const bool near = (heading & heading_near) != 0, flat = (heading & heading_flat) != 0;
        const double more = near ? .98078528 : .83146961, less = near ? .19509032 : .55557023;
        const double width = flat ? more : less, height = flat ? less : more;
        const double x = (heading & heading_left) != 0 ? -width : width;
        const double y = (heading & heading_up) != 0 ? -height : height;
        const double along = -y * steps[code].x + x * steps[code].y;
        return code % 2 == 1 ? along * .70710678 : along;
    }
};
inline constexpr EdgeFollowers edge_followers;

// Rows of a gradient and of edges, processed in vectors.

struct GradientRow {
    const float *x, *y;
    Elements width;
    float low; ///< the low threshold
    /// Output: lengths of the gradient. A length below `low` may be replaced by a larger number
    /// that is also below `low`.
    float* lengths;
    /// Output: the upper bits of edge codes, defined only where the length is at least `low`.
    std::uint8_t* headings;
};

void measure_gradients(const GradientRow& row);

/// Lengths of the gradient in three rows, readable from [−1] to [width].
struct EdgeRow {
    const float *above, *here, *below;
    const std::uint8_t* headings; ///< headings of the middle row
    float low, high;              ///< thresholds
    std::uint8_t* codes;
    Elements width;
};

/// Computes the codes of the middle row as specified by EdgeRows.
void classify_edges(const EdgeRow& row);

// Rows of edges after non-maximum suppression, processed in vectors: either codes, one byte per
// pixel, or bits (label_vectors.hpp).

/// Sets bit i if codes[i] is a strong edge. Bits after the last are 0.
void bits_strong(const std::uint8_t* codes, Elements count, std::uint64_t* bits);

/// Sets codes[i] to 0 if bit i is 0, otherwise to a weak edge with the same heading.
void keep_edges(const std::uint64_t* bits, Elements count, std::uint8_t* codes);

/// A row of edges as bits, and the rows above and below it. Each row has `thin_slack` zero words
/// before its first and after its last word.
struct ThinRow {
    const std::uint64_t* above;
    std::uint64_t* here;
    const std::uint64_t* below;
    const std::uint64_t* mask; ///< pixels that may be removed; no two of them touch
    std::uint64_t* removed;    ///< output: the pixels removed
    Elements words;
};
inline constexpr Elements thin_slack = 8;

/// Removes pixels whose neighbours stay connected without them, except the ends of lines. Returns
/// true if any pixel was removed.
bool thin_row(const ThinRow& row);

/// Three rows of codes, with 0 at [−1] and from [width] to [width + direct_slack].
struct DirectRow {
    const std::uint8_t *above, *here, *below;
    Direction* directions;
    Elements width;
};
inline constexpr Elements direct_slack = 65;

/// Computes the directions of the middle row as specified by find_directions().
void direct_edges(const DirectRow& row);

} // namespace sextant::kernel
