package io.zrecord.storage.hadoop;

import io.zrecord.errors.TruncatedFileException;
import io.zrecord.storage.ReadableFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FutureIO;

/**
 * A file whose regions are read into memory. Each region has a stream of its own, which ends with
 * the region: threads neither wait for each other nor keep connections that nobody uses.
 */
record HadoopReadableFile(FileSystem files, Path file, long lengthBytes) implements ReadableFile {
  private static final int REGION_BYTES = 8 << 20;

  @Override
  public String path() {
    return file.toString();
  }

  @Override
  public ByteBuffer region(long position, int regionBytes) {
    if (position < 0
        || regionBytes < 0
        || regionBytes > 1 << 30
        || position > lengthBytes - regionBytes) {
      throw new IllegalArgumentException("Region of " + regionBytes + " bytes at " + position
          + " is not within " + file + " of " + lengthBytes + " bytes");
    }
    byte[] content = new byte[regionBytes];
    if (regionBytes > 0) {
      read(position, content);
    }
    return ByteBuffer.wrap(content).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private void read(long position, byte[] target) {
    try (FSDataInputStream stream = open(target.length)) {
      stream.readFully(position, target);
    } catch (EOFException e) {
      throw new TruncatedFileException(
          path(),
          "Cannot read " + range(position, target) + " of " + file
              + ": it ends before. Restore it from a copy",
          Redaction.cause(e, files.getConf()));
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "read " + range(position, target) + " of", file, e);
    }
  }

  private static String range(long position, byte[] target) {
    return "bytes " + position + " to " + (position + target.length);
  }

  /**
   * Opens the file for one read at any place. A store that is told the length need not be asked,
   * and S3A reads ahead as far as it is told.
   */
  private FSDataInputStream open(int readBytes) throws IOException {
    return FutureIO.awaitFuture(files
        .openFile(file)
        .opt("fs.option.openfile.read.policy", "random")
        .opt("fs.option.openfile.length", Long.toString(lengthBytes))
        .opt("fs.s3a.readahead.range", Integer.toString(readBytes))
        .build());
  }

  @Override
  public int preferredRegionBytes() {
    return REGION_BYTES;
  }

  @Override
  public boolean isMapped() {
    return false;
  }

  @Override
  public void close() {}
}
