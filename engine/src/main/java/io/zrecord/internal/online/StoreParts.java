package io.zrecord.internal.online;

import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import java.util.UUID;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * An open store, as far as readers are concerned.
 *
 * @param tables of the fields, in their order
 * @param isCurrent whether these are the tables that the meta file names, as of a stamp of all records; a rewritten store has others
 * @param onStalled called with the nanoseconds that a reader has been waiting for the writer, when they become suspiciously many; an
 *     exception ends the wait
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
