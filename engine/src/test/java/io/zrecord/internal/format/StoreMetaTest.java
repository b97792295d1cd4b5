package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.Shape;
import io.zrecord.testing.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreMetaTest {
  /** The example of FORMAT.md section 9 with a second field, except for the checksum. */
  private static final String EXAMPLE = """
      { "format": 2,
        "uuid": "9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11",
        "length": 65536,
        "checksum": "crc32c",
        "chunks": { "sizeBytes": 268435456, "size": 67108864,
                    "unfull": [[7, 4096, 5]],
                    "closed": [[0, 268435712, 40000], [1, 171000064, 0]] },
        "fields": [ { "id": 1, "name": "image", "dtype": "u8", "shape": [28, 28], "compress": "raw",
                      "stem": "image", "layout": "entries", "absent": 0, "valueBytes": 51380224 },
                    { "id": 2, "name": "标签", "dtype": "utf8", "compress": "zstd", "level": 3,
                      "stem": "field-2", "layout": "entries", "absent": 12, "valueBytes": 913311 } ],
        "journalSequence": 17""";

  private static StoreMeta read(String beforeSeal) {
    return StoreMeta.read("/d/meta.json", SealedJsonTest.sealed(beforeSeal));
  }

  @Test
  void theExampleOfTheSpecificationIsRead() {
    StoreMeta store = read(EXAMPLE);
    ShardMeta meta = store.shard();
    assertThat(meta.id()).isEqualTo(UUID.fromString("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11"));
    assertThat(meta.length()).isEqualTo(65536);
    assertThat(meta.hasChecksums()).isTrue();
    assertThat(meta.chunkBytes()).isEqualTo(268435456);
    assertThat(store.chunkRecords()).isEqualTo(67108864);
    assertThat(store.sequence()).isEqualTo(17);
    assertThat(store.unfull()).containsExactly(new ChunkMeta(7, 5, 4096));
    assertThat(meta.chunks())
        .containsExactly(new ChunkMeta(0, 40000, 268435712), new ChunkMeta(1, 0, 171000064));
    assertThat(meta.fields())
        .containsExactly(
            new FieldMeta(
                new FieldSpec(1, "image", ElementType.U8, Shape.of(28, 28), Compression.RAW),
                "image",
                0,
                51380224),
            new FieldMeta(
                new FieldSpec(
                    2, "标签", ElementType.UTF8, Shape.scalar(), new Compression(Codec.ZSTD, 3)),
                "field-2",
                12,
                913311));
  }

  @Test
  void whatIsWrittenIsReadBack() {
    List<FieldMeta> fields = new ArrayList<>();
    int id = 1;
    for (ElementType.Kind kind : ElementType.Kind.values()) {
      ElementType type = switch (kind) {
        case DECIMAL -> ElementType.decimal(38, 38);
        case NESTED -> ElementType.nested(NestedType.listOf(NestedType.of(ElementType.UTF8)));
        default -> ElementType.of(kind);
      };
      for (Codec codec : Codec.values()) {
        Shape shape = type.widthBytes().isPresent() && id % 3 > 0
            ? id % 3 == 1 ? Shape.of(2, 0, 3) : Shape.of(-1, 7)
            : Shape.scalar();
        FieldSpec spec = new FieldSpec(
            id,
            "名 \"\\/\n😀" + id,
            type,
            shape,
            Compression.of(codec),
            id % 2 == 0 ? Map.of() : Map.of("", "ü", "b", ""));
        fields.add(new FieldMeta(spec, "field-" + id, id % 5, 1L << id % 60));
        id += 17;
      }
    }
    ShardMeta meta = new ShardMeta(
        UUID.randomUUID(),
        1L << 40,
        false,
        1L << 40,
        List.of(
            new ChunkMeta(3, 0, 64),
            new ChunkMeta(9, 7, 1L << 50),
            new ChunkMeta(-2, 1L << 40, 1L << 50)),
        fields);
    StoreMeta store = new StoreMeta(meta, List.of(new ChunkMeta(5, 6, 64)), 1L << 40, 1L << 50);
    assertThat(StoreMeta.read("f", store.write())).isEqualTo(store);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"length\": 65536      | \"length\": -1",
        "\"length\": 65536      | \"length\": 9223372036854775807",
        "\"length\": 65536      | \"x\": 65536",
        "9f0c2b9e-              | 9F0C2B9E-",
        "9f0c2b9e-              | 9-",
        "[1, 171000064          | [0, 171000064",
        "[1, 171000064          | [4294967295, 171000064",
        "[1, 171000064          | [-1, 171000064",
        "[1, 171000064          | [1, 9223372036854775808",
        "[1, 171000064, 0]      | [1]",
        "171000064              | 63",
        "171000064, 0           | 171000064, -1",
        "171000064, 0           | 171000064",
        "171000064, 0           | 171000064, 2, 3",
        "[7, 4096               | [1, 4096",
        "[7, 4096               | [7, 63",
        "[7, 4096               | [4294967295, 4096",
        "\"size\": 67108864     | \"size\": 0",
        "Sequence\": 17        | Sequence\": -1",
        "\"id\": 2              | \"id\": 1",
        "\"id\": 2              | \"id\": 0",
        "\"id\": 2              | \"id\": 4294967297",
        "标签                     | image",
        "标签                     | ",
        "标签                     | \\u0000",
        "标签                     | \\ud800",
        "\"stem\": \"field-2\"   | \"stem\": \"IMAGE\"",
        "\"stem\": \"field-2\"   | \"stem\": \"../x\"",
        "\"stem\": \"field-2\"   | \"stem\": \"\"",
        "\"stem\": \"field-2\"   | \"stem\": \"a\\n\"",
        "\"absent\": 12         | \"absent\": 65537",
        "\"level\": 3           | \"level\": true",
        "[28, 28]               | [28, -1]",
        "[28, 28]               | [-1, 0]",
        "65536,                 | 65536.0,",
        "\"length\": 65536      | \"length\": 6.5536e4",
        "[28, 28]               | [65536, 65536]",
        "[28, 28]               | [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
        "[28, 28]               | 784",
        "913311                 | -5",
      })
  void contradictionsAreCorrupt(String part, String other) {
    String replaced = EXAMPLE.replace(part, other == null ? "" : other);
    assertThat(replaced).isNotEqualTo(EXAMPLE);
    assertThatThrownBy(() -> read(replaced))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("/d/meta.json");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"entries\"   | \"blocks\"        | layout blocks",
        "\"entries\"   | \"runs\"          | layout runs",
        "\"utf8\"      | \"utf9\"          | dtype utf9",
        "\"utf8\"      | \"decimal(39,0)\" | dtype decimal(39,0)",
        "\"utf8\"      | \"decimal(09,2)\" | dtype decimal(09,2)",
        "\"zstd\"      | \"snappy\"        | compress snappy",
        "\"zstd\"      | \"ZSTD\"          | compress ZSTD",
        "\"level\": 3  | \"features\": {\"read\": [\"far\"]} | far",
      })
  void anUnknownFeatureOfAFieldCostsTheStore(String part, String other, String feature) {
    String replaced = EXAMPLE.replace(part, other);
    assertThat(replaced).isNotEqualTo(EXAMPLE);
    assertThatThrownBy(() -> read(replaced))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'" + feature + "'");
  }

  @Test
  void anUnknownChecksumCostsTheStore() {
    assertThatThrownBy(
            () -> read(EXAMPLE.replace("\"checksum\": \"crc32c\"", "\"checksum\": \"md5\"")))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("checksum md5");
  }

  @Test
  void aStoreOfALaterFormatIsUnsupported() {
    assertThatThrownBy(() -> read(EXAMPLE.replace("\"format\": 2", "\"format\": 3")))
        .isInstanceOf(UnsupportedFormatException.class);
  }

  @Test
  void mutatedContentUnderAValidSealIsRefusedOrRead() {
    long seed = Budget.seed();
    Random random = Budget.random();
    int rounds = Budget.of(20_000);
    byte[] content = EXAMPLE.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    for (int round = 0; round < rounds; round++) {
      byte[] mutated = content.clone();
      for (int k = random.nextInt(3); k >= 0; k--) {
        mutated[random.nextInt(mutated.length)] = (byte) (32 + random.nextInt(95));
      }
      try {
        StoreMeta.read("f", SealedJsonTest.sealed(mutated));
      } catch (ZRecordException expected) {
        assertThat(expected.resource()).isEqualTo("f");
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed + ", round " + round, e);
      }
    }
  }
}
