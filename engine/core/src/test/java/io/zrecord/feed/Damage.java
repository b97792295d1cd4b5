package io.zrecord.feed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Damages values of a dataset. */
final class Damage {
  private Damage() {}

  /** Flips a bit of a value that one of the last records has. */
  static void flipNearTheEnd(Path dataset) throws IOException {
    Path chunk;
    try (Stream<Path> files = Files.walk(dataset)) {
      chunk = files.filter(file -> file.toString().endsWith(".zr")).findFirst().orElseThrow();
    }
    byte[] content = Files.readAllBytes(chunk);
    content[content.length - 40] ^= 1;
    Files.write(chunk, content);
  }
}
