package io.zrecord.storage.hadoop;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.storage.ReadableFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FutureIO;
import org.jspecify.annotations.Nullable;

/**
 * A file whose regions are read into memory. Each region has a stream of its own, which ends with
 * the region: threads neither wait for each other nor keep connections that nobody uses.
 * Thread-safe.
 */
final class HadoopReadableFile implements ReadableFile {
  private static final int REGION_BYTES = 8 << 20;

  /** Status and method in the message of ABFS for a read whose condition does not hold. */
  private static final String REPLACED = ", 412, GET, ";

  private final FileSystem files;
  private final Path file;
  private final long lengthBytes;
  private final boolean asksForStatus;

  /** What ABFS asks for before it reads, unless it is told; null if it is not known. */
  private volatile @Nullable FileStatus status;

  HadoopReadableFile(FileSystem files, Path file, long lengthBytes) {
    this.files = files;
    this.file = file;
    this.lengthBytes = lengthBytes;
    asksForStatus = files.getUri().getScheme().toLowerCase(Locale.ROOT).startsWith("abfs");
  }

  HadoopReadableFile(FileSystem files, Path file, FileStatus status) {
    this(files, file, status.getLen());
    this.status = status;
  }

  @Override
  public long lengthBytes() {
    return lengthBytes;
  }

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
      status = null;
      throw new TruncatedFileException(
          path(),
          "Cannot read " + range(position, target) + " of " + file
              + ": it ends before. Restore it from a copy",
          Redaction.cause(e, files.getConf()));
    } catch (IOException e) {
      // Perhaps another file has the name now, such as a copy.
      status = null;
      if (isReplaced(e)) {
        throw new CorruptDataException(
            path(),
            "Cannot read " + range(position, target) + " of " + file
                + ": another file has that name now. Files of a dataset are never replaced: find"
                + " out who did, and restore it from a copy",
            Redaction.cause(e, files.getConf()));
      }
      throw HadoopErrors.of(files.getConf(), "read " + range(position, target) + " of", file, e);
    }
  }

  /**
   * Tells whether a read was refused because the file is not the one that was opened: ABFS asks for
   * the ETag of that one. The class that has the status belongs to a library that may be missing.
   */
  private static boolean isReplaced(IOException e) {
    return String.valueOf(e.getMessage()).contains(REPLACED);
  }

  private static String range(long position, byte[] target) {
    return "bytes " + position + " to " + (position + target.length);
  }

  /**
   * Opens the file for one read at any place. A store that is told the length need not be asked.
   * S3A reads ahead as far as it is told, and ABFS reads into a buffer of 4 MiB unless it is told.
   */
  private FSDataInputStream open(int readBytes) throws IOException {
    FutureDataInputStreamBuilder builder = files
        .openFile(file)
        .opt("fs.option.openfile.read.policy", "random")
        .opt("fs.option.openfile.length", Long.toString(lengthBytes))
        .opt("fs.s3a.readahead.range", Integer.toString(readBytes))
        .opt("fs.azure.buffered.pread.disable", "true");
    if (asksForStatus) {
      builder = builder.withFileStatus(knownStatus());
    }
    return FutureIO.awaitFuture(builder.build());
  }

  private FileStatus knownStatus() throws IOException {
    FileStatus known = status;
    if (known == null) {
      known = files.getFileStatus(file);
      status = known;
    }
    return known;
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
