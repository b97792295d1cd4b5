package io.zrecord.schema;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FileStemsTest {
  private static List<String> stems(String... names) {
    List<FieldSpec> fields = new ArrayList<>();
    for (String name : names) {
      fields.add(new FieldSpec(
          fields.size() + 1, name, ElementType.BYTES, Shape.scalar(), Compression.RAW));
    }
    return FileStems.of(fields);
  }

  @Test
  void plainNamesAreTheirStems() {
    assertThat(stems("image", "A-b_9", "x".repeat(64)))
        .containsExactly("image", "A-b_9", "x".repeat(64));
  }

  @Test
  void otherNamesGetTheNumberOfTheField() {
    assertThat(stems("../x", "标签", "a.b", "a b", "x".repeat(65), "a/b", "a\\b", "a\n", "\u212a"))
        .containsExactly(
            "field-1", "field-2", "field-3", "field-4", "field-5", "field-6", "field-7", "field-8",
            "field-9");
    assertThat(stems("con", "NUL", "Lpt1", "COM9", "aux", "prn"))
        .containsExactly("field-1", "field-2", "field-3", "field-4", "field-5", "field-6");
  }

  @Test
  void namesThatDifferInCaseOnlyDoNotShareAStem() {
    assertThat(stems("Image", "image", "IMAGE")).containsExactly("Image", "field-2", "field-3");
  }

  @Test
  void aNameCannotTakeTheStemOfAnotherNumber() {
    assertThat(stems("field-2", "é", "FIELD-1")).containsExactly("field-1", "field-2", "field-3");
  }

  @Test
  void stemsAreAllowedAndUniqueWhateverTheNames() {
    long seed = Budget.seed();
    Random random = Budget.random();
    int rounds = Budget.of(2_000);
    String alphabet = "aAbB-_1./\\ é😀";
    for (int round = 0; round < rounds; round++) {
      Set<String> names = new HashSet<>();
      for (int i = 0; i < 20; i++) {
        StringBuilder name = new StringBuilder();
        for (int k = random.nextInt(4); k >= 0; k--) {
          int codePoint = alphabet.codePointAt(alphabet.offsetByCodePoints(
              0, random.nextInt(alphabet.codePointCount(0, alphabet.length()))));
          name.appendCodePoint(codePoint);
        }
        names.add(name.toString());
      }
      List<String> stems = stems(names.toArray(String[]::new));
      assertThat(stems).as("seed %s", seed).allMatch(FileStems::isAllowed);
      assertThat(stems.stream().map(s -> s.toLowerCase(Locale.ROOT)))
          .as("seed %s", seed)
          .doesNotHaveDuplicates();
    }
  }

  @Test
  void onlySafeStemsAreAllowed() {
    for (String stem :
        new String[] {"", ".", "..", "a/b", "a.b", "a\n", "é", "x".repeat(65), "a\0"}) {
      assertThat(FileStems.isAllowed(stem)).as(stem).isFalse();
    }
  }
}
