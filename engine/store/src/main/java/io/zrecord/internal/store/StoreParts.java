package io.zrecord.internal.store;

import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import java.util.UUID;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * The parts of an open store that readers use.
 *
 * @param tables tables of the fields, in their order
 * @param isCurrent tells, for a stamp of all records, whether the meta file still names these
 *     tables; a rewritten store has other tables
 * @param onStalled takes the nanoseconds that a reader has been waiting for the writer, once the
 *     wait is suspiciously long; an exception ends the wait
 */
public record StoreParts(
    MutableFiles files,
    UUID storeId,
    List<FieldSpec> fields,
    List<EntryTable> tables,
    LiveState live,
    LongPredicate isCurrent,
    LongConsumer onStalled) {
  public StoreParts {
    fields = List.copyOf(fields);
    tables = List.copyOf(tables);
  }
}
