package io.zrecord.internal.format;

import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SealedJsonTest {
  private static final int SEAL_BYTES = ",\"crc32c\":\"xxxxxxxx\"}\n".length();

  /** Returns a file with a seal that holds, whatever comes before it. */
  static byte[] sealed(byte[] beforeSeal) {
    byte[] seal = (",\"crc32c\":\"" + HexFormat.of().toHexDigits(Crc32c.of(beforeSeal)) + "\"}\n")
        .getBytes(UTF_8);
    byte[] file = Arrays.copyOf(beforeSeal, beforeSeal.length + seal.length);
    System.arraycopy(seal, 0, file, beforeSeal.length, seal.length);
    return file;
  }

  static byte[] sealed(String beforeSeal) {
    return sealed(beforeSeal.getBytes(UTF_8));
  }

  private static JsonObject open(byte[] file) {
    return SealedJson.open("/d/meta.json", file);
  }

  private static void assertCorrupt(byte[] file) {
    assertThatThrownBy(() -> open(file))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("/d/meta.json");
  }

  @Test
  void aSealedFileEndsWithTheChecksumOfWhatIsBefore() {
    byte[] file = SealedJson.seal(SealedJson.object().put("format", 2).put("名", "值"));
    String text = new String(file, UTF_8);
    int crc = Crc32c.of(file, 0, file.length - SEAL_BYTES);
    assertThat(text)
        .isEqualTo(
            "{\"format\":2,\"名\":\"值\",\"crc32c\":\"" + HexFormat.of().toHexDigits(crc) + "\"}\n");
    assertThat(SealedJson.checksum("f", file)).isEqualTo(crc);
    assertThat(open(file).requireFormat().string("名")).isEqualTo("值");
    assertThat(file).isEqualTo(sealed("{\"format\":2,\"名\":\"值\""));
  }

  @Test
  void theChecksumIsCastagnolis() {
    // RFC 3720, B.4, and the well-known check value.
    assertThat(Crc32c.of("123456789".getBytes(UTF_8))).isEqualTo(0xe3069283);
    assertThat(Crc32c.of(new byte[32])).isEqualTo(0x8a9136aa);
  }

  @Test
  void everyFlippedBitIsFound() {
    byte[] file = SealedJson.seal(SealedJson.object().put("format", 1).put("name", "value"));
    for (int bit = 0; bit < file.length * 8; bit++) {
      byte[] damaged = file.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      assertCorrupt(damaged);
    }
  }

  @Test
  void everyCutAndEveryAdditionIsFound() {
    byte[] file = SealedJson.seal(SealedJson.object().put("format", 1));
    for (int length = 0; length < file.length; length++) {
      assertCorrupt(Arrays.copyOf(file, length));
    }
    assertCorrupt(Arrays.copyOf(file, file.length + 1));
  }

  @Test
  void unknownMembersAreIgnored() {
    JsonObject json = open(sealed(" { \"x\": {\"y\": [1.5, null]}, \"format\": 2"));
    assertThat(json.requireFormat().integer("format", 0, 9)).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"a\":1,\"a\":2",
        "{\"b\":{\"a\":1,\"a\":1}",
        "{\"crc32c\":\"00000000\"",
        "{",
        "[1",
        "{\"a\":1}{\"b\":1",
        "{\"a\":1]",
        "{'a':1",
        "{\"a\":NaN",
        "{\"a\":01",
        "{\"a\":\"\u0001\"",
        "\ufeff{\"a\":1",
      })
  void otherThanOneCleanObjectIsRefused(String beforeSeal) {
    assertCorrupt(sealed(beforeSeal));
  }

  @Test
  void otherEncodingsAreRefused() {
    assertCorrupt(sealed("{\"a\":1".getBytes(UTF_16LE)));
    assertCorrupt(sealed(new byte[] {'{', '"', (byte) 0xff, '"', ':', '1'}));
    // An overlong slash, and half a surrogate pair.
    assertCorrupt(sealed(new byte[] {'{', '"', (byte) 0xc0, (byte) 0xaf, '"', ':', '1'}));
    assertCorrupt(
        sealed(new byte[] {'{', '"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"', ':', '1'}));
  }

  @Test
  void depthIsBounded() {
    open(sealed("{\"a\":" + "[".repeat(31) + "]".repeat(31)));
    assertCorrupt(sealed("{\"a\":" + "[".repeat(32) + "]".repeat(32)));
    assertCorrupt(sealed("{\"a\":" + "[".repeat(100_000) + "]".repeat(100_000)));
    assertCorrupt(sealed("{\"a\":".repeat(10_000) + "1" + "}".repeat(9_999)));
  }

  @Test
  void unknownMembersComeBackAsTheyWere() {
    String unknown =
        "{\"a\":[1.5,null,-0.125,123456789012345678901234567890],\"b\":{\"c\":\"\u00e9\"}}";
    JsonObject json = open(sealed("{\"known\":1," + unknown.substring(1, unknown.length() - 1)));
    assertThat(json.unknown(Set.of("known", "crc32c"))).isEqualTo(unknown);
    assertThat(json.unknown(Set.of("known", "a", "b", "crc32c"))).isEmpty();
    ObjectNode written = JsonObject.withMembers(SealedJson.object().put("known", 2), unknown);
    assertThat(open(SealedJson.seal(written)).unknown(Set.of("known", "crc32c")))
        .isEqualTo(unknown);
  }

  @Test
  void numbersAndStringsAreBounded() {
    assertCorrupt(sealed("{\"a\":" + "9".repeat(1001)));
    assertCorrupt(sealed("{\"a\":\"" + "x".repeat((1 << 20) + 1) + "\""));
    assertThat(open(sealed("{\"a\":1e999999999")).has("a")).isTrue();
    assertThatThrownBy(() -> open(sealed("{\"a\":1e999999999")).integer("a", 0, 9))
        .isInstanceOf(CorruptDataException.class);
  }

  @Test
  void aFileBeyondTheLimitIsRefusedUnparsed() {
    byte[] file = new byte[SealedJson.MAX_BYTES + 1];
    Arrays.fill(file, (byte) ' ');
    assertThatThrownBy(() -> open(file))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(String.valueOf(SealedJson.MAX_BYTES));
  }

  @Test
  void anotherVersionIsUnsupportedAndNotCorrupt() {
    for (String version : new String[] {"3", "2147483647"}) {
      assertThatThrownBy(() -> open(sealed("{\"format\":" + version)).requireFormat())
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining(version)
          .hasMessageContaining("upgrade");
    }
    assertThatThrownBy(() -> open(sealed("{\"format\":1")).requireFormat())
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("format version 1 was never released; write the dataset again");
    for (String version : new String[] {"0", "-1", "1.0", "\"1\"", "null", "true", "9e99"}) {
      assertThatThrownBy(() -> open(sealed("{\"format\":" + version)).requireFormat())
          .isInstanceOf(CorruptDataException.class);
    }
    assertThatThrownBy(() -> open(sealed("{\"a\":1")).requireFormat())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("format");
  }

  @Test
  void someMembersAreReadWithoutTheOthers() {
    byte[] file = sealed("{\"a\":{\"b\":1},\"c\":[[{\"a\":2}]],\"d\":3");
    JsonObject json = SealedJson.openMembers("/d/x.json", file, Set.of("a", "d", "e"));
    assertThat(json.node().fieldNames()).toIterable().containsExactly("a", "d");
    assertThat(json.object("a").integer("b", 0, 9)).isEqualTo(1);
    assertThat(json.integer("d", 0, 9)).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"a\":1,\"a\":2",
        "{\"c\":1,\"c\":2",
        "{\"c\":[1,2",
        "{\"c\":{\"x\":1,\"x\":2}",
        "{\"c\":01",
        "[\"a\"",
      })
  void whatIsRefusedOfAnObjectIsRefusedOfItsMembers(String beforeSeal) {
    byte[] file = sealed(beforeSeal);
    assertThatThrownBy(() -> open(file)).isInstanceOf(CorruptDataException.class);
    assertThatThrownBy(() -> SealedJson.openMembers("/d/x.json", file, Set.of("a")))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("/d/x.json");
  }

  @Test
  void everyFlippedBitIsFoundInMembersThatAreNotRead() {
    byte[] file = sealed("{\"a\":1,\"c\":[\"some text\",1.5]");
    for (int bit = 0; bit < file.length * 8; bit++) {
      byte[] damaged = file.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> SealedJson.openMembers("/d/x.json", damaged, Set.of("a")))
          .isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void integersAreExactAndWithinTheirRange() {
    JsonObject json = open(sealed(
        "{\"most\":9223372036854775807,\"more\":9223372036854775808,\"less\":-1,\"half\":0.5"));
    assertThat(json.integer("most", 0, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    for (String name : new String[] {"more", "less", "half", "missing"}) {
      assertThatThrownBy(() -> json.integer(name, 0, Long.MAX_VALUE))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("/d/meta.json")
          .hasMessageContaining(name);
    }
    assertThatThrownBy(() -> json.integer("most", 0, 10))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("10");
  }

  @Test
  void membersOfAnotherKindAreCorrupt() {
    ObjectNode node = SealedJson.object().put("text", "x").put("number", 1);
    node.putArray("list").add(1).add("x");
    JsonObject json = open(SealedJson.seal(node));
    Runnable[] readers = {
      () -> json.string("number"),
      () -> json.string("none"),
      () -> json.object("list"),
      () -> json.objects("list"),
      () -> json.objects("text"),
      () -> json.tuples("list", 2),
      () -> json.integers("list", 0, 9),
      () -> json.strings("list"),
      () -> json.integerMap("text"),
      () -> json.uuid("text"),
      () -> json.checksum("text"),
    };
    for (Runnable reader : readers) {
      assertThatThrownBy(reader::run)
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("/d/meta.json");
    }
  }
}
