package io.zrecord.spark;

import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.byindex.AddedFields;
import io.zrecord.spark.byindex.RowsByIndex;
import io.zrecord.spark.byindex.UpdatedFields;
import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.catalog.ZRecordTables;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.column.StringLengths;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.TableProperties;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;

/**
 * Adds columns to the records of a table, or gives records other values of some columns, from a
 * data frame. Reads and writes no other column, and rewrites no record. Each call is one version.
 *
 * <pre>{@code
 * Dataset<Row> embeddings = model(spark.read().format("zrecord").option("versionAsOf", 7)
 *     .load("/data/photos").selectExpr("_index", "image"));      // _index, embedding
 * Columns.of(spark, "/data/photos").asOf(7).add(embeddings, "embedding");
 * Columns.of(spark, "lake.photos").by("id").update(corrections, "label");
 * }</pre>
 *
 * <p>Rows name records by {@code _index}, and then {@link #asOf} says of which version the indices
 * are; or by the values of a key, see {@link #by}. A record without a row keeps its value, or has
 * NULL in a new column. Two rows for one record are refused. Records may have been added since that
 * version, and shards rebalanced; a record that was changed or deleted since is a conflict, and so
 * is a shard that has got values of a new column.
 *
 * <p>Rows are shuffled to the shards of their records, by as many tasks as
 * {@code spark.sql.shuffle.partitions} says at most. A task holds one shard's stripe of values in
 * memory. The driver holds 8 bytes a shard. Belongs to one thread.
 */
public final class Columns {
  private static final String MERGES_SCHEMA = TableProperties.WRITE + ZRecordOptions.MERGE_SCHEMA;

  private final SparkSession spark;
  private final String name;
  private final RecordTable table;
  private final Set<String> limited;
  private final Map<String, String> options;

  /** What a catalog says of the table, besides the table. */
  private final Map<String, String> properties;

  private List<String> key = List.of();
  private OptionalLong version = OptionalLong.empty();

  private Columns(
      SparkSession spark,
      String name,
      RecordTable table,
      Set<String> limited,
      Map<String, String> options,
      Map<String, String> properties) {
    this.spark = spark;
    this.name = name;
    this.table = table;
    this.limited = limited;
    this.options = new HashMap<>(options);
    this.properties = Map.copyOf(properties);
  }

  /**
   * Names a table.
   *
   * @param table a name in a catalog, or a path or URI, which has a slash
   * @throws IllegalArgumentException if the table is none of zrecord, or a view; Spark says by an
   *     {@code AnalysisException} that there is no table of the name
   * @throws UnsupportedOperationException if the dataset is a store that is written online
   */
  public static Columns of(SparkSession spark, String table) {
    if (PathIdentifiers.isPath(table)) {
      DatasetPath path = DatasetPath.of(table);
      return of(spark, table, path, limited(path), Map.of(), Map.of());
    }
    ZRecordTable known = ZRecordTables.named(spark, table);
    Map<String, String> properties =
        new HashMap<>(known.target().map(WriteTarget::properties).orElse(Map.of()));
    properties.keySet().removeIf(MERGES_SCHEMA::equalsIgnoreCase);
    return of(spark, table, known.path(), limited(known.path()), known.writeOptions(), properties);
  }

  private static Set<String> limited(DatasetPath path) {
    return path.newest().stream()
        .flatMap(version -> version.schema().fields().stream())
        .filter(field -> StringLengths.mostCharacters(field).isPresent())
        .map(field -> field.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.toSet());
  }

  private static Columns of(
      SparkSession spark,
      String name,
      DatasetPath dataset,
      Set<String> limited,
      Map<String, String> options,
      Map<String, String> properties) {
    if (dataset.store().isPresent()) {
      throw Unsupported.operation(
          "changing columns of " + name + ", which is a store that is written online",
          "append to the store once, which makes a table of it");
    }
    return new Columns(spark, name, dataset.table(), limited, options, properties);
  }

  /**
   * Says of which version {@code _index} of the rows is, or the key: that which was read to make
   * the values.
   */
  public Columns asOf(long number) {
    version = OptionalLong.of(number);
    return this;
  }

  /**
   * Lets rows name records by values of columns that the table and the rows have, instead of by
   * {@code _index}. Each record with the values of a row gets the values of the row. Rows that no
   * record fits have no effect. The records are those of the newest version without {@link #asOf}.
   */
  public Columns by(String... columns) {
    key = List.of(columns);
    return this;
  }

  /**
   * Sets an option of the write, such as {@code compression} or {@code shape.embedding}.
   *
   * @throws IllegalArgumentException if there is no such option
   */
  public Columns option(String name, String value) {
    options.put(name, value);
    return this;
  }

  /**
   * Adds columns with values.
   *
   * @param values the key or {@code _index}, and the columns
   * @param columns names of the columns to add, at least one
   * @return the new version
   * @throws IllegalArgumentException if rows do not name records as they should, or are two of one
   *     record
   * @throws io.zrecord.errors.SchemaMismatchException if the table has a column of one of the names
   * @throws io.zrecord.errors.CommitConflictException if another commit changed columns, or a shard
   *     that gets values, since the version of the rows; nothing has changed
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     published
   */
  public TableSnapshot add(Dataset<Row> values, String... columns) {
    return inSession(() -> {
      TableSnapshot base = base();
      List<Column> wanted = Arrays.stream(required(columns)).map(Columns::named).toList();
      return AddedFields.commit(rows(base, values, wanted), conf(), isCaseSensitive());
    });
  }

  /**
   * Gives records other values.
   *
   * @param values the key or {@code _index}, and the columns
   * @param columns names of the columns of the table that get values, at least one
   * @return the new version, or the newest if no record has got a value
   * @throws IllegalArgumentException if the table has no such column, rows do not name records as
   *     they should, or are two of one record
   * @throws io.zrecord.errors.SchemaMismatchException if a column has another type, or must not be
   *     changed
   * @throws UnsupportedOperationException if a column is a char or varchar of the session's catalog
   * @throws io.zrecord.errors.CommitConflictException if another commit has changed or deleted one
   *     of the records since the version of the rows; nothing has changed
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     published
   */
  public TableSnapshot update(Dataset<Row> values, String... columns) {
    return inSession(() -> {
      TableSnapshot base = base();
      requireUnlimited(required(columns));
      List<Column> wanted = Arrays.stream(columns)
          .map(column -> named(column).as(field(base, column)))
          .toList();
      return UpdatedFields.commit(rows(base, values, wanted), conf(), isCaseSensitive());
    });
  }

  /** Lets the session's settings be those that count, whatever session the thread has. */
  private TableSnapshot inSession(Supplier<TableSnapshot> action) {
    Option<SparkSession> before = SparkSession.getActiveSession();
    SparkSession.setActiveSession(spark);
    try {
      return action.get();
    } finally {
      if (before.isDefined()) {
        SparkSession.setActiveSession(before.get());
      } else {
        SparkSession.clearActiveSession();
      }
    }
  }

  /** Only Spark pads texts and compares their lengths, in statements. */
  private void requireUnlimited(String[] columns) {
    for (String column : columns) {
      if (limited.contains(column.toLowerCase(Locale.ROOT))) {
        throw Unsupported.operation(
            "giving values to '" + column + "' of " + name + ", which is a char or varchar",
            "use UPDATE or MERGE");
      }
    }
  }

  private static String[] required(String[] columns) {
    if (columns.length == 0) {
      throw new IllegalArgumentException("Name the columns that get values, at least one");
    }
    return columns;
  }

  private TableSnapshot base() {
    if (!ReadConf.defaultsOfRecords().isEmpty()) {
      throw new IllegalArgumentException(
          "Cannot change columns of " + table.storage().location()
              + " in a session with the defaults " + ReadConf.defaultsOfRecords()
              + " for reads; unset them in the session");
    }
    if (key.isEmpty() && version.isEmpty()) {
      throw new IllegalArgumentException("The rows name records of "
          + table.storage().location() + " by their indices, and an index names another record in"
          + " another version: say by asOf(…) which version was read, or name records by a key");
    }
    return version.isPresent() ? table.version(version.getAsLong()) : table.latest();
  }

  private WriteConf conf() {
    // Columns that are added are in a change of their own.
    Map<String, String> ofVersion = new HashMap<>(table.latest().declarations().properties());
    ofVersion.keySet().removeIf(MERGES_SCHEMA::equalsIgnoreCase);
    return new WriteConf(new CaseInsensitiveStringMap(options), ofVersion, properties);
  }

  private RowsByIndex rows(TableSnapshot base, Dataset<Row> values, List<Column> wanted) {
    List<Column> columns = new ArrayList<>(wanted);
    if (key.isEmpty()) {
      columns.add(index(values.schema()));
      return new RowsByIndex(spark, base, values.select(columns.toArray(Column[]::new)));
    }
    List<Column> ofRecords = new ArrayList<>();
    Column same = functions.lit(true);
    for (int i = 0; i < key.size(); i++) {
      String ofRow = "zrecord row " + i;
      String ofRecord = "zrecord record " + i;
      columns.add(named(key.get(i)).as(ofRow));
      ofRecords.add(named(key.get(i)).as(ofRecord));
      same = same.and(named(ofRow).equalTo(named(ofRecord)));
    }
    ofRecords.add(named(MetadataColumns.INDEX));
    DataFrameReader reader = spark.read().option(ZRecordOptions.VERSION_AS_OF, base.version());
    Dataset<Row> records = (PathIdentifiers.isPath(name)
            ? reader.format(ZRecordOptions.FORMAT).load(name)
            : reader.table(name))
        .select(ofRecords.toArray(Column[]::new));
    Dataset<Row> joined = values.select(columns.toArray(Column[]::new)).join(records, same);
    for (int i = 0; i < key.size(); i++) {
      joined = joined.drop("zrecord row " + i, "zrecord record " + i);
    }
    return new RowsByIndex(spark, base, joined);
  }

  private static Column index(StructType rows) {
    boolean isThere = Arrays.asList(rows.fieldNames()).contains(MetadataColumns.INDEX);
    if (!isThere
        || !(rows.apply(MetadataColumns.INDEX).dataType().equals(DataTypes.LongType)
            || rows.apply(MetadataColumns.INDEX).dataType().equals(DataTypes.IntegerType))) {
      throw new IllegalArgumentException("The rows need a column _index of type bigint or int, but"
          + " have " + rows.catalogString() + "; select _index of the records, or call by(…)");
    }
    return named(MetadataColumns.INDEX).cast(DataTypes.LongType).as(MetadataColumns.INDEX);
  }

  /** Returns the name of the field of a column, whose case may differ unless that matters. */
  private static String field(TableSnapshot base, String name) {
    return base.schema().fields().stream()
        .map(FieldSpec::name)
        .filter(known -> isCaseSensitive() ? known.equals(name) : known.equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(base + " has no column '" + name
            + "'; it has "
            + base.schema().fields().stream().map(FieldSpec::name).toList()
            + ", and add(…) adds others"));
  }

  private static boolean isCaseSensitive() {
    return Boolean.parseBoolean(
        SparkSession.active().conf().get("spark.sql.caseSensitive", "false"));
  }

  private static Column named(String name) {
    return functions.col('`' + name.replace("`", "``") + '`');
  }
}
