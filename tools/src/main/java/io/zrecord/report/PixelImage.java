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
 * An array of bytes that looks like an image: height × width, optionally with 1 or 3 colours as the
 * last dimension. Each side has at least {@value #MIN_SIDE} pixels, because smaller arrays are
 * rather numbers. Of large images, only every n-th pixel is shown.
 */
final class PixelImage {
  private static final int MIN_SIDE = 8;
  private static final int MAX_SHOWN_SIDE = 512;
  private static final int WANTED_SIDE = 96;

  private final int width;
  private final int height;
  private final int bands;
  private final byte[] value;

  /**
   * Creates an image over the bytes of a value.
   *
   * @param bands 1 for grey, 3 for red, green and blue
   */
  private PixelImage(int width, int height, int bands, byte[] value) {
    this.width = width;
    this.height = height;
    this.bands = bands;
    this.value = value;
  }

  /** Returns a value as an image, if it looks like one. */
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

  /** Returns the number of pixels in a row. */
  int width() {
    return width;
  }

  /** Returns the number of rows. */
  int height() {
    return height;
  }

  /** Returns the factor by which small images are enlarged to be visible. */
  int magnification() {
    return Math.max(1, WANTED_SIDE / Math.max(width, height));
  }

  /** Returns the number of pixels on a side that become one pixel of the PNG. */
  int step() {
    return (Math.max(width, height) + MAX_SHOWN_SIDE - 1) / MAX_SHOWN_SIDE;
  }

  /** Returns the number of the PNG's pixels on a side. */
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
