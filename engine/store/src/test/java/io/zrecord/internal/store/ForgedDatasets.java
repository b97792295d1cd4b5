package io.zrecord.internal.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.BindingProbe;
import io.zrecord.testing.Repository;
import io.zrecord.testing.ShardEditor;
import io.zrecord.verify.Damage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Datasets under {@code golden/forged} whose checksums are all right, and whose content was forged.
 * Every reader must come to the same verdict, which stands in {@code verdicts.json}: the values, or
 * damage. The files are written by {@link #main}.
 */
final class ForgedDatasets {
  static final Path GOLDEN = Repository.path("engine/core/src/test/resources/golden");
  static final Path DIRECTORY = GOLDEN.resolve("forged");
  static final String VERDICTS = "verdicts.json";

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String OTHER = "99999999-9999-4999-8999-999999999999";
  private static final int FIRST_RECORD = JournalHeader.BYTES;
  private static final int PUBLISHED_END_AT = 56 + 16;
  private static final List<@Nullable String> TEXTS =
      Arrays.asList("a", "", null, "zrecord", "\u00e9");

  /** Where the length, the commit and the mark of a closed store are in the file live. */
  private static final int LENGTH_AT = 64;

  private static final int SEQUENCE_AT = 72;
  private static final int CLOSED_AT = 136;

  private final Path directory;
  private final Map<String, ObjectNode> verdicts = new LinkedHashMap<>();

  private ForgedDatasets(Path directory) {
    this.directory = directory;
  }

  /** Writes the datasets to a directory that does not exist. */
  public static void main(String[] arguments) throws IOException {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) throws IOException {
    ForgedDatasets forged = new ForgedDatasets(directory);
    forged.texts();
    forged.manifests();
    forged.unknownMembers();
    ForgedDeclarations.forge(forged.manifests("v2-declarations", 2, List.of()));
    ForgedIdentities.forge(forged.manifests("v2-identity", 5, List.of("a", "b", "c")));
    forged.patches();
    ForgedReplaced.forge((name, texts, change) -> {
      if (texts.isPresent()) {
        forged.sound(name, "v2-replaced", "text", List.copyOf(texts.get()), change);
      } else {
        forged.damage(name, "v2-replaced", change);
      }
    });
    forged.stores();
    ObjectNode all = MAPPER.createObjectNode();
    forged.verdicts.forEach(all::set);
    Files.writeString(
        directory.resolve(VERDICTS),
        MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n");
  }

  private void texts() {
    sound("texts-control", "v2-texts", "text", TEXTS, path -> shard(path).write());
    damage("texts-absent-with-bytes", "v2-texts", path -> presence(path, 0b10011));
    List<@Nullable String> present = Arrays.asList("a", "", "", "zrecord", "\u00e9");
    sound(
        "texts-present-without-bytes",
        "v2-texts",
        "text",
        present,
        path -> presence(path, 0b11111));
    List<@Nullable String> absent = Arrays.asList("a", null, null, "zrecord", "\u00e9");
    sound("texts-absent-and-empty", "v2-texts", "text", absent, path -> presence(path, 0b11001));
  }

  /** Sets the bits that say which of the texts are present. */
  private static void presence(Path path, int bits) {
    ShardEditor editor = shard(path);
    editor.tables().put((int) editor.places().field(1).validity().position(), (byte) bits);
    editor.sealTables(1);
    editor.write();
  }

  private static ShardEditor shard(Path path) {
    String id = "11111111-1111-4111-8111-111111111111";
    return ShardEditor.of(path, path.resolve("shard").resolve(id));
  }

  private void manifests() {
    damage("manifest-of-another-table", "v2-numbers", path -> {
      hint(path);
      manifest(path, json -> json.put("table", OTHER));
    });
    damage("manifest-of-another-commit", "v2-numbers", path -> {
      hint(path);
      manifest(path, json -> {
        json.put("commit", OTHER);
        ((ObjectNode) json.get("records")).put("commit", OTHER);
      });
    });
    sound("hint-of-a-table-before", "v2-numbers", path -> {
      hint(path);
      edit(path.resolve(ManifestNames.HINT), json -> json.put("table", OTHER).put("commit", OTHER));
    });
    damage("hint-of-another-table-with-nothing-to-compare", "v2-numbers", path -> {
      hint(path);
      edit(path.resolve(ManifestNames.HINT), json -> json.put("table", OTHER).put("commit", OTHER));
      delete(manifest(path, 0));
    });
    damage(
        "manifest-of-another-table-without-a-hint",
        "v2-numbers",
        path -> manifest(path, json -> json.put("table", OTHER)));
    damage(
        "manifest-that-follows-another",
        "v2-numbers",
        path -> manifest(path, json -> json.put("previous", OTHER)));
    damage(
        "chunk-with-other-records",
        "v2-numbers",
        path -> manifest(path, json -> {
          ArrayNode chunk = (ArrayNode) json.get("shards").get(1).get("chunks").get(0);
          chunk.set(3, chunk.get(3).intValue() + 1);
        }));
  }

  private void unknownMembers() {
    unknown(
        "number-of-1000-digits",
        true,
        json -> json.put("later", new java.math.BigInteger("1".repeat(1000))));
    unknown(
        "number-of-1001-digits",
        false,
        json -> json.put("later", new java.math.BigInteger("1".repeat(1001))));
    unknown("name-of-1024-characters", true, json -> json.put("n".repeat(1024), 1));
    unknown("name-of-1025-characters", false, json -> json.put("n".repeat(1025), 1));
    unknown(
        "name-of-1025-characters-within",
        false,
        json -> json.putArray("later").addObject().put("n".repeat(1025), 1));
  }

  private void unknown(String name, boolean isSound, Consumer<ObjectNode> change) {
    Consumer<Path> forging = path -> edit(manifest(path, 0), change);
    if (isSound) {
      sound("unknown-" + name, "v2-texts", "text", TEXTS, forging);
    } else {
      damage("unknown-" + name, "v2-texts", forging);
    }
  }

  /** Forges the manifests from version 1 on. */
  private ForgedDeclarations.Forging manifests(
      String base, int last, List<@Nullable String> texts) {
    return (name, isSound, change) -> {
      Consumer<Path> forging = path -> {
        for (int version = 1; version <= last; version++) {
          edit(manifest(path, version), change);
        }
      };
      if (!isSound) {
        damage(name, base, forging);
      } else if (texts.isEmpty()) {
        sound(name, base, forging);
      } else {
        sound(name, base, "text", texts, forging);
      }
    };
  }

  private void patches() {
    ForgedPatches.forge((name, isSound, forging) -> {
      if (isSound) {
        sound(name, ForgedPatches.BASE, "text", ForgedPatches.texts(), forging);
      } else {
        damage(name, ForgedPatches.BASE, forging);
      }
    });
  }

  private void stores() {
    List<@Nullable String> texts = Arrays.asList("one", null, "three");
    sound("store-control", "v2-stores/replay", "text", texts, path -> journal(path, record -> {}));
    for (int bits : new int[] {36, 50, 62}) {
      damage(
          "store-published-end-2-to-" + bits,
          "v2-stores/replay",
          path -> journal(path, record -> record.putLong(PUBLISHED_END_AT, 1L << bits)));
    }
    damage(
        "store-published-end-below-what-is-carried",
        "v2-stores/replay",
        path -> journal(path, record -> record.putLong(PUBLISHED_END_AT, 64)));
    for (int bits : new int[] {32, 62}) {
      damage(
          "store-length-2-to-" + bits,
          "v2-stores/clean",
          path -> edit(path.resolve("meta.json"), json -> json.put("length", 1L << bits)));
    }
    damage("store-live-too-long", "v2-stores/clean", path -> resize(path.resolve("live"), 8));
    damage("store-live-too-short", "v2-stores/clean", path -> resize(path.resolve("live"), -8));
    damage("store-token-of-a-copy", "v2-stores/clean", path -> token(path, "1"));
    damage("store-token-of-no-number", "v2-stores/clean", path -> token(path, "one"));
    sound("store-token-that-is-empty", "v2-stores/replay", "text", texts, path -> token(path, ""));
    damage(
        "store-closed-beside-a-journal",
        "v2-stores/replay",
        path -> live(path, bytes -> bytes.putLong(CLOSED_AT, 2)));
    damage(
        "store-closed-with-another-length",
        "v2-stores/clean",
        path -> live(path, bytes -> bytes.putLong(LENGTH_AT, 1)));
    damage(
        "store-closed-after-another-commit",
        "v2-stores/clean",
        path -> live(path, bytes -> bytes.putLong(SEQUENCE_AT, 1)));
    List<@Nullable String> left = Arrays.asList("uno", "four", "");
    sound(
        "store-that-was-left",
        "v2-stores/clean",
        "text",
        left,
        path -> live(path, bytes -> bytes.putLong(CLOSED_AT, 0)));
    sound(
        "store-without-live",
        "v2-stores/replay",
        "text",
        texts,
        path -> delete(path.resolve("live")));
  }

  /** Leaves the file of a writer that did not close the store. */
  private static void token(Path path, String content) {
    try {
      Files.writeString(path.resolve("writer-" + OTHER), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Changes the first record of the journal. */
  private static void journal(Path path, Consumer<ByteBuffer> change) {
    try {
      Path file = path.resolve("journal");
      byte[] content = Files.readAllBytes(file);
      ByteBuffer journal = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
      int bytes = journal.getInt(FIRST_RECORD + 4);
      ByteBuffer record = journal.slice(FIRST_RECORD, bytes).order(ByteOrder.LITTLE_ENDIAN);
      change.accept(record);
      record.putInt(20, 0);
      UUID store = UUID.fromString("44444444-4444-4444-8444-444444444444");
      byte[] sealed = Arrays.copyOfRange(content, FIRST_RECORD, FIRST_RECORD + bytes);
      int binding = BindingProbe.crcOfBinding(store, 0, 11, record.getLong(8));
      record.putInt(20, BindingProbe.crc(sealed) ^ binding);
      Files.write(file, content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void live(Path path, Consumer<ByteBuffer> change) {
    try {
      byte[] content = Files.readAllBytes(path.resolve("live"));
      change.accept(ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN));
      Files.write(path.resolve("live"), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void resize(Path file, int bytes) {
    try {
      byte[] content = Files.readAllBytes(file);
      Files.write(file, Arrays.copyOf(content, content.length + bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path manifest(Path path, long version) {
    return path.resolve(ManifestNames.nameOf(version));
  }

  private static void manifest(Path path, Consumer<ObjectNode> change) {
    edit(manifest(path, 1), change);
  }

  private static void hint(Path path) {
    ManifestLog log = new ManifestLog(LocalStorage.at(path));
    log.leaveHint(log.read(1));
  }

  static void edit(Path file, Consumer<ObjectNode> change) {
    ObjectNode json = json(file);
    json.remove("crc32c");
    change.accept(json);
    try {
      Files.write(file, SealedJson.seal(json));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static ObjectNode json(Path file) {
    try {
      return (ObjectNode) MAPPER.readTree(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void damage(String name, String base, Consumer<Path> forging) {
    forge(name, base, forging).put("verdict", "damage");
  }

  /** Makes a dataset of which every value can be read. */
  private void sound(String name, String base, Consumer<Path> forging) {
    forge(name, base, forging).put("verdict", "sound").putObject("values");
  }

  private void sound(
      String name,
      String base,
      String field,
      List<@Nullable String> values,
      Consumer<Path> forging) {
    ArrayNode texts =
        forge(name, base, forging).put("verdict", "sound").putObject("values").putArray(field);
    for (String value : values) {
      texts.add(value);
    }
  }

  private ObjectNode forge(String name, String base, Consumer<Path> forging) {
    Path path = Damage.copy(GOLDEN.resolve(base), directory.resolve(name));
    forging.accept(path);
    ObjectNode verdict = MAPPER.createObjectNode();
    verdicts.put(name, verdict);
    return verdict;
  }

  /** Returns the verdicts by the names of the datasets. */
  static JsonNode verdicts() throws IOException {
    return MAPPER.readTree(Files.readString(DIRECTORY.resolve(VERDICTS), StandardCharsets.UTF_8));
  }
}
