package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Repository;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The tables of docs/proofs.md: each row names tests that exist, and the tiers that their tags say.
 */
class DocumentedProofsTest {
  private static final Path ROOT = Repository.path("").toAbsolutePath().normalize();
  private static final Pattern NAME = Pattern.compile("`(\\w+(?:Test|Suite)|test_\\w+\\.py)`");

  /** A script that runs by itself, and in its turn in .ci/run. */
  private static final Pattern SCRIPT = Pattern.compile("`((?:[a-z-]+/)+run)`");

  private static final Pattern TAG = Pattern.compile("\n@Tag\\(\"tier-(\\d)\"\\)\n");

  /** A test file of the house and its tier. */
  private record Source(Path path, int tier) {}

  private final Map<String, Source> sources = sources();
  private final List<String[]> rows = rows();

  @Test
  void eachRowNamesTestsThatExist() {
    assertThat(rows).hasSizeGreaterThan(80);
    for (String[] row : rows) {
      if (names(row[2]).isEmpty()) {
        assertThat(scripts(row[2]))
            .as(row[1])
            .isNotEmpty()
            .allMatch(script -> Files.isExecutable(ROOT.resolve(script)));
      }
      assertThat(sources.keySet()).as(row[1]).containsAll(names(row[2]));
    }
  }

  @Test
  void eachRowNamesTheTiersOfItsTests() {
    for (String[] row : rows) {
      String tiers = names(row[2]).stream()
          .map(name -> sources.get(name).tier())
          .collect(Collectors.toCollection(TreeSet::new))
          .stream()
          .map(String::valueOf)
          .collect(Collectors.joining(", "));
      assertThat(row[3].strip()).as(row[1]).isEqualTo(tiers.isEmpty() ? "3" : tiers);
    }
  }

  @Test
  void eachRowSaysHowLongItTakes() {
    for (String[] row : rows) {
      assertThat(row[4].strip()).as(row[1]).matches("\\d+(\\.\\d)?");
    }
  }

  @Test
  void eachTestOfALaterTierIsInARow() {
    Set<String> named =
        rows.stream().flatMap(row -> names(row[2]).stream()).collect(Collectors.toSet());
    List<String> tagged = sources.entrySet().stream()
        .filter(entry -> entry.getValue().tier() > 2)
        .map(Map.Entry::getKey)
        .toList();
    assertThat(tagged).isNotEmpty();
    assertThat(named).containsAll(tagged);
  }

  private static List<String> names(String cell) {
    return all(NAME, cell);
  }

  private static List<String> scripts(String cell) {
    return all(SCRIPT, cell);
  }

  private static List<String> all(Pattern pattern, String cell) {
    List<String> names = new ArrayList<>();
    Matcher matcher = pattern.matcher(cell);
    while (matcher.find()) {
      names.add(matcher.group(1));
    }
    return names;
  }

  /** Returns the cells of all rows but headings, the first before the leading bar. */
  private static List<String[]> rows() {
    try (Stream<String> lines = Files.lines(ROOT.resolve("docs/proofs.md"))) {
      return lines
          .filter(line -> line.startsWith("| ") && !line.startsWith("| claim"))
          .map(line -> line.split("(?<!\\\\)\\|", -1))
          .toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static Map<String, Source> sources() {
    Map<String, Source> found = new TreeMap<>();
    try {
      Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
        /** Other tests create and delete files below these meanwhile. */
        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
          String name = directory.getFileName().toString();
          return !directory.equals(ROOT) && (name.equals("target") || name.startsWith("."))
              ? FileVisitResult.SKIP_SUBTREE
              : FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path path, BasicFileAttributes attributes)
            throws IOException {
          if (isTest(path)) {
            found.put(name(path), new Source(path, tier(path)));
          }
          return FileVisitResult.CONTINUE;
        }
      });
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return found;
  }

  /** Returns the name of a class, or of a file of Python. */
  private static String name(Path path) {
    return path.getFileName().toString().replaceFirst("\\.(java|scala)$", "");
  }

  private static boolean isTest(Path path) throws IOException {
    String name = path.getFileName().toString();
    String relative = ROOT.relativize(path).toString();
    return (name.matches("\\w+(Test\\.java|Suite\\.scala)") && relative.contains("src/test/"))
        || (name.matches("test_\\w+\\.py") && relative.startsWith("python/tests/"));
  }

  /** Returns 1 for what has no tag, and 2 for Python, which only .ci/run runs. */
  private static int tier(Path path) throws IOException {
    String text = Files.readString(path);
    if (path.toString().endsWith(".py")) {
      return text.contains("from tests.clouds import") ? 4 : 2;
    }
    if (text.contains("\n@Slow\n")) {
      return 3;
    }
    Matcher tag = TAG.matcher(text);
    return tag.find() ? Integer.parseInt(tag.group(1)) : 1;
  }
}
