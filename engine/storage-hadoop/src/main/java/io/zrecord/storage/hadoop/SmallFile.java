package io.zrecord.storage.hadoop;

import io.zrecord.errors.CorruptDataException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FutureIO;

/** Reads a whole file of bounded length, without asking for the length first. Stateless. */
final class SmallFile {
  private static final int FIRST_BYTES = 1 << 16;

  private SmallFile() {}

  /**
   * Returns the content of a file.
   *
   * @param maxBytes a longer file is corrupt
   */
  static byte[] read(FileSystem files, Path file, int maxBytes) throws IOException {
    FutureDataInputStreamBuilder builder =
        files.openFile(file).opt("fs.option.openfile.read.policy", "sequential");
    if (answersBeyondTheEnd(files)) {
      // S3A would ask for the length. It asks for the bytes up to this one instead, and the store
      // answers with those that there are.
      builder = builder.opt("fs.option.openfile.length", Long.toString(maxBytes + 1L));
    }
    try (FSDataInputStream stream = FutureIO.awaitFuture(builder.build())) {
      Optional<byte[]> content = readToEnd(stream, maxBytes);
      if (content.isPresent()) {
        return content.get();
      }
    }
    throw new CorruptDataException(
        file.toString(),
        "Cannot read " + file + ": it has " + files.getFileStatus(file).getLen()
            + " bytes, at most " + maxBytes + " are allowed. Restore it from a copy");
  }

  /** Returns the rest of a stream; empty if there is more than a number of bytes. */
  private static Optional<byte[]> readToEnd(FSDataInputStream stream, int maxBytes)
      throws IOException {
    byte[] content = new byte[(int) Math.min(FIRST_BYTES, maxBytes + 1L)];
    int length = 0;
    while (true) {
      int count = stream.read(content, length, content.length - length);
      if (count < 0) {
        return Optional.of(Arrays.copyOf(content, length));
      }
      length += count;
      if (length > maxBytes) {
        return Optional.empty();
      }
      if (length == content.length) {
        content = Arrays.copyOf(content, (int) Math.min(2L * length, maxBytes + 1L));
      }
    }
  }

  /**
   * Tells whether a stream may be given a length beyond the end. The classic stream of S3A may; its
   * other streams take the length for true.
   */
  private static boolean answersBeyondTheEnd(FileSystem files) {
    Configuration settings = files.getConf();
    String type = settings.getTrimmed("fs.s3a.input.stream.type", "classic");
    return files.getUri().getScheme().equals("s3a")
        && (type.toLowerCase(Locale.ROOT).equals("classic") || type.isEmpty())
        && !settings.getBoolean("fs.s3a.prefetch.enabled", false);
  }
}
