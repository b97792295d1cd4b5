package io.zrecord.serving;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.inspect.VersionEntry;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One write: it is opened, told its fields, given batches, and committed or closed. Closing it
 * without a commit leaves the table as it was.
 */
final class Session implements AutoCloseable {
  private static final RecordSchema NO_FIELDS = new RecordSchema(List.of());

  /** What a session does to the table. */
  private enum Mode {
    CREATE,
    APPEND,
    OVERWRITE,
    UPDATE,
    DELETE,
    ADD_FIELDS
  }

  private final Storage storage;
  private final RecordTable table;
  private final Mode mode;
  private final UUID commitId;
  private final WriteOptions options;
  private final Optional<Long> since;
  private final Optional<TableSnapshot> present;
  private final Optional<VersionEntry> done;
  private @Nullable Sink sink;
  private @Nullable ColumnBatch batch;
  private long recordCount;

  /**
   * Opens a session.
   *
   * @param arguments {@code path}, {@code mode}, {@code commit} (a UUID), {@code since} (the
   *     version before an attempt of the same commit whose answer was lost), {@code version} (of
   *     the indices of an update or deletion), {@code alignBytes}, {@code storageOptions}
   */
  Session(Arguments arguments) {
    storage = arguments.storage();
    table = RecordTable.at(storage);
    mode = modeOf(arguments.text("mode"));
    commitId = uuid(arguments.text("commit"));
    options = arguments
        .optionalNumber("alignBytes")
        .map(WriteOptions.defaults()::withAlignBytes)
        .orElse(WriteOptions.defaults());
    since = arguments.optionalNumber("since");
    Optional<Long> version = arguments.optionalNumber("version");
    arguments.requireUsed();
    table.requireCreatable();
    done = earlier();
    present = version.map(table::version).or(table::find);
    requireMode();
  }

  /** Returns the version of an earlier attempt of the same commit. */
  private Optional<VersionEntry> earlier() {
    return since.flatMap(base -> Attempts.find(table, base, commitId));
  }

  private void requireMode() {
    if (done.isPresent()) {
      return;
    }
    if (mode == Mode.CREATE && present.isPresent()) {
      throw new DatasetExistsException(
          storage.location(),
          "Cannot create " + storage.location()
              + ": there is a table; append to it, overwrite it or choose another directory");
    }
    boolean needsTable = mode == Mode.UPDATE || mode == Mode.DELETE || mode == Mode.ADD_FIELDS;
    if (needsTable && present.isEmpty()) {
      // Fails with what is there instead.
      table.latest().requireWritable();
    }
  }

  /** Returns what is there: version, length and fields, and the version of an earlier attempt. */
  ObjectNode opened() {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("location", storage.location());
    node.put("since", present.map(TableSnapshot::version).orElse(-1L));
    present.ifPresent(version -> {
      node.put("length", version.length());
      FieldJson.write(version.schema(), node.putArray("fields"));
      node.put("numbered", isNumbered(version.schema()));
    });
    done.ifPresent(version -> node.putObject("done")
        .put("version", version.version())
        .put("length", version.recordCount()));
    return node;
  }

  /** Says which fields batches have, and begins to write. */
  void fields(JsonNode list) {
    if (sink != null || done.isPresent()) {
      throw new IllegalStateException("The session of " + storage.location()
          + " has its fields already, or is done; open another one");
    }
    RecordSchema known = present.map(TableSnapshot::schema).orElse(NO_FIELDS);
    RecordSchema fields = mode == Mode.DELETE ? NO_FIELDS : FieldJson.read(list, known);
    Sink begun = switch (mode) {
      case CREATE -> records(RecordDatasetWriter.create(storage, fields, options), fields);
      case APPEND -> records(RecordDatasetWriter.append(storage, fields, options), fields);
      case OVERWRITE -> records(RecordDatasetWriter.overwrite(storage, fields, options), fields);
      case UPDATE, DELETE -> new ChangeSink(present.orElseThrow(), fields);
      case ADD_FIELDS -> new NewFieldsSink(RecordFieldsWriter.add(table, fields.fields(), options));
    };
    sink = begun;
    batch = new ColumnBatch(begun.fields());
  }

  private Sink records(RecordDatasetWriter writer, RecordSchema given) {
    writer.commitId(commitId);
    RecordSchema all = writer.schema();
    List<FieldSpec> fields = all.fields().subList(0, given.fields().size());
    return new RecordSink(writer, fields, isNumbered(all));
  }

  private boolean isNumbered(RecordSchema fields) {
    return present
            .filter(version -> !version.declarations().identities().isEmpty())
            .isPresent()
        || fields.fields().stream().anyMatch(field -> field.rules().hasDefaultExpression());
  }

  /** Takes a batch, whose values are in the shared memory. */
  void put(SharedInput memory, byte[] places) {
    ColumnBatch records = batch;
    if (sink == null || records == null) {
      throw new IllegalStateException(
          "A batch came before the fields of " + storage.location() + "; send the fields first");
    }
    records.read(memory, places);
    sink.put(records);
    recordCount += records.count();
  }

  /**
   * Commits, and returns the version: that of an earlier attempt if one took effect meanwhile,
   * which the writer may have taken for the version of another. Without fields there is nothing to
   * commit.
   */
  ObjectNode commit() {
    if (sink == null) {
      throw new IllegalStateException(
          "There is nothing to commit to " + storage.location() + "; send the fields first");
    }
    Optional<VersionEntry> earlier = earlier();
    if (earlier.isPresent()) {
      return JsonNodeFactory.instance
          .objectNode()
          .put("version", earlier.get().version())
          .put("length", earlier.get().recordCount())
          .put("records", 0)
          .put("repeated", true);
    }
    TableSnapshot version = sink.commit();
    return JsonNodeFactory.instance
        .objectNode()
        .put("version", version.version())
        .put("length", version.length())
        .put("records", recordCount);
  }

  @Override
  public void close() {
    if (sink != null) {
      sink.close();
      sink = null;
    }
  }

  private static Mode modeOf(String name) {
    for (Mode known : Mode.values()) {
      if (known.name().toLowerCase(Locale.ROOT).equals(name)) {
        return known;
      }
    }
    throw new IllegalArgumentException("There is no mode '" + name
        + "'; use create, append, overwrite, update, delete or add_fields");
  }

  private static UUID uuid(String text) {
    try {
      return UUID.fromString(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "'" + text + "' is not the UUID of a commit; take one from an earlier attempt", e);
    }
  }
}
