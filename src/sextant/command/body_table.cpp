// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/body_table.hpp"

#include <array>

#include <fmt/format.h>

namespace sextant::command {

std::string body_table(const std::vector<kernel::Body>& bodies,
                       const std::vector<std::string>& labels, bool has_intensity) {
    std::string text = "label,voxels,z,y,x,depth,height,width,centroid_z,centroid_y,centroid_x,"
                       "axis_1,axis_2,axis_3,axis_1_z,axis_1_y,axis_1_x,faces,at_border";
    text += has_intensity ? ",sum,mean,minimum,maximum\n" : "\n";
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const kernel::Body& body = bodies[i];
        const std::array<double, 3> centroid = body.centroid();
        const kernel::BodyAxes axes = kernel::axes_of(body);
        const auto side = [&](std::size_t axis) { return body.high[axis] - body.low[axis] + 1; };
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                            labels.empty() ? fmt::to_string(i + 1) : labels[i], body.voxels,
                            body.low[0], body.low[1], body.low[2], side(0), side(1), side(2),
                            centroid[0], centroid[1], centroid[2], axes.deviations[0],
                            axes.deviations[1], axes.deviations[2], axes.directions[0][0],
                            axes.directions[0][1], axes.directions[0][2], body.faces(),
                            body.at_border ? 1 : 0);
        if (has_intensity) {
            const double sum = body.intensity_sum();
            text += fmt::format(",{},{},{},{}", sum, sum / static_cast<double>(body.voxels),
                                body.least, body.largest);
        }
        text += '\n';
    }
    return text;
}

} // namespace sextant::command
