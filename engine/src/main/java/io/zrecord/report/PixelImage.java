package io.zrecord.report;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.awt.image.BufferedImage;
import java.awt.image.WritableRaster;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import javax.imageio.ImageIO;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/**
 * An array of bytes that looks like an image: height × width, with 1 or 3 colours behind if at all, and at least {@value #MIN_SIDE}
 * pixels a side, since smaller ones are rather numbers. Large ones are shown by every so many pixels.
 */
final class PixelImage {
  private static final int MIN_SIDE = 8;
  private static final int MAX_SHOWN_SIDE = 512;
  private static final int WANTED_SIDE = 96;

  private final int width;
  private final int height;
  private final int bands;
  private final byte[] value;

  /** @param bands 1 for grey, 3 for red, green and blue */
  private PixelImage(int width, int height, int bands, byte[] value) {
    this.width = width;
    this.height = height;
    this.bands = bands;
    this.value = value;
  }

  /** The image that a value is, if it is one. */
  static Optional<PixelImage> of(FieldSpec field, byte[] value) {
    List<Integer> shape = field.shape().dimensions();
    boolean hasBands = shape.size() == 3 && (shape.get(2) == 1 || shape.get(2) == 3);
    if (!field.type().equals(ElementType.U8) || !(shape.size() == 2 || hasBands)) {
      return Optional.empty();
    }
    int bands = hasBands ? shape.get(2) : 1;
    int width = shape.get(1);
    if (width < MIN_SIDE) {
      return Optional.empty();
    }
    int height = (int) (value.length / ((long) width * bands));
    return height < MIN_SIDE
        ? Optional.empty()
        : Optional.of(new PixelImage(width, height, bands, value));
  }

  /** Pixels of a row. */
  int width() {
    return width;
  }

  /** Rows. */
  int height() {
    return height;
  }

  /** How many times as large small images are shown, so that one can see them. */
  int magnification() {
    return Math.max(1, WANTED_SIDE / Math.max(width, height));
  }

  /** Pixels that are one pixel in the PNG. */
  int step() {
    return (Math.max(width, height) + MAX_SHOWN_SIDE - 1) / MAX_SHOWN_SIDE;
  }

  /** Pixels of a side of the PNG. */
  int shown(int side) {
    return (side + step() - 1) / step();
  }

  byte[] png() {
    BufferedImage image = new BufferedImage(
        shown(width),
        shown(height),
        bands == 1 ? BufferedImage.TYPE_BYTE_GRAY : BufferedImage.TYPE_3BYTE_BGR);
    WritableRaster raster = image.getRaster();
    for (int y = 0; y < image.getHeight(); y++) {
      for (int x = 0; x < image.getWidth(); x++) {
        int at = (y * step() * width + x * step()) * bands;
        for (int band = 0; band < bands; band++) {
          raster.setSample(x, y, band, value[at + band] & 0xff);
        }
      }
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
      if (!ImageIO.write(image, "png", out)) {
        throw new IllegalStateException("This Java cannot write PNG images");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
