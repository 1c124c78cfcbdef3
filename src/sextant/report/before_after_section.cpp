// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/before_after_section.hpp"

#include "sextant/report/assets.hpp"
#include "sextant/report/png_size.hpp"
#include "sextant/report/text.hpp"

#include <fmt/format.h>

namespace sextant::report {

namespace {

std::string picture(std::string_view name, const std::vector<std::byte>& png) {
    const PngSize size = png_size(png);
    return fmt::format("<div class=\"{0}\"><img width=\"{1}\" height=\"{2}\" alt=\"{0}\" "
                       "src=\"data:image/png;base64,{3}\"/><span>{0}</span></div>\n",
                       name, size.width, size.height, base64(png));
}

} // namespace

Section before_after_section(const BeforeAfter& pictures) {
    return {pictures.title,
            "<figure class=\"compare\">\n<div class=\"both\">\n" +
                picture("after", pictures.after) + picture("before", pictures.before) +
                "</div>\n<div class=\"controls\"><label class=\"wide\">before<input "
                "type=\"range\" min=\"0\" max=\"100\" value=\"50\" aria-label=\"How much of the "
                "picture before is seen, in percent\"/>after</label></div>\n" +
                fmt::format("<figcaption>{}</figcaption>\n</figure>\n", escape(pictures.caption)),
            assets::slider_js};
}

} // namespace sextant::report
