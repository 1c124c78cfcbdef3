// SPDX-License-Identifier: BSD-3-Clause
// What ImageJ reads of TIFF files, a line of JSON each; files of its own, if the first argument is "write".
import ij.ImagePlus;
import ij.ImageStack;
import ij.io.FileSaver;
import ij.io.Opener;
import ij.measure.Calibration;
import ij.plugin.FileInfoVirtualStack;
import ij.process.ImageProcessor;
import ij.process.ImageStatistics;
import java.io.File;

public class ImageJ {
    static String values(ImageProcessor slice) {
        ImageStatistics found = slice.getStatistics();
        return "[" + found.mean + ", " + found.min + ", " + found.max + "]";
    }

    /// Files that do not fit in memory are opened as virtual stacks, of which the last slice is read.
    static void show(String path) {
        boolean large = new File(path).length() > 1L << 30;
        ImagePlus image = large ? FileInfoVirtualStack.openVirtual(path) : new Opener().openImage(path);
        if (image == null) {
            System.out.println("null");
            return;
        }
        Calibration calibration = image.getCalibration();
        StringBuilder text = new StringBuilder("{\"width\": " + image.getWidth() + ", \"height\": " + image.getHeight()
            + ", \"bits\": " + image.getBitDepth() + ", \"channels\": " + image.getNChannels() + ", \"slices\": "
            + image.getNSlices() + ", \"frames\": " + image.getNFrames() + ", \"pixel\": [" + calibration.pixelWidth
            + ", " + calibration.pixelHeight + "], \"unit\": \"" + calibration.getUnit() + "\", \"interval\": "
            + calibration.frameInterval + ", \"values\": [");
        int last = image.getStackSize();
        for (int i = large ? last : 1; i <= last; ++i)
            text.append(i == last ? "" : "").append(values(image.getStack().getProcessor(i))).append(i < last ? ", " : "");
        System.out.println(text + "]}");
    }

    /// A hyperstack of 2 channels, 3 slices and 4 frames, and a stack, of 8, 16 and 32 bits each.
    static void write(String folder) {
        for (int bits : new int[] {8, 16, 32}) {
            ImageStack stack = new ImageStack(19, 11);
            for (int i = 0; i < 24; ++i) {
                ImageProcessor slice = ij.IJ.createImage("", bits + "-bit", 19, 11, 1).getProcessor();
                for (int pixel = 0; pixel < 19 * 11; ++pixel)
                    slice.setf(pixel, (pixel + 7 * i) % 200);
                stack.addSlice(slice);
            }
            ImagePlus image = new ImagePlus("", stack);
            Calibration calibration = image.getCalibration();
            calibration.pixelWidth = .125;
            calibration.pixelHeight = .25;
            calibration.setUnit("\u00B5m");
            calibration.frameInterval = .5;
            new FileSaver(image).saveAsTiffStack(folder + "/stack" + bits + ".tif");
            image.setDimensions(2, 3, 4);
            image.setOpenAsHyperStack(true);
            new FileSaver(image).saveAsTiffStack(folder + "/hyperstack" + bits + ".tif");
        }
    }

    public static void main(String[] arguments) {
        if (arguments[0].equals("write")) {
            write(arguments[1]);
        } else {
            for (String path : arguments)
                show(path);
        }
        System.exit(0);
    }
}
