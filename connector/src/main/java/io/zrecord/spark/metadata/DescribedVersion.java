package io.zrecord.spark.metadata;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.types.StructType;

/**
 * A metadata table of a dataset, pinned to a version. Immutable. Equal to another of the same name
 * and version.
 *
 * @param name name for plans and messages
 * @param version the version; empty if the dataset is declared, and nobody has written it yet
 */
record DescribedVersion(String name, ViewName table, Optional<DatasetVersion> version) {
  Optional<TableSnapshot> snapshot() {
    return version.map(DatasetVersion::snapshot);
  }

  boolean isStore() {
    return version.filter(DatasetVersion::isStore).isPresent();
  }

  /**
   * Returns the columns of the version. A partition field that this release does not know only
   * costs what needs the field.
   */
  MetadataRows rows() {
    boolean needsPartitions = table == ViewName.PARTITIONS;
    return new MetadataRows(
        version.map(DatasetVersion::schema).orElse(RecordSchema.builder().build()),
        version
            .filter(found -> needsPartitions || found.hasKnownPartitionFields())
            .map(DatasetVersion::partitionFields)
            .orElse(List.of()));
  }

  StructType columns() {
    return rows().columns(table);
  }

  /**
   * Returns a name that changes with what the table shows. The tables of versions, tags and files
   * show every version, those that only tag or expire included. The other tables show the records.
   */
  String id() {
    return version
            .map(found -> table.isOfOneVersion() && table != ViewName.FILES
                ? found.id()
                : found.snapshot().version() + "/" + found.snapshot().commitId())
            .orElse("")
        + " " + table;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DescribedVersion described
        && name.equals(described.name)
        && id().equals(described.id());
  }

  @Override
  public int hashCode() {
    return id().hashCode();
  }
}
