package io.zrecord.spark.stream;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * How far a stream of a table has come, as a checkpoint keeps it. Immutable.
 *
 * <pre>
 * {"zrecord":1,"at":"beginning"}
 * {"zrecord":1,"at":"all","table":"…","version":5,"commit":"…","records":1200}
 * {"zrecord":1,"at":"added","table":"…","version":6,"commit":"…","records":10}
 * {"zrecord":1,"at":"end","table":"…","version":6,"commit":"…"}
 * {"zrecord":1,"at":"end","table":"…","version":6,"commit":"…","first":5}
 * {"zrecord":1,"at":"end","table":"…","version":6,"commit":"…","of":"changes"}
 * </pre>
 *
 * <p>Before {@code "beginning"} nothing was delivered. At {@code "all"} and {@code "added"}, so
 * many records were delivered of all that the version has, or of those that it added. At
 * {@code "end"}, all that was to be delivered up to the version was. The end of a first batch that
 * began with what a version added, and not with all records of one, has the number of that version
 * in {@code "first"}. A position in a stream of changes says so in {@code "of"}. Spark compares
 * positions by their texts, so each position has one text only.
 */
final class StreamPosition extends Offset {
  /** Where the stream begins, which its options say. */
  static final StreamPosition BEGINNING =
      new StreamPosition(Place.BEGINNING, Optional.empty(), 0, OptionalLong.empty(), false);

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int FORMAT = 1;
  private static final String CHANGES = "changes";

  private final Place place;
  private final Optional<VersionId> version;
  private final long records;
  private final OptionalLong first;
  private final boolean isOfChanges;

  /** Says of which records of a version the stream has delivered some. */
  enum Place {
    /** None so far. */
    BEGINNING("beginning"),
    /** All records that the version has. */
    ALL("all"),
    /** The records that the version added. */
    ADDED("added"),
    /** All records that were to be delivered up to the version. */
    END("end");

    private final String text;

    Place(String text) {
      this.text = text;
    }
  }

  /** Names a version of one table for ever: a repair may give its number to another commit. */
  record VersionId(UUID table, long number, UUID commit) {}

  private StreamPosition(
      Place place,
      Optional<VersionId> version,
      long records,
      OptionalLong first,
      boolean isOfChanges) {
    this.place = place;
    this.version = version;
    this.records = records;
    this.first = first;
    this.isOfChanges = isOfChanges;
  }

  /** Returns the position within a version. */
  static StreamPosition within(Place place, VersionId version, long records) {
    return new StreamPosition(place, Optional.of(version), records, OptionalLong.empty(), false);
  }

  /** Returns the position after a version. */
  static StreamPosition after(VersionId version) {
    return new StreamPosition(Place.END, Optional.of(version), 0, OptionalLong.empty(), false);
  }

  /** Returns the same position as the end of a first batch that began with what a version added. */
  StreamPosition begunWith(long versionNumber) {
    return new StreamPosition(place, version, records, OptionalLong.of(versionNumber), isOfChanges);
  }

  /** Returns the same position in a stream of changes. The beginning is that of any stream. */
  StreamPosition ofChanges() {
    return isBeginning() ? this : new StreamPosition(place, version, records, first, true);
  }

  /**
   * Parses a position.
   *
   * @param location the table, for messages
   * @throws IllegalArgumentException if the text is not that of a position of this release
   */
  static StreamPosition parse(String location, String text) {
    try {
      JsonNode json = JSON.readTree(text);
      StreamPosition parsed = parse(json);
      if (json.path("zrecord").asInt() == FORMAT && parsed.json().equals(json.toString())) {
        return parsed;
      }
    } catch (JsonProcessingException | IllegalArgumentException e) {
      throw new IllegalArgumentException(notOne(location, text), e);
    }
    throw new IllegalArgumentException(notOne(location, text));
  }

  private static StreamPosition parse(JsonNode json) {
    String name = json.path("at").asText();
    for (Place place : Place.values()) {
      if (place.text.equals(name)) {
        return place == Place.BEGINNING ? BEGINNING : within(place, json);
      }
    }
    throw new IllegalArgumentException("there is no position '" + name + "'");
  }

  private static StreamPosition within(Place place, JsonNode json) {
    VersionId version = new VersionId(
        UUID.fromString(json.path("table").asText()),
        json.path("version").asLong(),
        UUID.fromString(json.path("commit").asText()));
    StreamPosition position = within(place, version, json.path("records").asLong());
    StreamPosition begun =
        json.has("first") ? position.begunWith(json.path("first").asLong()) : position;
    return json.path("of").asText().equals(CHANGES) ? begun.ofChanges() : begun;
  }

  private static String notOne(String location, String text) {
    return "Cannot go on with the stream of " + location + ": the checkpoint has the offset " + text
        + ", which is no position of this release in a zrecord table; use the checkpoint with the"
        + " source and the release that wrote it, or start with a new checkpoint";
  }

  Place place() {
    return place;
  }

  boolean isBeginning() {
    return place == Place.BEGINNING;
  }

  /** Returns the number of the version; there is none at the beginning. */
  long number() {
    return version.orElseThrow().number();
  }

  /** Returns the version; there is none at the beginning. */
  Optional<VersionId> version() {
    return version;
  }

  /** Returns how many records of the version were delivered; 0 at its end. */
  long records() {
    return records;
  }

  /** Tells whether this is a position in a stream of changes. */
  boolean isOfChanges() {
    return isOfChanges;
  }

  /** Returns the version with whose added records the first batch began, if this is its end. */
  OptionalLong first() {
    return first;
  }

  @Override
  public String json() {
    ObjectNode json = JSON.createObjectNode();
    json.put("zrecord", FORMAT);
    json.put("at", place.text);
    version.ifPresent(id -> {
      json.put("table", id.table().toString());
      json.put("version", id.number());
      json.put("commit", id.commit().toString());
    });
    if (place == Place.ALL || place == Place.ADDED) {
      json.put("records", records);
    }
    first.ifPresent(number -> json.put("first", number));
    if (isOfChanges) {
      json.put("of", CHANGES);
    }
    return json.toString();
  }
}
