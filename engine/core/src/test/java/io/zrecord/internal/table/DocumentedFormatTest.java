package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Repository;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The files that FORMAT.md shows are those of the golden datasets, byte by byte. An example is an
 * indented block whose first line names a golden file; a name that ends with a slash goes on in the
 * next line. A line of binary content has an offset, bytes in hexadecimal, and after two spaces
 * perhaps a remark. Lines of JSON follow each other without a separator, and end with a line feed.
 */
final class DocumentedFormatTest {
  private static final Path PAGE = Repository.path("docs/spec/FORMAT.md");
  private static final Path RESOURCES = Path.of("src/test/resources");
  private static final String INDENT = "    ";
  private static final Pattern DUMPED = Pattern.compile(" *(\\d+)  ((?:[0-9a-f]{8} ?)+)(?: .*)?");

  @Test
  void examplesAreTheGoldenFiles() throws IOException {
    List<String> lines = Files.readAllLines(PAGE);
    List<String> shown = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      if (!lines.get(i).startsWith(INDENT + "golden/")) {
        continue;
      }
      String name = lines.get(i).strip();
      while (name.endsWith("/")) {
        name += lines.get(++i).strip();
      }
      List<String> block = new ArrayList<>();
      while (++i < lines.size() && lines.get(i).startsWith(INDENT)) {
        block.add(lines.get(i).substring(INDENT.length()));
      }
      byte[] golden = Files.readAllBytes(RESOURCES.resolve(name));
      assertThat(bytes(name, block))
          .as("%s, which is%n%s", name, dump(name, golden))
          .isEqualTo(golden);
      shown.add(name.substring(name.lastIndexOf(name.endsWith("/journal") ? '/' : '.')));
    }
    assertThat(shown).contains(".json", ".tables", ".zr", "/journal");
  }

  private static byte[] bytes(String name, List<String> block) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    boolean isText = false;
    for (String line : block) {
      Matcher dumped = DUMPED.matcher(line);
      if (!dumped.matches()) {
        bytes.writeBytes(line.strip().getBytes(StandardCharsets.UTF_8));
        isText = true;
        continue;
      }
      if (isText) {
        bytes.write('\n');
        isText = false;
      }
      assertThat(Integer.parseInt(dumped.group(1)))
          .as("%s: %s", name, line)
          .isEqualTo(bytes.size());
      bytes.writeBytes(HexFormat.of().parseHex(dumped.group(2).replace(" ", "")));
    }
    if (isText) {
      bytes.write('\n');
    }
    return bytes.toByteArray();
  }

  /** Returns what the page should show, without remarks. */
  private static String dump(String name, byte[] golden) {
    if (name.endsWith(".json")) {
      return new String(golden, StandardCharsets.UTF_8);
    }
    StringBuilder dump = new StringBuilder();
    for (int at = 0; at < golden.length; at += 16) {
      dump.append(String.format("%s%6d ", INDENT, at));
      for (int word = at; word < Math.min(at + 16, golden.length); word += 4) {
        dump.append(' ')
            .append(HexFormat.of().formatHex(golden, word, Math.min(word + 4, golden.length)));
      }
      dump.append('\n');
    }
    return dump.toString();
  }
}
