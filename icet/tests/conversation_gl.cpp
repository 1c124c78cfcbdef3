// SPDX-License-Identifier: BSD-3-Clause
// Draws frames through the OpenGL layer of IceT's interface, in images without a window, and prints
// what comes back and what is then in the frame buffer. Runs over either library, as
// conversation.cpp.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <IceT.h>
#include <IceTGL.h>
#include <IceTMPI.h>

namespace {

int rank, size;
std::vector<std::string> lines;
constexpr int width = 61, height = 47; // size of the window

template <class... Values>
void say(const char* format, Values... values) {
    char line[4096];
    std::snprintf(line, sizeof(line), format, values...);
    lines.push_back(line);
}

void fail(const char* what) {
    std::fprintf(stderr, "conversation_gl: %s\n", what);
    std::exit(1);
}

/// Creates a compatibility context of OpenGL, with 8-bit colours and 24-bit depths, and makes it
/// current.
void open_gl() {
    const auto display_of = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
        eglGetProcAddress("eglGetPlatformDisplayEXT"));
    const EGLDisplay display =
        display_of ? display_of(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr)
                   : EGL_NO_DISPLAY;
    if (!eglInitialize(display, nullptr, nullptr) || !eglBindAPI(EGL_OPENGL_API))
        fail("no EGL without a window");
    const EGLint wanted[] = {EGL_SURFACE_TYPE,
                             EGL_PBUFFER_BIT,
                             EGL_RENDERABLE_TYPE,
                             EGL_OPENGL_BIT,
                             EGL_RED_SIZE,
                             8,
                             EGL_ALPHA_SIZE,
                             8,
                             EGL_DEPTH_SIZE,
                             24,
                             EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    eglChooseConfig(display, wanted, &config, 1, &count);
    if (count == 0)
        fail("no configuration of EGL");
    const EGLint shape[] = {EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE};
    const EGLSurface surface = eglCreatePbufferSurface(display, config, shape);
    const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, nullptr);
    if (!eglMakeCurrent(display, surface, surface, context))
        fail("no context of EGL");
}

void say_variables() {
    for (const IceTEnum name :
         {ICET_GL_READ_BUFFER, ICET_COLOR_FORMAT, ICET_DEPTH_FORMAT, ICET_PHYSICAL_RENDER_WIDTH,
          ICET_PHYSICAL_RENDER_HEIGHT, ICET_TILE_DISPLAYED, ICET_VALID_PIXELS_TILE,
          ICET_VALID_PIXELS_NUM}) {
        IceTInt value = -7;
        icetGetIntegerv(name, &value);
        say("  %x: %d, error %x", name, value, icetGetError());
    }
}

int drawn;

/// Draws one rectangle per rank, with its own colour and depth, that overlaps the rectangles of its
/// neighbours.
void draw() {
    ++drawn;
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glDisable(GL_BLEND);
    const float left = -.9F + .3F * static_cast<float>(rank),
                depth = .1F * static_cast<float>(rank);
    glColor4f(.08F * static_cast<float>(rank + 1), .3F, .1F, .6F); // premultiplied
    glBegin(GL_TRIANGLE_STRIP);
    glVertex3f(left, -.7F, depth);
    glVertex3f(left + .7F, -.7F, depth);
    glVertex3f(left, .5F, depth);
    glVertex3f(left + .7F, .5F, depth);
    glEnd();
}

void say_pixels(const char* what, const unsigned char* pixels, int columns, int rows) {
    for (int y = 0; y < rows; y += 5) {
        std::string line = std::string("~ ") + what + " row " + std::to_string(y) + ":";
        for (int i = 0; i < 4 * columns; ++i)
            line += ' ' + std::to_string(pixels[4 * y * columns + i]);
        lines.push_back(line);
    }
}

void draw_frame(const char* what) {
    drawn = 0;
    glViewport(0, 0, width, height);
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    glClearColor(.1F, .2F, .3F, 1);
    const IceTImage image = icetGLDrawFrame();
    say("%s: error %x, drawn %d, null %d", what, icetGetError(), drawn, icetImageIsNull(image));
    say_variables();
    if (!icetImageIsNull(image) && icetImageGetColorFormat(image) == ICET_IMAGE_COLOR_RGBA_UBYTE)
        say_pixels("image", icetImageGetColorub(image), icetImageGetWidth(image),
                   icetImageGetHeight(image));
    IceTInt displayed = -1;
    icetGetIntegerv(ICET_TILE_DISPLAYED, &displayed);
    std::vector<unsigned char> seen(4 * width * height);
    glReadBuffer(GL_BACK);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, seen.data());
    IceTBoolean displays = 0;
    icetGetBooleanv(ICET_GL_DISPLAY, &displays);
    if (displayed >= 0 && displays) // otherwise the drawn content, which depends on the tiles
        say_pixels("frame buffer", seen.data(), width, height);
    double matrix[16];
    glGetDoublev(GL_PROJECTION_MATRIX, matrix);
    say("  projection %g %g %g", matrix[0], matrix[5], matrix[12]);
    glGetDoublev(GL_MODELVIEW_MATRIX, matrix);
    say("  modelview %g %g %g", matrix[0], matrix[5], matrix[12]);
    float color[4];
    glGetFloatv(GL_COLOR_CLEAR_VALUE, color);
    say("  background %g %g %g %g", static_cast<double>(color[0]), static_cast<double>(color[1]),
        static_cast<double>(color[2]), static_cast<double>(color[3]));
}

void converse() {
    say("initialized: %d, error %x", icetGLIsInitialized(), icetGetError());
    say("not initialized: null %d, error %x", icetImageIsNull(icetGLDrawFrame()), icetGetError());
    icetGLInitialize();
    say("initialized: %d, error %x", icetGLIsInitialized(), icetGetError());
    icetGLInitialize();
    say("twice: error %x", icetGetError());
    say("no callback: null %d, error %x", icetImageIsNull(icetGLDrawFrame()), icetGetError());
    say_variables();
    for (const GLenum buffer : {GL_FRONT, GL_BACK_LEFT, GL_AUX0, GL_NONE, GL_RGBA, GL_BACK}) {
        icetGLSetReadBuffer(buffer);
        IceTInt value = 0;
        icetGetIntegerv(ICET_GL_READ_BUFFER, &value);
        const bool refused = value != static_cast<IceTInt>(buffer); // IceT always sets GL_BACK
        say("read buffer %x: refused %d, error %x", buffer, buffer == GL_BACK && refused,
            icetGetError());
    }
    icetGLDrawCallback(draw);
    icetDiagnostics(ICET_DIAG_OFF);
    icetStrategy(ICET_STRATEGY_REDUCE);
    icetBoundingBoxd(-1, 1, -1, 1, -1, 1);
    for (const IceTEnum mode : {ICET_COMPOSITE_MODE_Z_BUFFER, ICET_COMPOSITE_MODE_BLEND}) {
        const bool blends = mode == ICET_COMPOSITE_MODE_BLEND;
        icetCompositeMode(mode);
        icetSetDepthFormat(blends ? ICET_IMAGE_DEPTH_NONE : ICET_IMAGE_DEPTH_FLOAT);
        icetResetTiles();
        icetAddTile(0, 0, width, height, 0);
        draw_frame("one tile");
        (blends ? icetEnable : icetDisable)(ICET_ORDERED_COMPOSITE);
        for (const IceTEnum flag : {ICET_GL_DISPLAY_COLORED_BACKGROUND,
                                    ICET_CORRECT_COLORED_BACKGROUND, ICET_GL_DISPLAY_INFLATE}) {
            icetEnable(flag);
            draw_frame("with a flag");
            icetDisable(flag);
        }
        icetDisable(ICET_GL_DISPLAY);
        draw_frame("not displayed");
        icetEnable(ICET_GL_DISPLAY);
        icetResetTiles();
        icetAddTile(0, 0, 40, 30, size - 1);
        draw_frame("a small tile");
        if (size > 1) {
            icetResetTiles();
            icetAddTile(0, 0, 30, height, 0);
            icetAddTile(30, 0, 31, height, 1);
            draw_frame("two tiles");
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2)
        fail("usage: conversation_gl PREFIX");
    open_gl();
    IceTCommunicator communicator = icetCreateMPICommunicator(MPI_COMM_WORLD);
    IceTContext context = icetCreateContext(communicator);
    icetDestroyMPICommunicator(communicator);
    icetDiagnostics(ICET_DIAG_OFF);
    converse();
    icetDestroyContext(context);
    std::FILE* const file = std::fopen((argv[1] + std::to_string(rank)).c_str(), "w");
    if (!file)
        fail("cannot write the transcript");
    for (const std::string& line : lines)
        std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
    MPI_Finalize();
}
