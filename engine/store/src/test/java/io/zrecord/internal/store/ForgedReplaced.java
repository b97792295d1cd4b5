package io.zrecord.internal.store;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Forged copies of {@code golden/v2-replaced}: what is replaced in lists, against its rules. */
final class ForgedReplaced {
  private static final List<String> TEXTS =
      List.of("a", "b", "d", "e", "f", "g", "h", "new", "m", "n");

  /** Makes a dataset with a verdict: the texts of its records, or none for damage. */
  interface Forging {
    void forge(String name, Optional<List<String>> texts, Consumer<Path> change);
  }

  private final Forging forging;

  private ForgedReplaced(Forging forging) {
    this.forging = forging;
  }

  static void forge(Forging forging) {
    ForgedReplaced forged = new ForgedReplaced(forging);
    forged.ordinals();
    forged.shards();
    forged.counts();
    forged.listOfLists();
    forged.bothLevels();
  }

  private void damage(String name, Consumer<ObjectNode> change) {
    forging.forge("replaced-" + name, Optional.empty(), path -> manifest(path, change));
  }

  private void sound(String name, Consumer<ObjectNode> change) {
    forging.forge("replaced-" + name, Optional.of(TEXTS), path -> manifest(path, change));
  }

  private static void manifest(Path path, Consumer<ObjectNode> change) {
    ForgedDatasets.edit(path.resolve(ManifestNames.nameOf(1)), change);
  }

  /** Changes the list of lists, and binds the manifest to the change. */
  private void list(String name, boolean isSound, Consumer<ObjectNode> change) {
    Optional<List<String>> texts = isSound ? Optional.of(TEXTS) : Optional.empty();
    list(name, texts, change, json -> {});
  }

  private void list(
      String name,
      Optional<List<String>> texts,
      Consumer<ObjectNode> change,
      Consumer<ObjectNode> changeOfManifest) {
    forging.forge(
        "replaced-" + name,
        texts,
        path -> manifest(path, json -> {
          changeOfManifest.accept(json);
          ObjectNode element = element(json, 1);
          Path file = path.resolve(element.get("file").textValue());
          ForgedDatasets.edit(file, change);
          byte[] content = read(file);
          element.put("bytes", content.length);
          element.put(
              "crc", HexFormat.of().toHexDigits(SealedJson.checksum(file.toString(), content)));
        }));
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ObjectNode element(ObjectNode json, int i) {
    return (ObjectNode) json.get("lists").get(i);
  }

  /** Returns what an element of lists replaces. */
  private static ArrayNode replaced(ObjectNode json, int i) {
    return (ArrayNode) element(json, i).get("replaced");
  }

  private static ArrayNode entry(ObjectNode json, int list, int i) {
    return (ArrayNode) replaced(json, list).get(i);
  }

  /** Returns the shard 10, which the manifest puts in the place of another. */
  private static ObjectNode shard(ObjectNode json) {
    return (ObjectNode) entry(json, 1, 0).get(2).get(0);
  }

  private static void set(ArrayNode array, int i, long number) {
    array.set(i, array.numberNode(number));
  }

  private void ordinals() {
    sound("control", json -> {});
    damage("beyond-the-list", json -> set(entry(json, 0, 0), 0, 3));
    damage("beyond-the-list-of-lists", json -> set(entry(json, 1, 2), 0, 5));
    damage("before-the-list", json -> set(entry(json, 0, 0), 0, -1));
    damage("twice", json -> set(entry(json, 1, 2), 0, 3));
    damage("in-falling-order", json -> replaced(json, 1).add(replaced(json, 1).remove(0)));
    damage("by-a-text", json -> entry(json, 0, 0).set(0, "1"));
    damage("that-is-an-object", json -> element(json, 0).putObject("replaced"));
    damage("with-two-elements", json -> entry(json, 0, 0).remove(1));
    damage("by-no-list-of-shards", json -> entry(json, 0, 0).set(2, "none"));
    damage("that-another-list-has", json -> {
      set(entry(json, 0, 0), 0, 2);
      set(entry(json, 0, 0), 1, 1);
    });
  }

  private void shards() {
    sound("with-a-later-member", json -> shard(json).put("later", 1.5));
    damage("by-a-shard-that-stands-twice", json -> {
      ((ArrayNode) entry(json, 0, 0).get(2)).add(shard(json));
      element(json, 0).put("shards", 3).put("length", 6);
      json.put("length", 11);
    });
    damage(
        "by-a-shard-of-the-manifest",
        json -> shard(json).set("uuid", json.get("shards").get(0).get("uuid")));
    // The shard 3, which is in the list before the one that is replaced.
    damage(
        "by-a-shard-of-the-list",
        json -> shard(json).put("uuid", "00000004-0000-4000-8000-000000000400"));
    damage(
        "by-a-shard-in-a-partition", json -> shard(json).putArray("partition").add("x"));
    damage("by-a-shard-without-records", json -> shard(json).put("length", 0));
    damage("by-a-shard-of-no-field-set", json -> json.putArray("fieldSets"));
  }

  private void counts() {
    damage("with-another-length", json -> set(entry(json, 1, 1), 1, 1));
    damage("with-no-length", json -> set(entry(json, 0, 0), 1, 0));
    damage("with-a-length-of-64-bits", json -> set(entry(json, 0, 0), 1, Long.MAX_VALUE));
    damage("with-other-shards", json -> element(json, 0).put("shards", 3));
    damage("with-all-shards", json -> element(json, 1).put("shards", 5));
    damage("with-other-records", json -> {
      element(json, 0).put("length", 6);
      json.put("length", 11);
    });
    damage("without-a-shard", json -> element(json, 0).put("shards", 0));
  }

  private void listOfLists() {
    list("list-control", true, json -> {});
    list("list-with-nothing-replaced", true, json -> element(json, 1).putArray("replaced"));
    list("list-beyond-its-list", false, json -> set(entry(json, 0, 0), 0, 2));
    list("list-with-another-length", false, json -> set(entry(json, 0, 0), 1, 1));
    list("list-without-field-sets", false, json -> json.remove("fieldSets"));
    list("list-with-other-shards", false, json -> element(json, 0).put("shards", 2));
    list("list-by-a-shard-twice", false, json -> {
      ArrayNode shards = (ArrayNode) entry(json, 0, 0).get(2);
      ((ObjectNode) shards.get(1)).set("uuid", shards.get(0).get("uuid"));
    });
  }

  /**
   * Rules that what the list of lists replaces breaks, or the manifest, and that hold again for the
   * shards that stand in the end. The manifest has the shard 10 in the place of the shard 6, which
   * the list of lists has in the place of the shard 4, as it has the shard 5.
   */
  private void bothLevels() {
    list("list-by-a-shard-of-the-list-that-is-replaced", true, json -> id(placed(json, 1), 3));
    list("list-by-a-shard-of-the-list", false, json -> id(placed(json, 0), 3));
    list(
        "list-by-a-shard-of-a-list-that-has-it-no-more",
        Optional.of(List.of("a", "b", "d", "e", "f", "g", "new", "m", "n")),
        json -> ((ArrayNode) entry(json, 0, 0).get(2)).set(0, described(3)),
        json -> {
          ArrayNode first = replaced(json, 1).insertArray(0);
          first.add(0).add(1).addArray();
          count(json, -1, -1);
        });
    list(
        "list-in-a-partition-and-replaced",
        true,
        json -> placed(json, 1).putArray("partition").add("x"));
    list(
        "list-in-a-partition",
        false,
        json -> placed(json, 0).putArray("partition").add("x"));
    // Twice in the list of lists, but in two lists of it.
    list(
        "by-a-shard-of-another-list-of-the-list",
        Optional.of(List.of("a", "b", "d", "e", "f", "g", "h", "j", "k", "j", "k", "m", "n")),
        json -> {},
        json -> {
          replaced(json, 1).remove(1);
          ObjectNode shard = described(7);
          ((ArrayNode) shard.get("tables").get(0)).set(5, shard.numberNode(1));
          ((ArrayNode) entry(json, 1, 0).get(2)).set(0, shard);
          count(json, 1, 3);
        });
  }

  /** Adds to the counts of the list of lists. */
  private static void count(ObjectNode json, int shards, int length) {
    ObjectNode list = element(json, 1);
    list.put("shards", list.get("shards").intValue() + shards);
    list.put("length", list.get("length").intValue() + length);
    json.put("length", json.get("length").intValue() + length);
  }

  /** Returns one of two shards that the list of lists has in the place of another. */
  private static ObjectNode placed(ObjectNode json, int i) {
    return (ObjectNode) entry(json, 0, 0).get(2).get(i);
  }

  private static void id(ObjectNode shard, int other) {
    shard.set("uuid", described(other).get("uuid"));
  }

  /** Returns what a list says of the shard 3 or 7, which is the first one of the list. */
  private static ObjectNode described(int shard) {
    String file = shard == 3
        ? "list/00000072-0000-4000-8000-000000007200.json"
        : "list/00000073-0000-4000-8000-000000007300.json";
    Path path = ForgedDatasets.GOLDEN.resolve("v2-replaced").resolve(file);
    return (ObjectNode) ForgedDatasets.json(path).get("shards").get(0);
  }
}
