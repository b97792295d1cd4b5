package io.zrecord.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Reads the source files in jars, and cuts them at the ends of lines into records of about 1 KiB.
 * Leaves out records that came before, such as licences.
 */
final class SourceText {
  private static final int RECORD_BYTES = 1 << 10;

  private final Set<UUID> seen = new HashSet<>();
  private long files;
  private long bytes;

  /** Takes a record. */
  interface Target {
    void put(long id, String text);
  }

  long records() {
    return seen.size();
  }

  long bytes() {
    return bytes;
  }

  void read(Path directory, Target target) throws IOException {
    List<Path> jars;
    try (var listed = Files.list(directory)) {
      jars = listed.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
    for (Path jar : jars) {
      try (ZipFile zip = new ZipFile(jar.toFile())) {
        for (ZipEntry entry : zip.stream()
            .filter(file -> file.getName().matches(".*\\.(java|scala)"))
            .sorted(Comparator.comparing(ZipEntry::getName))
            .toList()) {
          if (files++ % 100 < Effort.percent()) {
            byte[] file = zip.getInputStream(entry).readAllBytes();
            cut(new String(file, StandardCharsets.UTF_8), target);
          }
        }
      }
    }
  }

  private void cut(String file, Target target) {
    int from = 0;
    while (file.length() - from >= RECORD_BYTES) {
      int end = file.indexOf('\n', from + RECORD_BYTES - 1) + 1;
      if (end == 0) {
        return;
      }
      put(file.substring(from, end), target);
      from = end;
    }
  }

  private void put(String record, Target target) {
    byte[] encoded = record.getBytes(StandardCharsets.UTF_8);
    long id = seen.size();
    if (seen.add(UUID.nameUUIDFromBytes(encoded))) {
      bytes += encoded.length;
      target.put(id, record);
    }
  }
}
