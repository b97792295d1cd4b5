package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.schema.UnreadableField;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The features that a file, or a field in a file, names (FORMAT.md section 2). This release knows
 * features for writers of a manifest and of its fields. Every other name is an obstacle.
 *
 * @param read features that readers must know
 * @param write features that only programs must know that change or delete something
 */
public record Features(Set<String> read, Set<String> write) {
  /** Name of the member. */
  static final String MEMBER = "features";

  /** Feature for writers of a manifest: a constraint is enforced. */
  public static final String ENFORCED_CHECKS = "enforced-checks";

  /** Feature for writers of a manifest: a field has an identity. */
  public static final String IDENTITY = "identity";

  /** Feature for writers of a field of a manifest: its default is no constant. */
  public static final String DEFAULT_EXPRESSION = "default-expression";

  private static final int MAX_NAMES = 64;
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,63}");
  private static final String REMEDY = ", which this release does not know; upgrade zrecord";
  private static final Features NONE = new Features(Set.of(), Set.of());

  /**
   * Reads the features of an object.
   *
   * @throws io.zrecord.errors.CorruptDataException if a name is not allowed
   */
  public static Features of(JsonObject json) {
    if (!json.has(MEMBER)) {
      return NONE;
    }
    JsonObject features = json.object(MEMBER);
    return new Features(names(features, "read"), names(features, "write"));
  }

  private static Set<String> names(JsonObject features, String member) {
    Set<String> names = new TreeSet<>();
    if (!features.has(member)) {
      return names;
    }
    if (!(features.node().get(member) instanceof ArrayNode array) || array.size() > MAX_NAMES) {
      throw features.corrupt(
          "member '" + member + "' of its features is no array of at most " + MAX_NAMES + " names");
    }
    for (JsonNode element : array) {
      if (!element.isTextual() || !NAME.matcher(element.textValue()).matches()) {
        throw features.corrupt(
            "member '" + member + "' of its features has an element that is no name of a feature");
      }
      names.add(element.textValue());
    }
    return names;
  }

  /** Returns a feature that a reader must know and this release does not. */
  public Optional<String> unknownToReaders() {
    return read.stream().findFirst();
  }

  /** Tells whether writers must know a feature. */
  public static boolean hasForWriters(JsonObject json, String feature) {
    return of(json).write.contains(feature);
  }

  private Optional<String> unknownToWriters(Set<String> known) {
    return unknownToReaders()
        .or(() -> write.stream().filter(name -> !known.contains(name)).findFirst());
  }

  /** Adds features for writers to an object that is to be written. */
  public static void write(ObjectNode node, String... features) {
    write(node, List.of(features));
  }

  /** Adds features for writers to an object that is to be written, if there are any. */
  public static void write(ObjectNode node, List<String> features) {
    if (features.isEmpty()) {
      return;
    }
    ArrayNode names = node.putObject(MEMBER).putArray("write");
    features.forEach(names::add);
  }

  /**
   * Requires that this release can read what names the features.
   *
   * @throws UnsupportedFormatException if there is an unknown feature for readers
   */
  void requireReadable(String resource) {
    unknownToReaders().ifPresent(feature -> {
      throw new UnsupportedFormatException(
          resource, "Cannot read " + resource + ": it uses the feature '" + feature + "'" + REMEDY);
    });
  }

  /**
   * Returns why this release may not change, nor delete, what a file describes: a feature of the
   * file or of one of its fields. Empty if there is no obstacle.
   */
  public static Optional<String> obstacle(JsonObject file) {
    return obstacle(file, Set.of(), Set.of());
  }

  /** Returns why this release may not change the table of a manifest; empty if it may. */
  public static Optional<String> obstacleOfManifest(JsonObject manifest) {
    return obstacle(manifest, Set.of(ENFORCED_CHECKS, IDENTITY), Set.of(DEFAULT_EXPRESSION))
        .or(() -> DeclarationsJson.unknown(manifest)
            .map(unknown -> "its declarations use the feature '" + unknown + "'"));
  }

  private static Optional<String> obstacle(
      JsonObject file, Set<String> known, Set<String> knownOfFields) {
    Optional<String> own = of(file).unknownToWriters(known);
    if (own.isPresent()) {
      return Optional.of("it uses the feature '" + own.get() + "'");
    }
    if (file.has("fields")) {
      for (JsonObject field : file.objects("fields")) {
        Optional<String> unknown = FieldJson.unreadable(field)
            .map(UnreadableField::feature)
            .or(() -> of(field).unknownToWriters(knownOfFields));
        if (unknown.isPresent()) {
          return Optional.of("its field '" + FieldJson.nameOf(field) + "' uses the feature '"
              + unknown.get() + "'");
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the exception for a change that has an obstacle.
   *
   * @param location the dataset or shard
   * @param obstacle as {@link #obstacle} returned it
   */
  public static UnsupportedFormatException unwritable(String location, String obstacle) {
    return new UnsupportedFormatException(
        location, "Cannot change " + location + ", nor delete files of it: " + obstacle + REMEDY);
  }
}
