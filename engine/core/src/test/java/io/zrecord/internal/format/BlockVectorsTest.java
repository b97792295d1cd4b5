package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.testing.Repository;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.zip.DataFormatException;
import org.junit.jupiter.api.Test;

/** The blocks that the page has as examples. They were made without the engine. */
class BlockVectorsTest {
  private static final Path PAGE = Repository.path("docs/spec/FORMAT.md");
  private static final Pattern EXAMPLE =
      Pattern.compile("(?m)^\\| (\\d) \\| (\\d+) \\| `(\\p{XDigit}+)` \\| (\\d+) \\| (.*) \\|$");
  private static final int[] NUMBERS = {1000, 1003, 1006, 1009, 1012, 1015, 1018, 1020};

  @Test
  void theExamplesOfThePageHold() throws IOException, DataFormatException {
    List<MatchResult> examples =
        EXAMPLE.matcher(Files.readString(PAGE)).results().toList();
    assertThat(examples).hasSize(5);
    try (ValueCodec codec = ValueCodec.of(Compression.of(Codec.FLATE))) {
      DecodedBlock block = new DecodedBlock();
      for (MatchResult example : examples) {
        boolean isText = example.group(5).contains("`");
        int slots = Integer.parseInt(example.group(2));
        byte[] stored = HexFormat.of().parseHex(example.group(3));
        block.decode(
            codec,
            isText ? new BlockShape(-1, 1) : new BlockShape(4, 4),
            stored,
            stored.length,
            Integer.parseInt(example.group(4)),
            slots,
            Integer.parseInt(example.group(1)));
        String[] texts = example.group(5).split(",", -1);
        for (int i = 0; i < slots; i++) {
          byte[] value = Arrays.copyOfRange(block.bytes(), block.start(i), block.end(i));
          byte[] expected = isText
              ? HexFormat.of().parseHex(texts[i].replace("`", "").strip())
              : ByteBuffer.allocate(4)
                  .order(ByteOrder.LITTLE_ENDIAN)
                  .putInt(NUMBERS[i])
                  .array();
          assertThat(value).as(example.group()).isEqualTo(expected);
        }
      }
    }
  }

  @Test
  void flagsOfATransformTellTheTransform() {
    Set<io.zrecord.shard.Transform> told = EnumSet.noneOf(io.zrecord.shard.Transform.class);
    for (int flags : new int[] {0, 2, 4}) {
      assertThat(BlockShape.isUnknown(flags)).isFalse();
      assertThat(BlockShape.flags(BlockShape.transform(flags))).isEqualTo(flags);
      told.add(BlockShape.transform(flags));
    }
    assertThat(told).hasSize(3);
    for (int flags : new int[] {6, 7, 8, 16, 1 << 31}) {
      assertThat(BlockShape.isUnknown(flags)).isTrue();
    }
    for (int flags : new int[] {3, 5}) {
      assertThat(new BlockShape(4, 4).allows(flags)).isFalse();
    }
  }
}
