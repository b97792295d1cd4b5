package io.zrecord.examples;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/** Reads the files themselves without Spark. Everything else is compared with these files. */
final class SourceFiles {
  private SourceFiles() {}

  /** Returns the path, length and SHA-256 of each file, as MainJob makes them from rows. */
  static List<Row> hashes(List<Row> rowsWithPath) {
    return rowsWithPath.parallelStream().map(row -> hash(row.getString(0))).toList();
  }

  private static Row hash(String path) {
    // Spark's column has Hadoop's text of a path, in which nothing is escaped.
    Path file = Path.of(new org.apache.hadoop.fs.Path(path).toUri().getPath());
    try (InputStream in = Files.newInputStream(file)) {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      long length = in.transferTo(new DigestOutputStream(OutputStream.nullOutputStream(), sha256));
      return RowFactory.create(path, length, HexFormat.of().formatHex(sha256.digest()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JDK has SHA-256", e);
    }
  }
}
