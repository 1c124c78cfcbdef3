// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/live_page.hpp"

#include "sextant/report/assets.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <fmt/format.h>

namespace sextant::report {

std::string live_page(std::string_view series) {
    Document page;
    page.title = escape(series);
    page.receives_events = true;
    page.header = fmt::format("<h1>{}</h1>\n<p id=\"status\" role=\"status\">connecting …</p>\n",
                              escape(series));
    page.main = R"(<section><h2>Provisional average</h2>
<figure><div class="picture"><canvas id="average" role="img" aria-label="provisional average"></canvas></div>
<figcaption id="caption"></figcaption></figure></section>
<section><h2>Drift</h2>
<figure><canvas id="drift" class="chart" role="img" aria-label="drift of each frame"></canvas>
<figcaption>to the right (blue) and downward (orange), in pixels, relative to the first usable frame</figcaption></figure>
<figure><canvas id="rotation" class="chart" role="img" aria-label="rotation of each frame"></canvas>
<figcaption>clockwise, in degrees</figcaption></figure></section>
<section><h2>Frames with flags</h2><table><thead><tr><th>frame</th><th>flag</th></tr></thead>
<tbody id="flags"></tbody></table></section>
)";
    page.scripts.emplace_back(assets::live_js);
    return to_html(page);
}

} // namespace sextant::report
