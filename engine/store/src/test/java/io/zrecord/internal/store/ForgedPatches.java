package io.zrecord.internal.store;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TablesTrailer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Forges what a patch of {@code golden/v2-carried} says of the field whose values it has. */
final class ForgedPatches {
  static final String BASE = "v2-carried";
  private static final int VERSION = 3;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private ForgedPatches() {}

  /** Forges a patch. */
  interface Forging {
    void forge(String name, boolean isSound, Consumer<Path> forging);
  }

  static void forge(Forging to) {
    to.forge("patch-control", true, path -> edit(path, fields -> {}));
    to.forge("patch-with-a-field-twice", false, path -> edit(path, fields -> copy(fields)));
    to.forge(
        "patch-with-a-field-of-two-codecs",
        false,
        path -> edit(path, fields -> copy(fields).put("compress", "zstd")));
    to.forge(
        "patch-with-a-field-of-two-codecs-the-other-one-first",
        false,
        path -> edit(path, fields -> {
          copy(fields).put("compress", "flate");
          fields.insert(0, fields.remove(1));
        }));
  }

  private static ObjectNode copy(ArrayNode fields) {
    ObjectNode copy = fields.get(0).deepCopy();
    fields.add(copy);
    return copy;
  }

  /** Returns the texts of the newest version. */
  static List<@Nullable String> texts() {
    try {
      Path values = ForgedDatasets.GOLDEN.resolve(BASE + "-values.json");
      List<@Nullable String> texts = new ArrayList<>();
      MAPPER
          .readTree(Files.readAllBytes(values))
          .at("/values/text")
          .forEach(hex -> texts.add(
              hex.isNull()
                  ? null
                  : new String(HexFormat.of().parseHex(hex.textValue()), StandardCharsets.UTF_8)));
      return texts;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Changes the fields of the patch, and what the newest version says of the patch. */
  private static void edit(Path path, Consumer<ArrayNode> change) {
    try {
      Path manifest = path.resolve(ManifestNames.nameOf(VERSION));
      ObjectNode version = parse(Files.readAllBytes(manifest));
      ObjectNode shard = (ObjectNode) version.get("shards").get(0);
      ArrayNode ref = (ArrayNode) shard.get("patch");
      Path file = path.resolve(
          "shard/" + shard.get("uuid").textValue() + "/" + ref.get(0).textValue() + ".patch");
      byte[] bytes = Files.readAllBytes(file);
      int at = ref.get(2).intValue();
      ObjectNode patch = parse(Arrays.copyOfRange(bytes, at, at + ref.get(3).intValue()));
      change.accept((ArrayNode) patch.get("fields"));
      byte[] json = SealedJson.seal(patch);
      ByteBuffer written = ByteBuffer.allocate(at + json.length + TablesTrailer.BYTES);
      written.put(bytes, 0, at).put(json).put(new TablesTrailer(at, json.length).encode());
      Files.write(file, written.array());
      ref.set(1, MAPPER.getNodeFactory().numberNode(written.capacity()));
      ref.set(3, MAPPER.getNodeFactory().numberNode(json.length));
      ref.set(4, MAPPER.readTree(json).get("crc32c"));
      Files.write(manifest, SealedJson.seal(version));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns an object without its seal. */
  private static ObjectNode parse(byte[] sealed) throws IOException {
    ObjectNode json = (ObjectNode) MAPPER.readTree(sealed);
    json.remove("crc32c");
    return json;
  }
}
