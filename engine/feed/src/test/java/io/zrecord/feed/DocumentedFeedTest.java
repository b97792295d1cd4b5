package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.ReferenceTables;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of settings in docs/reference/feed.md. */
class DocumentedFeedTest {
  @Test
  void everySettingHasOneRow() {
    List<String> settings = Stream.of(FeedGroup.class, FeedBuilder.class)
        .flatMap(type -> Arrays.stream(type.getDeclaredMethods())
            .filter(method -> isSetting(method, type))
            .map(Method::getName)
            .distinct())
        .toList();
    assertThat(documented()).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(settings);
  }

  /** Returns the settings without the two rows that say how a feed begins. */
  private static List<String> documented() {
    return ReferenceTables.of("feed").rows("Settings").stream()
        .map(ReferenceTables.Row::name)
        .filter(name -> !name.contains("("))
        .toList();
  }

  private static boolean isSetting(Method method, Class<?> type) {
    return Modifier.isPublic(method.getModifiers())
        && !Modifier.isStatic(method.getModifiers())
        && method.getReturnType() == type;
  }
}
