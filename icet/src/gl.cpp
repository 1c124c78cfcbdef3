// SPDX-License-Identifier: BSD-3-Clause
// Frames that are drawn and shown by OpenGL, with its matrices, background and viewport.
#include <algorithm>
#include <array>
#include <vector>

#include "context.hpp"
#include <IceTGL.h>

namespace sextant::icet {

namespace {

/// The callback for icetDrawFrame: calls the program's draw callback, and reads the pixels.
void draw(const IceTDouble* projection, const IceTDouble* modelview, const IceTFloat* background,
          const IceTInt* readback, IceTImage result) {
    Context& context = current();
    const auto callback = context.at(ICET_GL_DRAW_FUNCTION).as<IceTGLDrawCallbackType>().at(0);
    glMatrixMode(GL_PROJECTION);
    glLoadMatrixd(projection);
    glMatrixMode(GL_MODELVIEW);
    glPushMatrix();
    glLoadMatrixd(modelview);
    glClearColor(background[0], background[1], background[2], background[3]);
    callback();
    glMatrixMode(GL_MODELVIEW);
    glPopMatrix();
    glPixelStorei(GL_PACK_ROW_LENGTH, icetImageGetWidth(result));
    glPixelStorei(GL_PACK_SKIP_PIXELS, readback[0]);
    glPixelStorei(GL_PACK_SKIP_ROWS, readback[1]);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadBuffer(static_cast<GLenum>(context.number(ICET_GL_READ_BUFFER)));
    std::array<GLint, 4> viewport{};
    glGetIntegerv(GL_VIEWPORT, viewport.data());
    const auto read = [&](GLenum format, GLenum type, void* to) {
        glReadPixels(viewport[0] + readback[0], viewport[1] + readback[1], readback[2], readback[3],
                     format, type, to);
    };
    switch (icetImageGetColorFormat(result)) {
    case ICET_IMAGE_COLOR_RGBA_UBYTE:
        read(GL_RGBA, GL_UNSIGNED_BYTE, icetImageGetColorub(result));
        break;
    case ICET_IMAGE_COLOR_RGBA_FLOAT:
        read(GL_RGBA, GL_FLOAT, icetImageGetColorf(result));
        break;
    case ICET_IMAGE_COLOR_RGB_FLOAT:
        read(GL_RGB, GL_FLOAT, icetImageGetColorf(result));
        break;
    default:
        break;
    }
    if (icetImageGetDepthFormat(result) == ICET_IMAGE_DEPTH_FLOAT)
        read(GL_DEPTH_COMPONENT, GL_FLOAT, icetImageGetDepthf(result));
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 0);
    glPixelStorei(GL_PACK_SKIP_ROWS, 0);
}

/// Writes the image to the frame buffer: at the lower left of the viewport, or scaled up to fill
/// the viewport.
void show(const Context& context, const IceTImage& image, const std::array<GLint, 4>& viewport) {
    std::vector<IceTUByte> colors(static_cast<std::size_t>(icetImageGetNumPixels(image)) * 4);
    icetImageCopyColorub(image, colors.data(), ICET_IMAGE_COLOR_RGBA_UBYTE);
    glPushAttrib(GL_TEXTURE_BIT | GL_COLOR_BUFFER_BIT | GL_ENABLE_BIT | GL_PIXEL_MODE_BIT);
    for (const GLenum off : {GL_TEXTURE_1D, GL_TEXTURE_2D, GL_ALPHA_TEST, GL_LIGHTING, GL_CULL_FACE,
                             GL_DEPTH_TEST, GL_BLEND})
        glDisable(off);
    if (context.choice(ICET_COMPOSITE_MODE) == ICET_COMPOSITE_MODE_BLEND &&
        context.enabled(ICET_GL_DISPLAY_COLORED_BACKGROUND) &&
        !context.enabled(ICET_CORRECT_COLORED_BACKGROUND)) {
        glEnable(GL_BLEND);
        glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    }
    glMatrixMode(GL_PROJECTION);
    glPushMatrix();
    glLoadIdentity();
    glMatrixMode(GL_MODELVIEW);
    glPushMatrix();
    glLoadIdentity();
    glRasterPos2f(-1, -1);
    if (context.enabled(ICET_GL_DISPLAY_INFLATE))
        glPixelZoom(static_cast<float>(viewport[2]) / static_cast<float>(icetImageGetWidth(image)),
                    static_cast<float>(viewport[3]) /
                        static_cast<float>(icetImageGetHeight(image)));
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glDrawPixels(icetImageGetWidth(image), icetImageGetHeight(image), GL_RGBA, GL_UNSIGNED_BYTE,
                 colors.data());
    glPixelZoom(1, 1);
    glPopMatrix();
    glMatrixMode(GL_PROJECTION);
    glPopMatrix();
    glMatrixMode(GL_MODELVIEW);
    glPopAttrib();
}

} // namespace
} // namespace sextant::icet

using namespace sextant::icet;

extern "C" {

void icetGLInitialize(void) {
    guarded(__func__, [] {
        Context& context = current();
        if (context.at(ICET_GL_INITIALIZED).type() != ICET_NULL &&
            context.enabled(ICET_GL_INITIALIZED))
            report(ICET_INVALID_OPERATION, "icetGLInitialize", "called twice for a context",
                   ICET_DIAG_WARNINGS);
        context.set_flag(ICET_GL_INITIALIZED, true);
        context.set_number(ICET_GL_READ_BUFFER, GL_BACK);
        context.set_pointer(ICET_GL_DRAW_FUNCTION, nullptr);
        context.set_number(ICET_GL_INFLATE_TEXTURE, 0);
        context.set_flag(ICET_GL_DISPLAY, true);
        context.set_flag(ICET_GL_DISPLAY_COLORED_BACKGROUND, false);
        context.set_flag(ICET_GL_DISPLAY_INFLATE, false);
        context.set_flag(ICET_GL_DISPLAY_INFLATE_WITH_HARDWARE, true);
    });
}

IceTBoolean icetGLIsInitialized(void) {
    return guarded(__func__, IceTBoolean{ICET_FALSE}, []() -> IceTBoolean {
        Context& context = current();
        return context.at(ICET_GL_INITIALIZED).type() != ICET_NULL &&
                       context.enabled(ICET_GL_INITIALIZED)
                   ? ICET_TRUE
                   : ICET_FALSE;
    });
}

/// Differs: images are read from this buffer; IceT always reads from GL_BACK.
void icetGLSetReadBuffer(GLenum mode) {
    guarded(__func__, [&] {
        constexpr std::array<GLenum, 8> buffers = {GL_FRONT_LEFT, GL_FRONT_RIGHT, GL_BACK_LEFT,
                                                   GL_BACK_RIGHT, GL_FRONT,       GL_BACK,
                                                   GL_LEFT,       GL_RIGHT};
        const bool is_buffer = std::find(buffers.begin(), buffers.end(), mode) != buffers.end() ||
                               (mode >= GL_AUX0 && mode < GL_AUX0 + 16);
        if (!is_buffer)
            throw Raised(ICET_INVALID_ENUM, fmt::format("{:#x} is not a read buffer", mode));
        current().set_number(ICET_GL_READ_BUFFER, static_cast<IceTInt>(mode));
    });
}

void icetGLDrawCallback(IceTGLDrawCallbackType callback) {
    guarded(__func__, [&] {
        current().set_pointer(ICET_GL_DRAW_FUNCTION, reinterpret_cast<const void*>(callback));
    });
}

/// Differs: in the same ways as icetDrawFrame.
IceTImage icetGLDrawFrame(void) {
    return guarded(__func__, icetImageNull(), [] {
        Context& context = current();
        if (!icetGLIsInitialized())
            throw Raised(ICET_INVALID_OPERATION, "not initialized: call icetGLInitialize");
        std::array<GLdouble, 16> projection{}, modelview{};
        std::array<GLfloat, 4> background{};
        std::array<GLint, 4> viewport{};
        glGetDoublev(GL_PROJECTION_MATRIX, projection.data());
        glGetDoublev(GL_MODELVIEW_MATRIX, modelview.data());
        glGetFloatv(GL_COLOR_CLEAR_VALUE, background.data());
        glGetIntegerv(GL_VIEWPORT, viewport.data());
        icetPhysicalRenderSize(viewport[2], viewport[3]);
        if (!context.at(ICET_GL_DRAW_FUNCTION).as<IceTGLDrawCallbackType>().at(0))
            throw Raised(ICET_INVALID_OPERATION, "no drawing function: call icetGLDrawCallback");
        const Value before = context.at(ICET_DRAW_FUNCTION);
        context.set_pointer(ICET_DRAW_FUNCTION, reinterpret_cast<const void*>(&draw));
        const IceTImage image =
            icetDrawFrame(projection.data(), modelview.data(), background.data());
        context.at(ICET_DRAW_FUNCTION) = before;
        glMatrixMode(GL_PROJECTION);
        glLoadMatrixd(projection.data());
        glMatrixMode(GL_MODELVIEW);
        glLoadMatrixd(modelview.data());
        glClearColor(background[0], background[1], background[2], background[3]);
        const double begin = wall_time();
        if (context.enabled(ICET_GL_DISPLAY) && context.number(ICET_TILE_DISPLAYED) >= 0 &&
            !icetImageIsNull(image) && icetImageGetColorFormat(image) != ICET_IMAGE_COLOR_NONE)
            show(context, image, viewport);
        const double took = wall_time() - begin;
        context.set_real(ICET_BUFFER_WRITE_TIME, took);
        context.set_real(ICET_TOTAL_DRAW_TIME, context.real(ICET_TOTAL_DRAW_TIME) + took);
        return image;
    });
}

} // extern "C"
