package io.zrecord.spark.column;

import java.util.Set;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** The columns that every table has in addition to its fields. */
public final class MetadataColumns {
  /** The index of the record in the dataset. */
  public static final String INDEX = "_index";

  /** The position of the record in the order of the sampler; without a sampler, the index. */
  public static final String POSITION = "_position";

  /**
   * The index of the first record of the record's shard. Null in a new row that a statement makes.
   */
  public static final String SHARD = "_shard";

  /** The slot of the record in its shard, which it keeps until the shard is written anew. */
  public static final String SLOT = "_slot";

  /** The number of the version that the record is read of. */
  public static final String VERSION = "_version";

  /** The columns that are the place of a row in the order of the index. */
  public static final Set<String> PLACES = Set.of(INDEX, POSITION);

  public static final Set<String> NAMES = Set.of(INDEX, POSITION, SHARD, SLOT, VERSION);

  private MetadataColumns() {}

  /**
   * Tells whether Spark takes a name for that of a metadata column. Spark ignores the case unless
   * told otherwise.
   */
  public static boolean areHiddenBy(String name) {
    return NAMES.stream().anyMatch(name::equalsIgnoreCase);
  }

  public static MetadataColumn[] all() {
    return new MetadataColumn[] {
      new LongColumn(INDEX, "index of the record in the dataset, from 0", false),
      new LongColumn(POSITION, "position of the record in the order of the sampler, from 0", false),
      new LongColumn(SHARD, "index of the first record of the record's shard", true),
      new LongColumn(SLOT, "slot of the record in its shard, from 0", true),
      new LongColumn(VERSION, "version of the table that is read", true)
    };
  }

  private record LongColumn(String name, String comment, boolean isNullable)
      implements MetadataColumn {
    @Override
    public DataType dataType() {
      return DataTypes.LongType;
    }
  }
}
