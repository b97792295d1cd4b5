package io.zrecord.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TablesRefTest {
  private static TablesRef ref(List<Integer> fieldIds) {
    return new TablesRef(new UUID(1, 2), 3, 4, 5, 6, fieldIds);
  }

  private static byte[] message(TablesRef ref) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(ref);
    }
    return bytes.toByteArray();
  }

  private static void requireSame(List<Integer> fieldIds) throws Exception {
    byte[] message = message(ref(fieldIds));
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(message))) {
      assertThat(in.readObject()).isEqualTo(ref(fieldIds));
    }
  }

  @Test
  void aMessageHasTheFields() throws Exception {
    requireSame(List.of());
    requireSame(List.of(7));
    requireSame(List.of(1, 2, 3));
    requireSame(List.of(1, 3, 4, 5, 7, 9, 10, Integer.MAX_VALUE));
  }

  @Test
  void thousandsOfFieldsMakeNoLargeMessage() throws IOException {
    List<Integer> many = IntStream.rangeClosed(1, 5_000).boxed().toList();
    assertThat(message(ref(many))).hasSizeLessThan(message(ref(List.of(1))).length + 100);
  }

  @Test
  void fieldsAreFound() {
    TablesRef ref = ref(List.of(1, 3, 4));
    assertThat(IntStream.range(0, 7).filter(ref::hasField)).containsExactly(1, 3, 4);
  }
}
