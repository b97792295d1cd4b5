package io.zrecord.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.StoreSnapshot;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/** From options and identifiers to datasets. A path is an identifier without a namespace. */
final class DatasetPaths {
  /** The version that is read when none is asked for. */
  static final String NEWEST = "latest";

  /** Namespace of an identifier whose name is a JSON array of paths. */
  private static final String SEVERAL = "paths";

  /** First part of the namespace of an identifier of a view, whose name is the second. */
  private static final String VIEW = "view";

  private static final ObjectMapper JSON = new ObjectMapper();

  private DatasetPaths() {}

  /** The moment in a dataset's history to read: a version, a tag, a time, or the newest version if none is there. */
  record Time(Optional<Long> version, Optional<String> tag, Optional<Instant> instant) {
    static Time newest() {
      return new Time(Optional.empty(), Optional.empty(), Optional.empty());
    }

    static Time at(Instant instant) {
      return new Time(Optional.empty(), Optional.empty(), Optional.of(instant));
    }

    /** {@code latest}, a number or a tag. */
    static Time of(String version) {
      if (version.equalsIgnoreCase(NEWEST)) {
        return newest();
      }
      try {
        return new Time(Optional.of(Long.parseLong(version)), Optional.empty(), Optional.empty());
      } catch (NumberFormatException e) {
        return new Time(Optional.empty(), Optional.of(version), Optional.empty());
      }
    }

    boolean isNewest() {
      return equals(newest());
    }
  }

  /** Refuses as a tag what would be read as a version. */
  static String requireTag(String tag) {
    Time time = Time.of(tag);
    if (time.tag().isEmpty()) {
      throw new IllegalArgumentException(
          "'" + tag + "' is no tag; use the option " + ZRecordOptions.VERSION_AS_OF
              + " for a version's number, and none for the newest version");
    }
    return tag;
  }

  static Identifier identifier(CaseInsensitiveStringMap options) {
    String several = options.get(ZRecordOptions.PATHS);
    String one = options.get(ZRecordOptions.PATH);
    String view = options.get(ZRecordOptions.VIEW);
    if (several != null && parse(several).length > 0) {
      List<String> all = new ArrayList<>(List.of(parse(several)));
      if (one != null) {
        all.add(0, one);
      }
      if (all.size() == 1) {
        return identifier(all.get(0), view);
      }
      if (view != null) {
        throw new IllegalArgumentException("Cannot read the view " + view + " of " + all.size()
            + " datasets; load one path at a time");
      }
      return Identifier.of(new String[] {SEVERAL}, write(all));
    }
    if (one == null || one.isBlank()) {
      throw new IllegalArgumentException(
          "No path is given; use load(\"/path\") or save(\"/path\")");
    }
    return identifier(one, view);
  }

  private static Identifier identifier(String path, @Nullable String view) {
    return view == null
        ? Identifier.of(new String[0], path)
        : Identifier.of(
            new String[] {
              VIEW, WriteConf.parse(ZRecordOptions.VIEW, view, ViewName::of).toString()
            },
            path);
  }

  /** The view that an identifier asks for, if it does. */
  static Optional<ViewName> view(Identifier identifier) {
    return identifier.namespace().length == 2 && identifier.namespace()[0].equals(VIEW)
        ? Optional.of(ViewName.of(identifier.namespace()[1]))
        : Optional.empty();
  }

  static List<String> paths(Identifier identifier) {
    boolean isSeveral =
        identifier.namespace().length == 1 && identifier.namespace()[0].equals(SEVERAL);
    return isSeveral ? List.of(parse(identifier.name())) : List.of(identifier.name());
  }

  /** Whether an identifier is a path, rather than the name of a table. */
  static boolean isPath(Identifier identifier) {
    return identifier.namespace().length == 0 && identifier.name().indexOf('/') >= 0;
  }

  /** The datasets at the paths, one after the other, for reading. */
  static ZRecordTable load(List<String> paths, Time time) {
    List<TableSnapshot> snapshots =
        paths.stream().map(path -> snapshot(path, time)).toList();
    RecordSchema first = snapshots.get(0).schema();
    for (int i = 1; i < snapshots.size(); i++) {
      requireSameColumns(paths.get(0), first, paths.get(i), snapshots.get(i).schema());
    }
    return ZRecordTable.forReading(String.join(",", paths), SparkTypes.structOf(first), snapshots);
  }

  /** The newest version at a path, for reading and writing. */
  static ZRecordTable loadStrict(String path) {
    TableSnapshot newest = snapshot(path, Time.newest());
    return ZRecordTable.strict(
        path, newest, target(path, Optional.of(newest), WriteTarget.Creation.APPEND));
  }

  /** A path that may be empty, for writing any columns. */
  static ZRecordTable loadLenient(String path) {
    Optional<TableSnapshot> newest = newest(path);
    StructType schema = newest.map(s -> SparkTypes.structOf(s.schema())).orElseGet(StructType::new);
    return ZRecordTable.lenient(path, schema, target(path, newest, WriteTarget.Creation.APPEND));
  }

  /** Whether there is a table or a store. */
  static boolean exists(String path) {
    return RecordTable.at(SparkStorages.storageFor(path)).exists()
        || SparkStorages.storeAt(path).isPresent();
  }

  /** Where a write goes that was planned on a version, if there is one. */
  static WriteTarget target(
      String path, Optional<TableSnapshot> base, WriteTarget.Creation creation) {
    RecordTable table = RecordTable.at(SparkStorages.storageFor(path));
    return new WriteTarget(table, SparkStorages.storeAt(path), base, creation);
  }

  /** The newest version, if there is a table or a store. */
  static Optional<TableSnapshot> newest(String path) {
    return exists(path) ? Optional.of(snapshot(path, Time.newest())) : Optional.empty();
  }

  /** A table that a session catalog keeps; it asks once without a path while it creates one. */
  static ZRecordTable forSessionCatalog(StructType schema, Optional<Identifier> identifier) {
    if (identifier.isEmpty()) {
      return ZRecordTable.forReading("(no path yet)", schema, List.of());
    }
    List<String> paths = paths(identifier.get());
    if (paths.size() > 1) {
      return load(paths, Time.newest());
    }
    String path = paths.get(0);
    if (exists(path)) {
      ZRecordTable table = loadStrict(path);
      requireDeclared(path, schema, table.schema());
      return table;
    }
    return new ZRecordTable(
        path, schema, target(path, Optional.empty(), WriteTarget.Creation.APPEND));
  }

  /** Fields may have been added since the table was declared; those that were declared must be there. */
  private static void requireDeclared(String path, StructType declared, StructType found) {
    for (StructField column : declared.fields()) {
      boolean isThere = Arrays.stream(found.fields())
          .anyMatch(field -> field.name().equalsIgnoreCase(column.name())
              && field.dataType().catalogString().equals(column.dataType().catalogString()));
      if (!isThere) {
        throw new SchemaMismatchException(
            path,
            "The table was declared with the column '" + column.name() + "' of type "
                + column.dataType().catalogString() + ", but the dataset at " + path + " has "
                + found.catalogString() + "; create the table again without columns");
      }
    }
  }

  /** The version of that time, or what a store has now. */
  static TableSnapshot snapshot(String path, Time time) {
    Optional<Path> store = SparkStorages.storeAt(path);
    if (store.isPresent()) {
      if (!time.isNewest()) {
        throw new IllegalArgumentException(
            "Cannot read an older version of " + path
                + ": it is a store that is written online, and has no versions; leave versionAsOf, tag and timestampAsOf out");
      }
      return StoreSnapshot.temporary(store.get());
    }
    RecordTable table = RecordTable.at(SparkStorages.storageFor(path));
    if (time.version().isPresent()) {
      return table.version(time.version().get());
    }
    if (time.tag().isPresent()) {
      return table.tagged(time.tag().get());
    }
    return time.instant().isPresent() ? table.asOf(time.instant().get()) : table.latest();
  }

  private static void requireSameColumns(
      String path, RecordSchema schema, String otherPath, RecordSchema other) {
    boolean same = schema.fields().size() == other.fields().size();
    for (int i = 0; same && i < schema.fields().size(); i++) {
      var field = schema.fields().get(i);
      var match = other.find(field.name());
      same = match.isPresent()
          && match.get().type().equals(field.type())
          && match.get().shape().equals(field.shape());
    }
    if (!same) {
      throw new SchemaMismatchException(
          otherPath,
          "Cannot read " + path + " and " + otherPath + " together: their columns are "
              + SparkTypes.structOf(schema).catalogString() + " and "
              + SparkTypes.structOf(other).catalogString()
              + "; read them one by one and use unionByName");
    }
  }

  private static String[] parse(String json) {
    String[] paths = null;
    Exception cause = null;
    try {
      paths = JSON.readValue(json, String[].class);
    } catch (JsonProcessingException e) {
      cause = e;
    }
    if (paths == null || Arrays.asList(paths).contains(null)) {
      throw new IllegalArgumentException(
          "Option " + ZRecordOptions.PATHS + " is not a JSON array of paths: " + json, cause);
    }
    return paths;
  }

  private static String write(List<String> paths) {
    try {
      return JSON.writeValueAsString(paths);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("Cannot write the paths " + paths + " as JSON", e);
    }
  }
}
