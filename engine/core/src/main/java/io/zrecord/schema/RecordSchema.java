package io.zrecord.schema;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Lists the fields of a dataset in order. Names and ids are unique. May be empty. Immutable.
 *
 * @param fields the fields; a field's place in this list is its ordinal
 * @param unreadable fields that use features of a later release; their names and ids are taken
 */
public record RecordSchema(List<FieldSpec> fields, List<UnreadableField> unreadable)
    implements Serializable {
  public RecordSchema {
    fields = List.copyOf(fields);
    unreadable = List.copyOf(unreadable);
    Set<String> names = new HashSet<>();
    Set<Integer> ids = new HashSet<>();
    fields.forEach(field -> requireUnique(names, ids, field.id(), field.name()));
    unreadable.forEach(field -> requireUnique(names, ids, field.id(), field.name()));
  }

  /** Makes a schema of fields that can be read. */
  public RecordSchema(List<FieldSpec> fields) {
    this(fields, List.of());
  }

  private static void requireUnique(Set<String> names, Set<Integer> ids, int id, String name) {
    if (!names.add(name)) {
      throw new IllegalArgumentException(
          "Field name '" + name + "' appears twice; names are unique");
    }
    if (!ids.add(id)) {
      throw new IllegalArgumentException(
          "Field id " + id + " of '" + name + "' appears twice; ids are unique");
    }
  }

  /** Makes a builder that numbers fields 1, 2, 3, … in the order they are added. */
  public static Builder builder() {
    return new Builder();
  }

  /** Finds the field of a name, if there is one. */
  public Optional<FieldSpec> find(String name) {
    return fields.stream().filter(f -> f.name().equals(name)).findFirst();
  }

  /** Finds the field of an id, if there is one. */
  public Optional<FieldSpec> find(int id) {
    return fields.stream().filter(f -> f.id() == id).findFirst();
  }

  /**
   * Requires that a field of a name, if there is one, can be read.
   *
   * @param location the dataset, for the message
   * @throws io.zrecord.errors.UnsupportedFormatException if the field uses a feature of a later
   *     release
   */
  public void requireReadable(String location, String name) {
    for (UnreadableField field : unreadable) {
      if (field.name().equals(name)) {
        throw field.exception(location);
      }
    }
  }

  /**
   * Returns the place of the field of a name.
   *
   * @throws IllegalArgumentException if there is none; the message lists the names
   * @throws io.zrecord.errors.UnsupportedFormatException if the field uses a feature of a later
   *     release
   */
  public int ordinal(String name) {
    requireReadable("the dataset", name);
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException("There is no field '" + name + "'; the fields are "
        + fields.stream().map(FieldSpec::name).collect(Collectors.joining(", ")));
  }

  /** Returns these fields without their attributes: all that a reader of values needs. */
  public RecordSchema withoutAttributes() {
    return new RecordSchema(fields.stream().map(FieldSpec::withoutAttributes).toList(), unreadable);
  }

  /** Returns these fields without their attributes: all that a writer of values needs. */
  public RecordSchema forWriters() {
    return new RecordSchema(
        fields.stream().map(field -> field.withAttributes(Map.of())).toList(), unreadable);
  }

  /**
   * Returns these fields without the rules for writers: copies of records keep what is absent as it
   * is.
   */
  public RecordSchema forCopies() {
    return new RecordSchema(
        fields.stream()
            .map(field -> field.withRules(field.rules().forReaders()))
            .toList(),
        unreadable);
  }

  /** Collects fields. Not thread-safe. */
  public static final class Builder {
    private final List<FieldSpec> fields = new ArrayList<>();

    private Builder() {}

    /** Adds a field with one raw element a record. */
    public Builder field(String name, ElementType type) {
      return field(name, type, Shape.scalar(), Compression.RAW);
    }

    /** Adds a field. */
    public Builder field(String name, ElementType type, Shape shape, Compression compression) {
      fields.add(new FieldSpec(fields.size() + 1, name, type, shape, compression));
      return this;
    }

    /** Returns the schema of the fields added so far. */
    public RecordSchema build() {
      return new RecordSchema(fields);
    }
  }

  /**
   * Returns a digest of the ids, types and shapes of some fields, in whatever order they are.
   * Values that were written for fields of one digest fit the fields of an equal digest. Names do
   * not count, because fields are renamed. Never 0.
   */
  public static long digest(Collection<FieldSpec> fields) {
    long digest = 0xcbf29ce484222325L;
    for (FieldSpec field :
        fields.stream().sorted(Comparator.comparingInt(FieldSpec::id)).toList()) {
      String text = field.id() + " " + field.type() + " " + field.shape() + ";";
      for (int i = 0; i < text.length(); i++) {
        digest = (digest ^ text.charAt(i)) * 0x100000001b3L;
      }
    }
    return digest == 0 ? 1 : digest;
  }
}
